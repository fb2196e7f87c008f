import ArgumentParser
import Foundation

/// The arguments of the process, rearranged where the parser would misread them.
struct Arguments {
    let words: [String]

    static func ofProcess() throws -> Arguments { try Arguments(processWords()) }

    /// Options of every command, which may precede it.
    private static let common: Set = ["--json", "--quiet", "-q"]
    /// Options with a single dash.
    private static let short: Set = ["-q", "-h"]

    static let commands = StrongroomCommand.configuration.subcommands.map { $0._commandName }
    static let keyCommands = Key.configuration.subcommands.map { $0._commandName }

    init(_ typed: [String]) throws {
        let leading = typed.prefix { Self.common.contains($0) }, rest = typed.dropFirst(leading.count)
        guard let command = rest.first, !command.hasPrefix("-") else {
            words = Array(rest)
            return
        }
        try Self.requireCommand(command)
        if command == "help", let topic = rest.dropFirst().first { try Self.requireCommand(topic) }
        var names = [command], others = rest.dropFirst()
        if command == Key._commandName, let subcommand = others.first, !subcommand.hasPrefix("-") {
            try Self.requireCommand(subcommand, of: command)
            names.append(subcommand)
            others = others.dropFirst()
        }
        words = try names + leading + Self.withFilesMarked(others.map(Self.withCommentMarked))
    }

    /// Returns the word marked as SQL if it begins with a comment, and not with an option.
    private static func withCommentMarked(_ word: String) -> String {
        word.hasPrefix("-- ") || word.hasPrefix("--\n") ? "\n" + word : word
    }

    /// Marks existing files whose names begin with a dash, and refuses other words that begin with a single one.
    private static func withFilesMarked(_ words: [String]) throws -> [String] {
        let options = words.prefix { $0 != "--" }
        return try options.map { word in
            guard word.hasPrefix("-"), !word.hasPrefix("--"), word.count > 1, !short.contains(word) else { return word }
            if FileIdentity(word) != nil { return "./" + word }
            throw Failure(
                .usage, "there is no option \(word), and no such file; nothing was changed",
                remedy: "strongroom help lists the options; a file of this name is written ./\(word)")
        } + words.dropFirst(options.count)
    }

    /// - parameter parent: the command of which it must be a subcommand. Nil for none.
    private static func requireCommand(_ word: String, of parent: String? = nil) throws {
        let commands = parent == nil ? commands : keyCommands, name = parent.map { $0 + " " + word } ?? word
        guard !commands.contains(word), word != "help" else { return }
        let nearest = commands.map { (name: $0, distance: distance($0, word)) }.min { $0.distance < $1.distance }
        let isNear = nearest.map { $0.distance <= 3 && $0.distance < word.count } ?? false
        let suggestion = isNear ? "Did you mean \(nearest!.name)? " : ""
        throw Failure(
            .usage, "there is no command \(name); nothing was changed",
            remedy: suggestion + "strongroom \(parent.map { "help " + $0 } ?? "--help") lists the commands")
    }

    /// Returns the edit distance of two words: the number of letters to add, remove or replace.
    private static func distance(_ one: String, _ other: String) -> Int {
        var row = Array(0...other.count)
        for (index, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, against) in other.enumerated() {
                let cost = min(row[column] + 1, row[column + 1] + 1, diagonal + (letter == against ? 0 : 1))
                diagonal = row[column + 1]
                row[column + 1] = cost
            }
        }
        return row[other.count]
    }

    /// Returns the arguments. Refuses words that are not UTF-8, which Swift would repair into other names.
    private static func processWords() throws -> [String] {
        try (1..<max(1, Int(CommandLine.argc))).map { index in
            let bytes = CommandLine.unsafeArgv[index]!
            guard let word = String(validatingCString: bytes) else {
                throw Failure(
                    .usage, "an argument is not UTF-8 (\(String(cString: bytes))); nothing was changed",
                    remedy: "Give the file another name")
            }
            return word
        }
    }
}
