import Strongroom

// rotate --data-key: every page of a database with key slots gets a new key, and no passphrase changes.

extension Rotate {
    func renewDataKey() throws {
        let file = files[0], target = try Target(file, format)
        try target.requireEncrypted()
        guard target.inspection.hasKeyFile else { throw Failure(reason: .unfitKeySlots, file: file)! }
        let secret = try passphrase.secret(opening: target)
        let kept = try [secret.key] + keepFile.map { try SecretSource.file($0).read("", option: "keep-file").key }
        let dropped = try attributing(to: file, opening: secret) {
            try target.reading(secret) { try $0.keySlots().slots(notOpenedBy: kept) }
        }
        guard dropOtherSlots || dropped.isEmpty else { throw refusal(file, dropped) }
        try Room(for: target).require(for: file)
        let outcome = try rotate(target, secret, kept)
        let members: [(String, JSON)] = [
            ("outcome", .text("rotated")), ("changed", .text("pages")), ("bytes", .integer(target.inspection.size)),
            ("droppedSlots", .list(dropped.map(\.json))), ("formerKeyRemains", .bool(outcome != .complete)),
        ]
        let status: Status = outcome == .complete ? .done : .formerKeyRemains
        try output.done(Self.self, file, members, status: status, text: """
            \(file): every page has a new key, and was checked.\(words(dropped)) \(words(outcome))
            """)
        if status != .done { throw ReportedError(status: status) }
    }

    private func rotate(_ target: Target, _ secret: Secret, _ kept: [DatabaseKey]) throws -> RotationOutcome {
        let display = ProgressDisplay(
            "rotating", files: [(target.name, target.inspection.size)], progress, quiet: output.quiet)
        defer { display.clear() }
        return try Interruption.deferred { interruption in
            try target.writing(secret, interruption) { queue in
                try queue.rotateKey(.keeping(kept, droppingOthers: dropOtherSlots)) { done in
                    try interruption.check()
                    display.show(target.name, done)
                }
            }
        }
    }

    private func refusal(_ file: String, _ dropped: [KeySlot]) -> Failure {
        Failure(.other, file: file, "these slots would be dropped: \(names(dropped)); nothing was changed",
                details: [("droppedSlots", .list(dropped.map(\.json)))],
                remedy: "Give their secrets with --keep-file, or allow it with --drop-other-slots")
    }

    private func words(_ outcome: RotationOutcome) -> String {
        switch outcome {
        case .complete: "Former key files do not open it."
        case .formerKeyRemains: """
            Another program still reads pages of the former key. The next opening after that program is done removes \
            them.
            """
        case .unfinished: """
            What is left of the former key could not be removed, because a file could not be written. Make room and \
            check the permissions: the next opening removes it.
            """
        }
    }

    private func words(_ dropped: [KeySlot]) -> String {
        dropped.isEmpty ? "" : " \(counted(dropped.count, "slot")) dropped: \(names(dropped))."
    }

    private func names(_ slots: [KeySlot]) -> String { slots.map { "\($0.id) (\($0.label))" }.joined(separator: ", ") }
}
