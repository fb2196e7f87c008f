import Strongroom

/// The outcome of a command for one of several files.
struct FileReport {
    let file: String
    var members: [(String, JSON)] = []
    var failure: Failure?

    /// The JSON of one of several files.
    var json: JSON {
        let status = failure?.status ?? .done
        let head: [(String, JSON)] = [("file", .text(file)), ("status", .integer(Int64(status.rawValue)))]
        return .object(head + (failure?.members ?? []) + members)
    }
}

/// The databases of a command, which it processes one after the other with one key.
struct SeveralFiles {
    let names: [String]
    private let targets: [Result<Target, Failure>]

    /// - parameter requirement: throws for unsuitable databases, before a key is asked for.
    init(_ names: [String], _ format: FormatOptions, _ requirement: (Target) throws -> Void) throws {
        guard names.count == 1 || format.saltFile == nil else {
            throw Failure(
                .usage, "--salt-file goes with one database: each has a salt of its own; nothing was changed",
                remedy: "Run the command once for each")
        }
        self.names = OpenElsewhere.withoutDuplicates(names)
        targets = self.names.map { name in
            do {
                let target = try Target(name, format)
                try requirement(target)
                return .success(target)
            } catch {
                return .failure(Failure(any: error, file: name))
            }
        }
    }

    /// Runs `body` on each database, with the key if one is needed. A failure is printed immediately and does not
    /// affect the next one.
    func report(
        _ passphrase: PassphraseOptions, isKeyWanted: Bool = true, isReading: Bool = true,
        _ body: (Target, GivenSecret?) throws -> FileReport
    ) throws -> [FileReport] {
        let locked = targets.compactMap { try? $0.get() }.filter { isKeyWanted && !$0.isClear }
        let name = names.count == 1 ? names[0] : counted(names.count, "database")
        let secret = try locked.isEmpty ? nil : passphrase.secret(opening: locked, as: name)
        var isInterrupted = false
        return try zip(names, targets).map { name, target in
            if isInterrupted { return FileReport(file: name, failure: .notBegun(name)) }
            var report: FileReport
            do {
                report = try body(target.get(), secret)
            } catch let reported as ReportedError {
                throw reported
            } catch {
                report = FileReport(file: name, failure: Failure(any: error, file: name))
            }
            if isReading { report.failure = report.failure?.withoutState }
            if let failure = report.failure, names.count > 1 { Console.message("strongroom: \(failure)") }
            isInterrupted = report.failure?.status == .interrupted
            return report
        }
    }
}

extension PassphraseOptions {
    /// Returns the common key of the databases. A typed key must open one of them, and may be typed
    /// three times.
    func secret(opening targets: [Target], as name: String) throws -> GivenSecret {
        guard try source.isTerminal else { return try current(of: name) }
        return try unlocking(name) { secret, _ in
            var refusal: Failure?
            for target in targets {
                do {
                    try target.reading(secret) { _ in }
                    return secret
                } catch let failure as Failure where failure.status == .wrongKey {
                    refusal = refusal ?? failure
                } catch {
                    // The actual opening reports other errors.
                    return secret
                }
            }
            throw refusal!
        }
    }

    func secret(opening target: Target) throws -> GivenSecret { try secret(opening: [target], as: target.name) }
}

extension OutputOptions {
    /// Ends a command on one or several files: throws a single failure, or prints a summary.
    func end(
        _ command: any Reporting.Type, _ reports: [FileReport],
        _ summary: (_ done: Int, _ failed: Int) -> String
    ) throws {
        if reports.count == 1 {
            if let failure = reports[0].failure { throw failure }
            if json { try done(command, reports[0].file, reports[0].members, text: "") }
            return
        }
        let status = Status.worst(of: reports.map { $0.failure?.status ?? .done })
        let failed = reports.count { $0.failure != nil }
        if json {
            try Console.output(
                JSON.object(
                    Self.head(command, nil, status) + [
                        ("files", .list(reports.map(\.json))), ("done", .count(reports.count - failed)),
                        ("failed", .count(failed)),
                    ]
                ).line)
        } else if !quiet {
            Console.message(counted(reports.count, "database") + ": " + summary(reports.count - failed, failed) + ".")
        }
        if status != .done { throw ReportedError(status: status) }
    }
}
