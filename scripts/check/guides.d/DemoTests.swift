import Foundation
import GRDB
import Testing

@testable import GRDBDemo

@Test("the demo app opens its database in a file, fills it, and refreshes it many times simultaneously")
@MainActor func demoInFile() async throws {
    let database = AppDatabase.shared
    #expect(try await database.reader.read(Player.fetchCount) == 8)
    try await PlayerListModel(appDatabase: database).refreshPlayersManyTimes()
    try database.deleteAllPlayers()
    #expect(try await database.reader.read(Player.fetchCount) == 0)
}
