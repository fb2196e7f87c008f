// Where publishers come from: Combine on Apple's platforms, OpenCombine elsewhere, behind the package trait of that name.

#if canImport(Combine)
import Combine
import Dispatch

/// Whoever delivers what publishers publish: a dispatch queue, for example.
public typealias DatabaseScheduler = Combine.Scheduler

typealias Publisher = Combine.Publisher
typealias AnyPublisher = Combine.AnyPublisher
typealias Subscriber = Combine.Subscriber
typealias Deferred = Combine.Deferred
typealias Future = Combine.Future

extension DatabasePublishers {
    /// The scheduler of the main dispatch queue.
    public static var main: DispatchQueue { .main }
}
#elseif OpenCombine
import Dispatch
import OpenCombine
import OpenCombineDispatch

/// Whoever delivers what publishers publish: `.ocombine` of a dispatch queue, for example.
public typealias DatabaseScheduler = OpenCombine.Scheduler

typealias Publisher = OpenCombine.Publisher
typealias AnyPublisher = OpenCombine.AnyPublisher
typealias Subscriber = OpenCombine.Subscriber
typealias Deferred = OpenCombine.Deferred
typealias Future = OpenCombine.Future

extension DatabasePublishers {
    /// The scheduler of the main dispatch queue.
    public static var main: DispatchQueue.OCombine { DispatchQueue.main.ocombine }
}
#endif
