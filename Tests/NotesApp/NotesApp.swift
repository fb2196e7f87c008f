import Foundation
import Strongroom

/// Keeps notes in an encrypted database, for the tests: an ordinary application, small enough to be read in one
/// sitting.
///
///     NotesApp FILE [KEY]
///
/// KEY is a file that keeps the key of the notes. Without it, the first line of the standard input is the passphrase.
/// Each further line is a command. Whenever the notebooks change, a line tells their sizes.
@main
struct NotesApp {
    static func main() async throws {
        do {
            try await run(try open(CommandLine.arguments))
        } catch let error as DatabaseError where error.isWrongKeyError {
            say("wrong passphrase")
            exit(3)
        }
    }

    private static func open(_ arguments: [String]) throws -> NotesDatabase {
        if arguments.count == 3 {
            let keys = WatchedKeyStore(file: FileKeyStore(path: arguments[2]), reached: endIfTold)
            return try NotesDatabase(path: arguments[1], keys: keys)
        }
        guard arguments.count == 2, let passphrase = readLine() else {
            say("usage: NotesApp FILE [KEY], the passphrase and commands on standard input")
            exit(2)
        }
        return try NotesDatabase(path: arguments[1], passphrase: passphrase)
    }

    private static func run(_ database: NotesDatabase) async throws {
        let observation = Task {
            for try await summaries in database.summaries() {
                say("notebooks: " + summaries.map { "\($0.name) \($0.noteCount)" }.joined(separator: ", "))
            }
        }
        for await line in lines {
            do {
                try await run(line, database)
            } catch let error as RecordError {
                say("error: \(error)")
            }
        }
        observation.cancel()
        _ = await observation.result
        try database.close()
    }

    private static func run(_ line: String, _ database: NotesDatabase) async throws {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        switch (words.first, words.count) {
        case ("add", 3):
            let tags = words[2].split(separator: " ").filter { $0.hasPrefix("#") }.map { String($0.dropFirst()) }
            say("added \(try await database.add(words[2], tags: tags, to: words[1]).id!)")
        case ("edit", 3):
            try await database.edit(id: Int64(words[1]) ?? 0, words[2])
            say("edited")
        case ("pin", 2):
            try await database.pin(id: Int64(words[1]) ?? 0)
            say("pinned")
        case ("delete", 2):
            say(try await database.delete(id: Int64(words[1]) ?? 0) ? "deleted" : "no such note")
        case ("drop", 2):
            try await database.deleteNotebook(words[1])
            say("dropped")
        case ("list", 2):
            show(try await database.notes(in: words[1]))
        case ("find", 2):
            show(try await database.search(words[1]))
        case ("passphrase", 2):
            try await database.changePassphrase(to: words[1])
            say("passphrase changed")
        case ("renew-key", 1):
            try await database.renewKey()
            say("key renewed")
        case ("check", 1):
            let problems = try database.problems()
            say(problems.isEmpty ? "sound" : problems.joined(separator: "\n"))
        default:
            say("no such command")
        }
    }

    /// For the tests: the program is killed where `NOTES_END_AT` says, as a power cut or a user might do.
    @Sendable private static func endIfTold(_ step: WatchedKeyStore.Step) {
        if ProcessInfo.processInfo.environment["NOTES_END_AT"] == step.rawValue { kill(getpid(), SIGKILL) }
    }

    private static func show(_ notes: [Note]) {
        for note in notes {
            let tags = note.tags.map { " [\($0)]" }.joined()
            say("\(note.id!)\(note.isPinned ? "!" : "") \(note.text)\(tags)")
        }
        say("\(notes.count) found")
    }

    /// The lines of the standard input, read by a thread of their own: tasks have better to do than to wait for a pipe.
    private static var lines: AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }

    /// Writes a line, and does not keep it back.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
