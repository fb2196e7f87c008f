import Dispatch

extension DispatchQoS.QoSClass {
    /// Creates the quality of service of a task's priority.
    init(_ priority: TaskPriority) {
        switch priority.rawValue {
        case TaskPriority.userInitiated.rawValue...: self = .userInitiated
        case TaskPriority.medium.rawValue...: self = .default
        case TaskPriority.utility.rawValue...: self = .utility
        default: self = .background
        }
    }
}

extension DispatchQueue {
    /// Runs `work` later, with the priority of a task if it differs from the default.
    func async(priority: TaskPriority, _ work: @escaping @Sendable () -> Void) {
        if priority == .medium {
            async(execute: work)
        } else {
            let qos = DispatchQoS(qosClass: DispatchQoS.QoSClass(priority), relativePriority: 0)
            async(qos: qos, flags: .enforceQoS, execute: work)
        }
    }
}
