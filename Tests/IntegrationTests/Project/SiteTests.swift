import Foundation
import TestSupport
import Testing

/// The pictures of the documentation, and its static site.
@Suite("The site of the documentation")
struct SiteTests {
    @Test(
        "The site of the documentation opens in a browser: pages, links, pictures",
        .enabled(if: Form.isWhole, "scripts/test --all builds it"))
    func browser() async throws {
        let check = Program(script: "check/site")
        let outcome = try await RunningProgram(check.executable, check.arguments, patience: 3600).outcome()
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains("check site: no problems"))
    }

    @Test("The site of the documentation shows the figures of the tables in the picture of the first page")
    func picture() async throws {
        let scratch = try TemporaryFolder()
        let outcome = try await Program(script: "measure/speed-picture", scratch.path("speed.svg")).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let committed = Program.packageFolder.appendingPathComponent(
            "Sources/Strongroom/Strongroom.docc/Resources/speed.svg")
        #expect(scratch.text("speed.svg") == (try String(contentsOf: committed, encoding: .utf8)))
    }
}
