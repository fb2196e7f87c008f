import ArgumentParser
import Foundation
import Strongroom
import StrongroomReplica

/// The options for the restore of a backup, and for what becomes of the former database.
struct BackupRestoreOptions: ParsableArguments {
    @Flag(help: "Restore a backup without its key and without a check.")
    var noCheck = false

    @Flag(help: "Remove the former database when the restored one has its name.")
    var discard = false

    @Flag(help: "Discard the former database without asking.")
    var yes = false

    func validate() throws {
        guard discard || !yes else { throw ValidationError("--yes goes with --discard.") }
    }

    var former: FormerDatabase { discard ? .discarded : .kept }

    /// Asks before a database is discarded.
    func requireConsent(to place: Place) throws {
        guard discard, !yes, FileIdentity(place.path) != nil else { return }
        guard let terminal = Terminal() else {
            throw Failure(
                .usage, file: place.name,
                "it would be discarded, and there is no terminal to ask on; nothing was changed",
                remedy: "Give --yes if that is what you want")
        }
        guard try terminal.confirms("Discard the present \(place.name)?") else {
            throw Failure(
                .other, file: place.name, "not confirmed; nothing was changed", remedy: "Type yes, or give --yes")
        }
    }
}

extension Restore {
    /// True if the source is a replica, and not a database file.
    var isReplica: Bool { destination.hasPrefix("s3://") || isFolder }

    private var isFolder: Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: destination, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// Returns the dated copy that the source is, or is the folder of, or the newest good one of several, if possible
    /// one that is not dated in the future. Nil if the source is none of them.
    func datedCopy() throws -> DatabaseBackup? {
        let given = URL(fileURLWithPath: destination).standardizedFileURL
        let folder = isFolder ? given : given.deletingLastPathComponent(), name = folder.lastPathComponent
        let beside = try? DatabaseBackups(folder: folder.deletingLastPathComponent().path).backups()
        if let copy = beside?.first(where: { $0.folder.hasSuffix("/" + name) }),
            isFolder || copy.path.hasSuffix("/" + given.lastPathComponent)
        {
            return copy
        }
        guard isFolder else { return nil }
        let backups = DatabaseBackups(folder: destination), copies = try backups.backups()
        for copy in try backups.damagedNames() {
            Console.warning("\(destination)/\(copy): its record is missing or damaged, so it is left out")
        }
        guard !copies.isEmpty else { return nil }
        guard Set(copies.map { Array($0.source.utf8) }).count == 1 else {
            throw Failure(
                .usage, file: destination, "it has copies of several databases; nothing was changed",
                remedy: "Give one of them, as strongroom backups lists them")
        }
        let good = copies.filter(\.isGood)
        // A copy that is dated in the future may be older than all others.
        guard let newest = good.first(where: { !$0.isDatedInFuture }) ?? good.first else {
            throw Failure(
                .damaged, file: destination, "no copy in it is good; nothing was changed",
                remedy: "Look at them with strongroom backups")
        }
        for copy in copies.prefix(while: { $0.folder != newest.folder }) where !copy.isGood {
            Console.warning("\(copy.folder): it is \(copy.isComplete ? "damaged" : "incomplete"), so it is left out")
        }
        good.filter(\.isDatedInFuture).reportFuture()
        return newest
    }

    /// Refuses the options of the other kind of source.
    func requireFittingOptions() throws {
        let ofReplicas: [(String, Bool)] = [
            ("--at", at != nil), ("--at-least", atLeast != nil), ("--signer", options.signer != nil),
            ("--follow", follow),
            ("--s3-…", options.place.isGiven),
        ]
        let ofBackups: [(String, Bool)] = [
            ("--no-check", backup.noCheck), ("a key", passphrase.isGiven),
            ("--sqlcipher-version, --page-size, …", format.isGiven),
        ]
        let kind = isReplica ? "a replica" : "a database file"
        guard let unfit = (isReplica ? ofBackups : ofReplicas).first(where: \.1)?.0 else {
            guard backup.noCheck, passphrase.isGiven else { return }
            throw Failure(
                .usage, file: destination, "--no-check needs no key; nothing was changed", remedy: "Give one of the two"
            )
        }
        guard try !isReplica || !isFolder || hasReplica() else {
            throw Failure(
                .absent, file: destination, "it has neither dated copies nor a replica; nothing was changed",
                remedy: "Check the path, and whether its disk is mounted. The database in a copy can be given itself")
        }
        throw Failure(
            .usage, file: destination, "it is \(kind), whose restore does not take \(unfit); nothing was changed",
            remedy: "Leave that out, or give another source")
    }

