import Foundation
import Testing

@Suite("Key slots from end to end")
struct KeySlotSessionTests {
    /// `scripts/measure/key-slots` does it with 1 GB.
    @Test(
        "A passphrase changes while the stock shell writes with the exported key, and nothing is lost",
        .timeLimit(.minutes(2)))
    func session() async throws {
        let strongroom = try Program(built: "strongroom"), script = "scripts/measure/key-slots"
        var program = try Program("bash")
        program.arguments = [
            Program.packageFolder.appendingPathComponent(script).path, "--built",
            strongroom.executable.deletingLastPathComponent().path, "2",
        ]
        let outcome = try await program.run()
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.hasSuffix("the old passphrase does not\n"), "\(outcome)")
    }
}
