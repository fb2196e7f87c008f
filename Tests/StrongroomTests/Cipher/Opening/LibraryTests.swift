import Foundation
import Testing

@testable import Strongroom

@Suite("A library that is not SQLCipher")
struct LibraryTests {
    @Test(
        "A library in SQLCipher's place is accepted from 4.5 on",
        arguments: ["4.5.0 community", "4.6.1 community", "4.10.0 commercial", "5.0.0 community"])
    func accepted(version: String) {
        #expect(DatabaseError.refusal(ofSQLCipher: version) == nil)
    }

    @Test(
        "A library in SQLCipher's place that is too old is refused",
        arguments: ["4.4.3 community", "3.4.1", "2.2.1", "nonsense", ""])
    func tooOld(version: String) {
        let error = DatabaseError.refusal(ofSQLCipher: version)
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.reason == .unfitLibrary)
        #expect(error?.recoverySuggestion == "use 4.5 or newer")
    }

    @Test("A library in SQLCipher's place that isn't SQLCipher is refused")
    func notSQLCipher() {
        let error = DatabaseError.refusal(ofSQLCipher: nil)
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.reason == .unfitLibrary)
    }

    @Test("A library in SQLCipher's place that ignores where temporary data is to be is refused")
    func tempStore() {
        #expect(DatabaseError.refusal(ofTempStore: "2", isIgnored: false) == nil)
        let error = DatabaseError.refusal(ofTempStore: "2", isIgnored: true)
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.recoverySuggestion == "use a build with SQLITE_TEMP_STORE=2")
        for setting in ["0", "1", nil] { #expect(DatabaseError.refusal(ofTempStore: setting, isIgnored: false) != nil) }
    }
}
