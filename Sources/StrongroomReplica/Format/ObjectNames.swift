/// The names of objects. They sort by position.
enum ObjectNames {
    static let folderOfPoints = "points/"
    static let folderOfFullPoints = "full/"
    static let folderOfParts = "parts/"
    static let folderOfSeals = "seals/"

    /// The replicator that writes to the destination.
    static let claim = "writer"

    static func lineage(_ id: Lineage.ID) -> String { "\(id)/lineage" }
    static func head(_ id: Lineage.ID) -> String { "\(id)/head" }

    static func seal(_ id: Lineage.ID, _ position: UInt64) -> String { "\(id)/\(folderOfSeals)\(digits(position))" }

    static func digits(_ position: UInt64) -> String {
        let text = String(position)
        return String(repeating: "0", count: max(0, 16 - text.count)) + text
    }

    static func part(_ id: Lineage.ID, _ position: UInt64, _ digest: Digest) -> String {
        "\(id)/\(folderOfParts)\(digits(position)).\(digest)"
    }
}

/// What the name of a point says about it. The description proves it.
struct PointName: Hashable, Sendable {
    var lineage: Lineage.ID
    var isFull: Bool
    var position: UInt64
    var time: Int64
    var generation: UInt32
    /// The first half of the digest of its description.
    var digest: String

    init(_ point: Point, _ digest: Digest) {
        lineage = point.lineage
        isFull = point.kind == .full
        (position, time, generation) = (point.position, point.time, point.generation)
        self.digest = digest.short
    }

    var name: String {
        let folder = isFull ? ObjectNames.folderOfFullPoints : ObjectNames.folderOfPoints
        return "\(lineage)/\(folder)\(ObjectNames.digits(position)).\(time).\(generation).\(digest)"
    }

    init?(_ name: String) {
        let folders = name.split(separator: "/", omittingEmptySubsequences: false)
        guard folders.count == 3, let lineage = Lineage.ID(folders[0]) else { return nil }
        switch folders[1] + "/" {
        case ObjectNames.folderOfPoints[...]: isFull = false
        case ObjectNames.folderOfFullPoints[...]: isFull = true
        default: return nil
        }
        let words = folders[2].split(separator: ".", omittingEmptySubsequences: false)
        guard words.count == 4, let position = UInt64(words[0]), let time = Int64(words[1]),
            let generation = UInt32(words[2]), words[3].count == 32
        else { return nil }
        self.lineage = lineage
        (self.position, self.time, self.generation) = (position, time, generation)
        digest = String(words[3])
    }
}