    private func hasReplica() throws -> Bool {
        try replicating { try !DatabaseReplica.histories(in: destination, reading: options.reading).isEmpty }
    }

    /// The source as messages name it.
    private var sourceName: String { destination == "-" ? "standard input" : destination }

    /// Restores a database file, or the backup that comes on standard input.
    func restoreBackup(to out: Place) throws {
        guard destination == "-" else { return try restoreBackup(destination, to: out) }
        let unpacked = try unpackedStandardInput(beside: out)
        defer { unpacked.remove() }
        do {
            try restoreBackup(unpacked.path, to: out)
        } catch var failure as Failure where failure.file == unpacked.path {
            failure.file = "standard input"
            throw failure
        }
    }

    private func unpackedStandardInput(beside out: Place) throws -> UnpackedBackup {
        guard try backup.noCheck || !passphrase.source.isStandardInput else {
            throw Failure(
                .usage, file: file, "standard input has the backup, and can't have its key; nothing was changed",
                remedy: "Take the key from elsewhere")
        }
        guard isatty(STDIN_FILENO) == 0 else {
            throw Failure(
                .usage, file: file, "standard input is a terminal; nothing was changed",
                remedy: "Give the file of a backup, or send one with: strongroom backup FILE -")
        }
        return try attributing(to: file) {
            try Interruption.deferred { interruption in
                try BackupStream.unpack(beside: out.path) { try interruption.read(STDIN_FILENO, into: $0) }
            }
        }
    }

    private func restoreBackup(_ name: String, to out: Place) throws {
        let source = try Target(name, format)
        try source.requireDatabase()
        if source.isClear, passphrase.isGiven {
            throw Failure(
                .usage, file: name, "it is not encrypted, and a key is given; nothing was changed",
                remedy: "Leave the key out if an unencrypted database is what you want")
        }
        guard !backup.noCheck, !source.isClear else {
            let former = try restore(source, to: out, backup.noCheck ? .none : .clearText, nil)
            return try done(
                former, [("checked", .bool(!backup.noCheck))],
                "restored from \(sourceName)" + (backup.noCheck ? " without a check" : " and checked"))
        }
        // A journal that must be rolled back first can't be read by a connection that only reads.
        let (target, secret) = try passphrase.unlocking(destination) { secret, _ in
            (try source.inspection.hasRollbackJournal ? source : source.recognized(secret), secret)
        }
        let former = try restore(target, to: out, .opening(target.encryption(secret.key)), secret)
        try done(former, [("checked", .bool(true))], "restored from \(sourceName) and checked")
    }

    private func restore(
        _ source: Target, to out: Place, _ check: RestoreCheck, _ secret: GivenSecret?
    ) throws -> String? {
        let display = ProgressDisplay(
            "restoring", files: [(destination, source.inspection.size)], progress, quiet: output.quiet)
        defer { display.clear() }
        do {
            return try Interruption.deferred { interruption in
                try attributing(to: file, opening: secret) {
                    try DatabaseFile.restore(
                        from: source.place.path, to: out.path, check: check, former: backup.former
                    ) { done in
                        try interruption.check()
                        display.show(destination, done)
                    }
                }
            }
        } catch let failure as Failure where failure.status == .damaged {
            // Only the pages of the backup are read.
            throw Failure(
                .damaged, file: source.name, "the backup is damaged; \(file) is as it was", details: failure.details,
                remedy: "Give another one. strongroom salvage saves what is left of it")
        }
    }
}
