import Strongroom
import Testing

let id = Column("id"), name = Column("name"), score = Column("score")

/// The SQL and the arguments of a request.
func sql(_ db: Database, _ request: some FetchRequest) throws -> String {
    let statement = try request.makePreparedRequest(db, forSingleResult: false).statement
    return statement.arguments.isEmpty ? statement.sql : "\(statement.sql) \(statement.arguments)"
}

/// The SQL of an expression, selected from the player table.
func sql(_ db: Database, _ expression: some SQLSpecificExpressible) throws -> String {
    let statement = try Player.select(expression).makePreparedRequest(db).statement
    let text = statement.sql.dropFirst("SELECT ".count).dropLast(#" FROM "player""#.count)
    return statement.arguments.isEmpty ? String(text) : "\(text) \(statement.arguments)"
}
