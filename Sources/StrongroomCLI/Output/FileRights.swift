import Foundation

/// The owner and the mode of a file, for failures of permission.
enum FileRights {
    /// Returns a sentence without a stop, about the file or, if there is none, its folder. Nil if neither can be seen.
    static func words(of path: String) -> String? {
        var status = stat()
        if stat(path, &status) == 0 { return words("It", status) }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return stat(folder, &status) == 0 ? words("Its folder", status) : nil
    }

    private static func words(_ subject: String, _ status: stat) -> String {
        let owner = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "user \(status.st_uid)"
        let mode = String(status.st_mode & 0o7777, radix: 8)
        return
            "\(subject) belongs to \(owner), with mode \(String(repeating: "0", count: max(0, 4 - mode.count)))\(mode)"
    }
}

extension Failure {
    /// Returns the failure with the owner and the mode of its file.
    func naming(rightsOf path: String?) -> Failure {
        guard let path, let words = FileRights.words(of: path) else { return self }
        var failure = self
        failure.addRemedy(words)
        return failure
    }
}
