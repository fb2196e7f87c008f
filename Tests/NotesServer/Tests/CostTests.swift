import Foundation
import Testing

@Suite("Metrics")
struct CostTests {
    @Test("cost a read of one row three percent at most")
    func cost() throws {
        let folder = try NotesFolder()
        // Noise only adds: one of three runs without it is enough.
        let costs = try (0..<3).map { _ in
            let place = folder.path + "/" + UUID().uuidString
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            let program = try RunningProgram("InstrumentCost", [place])
            let cost = try program.awaitLine("metrics ")
            _ = try program.awaitLine("spans ")
            print(program.lines.value.joined(separator: ", "))
            return try #require(Double(cost.split(separator: " ")[0]))
        }
        #expect(costs.min()! <= 3, "\(costs)")
    }
}
