// Dates are read and written for each row, in SQLite's own bytes, without a formatter and without allocation.

extension DateFields {
    /// Reads a text in a format of SQLite's date functions, except `now` and Julian days. Nil for other texts.
    ///
    /// `T` or spaces separate date and time. A time may be followed by `Z`, `+HH:MM` or `-HH:MM`.
    ///
    /// - returns: the fields, and the format of the text.
    static func parse(
        _ utf8: UnsafeBufferPointer<UInt8>
    ) -> (fields: DateFields, format: DatabaseDateComponents.Format)? {
        var reader = DateReader(utf8)
        var fields = DateFields()
        let hasDate = reader.isDate
        if hasDate {
            guard reader.readDate(into: &fields) else { return nil }
            let separated = reader.skipSeparator()
            if reader.isAtEnd { return (fields, .YMD) }
            guard separated else { return nil }
        }
        guard let precision = reader.readTime(into: &fields), reader.readOffset(into: &fields), reader.isAtEnd else {
            return nil
        }
        return switch precision {
        case .minutes: (fields, hasDate ? .YMD_HM : .HM)
        case .seconds: (fields, hasDate ? .YMD_HMS : .HMS)
        case .fraction: (fields, hasDate ? .YMD_HMSS : .HMSS)
        }
    }

    /// Calls `body` with `YYYY-MM-DD HH:MM:SS.SSS`. All fields have their digits.
    func withText<R>(_ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
        try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 23) { text in
            _ = text.initialize(from: "0000-00-00 00:00:00.000".utf8)
            write(year, upTo: 3, in: text)
            write(month, upTo: 6, in: text)
            write(day, upTo: 9, in: text)
            write(hour, upTo: 12, in: text)
            write(minute, upTo: 15, in: text)
            write(second, upTo: 18, in: text)
            write(nanosecond / 1_000_000, upTo: 22, in: text)
            return try body(UnsafeBufferPointer(text))
        }
    }

    /// Overwrites zeros with the digits of a number, whose last digit is before `end`.
    private func write(_ number: Int, upTo end: Int, in text: UnsafeMutableBufferPointer<UInt8>) {
        var rest = number
        var position = end
        while rest > 0 {
            text[position] += UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
            position -= 1
        }
    }
}

private struct DateReader {
    enum Precision {
        case minutes, seconds, fraction
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    /// True if the text begins with a date, and not with a time.
    var isDate: Bool { bytes.count > 4 && bytes[4] == UInt8(ascii: "-") }

    mutating func readDate(into fields: inout DateFields) -> Bool {
        guard let year = readNumber(digits: 4), skip("-"),
            let month = readNumber(digits: 2), skip("-"),
            let day = readNumber(digits: 2)
        else { return false }
        (fields.year, fields.month, fields.day) = (year, month, day)
        return true
    }

    mutating func readTime(into fields: inout DateFields) -> Precision? {
        guard let hour = readNumber(digits: 2), skip(":"), let minute = readNumber(digits: 2) else { return nil }
        (fields.hour, fields.minute) = (hour, minute)
        guard skip(":") else { return .minutes }
        guard let second = readNumber(digits: 2) else { return nil }
        fields.second = second
        guard skip(".") else { return .seconds }
        guard let nanosecond = readFraction() else { return nil }
        fields.nanosecond = nanosecond
        return .fraction
    }

    /// Reads an optional time zone. Returns false if it is malformed.
    mutating func readOffset(into fields: inout DateFields) -> Bool {
        skipSpaces()
        if skip("Z") || skip("z") {
            fields.offset = 0
        } else if let sign = readSign() {
            guard let hours = readNumber(digits: 2), skip(":"), let minutes = readNumber(digits: 2),
                hours <= 14, minutes < 60
            else { return false }
            fields.offset = sign * (hours * 3600 + minutes * 60)
        }
        skipSpaces()
        return true
    }

    /// Skips `T` or spaces.
    mutating func skipSeparator() -> Bool {
        if skip("T") { return true }
        let start = position
        skipSpaces()
        return position > start
    }

    private mutating func readNumber(digits: Int) -> Int? {
        guard position + digits <= bytes.count else { return nil }
        var number = 0
        for _ in 0..<digits {
            guard let digit = readDigit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// Reads nanoseconds, in whole milliseconds: written dates have no more digits, and all sources read the same.
    private mutating func readFraction() -> Int? {
        guard let first = readDigit() else { return nil }
        var milliseconds = first * 100
        var unit = 10
        while let digit = readDigit() {
            milliseconds += digit * unit
            unit /= 10
        }
        return milliseconds * 1_000_000
    }

    private mutating func readDigit() -> Int? {
        guard position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10
        else { return nil }
        position += 1
        return Int(digit)
    }

    private mutating func readSign() -> Int? {
        if skip("+") { return 1 }
        if skip("-") { return -1 }
        return nil
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpaces() {
        while skip(" ") {}
    }
}
