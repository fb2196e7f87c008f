import Foundation

// Keys that leave the program: to a new file that only its owner can read, or to standard output.

extension GivenSecret {
    /// Writes these bytes and a newline to a new file.
    func write(toNew destination: String) throws {
        try Self.write(bytes, toNew: destination, ending: "\n")
    }

    /// Writes bytes to a new file.
    static func write(_ bytes: UnsafeRawBufferPointer, toNew destination: String, ending: String = "") throws {
        // O_EXCL, because replacing a key loses a database.
        let descriptor = open(destination, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(errno, destination) }
        defer { close(descriptor) }
        do {
            try Console.write(bytes, to: descriptor, named: destination)
            try Console.write(ending, to: descriptor)
            guard fsync(descriptor) == 0 else {
                throw Failure(
                    errno: errno, keyFile: destination, "the key cannot be written",
                    state: "the incomplete file was removed", remedy: "Check the disk, or choose another")
            }
            let error = Place.syncFolder(of: destination)
            guard error == 0 else {
                throw Failure(
                    errno: error, keyFile: destination, "its folder cannot be written to the disk",
                    state: "the file was removed", remedy: "Check the disk, or choose another")
            }
        } catch {
            // A part of a key is useless.
            unlink(destination)
            throw error
        }
    }

    private static func failure(_ number: Int32, _ destination: String) -> Failure {
        let (happened, remedy) =
            switch number {
            case EEXIST: ("it exists already, and a key is never replaced", "Choose another name")
            case ENOENT, ENOTDIR: ("its folder does not exist", "Make the folder, or check the path")
            case EACCES, EROFS:
                ("its folder cannot be written", "Check the permissions of the folder, or choose another")
            default: ("it cannot be made (\(String(cString: strerror(number))))", "Check the path")
            }
        return Failure(
            number == ENOENT || number == ENOTDIR ? .absent : number == ENOSPC ? .diskFull : .other,
            keyFile: destination, "\(happened); nothing was changed", remedy: remedy)
    }

    /// Prints the key in pieces: the digits never become a `String`, which can't be wiped.
    func show(
        _ command: any Reporting.Type, _ file: String?, _ members: [(String, JSON)] = [], json: Bool
    ) throws {
        let head = JSON.object(OutputOptions.head(command, file, .done) + members).line.dropLast()
        if json { try Console.write(head + ",\"key\":\"", to: STDOUT_FILENO) }
        try Console.write(bytes, to: STDOUT_FILENO)
        try Console.write(json ? "\"}\n" : "\n", to: STDOUT_FILENO)
    }
}
