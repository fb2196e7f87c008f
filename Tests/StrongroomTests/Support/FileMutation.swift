import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// The files of a database, by what their names end with.
typealias DatabaseFiles = [String: Data]

/// Changes to files that a disk, a crash, another program or a person with an editor could make.
struct FileMutation {
    private static let names =
        ["", "-wal", "-journal", "-shm"] + SaltFile.Role.allCases.map(\.rawValue)
        + SlotFiles.Role.allCases.map(\.rawValue)

    /// Changes one to four things. `others` are the files of other databases, which may be mistaken for these.
    static func mutate(_ files: inout DatabaseFiles, others: [DatabaseFiles], using random: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let present = files.keys.sorted()
            let isNew = Int.random(in: 0..<6, using: &random) == 0
            let name = (isNew ? names : present).randomElement(using: &random) ?? ""
            if isNew || files[name] == nil {
                files[name] = others.randomElement(using: &random)?[name] ?? noise(using: &random)
            } else {
                change(&files[name], name, using: &random)
            }
        }
    }

    private static func change(_ file: inout Data?, _ name: String, using random: inout SeededGenerator) {
        guard var bytes = file, !bytes.isEmpty else { return file = noise(using: &random) }
        let at = offset(in: bytes.count, name, using: &random)
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2, 3: bytes[at] = [0, 1, 10, 32, 48, 127, 128, 255].randomElement(using: &random)!
        case 4: bytes.removeSubrange(at...)
        case 5: for index in at..<min(bytes.count, at + 16) { bytes[index] = 0 }
        case 6: bytes.insert(contentsOf: noise(using: &random), at: at)
        case 7: bytes.append(bytes[at...])
        default: file = nil
        }
        if file != nil { file = bytes }
    }

    /// Headers are worth more than what follows them: of the database, of the log, of its first frame.
    private static func offset(in count: Int, _ name: String, using random: inout SeededGenerator) -> Int {
        let header = name == "-wal" ? 56 : 100
        return Int.random(in: 0..<(Bool.random(using: &random) ? min(count, header) : count), using: &random)
    }

    /// Random bytes, or lines as a salt file has them.
    private static func noise(using random: inout SeededGenerator) -> Data {
        if Bool.random(using: &random) {
            return Data(
                (0..<Int.random(in: 0...64, using: &random))
                    .map { _ in UInt8.random(in: 0...255, using: &random) })
        }
        let lines = [
            "Strongroom salt 1", "salt 00112233445566778899aabbccddeeff", "header 32", "header -1",
            "header 99999999999999999999", "check 00000000", "", "salt", "SQLite format 3\u{0}",
        ]
        let count = Int.random(in: 0...6, using: &random)
        return Data((0..<count).map { _ in lines.randomElement(using: &random)! }.joined(separator: "\n").utf8)
    }
}

/// Changes one byte of a file that nothing has open.
func flip(_ path: String, at offset: Int) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.seek(toOffset: UInt64(offset))
    let byte = try #require(file.read(upToCount: 1)?.first)
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: [byte ^ 0xff])
    try file.close()
}
