import Foundation

// Numbers for people.

func megabytes(_ bytes: Int64) -> String {
    switch bytes {
    case ..<10_000: "\(bytes) bytes"
    case ..<1_000_000: "\(bytes / 1000) kB"
    case ..<10_000_000_000: String(format: "%.1f MB", Double(bytes) / 1e6)
    default: String(format: "%.1f GB", Double(bytes) / 1e9)
    }
}

func duration(_ seconds: Double) -> String {
    let whole = max(1, Int(seconds.rounded()))
    switch whole {
    case ..<90: return "\(whole) s"
    case ..<5400: return "\((whole + 30) / 60) min"
    default: return String(format: "%.1f h", Double(whole) / 3600)
    }
}

func counted(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// Returns the text as one word for a shell.
func shellQuoted(_ text: String) -> String {
    let plain = text.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || "0123456789/._-+,:=@%".unicodeScalars.contains($0))
    }
    return plain && !text.isEmpty ? text : "'" + text.replacing(ascii: "'", with: "'\\''") + "'"
}
