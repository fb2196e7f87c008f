import Foundation
import TestSupport

/// A damage to the files of a database.
enum SalvageDamage: String, CaseIterable, Sendable {
    case zeroedPages, flippedBytes, swappedPages, repeatedPages, header, truncation
    case tornLog, zeroedFrames, shortLog, logHeader, lostLog

    var isOfLog: Bool {
        switch self {
        case .zeroedPages, .flippedBytes, .swappedPages, .repeatedPages, .header, .truncation: false
        case .tornLog, .zeroedFrames, .shortLog, .logHeader, .lostLog: true
        }
    }

    /// Damages the files. Returns the numbers of the damaged pages of the database.
    func act(
        on folder: TemporaryFolder, _ name: String, pageSize: Int, using random: inout SeededGenerator
    ) throws -> Set<Int> {
        let file = isOfLog ? name + "-wal" : name
        var bytes = [UInt8](try folder.bytes(file))
        let damaged = isOfLog ? [] : change(&bytes, pageSize, &random)
        if isOfLog { changeLog(&bytes, pageSize, &random) }
        try folder.write(bytes, to: file)
        if self == .lostLog { try FileManager.default.removeItem(atPath: folder.path(file)) }
        return damaged
    }

    private func change(_ bytes: inout [UInt8], _ size: Int, _ random: inout SeededGenerator) -> Set<Int> {
        let count = bytes.count / size, most = min(50, max(1, count / 4))
        let numbers = Array((1...count).shuffled(using: &random).prefix(Int.random(in: 1...most, using: &random)))
        func page(_ number: Int) -> Range<Int> { (number - 1) * size..<number * size }
        switch self {
        case .header:
            let at = Int.random(in: 16..<100, using: &random)
            bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            return [1]
        case .truncation:
            bytes.removeSubrange(Int.random(in: size / 2..<bytes.count, using: &random)...)
            return Set(bytes.count / size + 1...count)
        case .zeroedPages:
            for number in numbers { bytes.replaceSubrange(page(number), with: repeatElement(0, count: size)) }
        case .swappedPages:
            let partners = numbers.map { $0 % count + 1 }
            for (one, other) in zip(numbers, partners) where one != other {
                let kept = Array(bytes[page(one)])
                bytes.replaceSubrange(page(one), with: Array(bytes[page(other)]))
                bytes.replaceSubrange(page(other), with: kept)
            }
            return Set(numbers + partners)
        case .repeatedPages:
            let source = Array(bytes[page(numbers[0])])
            for number in numbers { bytes.replaceSubrange(page(number), with: source) }
        default:
            for number in numbers { bytes[page(number).randomElement(using: &random)!] ^= 0x41 }
        }
        return Set(numbers)
    }

    private func changeLog(_ bytes: inout [UInt8], _ size: Int, _ random: inout SeededGenerator) {
        let frame = size + 24, count = (bytes.count - 32) / frame
        switch self {
        case .tornLog: bytes.removeSubrange(Int.random(in: 0..<bytes.count, using: &random)...)
        case .shortLog: bytes.removeSubrange((32 + frame * Int.random(in: 0..<count, using: &random))...)
        case .logHeader: bytes[Int.random(in: 0..<32, using: &random)] ^= 0x10
        case .zeroedFrames:
            let first = Int.random(in: 0..<count, using: &random), last = min(count, first + 3)
            let range = 32 + first * frame..<32 + last * frame
            bytes.replaceSubrange(range, with: repeatElement(0, count: range.count))
        default:
            for _ in 0..<Int.random(in: 1...10, using: &random) {
                bytes[Int.random(in: 32..<bytes.count, using: &random)] ^= 0x22
            }
        }
    }
}
