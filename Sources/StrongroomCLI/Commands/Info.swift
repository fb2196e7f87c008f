import ArgumentParser
import Strongroom

struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what can be known of a database without its key.")

    @Argument(help: "A database.", completion: .file())
    var file: String

    func run() throws {
        let inspection = try Target(file).inspection
        Console.output(InspectionText(file: file, inspection: inspection).description)
    }
}
