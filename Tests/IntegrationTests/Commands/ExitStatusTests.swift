import Strongroom
import Testing

@testable import StrongroomCLI

@Suite("The exit statuses of library errors")
struct ExitStatusTests {
    @Test(
        "Each kind of failure has its number",
        arguments: [
            (ResultCode.SQLITE_BUSY, Int32(11)), (.SQLITE_LOCKED, 11), (.SQLITE_NOTADB, 12), (.SQLITE_CORRUPT, 13),
            (.SQLITE_FULL, 14), (.SQLITE_INTERRUPT, 130), (.SQLITE_READONLY, 1), (.SQLITE_CANTOPEN, 1),
            (.SQLITE_ERROR, 1),
        ])
    func mapping(_ code: ResultCode, _ status: Int32) {
        let failure = Failure(DatabaseError(resultCode: code, message: "the reason"), file: "a.sqlite")
        #expect(failure.status.rawValue == status)
        #expect(failure.description.hasPrefix("a.sqlite: "))
    }

    @Test("An extended code counts as the code it belongs to")
    func extended() {
        let failure = Failure(DatabaseError(resultCode: .SQLITE_BUSY_SNAPSHOT), file: "a.sqlite")
        #expect(failure.status == .busy)
    }

    @Test("The numbers are those that scripts rely on")
    func numbers() {
        #expect(Status.allCases.map(\.rawValue) == [0, 1, 2, 10, 11, 12, 13, 14, 15, 16, 20, 21, 130])
    }
}
