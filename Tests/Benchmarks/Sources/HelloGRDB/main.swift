import Foundation
import GRDB

// The smallest program with a database. It prints the time of the steady clock when the database has answered.
let queue = try DatabaseQueue()
let greeting = try queue.read { try String.fetchOne($0, sql: "SELECT 'Hello, world'")! }
var time = timespec()
clock_gettime(CLOCK_MONOTONIC, &time)
print(Double(time.tv_sec) + Double(time.tv_nsec) / 1e9, greeting)
