import Foundation
import Strongroom

@DatabaseRecord
public struct Address {
    var street: String
}

@DatabaseRecord(table: "players")
public struct Player {
    public var id: Int64?
    @DatabaseColumn("full_name") public var name: String
    @DatabaseColumn(dates: .secondsSince1970) var joined: Date
    @DatabaseColumn(json: true) var tags: [String]
    @DatabaseColumn(prefix: "address_") var address: Address?
    var score = 0
}

@DatabaseRecord
final class Team {
    let name: String
    @NoDatabaseColumn var players: [Player] = []
}
