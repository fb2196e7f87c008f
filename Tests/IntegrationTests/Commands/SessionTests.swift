import Foundation
import TestSupport
import Testing

/// A session of forty commands, as of a user who gets to know the program.
///
/// The transcript is `Tests/Transcripts/session.txt`: each line after `$` is typed, what follows is shown, and … stands
/// for what differs from machine to machine.
@Suite("A session with strongroom")
struct SessionTests {
    struct Step: Sendable, CustomStringConvertible {
        var line: String
        var shown: String
        var description: String { line }
    }

    static let transcript = Program.packageFolder.appendingPathComponent("Tests/Transcripts/session.txt")

    static func steps() throws -> [Step] {
        try String(contentsOf: transcript, encoding: .utf8).components(separatedBy: "\n$ ").compactMap { part in
            let lines = part.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            let line = lines[0].hasPrefix("$ ") ? lines[0].dropFirst(2) : lines[0]
            return line.isEmpty ? nil : Step(line: String(line), shown: lines.count > 1 ? String(lines[1]) : "")
        }
    }

    @Test("A session with strongroom reads as its transcript says")
    func session() async throws {
        let scratch = try TemporaryFolder(), program = try Program(built: "strongroom").executable.path,
            steps = try Self.steps()
        #expect(steps.count { $0.line.contains("strongroom ") } >= 40)
        for step in steps {
            let outcome = try await Program(
                "sh", "-c",
                "exec 2>&1; strongroom() { '\(program)' \"$@\"; }; cd '\(scratch.path)'; \(step.line)"
            ).run()
            let shown = outcome.output + (outcome.status == 0 ? "" : "[exit status \(outcome.status)]\n")
            #expect(Self.matches(shown, step.shown), "$ \(step.line)\n\(shown)")
        }
    }

    /// Returns true if the pieces between the marks of omission follow one another.
    static func matches(_ shown: String, _ expected: String) -> Bool {
        let shown = shown.trimmingCharacters(in: .newlines),
            pieces = expected.trimmingCharacters(in: .newlines).components(separatedBy: "…")
        guard pieces.count > 1 else { return shown == pieces[0] }
        var rest = shown[...]
        for (index, piece) in pieces.enumerated() {
            guard let found = piece.isEmpty ? rest.startIndex..<rest.startIndex : rest.range(of: piece),
                index > 0 || found.lowerBound == rest.startIndex
            else { return false }
            rest = rest[found.upperBound...]
        }
        return pieces.last!.isEmpty || rest.isEmpty
    }
}
