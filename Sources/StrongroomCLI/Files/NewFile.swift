import Foundation
import Strongroom

/// A database to be made. It is written in a folder of its own, and appears under its name when it is
/// complete. No program ever sees an incomplete database, and no existing file is lost.
struct NewFile {
    let place: Place
    private let replaces: Bool

    /// Refuses the name of an existing file, unless `replacing`, and a name that belongs to a database in `sources`.
    init(_ name: String, replacing: Bool, sources: [Place] = []) throws {
        try Self.requireFileName(name)
        place = try Place(name)
        replaces = replacing
        for source in sources { try refuse(source) }
        try attributing(to: name) { [path = place.path] in try DatabaseFile.settleReplacement(of: path) }
        WorkFolder.removeLeftOvers(in: place.folder)
        try requireRoomForName()
    }

    /// Calls `write` to make the database under another name, and publishes it.
    func make(_ write: (_ partial: String) throws -> Void) throws {
        let folder = try WorkFolder(in: place.folder, for: place.name)
        defer { folder.remove() }
        do {
            try write(folder.database)
        } catch let error as DatabaseError where Failure.isOfDisk(error) {
            throw Failure(error, file: place.name)
        }
        try publish(from: folder)
    }

    /// Makes the database with a progress display. A signal stops it.
    func fill(
        from source: Place, _ label: String, _ options: ProgressOptions, quiet: Bool, _ secret: GivenSecret? = nil,
        _ interruption: Interruption? = nil,
        _ write: (_ partial: String, _ progress: @escaping (EncryptionProgress) throws -> Void) throws -> Void
    ) throws {
        let display = ProgressDisplay(label, files: [(source.name, 1)], options, quiet: quiet)
        defer { display.clear() }
        try Interruption.deferred(unless: interruption) { interruption in
            try make { partial in
                try attributing(to: source.name, opening: secret, sparingDisk: true) {
                    try write(partial) { done in
                        try interruption.check()
                        display.show(source.name, done)
                    }
                }
                // The copy is checked after its last page.
                try interruption.check()
            }
        }
    }

    // MARK: - Obstacles

    /// Refuses names that SQLite's shells do not take for files.
    private static func requireFileName(_ name: String) throws {
        let reason: String? =
            switch name {
            case "-": "standard output cannot be a database"
            case ":memory:": "it would be a database in memory, and gone immediately"
            case _ where name.lowercased().hasPrefix("file:"): "it looks like a URI"
            case _ where name.hasSuffix("/"): "it is a folder"
            default: nil
            }
        guard let reason else { return }
        throw Failure(
            .usage, file: name, "\(reason); nothing was changed",
            remedy: "Give the name of a file, written ./\(name) if that is what it is called")
    }

    private func refuse(_ source: Place) throws {
        let own = FileIdentity(source.path)
        let reason: String
        if own != nil, FileIdentity(place.path) == own {
            reason = "it is \(source.name) itself"
        } else if source.companions.contains(place.path) {
            reason = "it would be taken for a part of \(source.name)"
        } else if own != nil, place.companions.contains(where: { FileIdentity($0) == own }) {
            reason = "\(source.name) would be taken for a part of it"
        } else {
            return
        }
        throw Failure(.other, file: place.name, "\(reason); nothing was changed", remedy: "Choose another name")
    }

    private func requireRoomForName() throws {
        guard !([place.path] + place.companions).contains(where: Self.isTooLong) else {
            throw Failure(
                .other, file: place.name,
                "its name leaves no room for those of its log and its salt; nothing was changed",
                remedy: "Choose a shorter name")
        }
        // SQLite would apply the log of a former database to the new one.
        for taken in [place.path] + replaced where Self.exists(taken) && !replaces {
            throw Self.taken(taken == place.path ? place.name : taken)
        }
        for companion in CompanionFile.withState where companion.isNeeded {
            let file = place.path(of: companion)
            // A database and the files that belong to it are replaced as a unit. Those of one that is elsewhere, or
            // whose key is being changed, stay.
            guard Self.exists(file), !(companion.isPublished && Self.exists(place.path)) else { continue }
            let hasSlots = [CompanionFile.keys, .nextKeys, .newKeys].contains(companion)
            let feature = hasSlots ? "key slots" : "a plaintext header"
            throw Failure(
                .other, file: file,
                "it belongs to a database with \(feature), and is not replaced; nothing was changed",
                remedy: "Choose another name, or move that database and this file away")
        }
        if let present = FileIdentity(place.path), !present.isRegular {
            throw Failure(
                .other, file: place.name, "it is not a file, and is not replaced; nothing was changed",
                remedy: "Choose another name")
        }
        if replaces { try place.requireUnused() }
    }

    /// The files of a former database that do not keep the new one from replacing it.
    private var replaced: [String] { CompanionFile.withState.filter { !$0.isNeeded }.map(place.path(of:)) }

    private static func taken(_ path: String) -> Failure {
        Failure(
            .other, file: path, "it exists already; nothing was changed",
            remedy: "Choose another name, or give --force to replace it")
    }

    // MARK: - Publishing

    private func publish(from folder: WorkFolder) throws {
        let sidecars = CompanionFile.allCases.filter(\.isPublished).map { $0.path(of: folder.database) }
        for file in [folder.database] + sidecars.filter(Self.exists) { try makePrivate(file) }
        do {
            let isReplacing = replaces && Self.exists(place.path)
            try DatabaseFile.rename(
                folder.database, to: place.path, by: isReplacing ? { try replace(from: folder) } : nil)
        } catch let error as DatabaseError {
            throw error.reason == .fileExists ? Self.taken(place.name) : Failure(error, file: place.name)
        }
        let error = Place.syncFolder(of: place.path)
        if error != 0 { throw unsynced(error) }
    }

    private func replace(from folder: WorkFolder) throws {
        try place.requireUnused()
        let companions = replaced
        try folder.moveAside(companions)
        guard rename(folder.database, place.path) != 0 else { return }
        let number = errno
        folder.putBack(companions)
        throw Failure(
            errno: number, file: place.name, "it cannot be replaced", state: "it is as it was",
            remedy: "Check the permissions of its folder, or choose another name")
    }

    /// Makes a new file readable by its owner only, whatever the mode of the original.
    private func makePrivate(_ file: String) throws {
        guard chmod(file, 0o600) == 0 else {
            throw Failure(
                errno: errno, file: place.name, "its mode cannot be set to that of a private file",
                remedy: "Choose a folder in another file system")
        }
    }

    private func unsynced(_ number: Int32) -> Failure {
        Failure(
            errno: number, file: place.name, "its folder cannot be written to the disk",
            state: "the file is complete, but a power failure may lose it",
            remedy: "Check the disk, or copy the file")
    }

    private static func isTooLong(_ path: String) -> Bool { !exists(path) && errno == ENAMETOOLONG }

    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}
