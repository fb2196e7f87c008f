import CStrongroomFaults
import Foundation
import TestSupport

@testable import Strongroom

extension KeyDerivation {
    /// The cheapest that is allowed: where the derivation is not the subject.
    static let cheap = KeyDerivation.scrypt(logN: 14, r: 8, p: 1)
}

extension Configuration {
    /// Opens by the slot of this passphrase.
    static func slots(_ passphrase: String, creating: Bool = false) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase(passphrase))
        if creating {
            configuration.encryption?.keySlots.creating = NewKeySlot(label: passphrase, derivation: .cheap)
        }
        return configuration
    }
}

// MARK: - Mutations

extension [UInt8] {
    /// Changes a text somewhere, as accidents and attackers do.
    mutating func mutate(using random: inout SeededGenerator) {
        guard !isEmpty else { return }
        let at = Int.random(in: 0..<count, using: &random)
        let end = Swift.min(count, at + Int.random(in: 1...80, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0: self[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: self[at] = Array("0123456789abcdef \n".utf8).randomElement(using: &random)!
        case 2: removeSubrange(at...)
        case 3: removeSubrange(at..<end)
        case 4: insert(contentsOf: Array(self[at..<end]), at: Int.random(in: 0...count, using: &random))
        case 5: insert(UInt8.random(in: 0...255, using: &random), at: at)
        case 6: swapLines(using: &random)
        default: changeNumber(using: &random)
        }
    }

    private mutating func swapLines(using random: inout SeededGenerator) {
        var lines = split(separator: 10, omittingEmptySubsequences: false)
        lines.swapAt(Int.random(in: 0..<lines.count, using: &random), Int.random(in: 0..<lines.count, using: &random))
        self = Array(lines.joined(separator: [10]))
    }

    private mutating func changeNumber(using random: inout SeededGenerator) {
        let digits = indices.filter { self[$0] >= 48 && self[$0] < 58 && $0 > 0 && self[$0 - 1] == 32 }
        if let at = digits.randomElement(using: &random) { self[at] = UInt8.random(in: 48..<58, using: &random) }
    }
}

// MARK: - Interleavings

/// Calls `act` once, after the next renaming of a file by this thread.
func afterRenaming(_ act: @escaping () -> Void) {
    strongroom_faults_after_renaming({ Moment.reach($0!) }, Moment.context(act))
}

/// Calls `act` once, before the next derivation by this thread.
func beforeDeriving(_ act: @escaping () -> Void) {
    strongroom_faults_before_deriving({ Moment.reach($0!) }, Moment.context(act))
}

/// An action that C calls once.
private final class Moment {
    private let act: () -> Void

    private init(_ act: @escaping () -> Void) { self.act = act }

    static func context(_ act: @escaping () -> Void) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(Moment(act)).toOpaque()
    }

    static func reach(_ context: UnsafeMutableRawPointer) {
        Unmanaged<Moment>.fromOpaque(context).takeRetainedValue().act()
    }
}
