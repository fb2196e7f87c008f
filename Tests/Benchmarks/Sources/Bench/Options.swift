import Foundation
import Workload

/// Bench FOLDER LIBSQLCIPHER CHINOOK [compare A B | life | growth | footprint] [option …] [ITEM …], for
/// scripts/bench.
struct Options {
    /// The measurements to make.
    enum Subject: String {
        case items, compare, life, growth, footprint
    }

    var folder: String
    var library: String
    /// Chinook's path, or nothing.
    var chinook: String
    var subject = Subject.items
    var rounds = 5
    var isQuick = false
    /// With files of 4 GB.
    var isLarge = false
    var json: String?
    var picture: String?
    var items: [Item] = []
    /// The programs of two commits.
    var programs: [String] = []

    init(_ arguments: [String]) {
        var words = arguments.dropFirst()
        guard words.count >= 3 else { Options.fail("usage: Bench FOLDER LIBSQLCIPHER CHINOOK [option …] [ITEM …]") }
        folder = words.removeFirst()
        library = words.removeFirst()
        chinook = words.removeFirst()
        if let subject = words.first.flatMap(Subject.init) {
            self.subject = subject
            // Their rounds are long.
            if subject != .life { rounds = 3 }
            words.removeFirst()
            if subject == .compare {
                // Fewer rounds can't show that a difference is no noise.
                rounds = 12
                guard words.count >= 2 else { Options.fail("compare needs two programs") }
                programs = [words.removeFirst(), words.removeFirst()]
            }
        }
        while let word = words.popFirst() {
            switch word {
            case "--rounds": rounds = Options.positive(words.popFirst())
            case "--quick": (isQuick, rounds) = (true, 2)
            case "--large": isLarge = true
            case "--json": json = Options.path(words.popFirst(), for: word)
            case "--picture": picture = Options.path(words.popFirst(), for: word)
            default: items.append(Options.item(word))
            }
        }
        if subject == .compare, rounds < 9 { Options.fail("compare needs nine rounds or more") }
        if subject == .compare
            ? json != nil || picture != nil : subject != .items && (!items.isEmpty || json != nil || picture != nil)
        {
            Options.fail("\(subject) writes no files, and only compare takes items")
        }
        if items.isEmpty { items = Item.allCases }
    }

    /// A quick run leaves the largest size out.
    func sizes(_ item: Item) -> [Int] {
        let sizes = isQuick && item.sizes.count > 1 ? item.sizes.dropLast() : item.sizes
        return item == .rotation ? sizes.filter(hasRoom) : sizes
    }

    func sizes(_ growth: Growth) -> [Int] {
        let sizes = growth.sizes(isLarge: isLarge)
        return growth.needsFile ? sizes.filter(hasRoom) : sizes
    }

    /// Work on a database needs room for it, its log, and some more.
    private func hasRoom(forMegabytes size: Int) -> Bool {
        freeSpace.map { size * 4_000_000 < $0 } ?? true
    }

    private var freeSpace: Int? {
        (try? FileManager.default.attributesOfFileSystem(forPath: folder))?[.systemFreeSize] as? Int
    }

    static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data("bench: \(message)\n".utf8))
        exit(2)
    }

    private static func positive(_ word: String?) -> Int {
        guard let word, let number = Int(word), number > 0 else { fail("--rounds needs a number") }
        return number
    }

    private static func path(_ word: String?, for option: String) -> String {
        guard let word else { fail("\(option) needs a file") }
        return word
    }

    private static func item(_ word: String) -> Item {
        guard let item = Item(rawValue: word) else {
            fail("no item '\(word)'; there are: \(Item.allCases.map(\.rawValue).joined(separator: " "))")
        }
        return item
    }
}
