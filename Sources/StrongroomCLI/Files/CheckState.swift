import ArgumentParser
import Foundation
import Strongroom

/// The marks of the pages of databases at their last checks, in a file: `strongroom check --since-last`.
///
/// A title, then for each database a line with the number of its pages and its path, followed by eight bytes for each
/// page.
struct CheckState {
    private let place: Place
    /// By the bytes of the path.
    private var marks: [[UInt8]: PageMarks]
    private static let title = "Strongroom check state 1\n"

    /// Reads the file. Without one, nothing was checked before.
    init(_ name: String) throws {
        place = try Place(name)
        guard FileIdentity(place.path) != nil else {
            marks = [:]
            return
        }
        guard let content = FileManager.default.contents(atPath: place.path) else {
            throw Failure(errno: errno, file: name, "it cannot be read", remedy: "Check its permissions")
        }
        guard let marks = Self.parsed(content) else {
            throw Failure(
                .other, file: name, "it is not the state of a check; nothing was changed",
                remedy: "Name another file, or remove this one")
        }
        self.marks = marks
    }

    subscript(_ database: Place) -> PageMarks? {
        get { marks[Array(database.path.utf8)] }
        set { marks[Array(database.path.utf8)] = newValue }
    }

    /// Replaces the file as a whole.
    func write() throws {
        var content = Data(Self.title.utf8)
        for (path, marks) in marks.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            content += Data("\(marks.values.count) \(path.count) ".utf8) + path + Data("\n".utf8)
            marks.values.withUnsafeBytes { content.append(contentsOf: $0) }
        }
        try content.withUnsafeBytes { try NewContent(place, mode: 0o600).write($0) }
    }

    private static func parsed(_ content: Data) -> [[UInt8]: PageMarks]? {
        guard content.starts(with: title.utf8) else { return nil }
        var rest = content.dropFirst(title.utf8.count), marks: [[UInt8]: PageMarks] = [:]
        func number() -> Int? {
            let digits = rest.prefix { $0 != UInt8(ascii: " ") }
            rest = rest.dropFirst(digits.count + 1)
            return digits.count < 16 ? Int(String(decoding: digits, as: UTF8.self)) : nil
        }
        while !rest.isEmpty {
            guard let count = number(), count >= 0, let length = number(), length > 0,
                rest.count > length, count <= (rest.count - length - 1) / 8
            else { return nil }
            let path = Array(rest.prefix(length))
            rest = rest.dropFirst(length + 1)
            marks[path] = PageMarks(
                [UInt64](unsafeUninitializedCapacity: count) { values, initialized in
                    _ = rest.prefix(8 * count).copyBytes(to: UnsafeMutableRawBufferPointer(values))
                    initialized = count
                })
            rest = rest.dropFirst(8 * count)
        }
        return marks
    }
}

/// A file that other programs may read at any time: it is replaced as a whole.
struct NewContent {
    private let place: Place
    private let mode: mode_t

    init(_ place: Place, mode: mode_t) { (self.place, self.mode) = (place, mode) }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        let partial = "\(place.path).\(getpid())-new"
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw failure(errno) }
        defer {
            close(descriptor)
            // Gone, if it has its name.
            unlink(partial)
        }
        fchmod(descriptor, mode)
        try Console.write(bytes, to: descriptor, named: place.name)
        guard fsync(descriptor) == 0, rename(partial, place.path) == 0 else { throw failure(errno) }
    }

    private func failure(_ number: Int32) -> Failure {
        Failure(
            errno: number, file: place.name, "it cannot be written", state: "the former content stays",
            remedy: "Check the permissions of its folder")
    }
}

/// A share of pages, such as 5%.
struct SampleShare: ExpressibleByArgument {
    var share: Double

    init?(argument: String) {
        let digits = argument.hasSuffix("%") ? String(argument.dropLast()) : argument
        guard let percent = Double(digits), percent > 0, percent <= 100 else { return nil }
        share = percent / 100
    }
}
