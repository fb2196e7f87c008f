extension StatementArguments {
    /// The positional arguments: as one integer, as database values, or as the array literal itself, whose elements are
    /// bound directly.
    ///
    /// For a literal of ten integers, this saves two allocations and twenty copies, a third of the time of an
    /// insertion. For one integer, as in a query by key, an optimized program allocates nothing, which saves a tenth of
    /// the query.
    enum Positional {
        case integer(Int64)
        case values([DatabaseValue])
        case literal([(any DatabaseValueConvertible)?])

        var count: Int {
            switch self {
            case .integer: 1
            case .values(let values): values.count
            case .literal(let elements): elements.count
            }
        }

        var values: [DatabaseValue] {
            switch self {
            case .integer(let value): [value.databaseValue]
            case .values(let values): values
            case .literal(let elements): elements.map { $0?.databaseValue ?? .null }
            }
        }
    }
}

extension [(any DatabaseValueConvertible)?] {
    /// The value of the first element.
    ///
    /// - precondition: the array is not empty.
    @inlinable @inline(__always)
    var firstValue: DatabaseValue {
        withUnsafeBufferPointer {
            UnsafeMutablePointer(mutating: $0.baseAddress!).pointee?.databaseValueInPlace() ?? .null
        }
    }

    /// True if the elements can be bound later with the same result.
    var arePlain: Bool {
        withElementsInPlace { elements in
            for index in 0..<count where elements[index]?.isPlainInPlace() == false { return false }
            return true
        }
    }

    /// Binds all elements. Returns the first result other than `SQLITE_OK`.
    func bind(to statement: SQLiteStatement) -> CInt {
        withElementsInPlace { elements in
            for index in 0..<count {
                let position = CInt(truncatingIfNeeded: index + 1)
                let code =
                    elements[index]?.bindInPlace(to: statement, at: position)
                    ?? StatementParameter(statement, position).bindNull()
                if code != 0 { return code }
            }
            return 0
        }
    }

    /// Calls `body` with the elements in place. Swift copies an existential to call a method on it unless the method is
    /// mutating, which costs more than the call. The methods below are mutating only for that reason.
    @inline(__always)
    private func withElementsInPlace<R>(_ body: (UnsafeMutablePointer<Element>) -> R) -> R {
        withUnsafeBufferPointer { elements in
            // An empty array may have no address. It is not used then.
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

    /// Returns the database value, without a copy of the receiver.
    @inlinable @inline(__always)
    mutating func databaseValueInPlace() -> DatabaseValue { databaseValue }
}
