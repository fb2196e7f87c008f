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

            While another program reads pages of the old passphrase, those can't be removed: the exit status is 15, and the same command once \
            more removes them. With --wait this one stays until that program is done.
            """)

    @Argument(help: ArgumentHelp("Encrypted databases with one passphrase.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var newPassphrase: NewPassphraseOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var output: OutputOptions

    @Option(help: ArgumentHelp("How many files are worked on at the same time.", valueName: "n"))
    var jobs = 1

    @Flag(help: "Check the keys, the room and who else has the files open, say what would be done and how long it would take; change nothing.")
    var dryRun = false

    @Flag(help: "Wait for programs that still read pages of the old passphrase, so that nothing is left of it.")
    var wait = false

    func validate() throws {
        guard (1...256).contains(jobs) else { throw ValidationError("--jobs is a number from 1 to 256.") }
        guard files.count == 1 || format.saltFile == nil else {
            throw ValidationError("--salt-file goes with one database: each has a salt of its own.")
        }
    }

    func run() throws {
        var run = RotationRun(files, format, jobs: jobs)
        guard run.hasFound else { return try end(run, isTold: false) }
        let current = try passphrase.current(of: run.name), old = try current.key
        try Interruption.deferred { run.check(old, writing: !dryRun, $0) }
        // A wrong passphrase is told before anybody types a new one; unless the new one may have taken over already.
        let isWorthANewKey = run.hasChecked || run.hasUnopenedPending || run.hasUnopened && newPassphrase.isGiven
        guard !dryRun, isWorthANewKey, run.status != .interrupted else { return try end(run, isTold: false) }
        let secret = try newPassphrase.new(for: run.name), new = try secret.key
        guard !secret.hasSameBytes(as: current) else {
            throw Failure(.other, file: run.isSingle ? run.name : nil, "the new passphrase is the one in use; nothing was changed",
                          remedy: "Give another one")
        }
        warn(run)
        try rotate(&run, from: old, to: new)
        try end(run, isTold: true)
    }

    private func warn(_ run: RotationRun) {
        for warning in run.steps.compactMap({ RotationReport(step: $0).warning }) { Console.warning(warning) }
    }

    private func rotate(_ run: inout RotationRun, from old: DatabaseKey, to new: DatabaseKey) throws {
        let display = ProgressDisplay(
            run.isSingle ? "rotating" : "rotating \(run.name)",
            files: run.steps.filter { $0.plan != nil }.map { ($0.file, $0.target!.inspection.size) }, progress, quiet: output.quiet)
        let isTold = !run.isSingle && !output.json, isQuiet = output.quiet
        try Interruption.deferred { interruption in
            run.rotate(from: old, to: new, waits: wait, interruption, display) { step in
                guard isTold else { return }
                if let failure = step.failure {
                    display.say("strongroom: \(failure)")
                } else if let text = RotationReport(step: step).text, !isQuiet || step.status != .done {
                    display.say(text)
                }
            }
            display.clear()
        }
    }

    // MARK: - The outcome

    /// - parameter isTold: each of several files was spoken of when it was done.
    private func end(_ run: RotationRun, isTold: Bool) throws {
        // Without it, a dry run says all the rest.
        let estimate = dryRun ? try? estimate(run) : nil
        let reports = run.steps.map { RotationReport(step: $0, estimate: estimate) }
        guard !run.isSingle else { return try end(reports[0]) }
        if output.json {
            try Console.output(JSON.object(OutputOptions.head(Self.self, nil, run.status) + [
                ("files", .list(reports.map(\.json))),
                ("done", .count(run.steps.count { $0.failure == nil })), ("failed", .count(run.steps.count { $0.failure != nil })),
            ]).line)
        } else {
            tell(reports, isTold: isTold)
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
    private func tell(_ reports: [RotationReport], isTold: Bool) {
        if !isTold {
            for report in reports {
                if let failure = report.step.failure { Console.message("strongroom: \(failure)") }
                else if let text = report.text, !output.quiet { Console.message(text) }
            }
        }
        guard !output.quiet else { return }
        let failed = reports.count { $0.step.failure != nil }
        var text = "\(counted(reports.count, "database")): \(reports.count - failed) \(dryRun ? "can be rotated" : "with the new passphrase"), \(failed) failed"
        let seconds = reports.compactMap(\.seconds).reduce(0, +)
        if seconds > 0 { text += "; about \(duration(seconds)) of work, one after the other" }
        Console.message(text + ".")
    }

    private func estimate(_ run: RotationRun) throws -> Estimate? {
        try run.steps.first { $0.plan != nil }.map { try Estimate($0.target!.settings) }
    }
}
