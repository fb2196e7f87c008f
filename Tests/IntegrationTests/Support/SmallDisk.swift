import Foundation

/// A real disk of a few megabytes that fills up: a tmpfs in a mount namespace, which ends with the processes in it.
enum SmallDisk {
    /// By root, or by anyone where user namespaces are allowed; else the tests of full disks cannot run.
    static let isAvailable = unshare != nil

    private static let unshare: [String]? = [["-m"], ["-r", "-m"]].first { options in
        guard let program = try? Program("unshare") else { return false }
        let process = Process()
        process.executableURL = program.executable
        process.arguments = options + ["sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Runs a line of the shell with a disk of `size` mounted on `folder`.
    static func run(size: String, on folder: String, _ line: String) async throws -> Outcome {
        guard let options = unshare else { throw Unavailable("no small disk") }
        var program = try Program("unshare")
        program.arguments =
            options + ["sh", "-c", "mount -t tmpfs -o size=\(size) tmpfs '\(folder)' || exit 99; \(line)"]
        return try await program.run()
    }
}
