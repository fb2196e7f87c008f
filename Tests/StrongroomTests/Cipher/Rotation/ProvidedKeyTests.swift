import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// A provider may ask a person, or have its secret once.
@Suite("A key that a function provides")
struct ProvidedKeyTests {
    private struct Refusal: Error {}

    /// Returns a key whose function returns its passphrase once, and then throws.
    private func onceProvided(_ calls: Shared<Int>) -> DatabaseKey {
        .passphrase(from: { () -> [UInt8] in
            let count = calls.update { calls in
                calls += 1
                return calls
            }
            guard count == 1 else { throw Refusal() }
            return Array("battery staple".utf8)
        })
    }

    @Test("is asked for once by a rotation, whose result is verified", arguments: [WriterKind.queue, .pool])
    func rotation(kind: WriterKind) throws {
        let (writer, folder) = try kind.make()
        try writer.write { try $0.insertWine() }
        let calls = Shared(0)
        #expect(try writer.rotateKey(to: onceProvided(calls)) == .complete)
        #expect(calls.value == 1)
        try writer.write { try $0.insertWine() }
        #expect(try writer.read { try $0.countWines() } == 2)
        try writer.close()
        let reopened = try DatabaseQueue(
            path: writer.path, configuration: .encrypted(passphrase: "battery staple"))
        #expect(try reopened.read { try $0.countWines() } == 2)
        _ = folder
    }

    @Test("is asked for once by a change of the plaintext header, whose result is verified")
    func header() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite"), calls = Shared(0)
        let passphrase = DatabaseKey.passphrase("battery staple")
        try RotationEndTests.create(path, RotationEndTests.configuration(passphrase)).close()
        let encryption = Encryption(key: onceProvided(calls), settings: RotationEndTests.settings)
        try DatabaseFile.setPlaintextHeader(PlaintextHeader(), path: path, encryption: encryption)
        #expect(calls.value == 1)
        #expect(try RotationEndTests.count(path, RotationEndTests.configuration(passphrase)) == 30)
    }
}
