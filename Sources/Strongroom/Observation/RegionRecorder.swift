/// Gathers what the statements of a connection read, while somebody wants to know.
final class RegionRecorder: ConnectionPart {
    private unowned let database: Database

    init(_ database: Database) {
        self.database = database
    }

    /// What was read so far; nil while nobody wants to know.
    @exclusivity(unchecked) var region: DatabaseRegion? {
        didSet { if (region == nil) != (oldValue == nil) { database.parts.update() } }
    }

    var concerns: PartConcerns { region == nil ? [] : [.reads, .effects] }

    func willRun(_ statement: Statement, in db: Database) {
        if region != nil { region?.formUnion(db.observedRegion(of: statement)) }
    }
}
