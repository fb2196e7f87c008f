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
