import ArgumentParser
import Strongroom

struct Rotate: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Change the passphrase of encrypted databases.",
        discussion: help(
            """
            The command encrypts every page with a new key, opens the result with the new passphrase, and checks \
            it. Other programs may use a database meanwhile. At every moment exactly one of the two passphrases \
            opens it.

            After an interruption, run the same command again: it finishes the rotation or begins it again. Files \
            that the new passphrase opens count as done.

            A database with key slots gets the new passphrase in the slot of the old one, and no page is written. \
            --data-key re-encrypts every page, for the slot of the passphrase and those of --keep-file. Other slots \
            are dropped with --drop-other-slots only. --slots gives slots to a database that has none, and --no-slots \
            takes them away: every page is re-encrypted, and the passphrase stays, unless a new one is given.

            Before the first change, the command opens each file, checks the free space (about the size of the largest \
            files, as many as there are jobs), and looks for programs that write to it. A file that fails keeps its \
            passphrase, and the others go on.

            If another program reads pages of the old passphrase, these can't be removed, and the exit status is 15. \
            The same command removes them later; --wait waits for the program.

            The exit status of several files is 0 if all are done, 130 after an interruption, that of the failures if \
            they agree, and 1 otherwise.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull, .formerKeyRemains, .interrupted]))

    static let examples = [
        (line: "strongroom rotate notes.db", what: "asks for the old passphrase and, twice, for the new one"),
        (
            line: "strongroom rotate --dry-run *.db --passphrase-file old --new-passphrase-file new",
            what: "predicts what the next line will do"
        ),
        (line: "strongroom rotate --slots notes.db", what: "gives key slots to a database that has none"),
        (
            line: "strongroom rotate --jobs 4 *.db --passphrase-file old --new-passphrase-file new",
            what: "rotates them, four at a time"
        ),
    ]

    @Argument(help: ArgumentHelp("Encrypted databases with one passphrase.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "New key options") var newPassphrase: NewPassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Slot options") var slot: SlotOptions
    @OptionGroup(title: "Output options") var progress: ProgressOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Option(help: ArgumentHelp("Rotate this many files at the same time.", valueName: "n"))
    var jobs = 1

    @Flag(
        help: ArgumentHelp(
            """
            Check keys, pages, free space and other programs, and predict the outcome and the time. Change nothing. \
            The exit status is that of the real run.
            """))
    var dryRun = false

    @Flag(help: "Wait for programs that still read pages of the old passphrase.")
    var wait = false

    @Flag(help: "Renew the data key of a database with key slots. The passphrase stays.")
    var dataKey = false

    @Option(
        help: ArgumentHelp("With --data-key, also keep the slot whose secret is in this file.", valueName: "file"),
        completion: .file())
    var keepFile: [String] = []

    @Flag(help: "With --data-key, drop the slots whose secrets were not given.")
    var dropOtherSlots = false

    @Flag(
        inversion: .prefixedNo, exclusivity: .exclusive,
        help: "Give key slots to a database that has none, or take them away."
    )
    var slots: Bool?

    var database: String? { files.count == 1 ? files[0] : nil }

    func validate() throws {
        let sources = [try? passphrase.source, try? newPassphrase.source]
        guard sources.contains(where: { $0?.isStandardInput != true }) else {
            throw ValidationError("Standard input holds one key: take the other from elsewhere.")
        }
        guard dataKey || keepFile.isEmpty && !dropOtherSlots else {
            throw ValidationError("--keep-file and --drop-other-slots go with --data-key.")
        }
        guard !dataKey || files.count == 1 && !newPassphrase.isGiven else {
            throw ValidationError("--data-key goes with one database, without a new passphrase.")
        }
        guard slots == nil || files.count == 1 && !dataKey else {
            throw ValidationError("--slots and --no-slots go with one database, without --data-key.")
        }
        try slot.validate(besides: slots == true)
        guard (1...256).contains(jobs) else { throw ValidationError("--jobs is a number from 1 to 256.") }
        guard files.count == 1 || format.saltFile == nil else {
            throw ValidationError("--salt-file goes with one database: each has a salt of its own.")
        }
    }

    func run() throws {
        if dataKey { return try renewDataKey() }
        if let slots { return try slots ? createSlots() : removeSlots() }
        var run = RotationRun(files, format, jobs: jobs)
        guard run.hasFound else { return try report(run, nil, isReported: false) }
        let current = try check(&run)
        var keys = try RotationKeys(old: current)
        // A wrong passphrase is reported before the new one is typed, unless the new one may already apply.
        let isNewAsked = run.hasUnopenedPending || newPassphrase.isKnown && (run.hasUnopened || run.hasChecked)
        guard isNewAsked || run.hasChecked && !dryRun, run.status != .interrupted else {
            return try report(run, keys, isReported: false)
        }
        let secret = try newPassphrase.new(for: run.name)
        guard !secret.hasSameBytes(as: current) else {
            throw Failure(
                .other, file: run.isSingle ? run.name : nil,
                "the new \(secret.shortNoun) is the one in use; nothing was changed",
                remedy: "Give another one")
        }
        try keys.add(new: secret)
        if dryRun {
            try Interruption.deferred { run.predict(keys, waits: wait, $0) }
        } else {
            warn(run, keys)
            try rotateAll(&run, keys)
        }
        try report(run, keys, isReported: !dryRun)
    }

    /// Asks for the key and checks the databases with it. A typed key that opens none may be typed again, unless the
    /// new one may open it.
    private func check(_ run: inout RotationRun) throws -> GivenSecret {
        let found = run
        return try passphrase.unlocking(run.name) { secret, isLast in
            run = found
            let keys = try RotationKeys(old: secret)
            try Interruption.deferred { run.check(keys, isDry: dryRun, waits: wait, $0) }
            if !isLast, !run.hasUnopenedPending, let refusal = run.refusalOfAll { throw refusal }
            return secret
        }
    }

    private func warn(_ run: RotationRun, _ keys: RotationKeys) {
        for warning in run.steps.compactMap({
            RotationReport(step: $0, keys: keys).warning
        }) { Console.warning(warning) }
    }

    private func rotateAll(_ run: inout RotationRun, _ keys: RotationKeys) throws {
        let display = ProgressDisplay(
            run.isSingle ? "rotating" : "rotating \(run.name)",
            files: run.steps.filter { $0.plan != nil }.map {
                ($0.file, $0.target!.inspection.size)
            }, progress, quiet: output.quiet)
        let isReported = !run.isSingle && !output.json, isQuiet = output.quiet
        try Interruption.deferred { interruption in
            run.rotate(keys, waits: wait, interruption, display) { step in
                guard isReported else { return }
                if let failure = step.failure {
                    display.say("strongroom: \(failure)")
                } else if let text = RotationReport(step: step, keys: keys).text, !isQuiet || step.status != .done {
                    display.say(text)
                }
            }
            display.clear()
        }
    }

    // MARK: - The outcome

    /// Prints the outcomes, and ends the command with their status.
    ///
    /// - parameter isReported: true if each of several files was reported when it was done.
    private func report(_ run: RotationRun, _ keys: RotationKeys?, isReported: Bool) throws {
        // The estimate is optional in a dry run.
        let estimate = dryRun ? try? estimate(run) : nil
        let reports = run.steps.map { RotationReport(step: $0, keys: keys, estimate: estimate, isDry: dryRun) }
        guard !run.isSingle else { return try reportSingle(reports[0]) }
        if output.json {
            try Console.output(
                JSON.object(
                    OutputOptions.head(Self.self, nil, run.status) + [
                        ("files", .list(reports.map(\.json))),
                        ("done", .count(run.steps.count { $0.failure == nil })),
                        ("failed", .count(run.steps.count { $0.failure != nil })),
                    ]
                ).line)
        } else {
            list(reports, keys, isReported: isReported)
        }
        if run.status != .done { throw ReportedError(status: run.status) }
    }

    private func reportSingle(_ report: RotationReport) throws {
        if let failure = report.step.failure { throw failure }
        let status = report.step.status
        try output.done(Self.self, report.step.file, report.members, status: status, text: report.text ?? "")
        guard status != .done else { return }
        if output.quiet { Console.message(report.text ?? "") }
        throw ReportedError(status: status)
    }

    /// Prints the outcomes that were not printed before, and the totals.
    private func list(_ reports: [RotationReport], _ keys: RotationKeys?, isReported: Bool) {
        for report in reports where !isReported {
            if let failure = report.step.failure {
                Console.message("strongroom: \(failure)")
            } else if let text = report.text, !output.quiet || report.step.status != .done {
                Console.message(text)
            }
        }
        guard !output.quiet else { return }
        let seconds = reports.compactMap(\.seconds).reduce(0, +)
        let work = seconds > 0 ? "; about \(duration(seconds)) of work, one after the other" : ""
        Console.message("\(counted(reports.count, "database")): \(sums(reports, keys))\(work).")
    }

    private func sums(_ reports: [RotationReport], _ keys: RotationKeys?) -> String {
        let withNew = "with the new \(keys?.newNoun ?? "passphrase")"
        let statuses = reports.map { $0.step.failure?.status ?? .done }
        let done = statuses.count { $0 == .done }, interrupted = statuses.count { $0 == .interrupted }
        let planned = reports.count { $0.step.plan != nil }
        var text = dryRun ? "\(planned) can be rotated" : "\(done) \(withNew)"
        if dryRun, done > planned { text += ", \(done - planned) \(withNew) already" }
        text += ", \(reports.count - done - interrupted) failed"
        if interrupted > 0 { text += ", \(interrupted) interrupted or not begun" }
        return text
    }

    private func estimate(_ run: RotationRun) throws -> Estimate? {
        try run.steps.first { $0.plan != nil }.map { try Estimate($0.target!.settings) }
    }
}
