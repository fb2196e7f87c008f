/// One replicator at a time writes to a destination. The object that says which one can't be changed and read in one
/// step at every service, so that two can begin in the same moment: each one looks again, and all but the last one end.
extension Shipper {
    /// Throws while another replicator is at work.
    func requireUnclaimed() throws {
        guard let other = try foundClaim(), other.signer != state.key.signer, try isAtWork(other) else { return }
        throw superseded(other, "it was not begun")
    }

    func claim(_ lineage: Lineage.ID) throws {
        try destination.put(ObjectNames.claim, try claim(lineage, hasEnded: false).signed(by: state.key))
    }

    /// Throws if another replicator has begun since, or another run with a copy of the state.
    func confirmClaim() throws {
        guard let lineage else { return }
        guard let found = try foundClaim() else { return try claim(lineage) }
        guard found.run == run else { throw superseded(found, "this one has ended") }
    }

    /// Lets another replicator begin immediately.
    func endClaim() throws {
        guard let lineage, let found = try foundClaim(), found.run == run else { return }
        try destination.put(ObjectNames.claim, try claim(lineage, hasEnded: true).signed(by: state.key))
    }

    private func claim(_ lineage: Lineage.ID, hasEnded: Bool) -> Claim {
        Claim(
            signer: state.key.signer, lineage: lineage, run: run, time: currentMilliseconds(), hasEnded: hasEnded)
    }

    /// What is no claim counts as none: anyone who can write to the destination can put it there.
    private func foundClaim() throws -> Claim? { try destination.get(ObjectNames.claim).flatMap { try? Claim($0) } }

    /// True if something was heard of the other replicator, by the clocks of both machines.
    private func isAtWork(_ other: Claim) throws -> Bool {
        guard !other.hasEnded else { return false }
        let bytes = try destination.get(ObjectNames.head(other.lineage))
        let head = bytes.flatMap { try? Head($0, signer: other.signer) }
        return [other.time, head?.time].compactMap { $0 }.contains {
            abs(currentMilliseconds() - $0) < settings.claimLifetime
        }
    }

    private func superseded(_ other: Claim, _ consequence: String) -> ReplicaError {
        let remedy =
            other.signer == state.key.signer
            ? "It uses a copy of this state folder: give it one of its own, and another destination."
            : "Give each a destination of its own. If the other one is gone, begin again in three minutes."
        return ReplicaError(
            .superseded, destination.name,
            "another replicator writes there, signed by \(other.signer); \(consequence). \(remedy)")
    }
}
