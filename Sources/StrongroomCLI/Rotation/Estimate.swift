import Foundation
import Strongroom

/// The speed of rotations on this machine, measured on a small database in the temporary folder.
struct Estimate: Sendable {
    static let trialSize = 24_000_000

    let bytesPerSecond: Double

    init(_ settings: CipherSettings) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(
            "strongroom-trial-\(UUID().uuidString)"
        ).path
        defer { for file in [path] + CompanionFile.withState.map({ $0.path(of: path) }) { unlink(file) } }
        bytesPerSecond = try attributing(to: path) {
            var configuration = Configuration()
            configuration.encryption = Encryption(key: try .random(), settings: settings)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE trial (content); INSERT INTO trial VALUES (zeroblob(\(Self.trialSize)))
                        """)
            }
            let began = DispatchTime.now().uptimeNanoseconds
            try queue.rotateKey(to: .random())
            let seconds = Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
            try queue.close()
            return Double(Self.trialSize) / max(seconds, 0.001)
        }
    }

    /// - parameter opening: the seconds that opening took, mostly for deriving the key.
    func seconds(for bytes: Int64, opening: Double) -> Double { 2 * opening + Double(bytes) / bytesPerSecond }
}
