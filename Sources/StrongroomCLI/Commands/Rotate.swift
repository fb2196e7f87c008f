import ArgumentParser
import Strongroom

struct Rotate: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Change the passphrase of encrypted databases.",
        discussion: """
            Every page is encrypted anew, and the result is opened with the new passphrase and checked before this \
            command says that it is done. At every moment exactly one of the two passphrases opens a file, whatever is \
            interrupted; the same command once more goes on from there: what was interrupted early is undone and begun \
            again, what was interrupted late is finished, and what the new passphrase opens already counts as done.

            Before the first change each file is opened, its disk asked for room (about the size of the largest files, as many as \
            there are jobs), and a program that writes to it met. Of several files each has an outcome of its own. The exit status \
            is 0 when all is done, 130 after an interruption, that of the failures when they agree, else 1.

            While another program reads pages of the old passphrase, those can't be removed: the exit status is 15, and the \
            same command once more removes them. With --wait this one stays until that program is done.

            A database with key slots gets the new passphrase in the slot of the old one, and no page is written. \
            --data-key encrypts every page of it anew, for the slot of the passphrase and those of --keep-file; other \
            slots are dropped with --drop-other-slots only.
            """)

    static let examples = [
        (line: "strongroom rotate notes.db", what: "asks for the old passphrase and, twice, for the new one"),
        (line: "strongroom rotate --dry-run *.db --passphrase-file old --new-passphrase-file new",
         what: "says what the next line will do"),
        (line: "strongroom rotate --jobs 4 *.db --passphrase-file old --new-passphrase-file new",
         what: "rotates them, four at a time"),
    ]

    @Argument(help: ArgumentHelp("Encrypted databases with one passphrase.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var newPassphrase: NewPassphraseOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var output: OutputOptions

    @Option(help: ArgumentHelp("How many files are worked on at the same time.", valueName: "n"))
    var jobs = 1

    @Flag(help: ArgumentHelp("""
        Check the keys, the pages, the room and who else has the files open, say what would be done and how long it \
        would take; change nothing. The exit status is that of the real run.
        """))
    var dryRun = false

    @Flag(help: "Wait for programs that still read pages of the old passphrase, so that nothing is left of it.")
    var wait = false

    @Flag(help: "Renew the data key of a database with key slots, and keep the passphrase.")
    var dataKey = false

    @Option(help: ArgumentHelp("With --data-key, keep the slot whose secret is in this file, too.", valueName: "file"),
            completion: .file())
    var keepFile: [String] = []

    @Flag(help: "With --data-key, drop the slots whose secrets were not given.")
    var dropOtherSlots = false

    var database: String? { files.count == 1 ? files[0] : nil }

    func validate() throws {
        let sources = [try? passphrase.source, try? newPassphrase.source]
        guard sources.contains(where: { $0?.isStandardInput != true }) else {
            throw ValidationError("Standard input holds one key: take the other from elsewhere.")
        }
        guard dataKey || keepFile.isEmpty && !dropOtherSlots else {
            throw ValidationError("--keep-file and --drop-other-slots go with --data-key.")
        }
        guard !dataKey || files.count == 1 && !newPassphrase.isGiven && !dryRun else {
            throw ValidationError("--data-key goes with one database, without a new passphrase and without --dry-run.")
        }
        guard (1...256).contains(jobs) else { throw ValidationError("--jobs is a number from 1 to 256.") }
        guard files.count == 1 || format.saltFile == nil else {
            throw ValidationError("--salt-file goes with one database: each has a salt of its own.")
        }
    }

    func run() throws {
        if dataKey { return try renewDataKey() }
        var run = RotationRun(files, format, jobs: jobs)
        guard run.hasFound else { return try end(run, nil, isTold: false) }
        let current = try check(&run)
        var keys = try RotationKeys(old: current)
        // A wrong passphrase is told before anybody types a new one; unless the new one may have taken over already.
        let isNewAsked = run.hasUnopenedPending || newPassphrase.isKnown && (run.hasUnopened || run.hasChecked)
        guard isNewAsked || run.hasChecked && !dryRun, run.status != .interrupted else { return try end(run, keys,
            isTold: false) }
        let secret = try newPassphrase.new(for: run.name)
        guard !secret.hasSameBytes(as: current) else {
            throw Failure(.other, file: run.isSingle ? run.name : nil,
                          "the new \(secret.shortNoun) is the one in use; nothing was changed",
                          remedy: "Give another one")
        }
        try keys.add(new: secret)
        if dryRun {
            try Interruption.deferred { run.foresee(keys, waits: wait, $0) }
        } else {
            warn(run, keys)
            try rotate(&run, keys)
        }
        try end(run, keys, isTold: !dryRun)
    }

    /// Asks for the key and checks with it. One that is typed and opens nothing may be typed again, unless the new one
    /// may open it.
    private func check(_ run: inout RotationRun) throws -> Secret {
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
        for warning in run.steps.compactMap({ RotationReport(step: $0,
            keys: keys).warning }) { Console.warning(warning) }
    }

    private func rotate(_ run: inout RotationRun, _ keys: RotationKeys) throws {
        let display = ProgressDisplay(
            run.isSingle ? "rotating" : "rotating \(run.name)",
            files: run.steps.filter { $0.plan != nil }.map { ($0.file,
                $0.target!.inspection.size) }, progress, quiet: output.quiet)
        let isTold = !run.isSingle && !output.json, isQuiet = output.quiet
        try Interruption.deferred { interruption in
            run.rotate(keys, waits: wait, interruption, display) { step in
                guard isTold else { return }
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

    /// - parameter isTold: each of several files was spoken of when it was done.
    private func end(_ run: RotationRun, _ keys: RotationKeys?, isTold: Bool) throws {
        // Without it, a dry run says all the rest.
        let estimate = dryRun ? try? estimate(run) : nil
        let reports = run.steps.map { RotationReport(step: $0, keys: keys, estimate: estimate, isDry: dryRun) }
        guard !run.isSingle else { return try end(reports[0]) }
        if output.json {
            try Console.output(JSON.object(OutputOptions.head(Self.self, nil, run.status) + [
                ("files", .list(reports.map(\.json))),
                ("done", .count(run.steps.count { $0.failure == nil })), ("failed",
                    .count(run.steps.count { $0.failure != nil })),
            ]).line)
        } else {
            tell(reports, keys, isTold: isTold)
        }
        if run.status != .done { throw Told(status: run.status) }
    }

    private func end(_ report: RotationReport) throws {
        if let failure = report.step.failure { throw failure }
        let status = report.step.status
        try output.done(Self.self, report.step.file, report.members, status: status, text: report.text ?? "")
        guard status != .done else { return }
        if output.quiet { Console.message(report.text ?? "") }
        throw Told(status: status)
    }

    /// What was not told on the way, and the sums.
    private func tell(_ reports: [RotationReport], _ keys: RotationKeys?, isTold: Bool) {
        for report in reports where !isTold {
            if let failure = report.step.failure { Console.message("strongroom: \(failure)") }
            else if let text = report.text, !output.quiet || report.step.status != .done { Console.message(text) }
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
