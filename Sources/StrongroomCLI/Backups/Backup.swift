import ArgumentParser
import Foundation
import Strongroom

struct Backup: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Make an encrypted copy of an encrypted database.",
        discussion: help(
            """
            The copy opens as the original does: it has the same key, page size, cipher settings and plaintext header. \
            If FILE has a salt file, the copy has one of its own. FILE may be in use, and is only read. The copy \
            contains what was committed when it began. OUT appears when it is complete and was opened and checked.

            If OUT is a folder, the copy is in a new folder in it that has the date as its name, with its salt file \
            and its slot file. A folder whose name ends in / is created. --keep removes what its rule does not keep: \
            3,7d,4w,12m,5y keeps the 3 newest copies, and the newest one of each of the last 7 days, 4 weeks, 12 \
            months and 5 years that have a copy; h stands for hours. The new copy and the newest good copy always \
            stay. Copies that are dated in the future stay, and are reported. Those and copies of other databases are \
            not counted.

            If OUT is -, the copy is written to standard output, as an archive of tar that strongroom restore - reads. \
            It is made in the folder that TMPDIR names, or in /var/tmp, first.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull, .interrupted]))

    static let examples = [
        (line: "strongroom backup notes.db /srv/backup/notes.db", what: "copies a database in use"),
        (
            line: "strongroom backup notes.db /srv/backup/notes/ --keep 7d,4w,12m",
            what: "makes a dated copy, and forgets old ones"
        ),
        (
            line: "strongroom backup notes.db - | ssh vault 'cat > notes.tar'",
            what: "writes database and sidecars as one stream"
        ),
        (
            line: "strongroom backup --progress json notes.db copy.db --passphrase-file key",
            what: "reports its progress to programs"
        ),
    ]

    @Argument(help: "An encrypted database.", completion: .file())
    var file: String

    @Argument(
        help: ArgumentHelp("The copy to make, a folder for a dated copy, or - for a stream.", valueName: "out"),
        completion: .file())
    var destination: String

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Key options") var former: FormerKeyOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var progress: ProgressOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Flag(help: "Replace OUT if it exists.")
    var force = false

    @Option(help: ArgumentHelp("Forget the dated copies of FILE that this rule does not keep.", valueName: "rule"))
    var keep: BackupRetention?

    @Flag(
        help:
            """
            Check each dated copy of FILE as its user opens it. A copy that no given key opens is compared with its \
            record.
            """
    )
    var verify = false

    @Option(help: ArgumentHelp("The date of the copy, in ISO 8601. Default: now.", valueName: "time"))
    var time: BackupTime?

    var database: String? { file }

    private var isFolder: Bool {
        var isFolder: ObjCBool = false
        return destination.hasSuffix("/")
            || FileManager.default.fileExists(atPath: destination, isDirectory: &isFolder) && isFolder.boolValue
    }

    func validate() throws {
        let isDated = keep != nil || verify || time != nil || former.isGiven
        guard destination != "-" else {
            guard !isDated, !force, !output.json else {
                throw ValidationError("OUT is standard output: leave out --json, --force, --keep, --verify and --time.")
            }
            return
        }
        if isDated, !isFolder { throw ValidationError("--keep, --verify and --time need a folder as OUT: FOLDER/.") }
        if force, isFolder { throw ValidationError("--force replaces a file, and OUT is a folder.") }
        if former.isGiven, !verify { throw ValidationError("Former keys go with --verify.") }
    }

    func run() throws {
        let target = try Target(file, format)
        try target.requireEncrypted()
        if destination == "-" { return try writeStream(target) }
        if isFolder { return try makeDatedCopy(target) }
        let out = try NewFile(destination, replacing: force, sources: [target.place])
        let secret = try passphrase.secret(opening: target)
        try out.fill(with: target, secret, progress, quiet: output.quiet)
        try output.done(Self.self, destination, [("source", .text(file))], text: "\(destination): copied and checked.")
    }

    // MARK: - A stream

    private func writeStream(_ target: Target) throws {
        guard isatty(STDOUT_FILENO) == 0 else {
            throw Failure(
                .usage, file: file, "standard output is a terminal; nothing was changed",
                remedy: "Send it to a file or a program")
        }
        let secret = try passphrase.secret(opening: target)
        let folder = ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/var/tmp"
        try copying(target, secret, folder) { encryption, report, interruption in
            try BackupStream.write(target.place.path, encryption: encryption, by: folder, progress: report) {
                try interruption.check()
                try Console.write($0, to: STDOUT_FILENO)
            }
        }
        if !output.quiet { Console.message("\(file): copied and checked.") }
    }

    // MARK: - A dated copy

    private func makeDatedCopy(_ target: Target) throws {
        let secret = try passphrase.secret(opening: target), backups = DatabaseBackups(folder: destination)
        let made = try copying(target, secret, destination) { encryption, report, _ in
            try backups.make(
                of: target.place.path, encryption: encryption, date: time?.date ?? Date(), progress: report)
        }
        var checks: [(DatabaseBackup, BackupCheck)] = []
        if verify {
            let keys = try BackupCheck.Keys(current: target.encryption(secret.key), former: former.encryptions(format))
            checks = try check(try backups.backups(of: made.source), in: backups, keys)
        }
        let forgotten = try keep.map { try forget($0, of: made, in: backups) }
        try report(made, checks, forgotten, unreadable: verify || keep != nil ? backups.damagedNames() : [])
    }

    private func check(
        _ list: [DatabaseBackup], in backups: DatabaseBackups, _ keys: BackupCheck.Keys
    ) throws -> [(DatabaseBackup, BackupCheck)] {
        try BackupChecking(progress: progress, quiet: output.quiet).run(list, in: backups, keys)
    }

    private func forget(
        _ rule: BackupRetention, of made: DatabaseBackup, in backups: DatabaseBackups
    ) throws -> DatabaseBackups.Forgotten {
        try attributing(to: destination) { try backups.forget(keeping: rule, of: made.source, sparing: made) }
    }

    /// - parameter unreadable: the names of copies whose record is missing or damaged.
    private func report(
        _ made: DatabaseBackup, _ checks: [(DatabaseBackup, BackupCheck)], _ forgotten: DatabaseBackups.Forgotten?,
        unreadable: [String]
    ) throws {
        let damaged = checks.filter { $0.1.outcome == .damaged }, unopened = checks.filter { $0.1.key == .unrecognized }
        let status: Status = damaged.isEmpty && unreadable.isEmpty ? .done : .damaged
        let future = (forgotten?.kept ?? []).filter(\.isDatedInFuture)
        var members: [(String, JSON)] = [
            ("source", .text(file)), ("folder", .text(destination)), ("date", .text(made.date.formatted(.iso8601))),
        ]
        if verify {
            members += [
                ("checked", .count(checks.count)), ("damaged", .list(damaged.map { .text($0.0.path) })),
                ("unopened", .list(unopened.map { .text($0.0.path) })),
            ]
        }
        if let forgotten {
            members += [
                ("forgotten", .list(forgotten.removed.map { .text($0.path) })), ("kept", .count(forgotten.kept.count)),
                ("future", .list(future.map { .text($0.path) })),
            ]
        }
        if verify || keep != nil { members.append(("unreadable", .list(unreadable.map(JSON.text)))) }
        var text = "\(made.path): copied and checked."
        if verify { text += " \(counted(checks.count, "copy", "copies")) checked, \(damaged.count) damaged." }
        if let forgotten { text += " \(forgotten.kept.count) kept, \(forgotten.removed.count) forgotten." }
        try output.done(Self.self, made.path, members, status: status, text: text)
        if !unopened.isEmpty {
            let copies = counted(unopened.count, "copy", "copies")
            Console.warning("\(destination): no given key opens \(copies); former keys: --former-passphrase-file")
        }
        for name in unreadable {
            let folder = DatabaseBackups(folder: destination).folder
            Console.warning("\(folder)/\(name): its record is missing or damaged")
        }
        future.reportFuture()
        guard status == .done else { throw ReportedError(status: status) }
    }

    // MARK: - Copying

    /// Runs `body` with the encryption of the database, a progress display and the signals. Errors of the disk are
    /// about `place`.
    private func copying<T>(
        _ target: Target, _ secret: GivenSecret, _ place: String,
        _ body: (Encryption, @escaping (EncryptionProgress) throws -> Void, Interruption) throws -> T
    ) throws -> T {
        let display = ProgressDisplay("copying", files: [(target.name, 1)], progress, quiet: output.quiet)
        defer { display.clear() }
        do {
            return try Interruption.deferred { interruption in
                try attributing(to: target.name, opening: secret, sparingDisk: true) {
                    let report = { (done: EncryptionProgress) in
                        try interruption.check()
                        display.show(target.name, done)
                    }
                    return try body(target.encryption(secret.key), report, interruption)
                }
            }
        } catch let error as DatabaseError where Failure.isOfDisk(error) {
            throw Failure(error, file: place)
        }
    }
}

extension NewFile {
    /// Makes the file an encrypted copy, which opens as the original does.
    func fill(
        with target: Target, _ secret: GivenSecret, _ progress: ProgressOptions, quiet: Bool,
        _ interruption: Interruption? = nil
    ) throws {
        let original = try target.encryption(secret.key)
        var copy = original
        let size = try target.details(secret).plaintextHeaderSize
        if size > 0, copy.plaintextHeader == nil { copy.plaintextHeader = PlaintextHeader(size: size) }
        try fill(from: target.place, "copying", progress, quiet: quiet, secret, interruption) { partial, progress in
            try DatabaseFile.migrate(path: target.place.path, to: partial, from: original, as: copy, progress: progress)
        }
    }
}
