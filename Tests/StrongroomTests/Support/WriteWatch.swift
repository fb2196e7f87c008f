import CStrongroomFaults
import Foundation

/// Tells whether a text was ever written to a file in clear, by any connection of this process.
struct WriteWatch {
    let text: String
    private let number: CInt

    /// Watches for a text that occurs nowhere else. Only connections opened from now on are seen.
    init(_ role: String) {
        strongroom_faults_install()
        text = "canary-\(role)-\(UUID().uuidString.prefix(8))"
        number = Array(text.utf8).withUnsafeBytes { strongroom_faults_watch($0.baseAddress, CInt($0.count)) }
    }

    var sightings: Int64 { strongroom_faults_sightings(number) }

    /// The file in which the text was last seen.
    var lastPlace: String {
        var buffer = [CChar](repeating: 0, count: 512)
        strongroom_faults_last_place(number, &buffer, CInt(buffer.count))
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
