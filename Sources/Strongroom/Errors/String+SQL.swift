extension String {
    /// Returns the SQL without surrounding whitespace and semicolons.
    func trimmingSQL() -> String {
        func isSeparator(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: " "), 0x09, 0x0A, 0x0C, 0x0D, UInt8(ascii: ";"): true
            default: false
            }
        }
        guard let first = utf8.firstIndex(where: { !isSeparator($0) }),
            let last = utf8.lastIndex(where: { !isSeparator($0) })
        else { return "" }
        return String(self[first...last])
    }
}
