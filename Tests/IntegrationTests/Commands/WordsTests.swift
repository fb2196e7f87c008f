import Testing

@testable import StrongroomCLI

@Suite("Figures and words")
struct WordsTests {
    @Test("A bar fits the terminal, whatever its width", arguments: [1, 20, 40, 80, 200])
    func barWidth(_ columns: Int) {
        for percentage in [0, 50, 100] {
            let bar = ProgressBar(label: "rotating 12 databases", percentage: percentage, elapsed: 30, columns: columns)
                .description
            #expect(bar.count < columns || columns <= 1 && bar.isEmpty)
        }
    }

    @Test("A bar is filled as far as the work is done")
    func barFill() {
        let bar = ProgressBar(label: "rotating", percentage: 25, elapsed: 0, columns: 80).description
        #expect(bar == "rotating [##########------------------------------] 25 %")
    }

    @Test("A bar says how long it will take when there is something to reckon with")
    func barRest() {
        #expect(
            ProgressBar(label: "r", percentage: 25, elapsed: 10, columns: 80).description.hasSuffix(
                "25 %, about 30 s left"))
        #expect(ProgressBar(label: "r", percentage: 1, elapsed: 10, columns: 80).description.hasSuffix(" 1 %"))
        #expect(ProgressBar(label: "r", percentage: 25, elapsed: 0.5, columns: 80).description.hasSuffix(" 25 %"))
    }

    @Test(
        "Durations are printed in words",
        arguments: [(0.2, "1 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (9000, "2.5 h")])
    func durations(_ seconds: Double, _ words: String) { #expect(duration(seconds) == words) }

    @Test(
        "Sizes are printed in the largest fitting unit",
        arguments: [
            (Int64(4096), "4096 bytes"), (40_960, "40 kB"), (3_067_904, "3.1 MB"), (81_424_941_056, "81.4 GB"),
        ])
    func sizes(_ bytes: Int64, _ words: String) { #expect(megabytes(bytes) == words) }

    @Test(
        "A word for the shell is quoted when it must be",
        arguments: [
            ("/tmp/a-b_c.db", "/tmp/a-b_c.db"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''"),
            ("$HOME", "'$HOME'"),
        ])
    func quoting(_ text: String, _ quoted: String) { #expect(shellQuoted(text) == quoted) }

    @Test(
        "JSON keeps any text",
        arguments: [
            ("a\"b\\c\n\u{1}", #""a\"b\\c\n\u0001""#), ("Shōnagon", "\"Shōnagon\""),
        ])
    func json(_ text: String, _ line: String) { #expect(JSON.text(text).line == line) }
}
