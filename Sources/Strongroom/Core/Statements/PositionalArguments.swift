extension StatementArguments {
    /// The positional arguments: as database values, or as the array literal that they came in, whose elements are
    /// bound as they are.
    ///
    /// A literal of ten integers costs two allocations and twenty copies less that way, a third of the time of an
    /// insertion.
    enum Positional {
        case values([DatabaseValue])
        case literal([(any DatabaseValueConvertible)?])

        var count: Int {
            switch self {
            case .values(let values): values.count
            case .literal(let elements): elements.count
            }
        }

        var values: [DatabaseValue] {
            switch self {
            case .values(let values): values
            case .literal(let elements): elements.map { $0?.databaseValue ?? .null }
            }
        }
    }
}

extension [(any DatabaseValueConvertible)?] {
    /// True if the elements can be bound later as well as now.
    var arePlain: Bool {
        withElementsInPlace { elements in
            for index in 0..<count where elements[index]?.isPlainInPlace() == false { return false }
            return true
        }
    }

    /// Binds all elements; returns the first result that is not `SQLITE_OK`.
    func bind(to statement: SQLiteStatement) -> CInt {
        withElementsInPlace { elements in
            for index in 0..<count {
                let position = CInt(truncatingIfNeeded: index + 1)
                let code = elements[index]?.bindInPlace(to: statement, at: position)
                    ?? StatementParameter(statement, position).bindNull()
                if code != 0 { return code }
            }
            return 0
        }
    }

    /// The elements where they stand: Swift copies an existential to call anything but a mutating method on it, which
    /// costs more than the call. The methods below are mutating for that reason only.
    @inline(__always)
    private func withElementsInPlace<R>(_ body: (UnsafeMutablePointer<Element>) -> R) -> R {
        withUnsafeBufferPointer { elements in
            // An empty array may have no address, and none is used then.
            body(UnsafeMutablePointer(mutating: elements.baseAddress ?? UnsafePointer(bitPattern: 8)!))
        }
    }
}

extension DatabaseValueConvertible {
    @inline(__always)
    fileprivate mutating func isPlainInPlace() -> Bool { _isPlainValue }

    @inline(__always)
    fileprivate mutating func bindInPlace(to statement: SQLiteStatement, at index: CInt) -> CInt {
        bind(to: statement, at: index)
    }

    /// The database value, read where the receiver stands.
    @inlinable @inline(__always)
    mutating func databaseValueInPlace() -> DatabaseValue { databaseValue }
}
