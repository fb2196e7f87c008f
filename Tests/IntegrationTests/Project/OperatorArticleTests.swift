import Foundation
import TestSupport
import Testing

@testable import StrongroomCLI

/// The article that an operator follows from a new database to a rebuilt machine, block by block.
@Suite("The article on a lost machine")
struct OperatorArticleTests {
    private let scratch: TemporaryFolder
    init() throws { scratch = try TemporaryFolder() }

    private static func blocks() throws -> [String] {
        let article = Program.packageFolder.appendingPathComponent(
            "Sources/Strongroom/Strongroom.docc/Operators/ALostMachine.md")
        return try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```").enumerated()
            .filter { $0.offset % 2 == 1 && $0.element.hasPrefix("sh\n") }.map { String($0.element.dropFirst(3)) }
    }

    /// The commands of the article run as they stand there, with these differences: backups have the date of a
    /// simulated day, secrets are cheap to derive, and copies are verified on every tenth day.
    private func prologue() throws -> String {
        """
        set -e
        cd '\(scratch.path)'
        program='\(try Program(built: "strongroom").executable.path)'
        strongroom() {
            case "$1 $2" in
            "create "* | "key passwd") set -- "$@" --cost 14 ;;
            "backup "*)
                [ -z "$day" ] || set -- "$@" --time "$day"
                [ $((${number:-0} % 10)) = 0 ] || set -- $(unverified "$@") ;;
            esac
            "$program" "$@"
        }
        unverified() {
            for word; do
                case $word in --verify | --former-passphrase-file | former-passphrase) ;; *) echo "$word" ;; esac
            done
        }

        """
    }

    /// One simulated day: the service writes a row, and the nightly line runs.
    private static func day(_ number: Int, of count: Int, _ nightly: String) -> String {
        let date = Date().addingTimeInterval(Double(number - count) * 86_400).formatted(.iso8601)
        return """
            number=\(number) day=\(date)
            strongroom query app.db --write "INSERT INTO entry VALUES ('$day')" --passphrase-file passphrase > /dev/null
            \(nightly)

            """
    }

    @Test("The article on a lost machine is followed through a month with rotations, a loss and two restores")
    func month() async throws {
        let blocks = try Self.blocks()
        try #require(blocks.count == 11)
        let renewal = try #require(blocks[3].split(separator: "\n").last)
        var script = try prologue() + blocks[0]
        for day in 1...12 { script += Self.day(day, of: 30, blocks[1]) }
        script += "day=\n" + blocks[3]
        for day in 13...20 { script += Self.day(day, of: 30, blocks[4]) }
        script += "day=\n\(renewal)\n"
        for day in 21...30 { script += Self.day(day, of: 30, blocks[4]) }
        script += "day= number=0\n" + blocks[2] + "ls backups > copies\n"
        func count(_ database: String, _ passphrase: String, _ file: String) -> String {
            """
            strongroom query \(database) 'SELECT count(*) FROM entry' --output csv \\
                --passphrase-file \(passphrase) > \(file)

            """
        }
        script += blocks[5] + blocks[6] + blocks[7] + count("app.db", "passphrase", "newest")
        script += blocks[8] + count("then.db", "former-passphrase", "oldest")
        script += blocks[9] + blocks[10]
        let outcome = try await Program("sh", "-c", script).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(scratch.text("newest").contains("30") && scratch.text("oldest").hasSuffix("\n1\n"))
        // Seven days, and of the weeks and months before them one each; the month began with the oldest copy.
        #expect((10...13).contains(scratch.text("copies").split(separator: "\n").count))
        #expect(outcome.output.contains("current") && outcome.output.contains("former"))
        #expect(!outcome.errors.contains("no given key"))
    }
}
