import ArgumentParser
import Strongroom

struct Info: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Show what can be known of a database without its key.")

    @Argument(help: "A database.", completion: .file())
    var file: String

    @OptionGroup var output: OutputOptions

    func run() throws {
        let inspection = try Target(file).inspection
        if output.json {
            output.done(Self.self, file, members(of: inspection), text: "")
            return
        }
        Console.output(InspectionText(file: file, inspection: inspection).description)
    }

    private func members(of inspection: DatabaseFile.Inspection) -> [(String, JSON)] {
        [
            ("kind", .text(inspection.kind.rawValue)),
            ("size", .integer(inspection.size)),
            ("pageSize", .optional(inspection.pageSize)),
            ("walSize", inspection.walSize.map { .integer($0) } ?? .null),
            ("hasRollbackJournal", .bool(inspection.hasRollbackJournal)),
            ("hasSaltFile", .bool(inspection.hasSaltFile)),
            ("isRotationPending", .bool(inspection.isRotationPending)),
        ]
    }
}
