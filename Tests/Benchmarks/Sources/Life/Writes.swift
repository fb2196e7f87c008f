import Foundation
import Workload

// The changes that the application makes.

extension Notes {
    /// Each write reads a note, changes it and saves it. The step ends when the observations have seen all writes.
    func smallWrites() async throws -> Int64 {
        try await withThrowingTaskGroup(of: Int64.self) { group in
            let (shown, first) = AsyncStream.makeStream(of: Void.self)
            group.addTask { try await countOfFavorites(first) }
            group.addTask { try await countOfFirstNotebook(first) }
            group.addTask { try await latestNotes(first) }
            var values = shown.makeAsyncIterator()
            for _ in 0..<3 { _ = await values.next() }
            for task in 0..<4 {
                group.addTask { try await write(stride(from: task, to: Day.writeCount, by: 4)) }
            }
            return try await group.reduce(0, +)
        }
    }

    private func write(_ numbers: StrideTo<Int>) async throws -> Int64 {
        for n in numbers {
            try await pool.write { db in
                var note = try Note.find(db, key: Day.writtenNote(n))
                (note.notebookId, note.isFavorite, note.updatedAt) = (1, true, Self.date(n))
                try note.update(db)
            }
        }
        return 0
    }

    /// Later than all dates of the database.
    private static func date(_ n: Int) -> Date { Date(timeIntervalSince1970: 1_800_000_000 + Double(n)) }

    private typealias First = AsyncStream<Void>.Continuation

    private func countOfFavorites(_ first: First) async throws -> Int64 {
        let favorites = Note.filter(Column("isFavorite") == true)
        let counts = ValueObservation.tracking { try favorites.fetchCount($0) }.values(in: pool)
        let last = Day.noteCount / 10 + Day.writeCount
        return try await Int64(Self.value(of: counts, first) { $0 == last })
    }

    private func countOfFirstNotebook(_ first: First) async throws -> Int64 {
        let notes = Note.filter(Column("notebookId") == 1)
        let counts = ValueObservation.tracking { try notes.fetchCount($0) }.values(in: pool)
        return try await Int64(Self.value(of: counts, first) { $0 == Day.writeCount })
    }

    private func latestNotes(_ first: First) async throws -> Int64 {
        let screens = ValueObservation.tracking { try Note.latest.limit(Day.screenSize).fetchAll($0) }.values(in: pool)
        let last = (0..<Day.screenSize).map { Day.writtenNote(Day.writeCount - 1 - $0) }
        _ = try await Self.value(of: screens, first) { $0.map(\.id) == last }
        return 0
    }

    /// The first value that is as expected. Reports the first value of all.
    private static func value<Values: AsyncSequence>(
        of values: Values, _ first: First, where isLast: (Values.Element) -> Bool
    ) async throws -> Values.Element {
        var isFirst = true
        for try await value in values {
            if isFirst { first.yield() }
            isFirst = false
            if isLast(value) { return value }
        }
        fatalError("the observation has ended")
    }

    /// In one transaction, as records.
    func importContacts() async throws -> Int64 {
        try await pool.write { db in
            for n in 0..<Day.importCount { try Contact(n).insert(db) }
            return try Int64(Contact.fetchCount(db))
        }
    }
}
