/// A recorder of the region that the statements of a connection read.
final class RegionRecorder: ConnectionPart {
    private unowned let database: Database

    init(_ database: Database) {
        self.database = database
    }

    /// The region that was read since the recording began. Nil if none is in progress.
    private var region: DatabaseRegion?

    var concerns: PartConcerns { region == nil ? [] : [.reads, .effects] }

    func willRun(_ statement: Statement, in db: Database) {
        if region != nil { add(db.observedRegion(of: statement)) }
    }

    /// Begins a recording, and returns the outer one.
    func begin() -> DatabaseRegion? {
        replace(with: DatabaseRegion())
    }

    /// Adds a region to the recording, in place: a copy for each statement would make long recordings quadratic.
    func add(_ other: DatabaseRegion) {
        region?.formUnion(other)
    }

    /// Ends a recording, returns its region, and continues the outer one.
    func end(resuming outer: DatabaseRegion?) -> DatabaseRegion {
        replace(with: outer) ?? DatabaseRegion()
    }

    private func replace(with newRegion: DatabaseRegion?) -> DatabaseRegion? {
        let former = region
        region = newRegion
        if (former == nil) != (newRegion == nil) { database.parts.update() }
        return former
    }
}
