/// The destinations by their names.
enum Destinations {
    static func open(_ name: String, _ options: S3Options) throws -> any Destination {
        if name.hasPrefix("s3://") { return try S3Destination(name, options) }
        if let scheme = name.range(of: "://").map({ name[..<$0.lowerBound] }) {
            throw ReplicaError(
                .invalidDestination, name, "\(scheme) is not supported. Give a folder, or s3://BUCKET/PREFIX.")
        }
        return try FolderDestination(name)
    }
}

extension StringProtocol {
    /// Returns the range of a text without Foundation.
    func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
