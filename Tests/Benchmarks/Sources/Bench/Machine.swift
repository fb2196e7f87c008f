import CMachine
import Foundation
import Workload

/// Where it was measured, and what its crypto library can do at most.
struct Machine: Codable {
    let cores: Int
    let processor: String
    let date: String
    let aes256CBCEncryption, aes256CBCDecryption, hmacSHA512: Double

    init() {
        cores = ProcessInfo.processInfo.activeProcessorCount
        processor = Machine.processorName ?? "unknown"
        date = ISO8601DateFormatter().string(from: Date())
        aes256CBCEncryption = machine_aes256_cbc_encryption()
        aes256CBCDecryption = machine_aes256_cbc_decryption()
        hmacSHA512 = machine_hmac_sha512()
    }

    /// Bytes a second for a change of key by one core: each page is authenticated, decrypted, encrypted and
    /// authenticated anew.
    var rotationLimit: Double { 1 / (1 / aes256CBCDecryption + 1 / aes256CBCEncryption + 2 / hmacSHA512) }

    /// The machine and its load, as a line under a table says it.
    static var description: String {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let processor = processorName ?? "an unknown processor"
        return "\(cores) cores of \(processor); load \(load.map(Table.number) ?? "unknown")"
    }

    /// The load of the last minute, from /proc where there is one.
    static var load: Double? {
        (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?.split(separator: " ").first.flatMap {
            Double($0)
        }
    }

    private static var processorName: String? {
        let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n")
        let model = lines?.first { $0.hasPrefix("model name") }
        return model?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
    }
}
