import ArgumentParser
import Foundation

/// For `scripts/install`.
struct Manual: Documented {
    static let configuration = CommandConfiguration(
        abstract: "Write the manual pages of this program into a folder.", shouldDisplay: false)

    static let examples: [(line: String, what: String)] = []

    @Argument(help: "The folder for the pages.", completion: .directory)
    var folder: String

    func run() throws {
        for page in try ManualPage.all() {
            let path = folder + "/" + page.fileName, mode: [FileAttributeKey: Any] = [.posixPermissions: 0o644]
            guard FileManager.default.createFile(atPath: path, contents: Data(page.text.utf8), attributes: mode) else {
                throw Failure(
                    errno: errno, file: path, "it cannot be written", state: "the manual is incomplete",
                    remedy: "Check the permissions of the folder, then run this again")
            }
        }
    }
}
