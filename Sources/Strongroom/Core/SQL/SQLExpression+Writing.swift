/// A type that writes an expression. Layers above the core implement it.
protocol SQLExpressionWriting: Sendable {
    var negated: SQLExpression { get }

    func write(to writer: inout SQLWriter) throws
}

extension SQLExpression {
    /// Writes the expression where it needs no parentheses: in a selection, as a function's argument, after `WHERE`.
    func write(to writer: inout SQLWriter) throws {
        switch node {
        case .value(let value): writer.append(value)
        case .column(let name): writer.append(column: name)
        case .literal(let sql): try sql.write(to: &writer)
        case .prefixed(let prefix, let operand):
            writer.append(prefix.rawValue)
            try operand.writeOperand(to: &writer)
        case .binary(let lhs, let op, let rhs): try Self.write(lhs, op.rawValue, rhs, to: &writer)
        case .comparison(let lhs, let comparison, let rhs): try Self.write(lhs, comparison.rawValue, rhs, to: &writer)
        case .associative(let op, let operands):
            try writer.append(operands, separator: " \(op.sql) ") {
                try $0.writeOperand(to: &$1)
            }
        case .between, .like, .listed, .contained, .exists, .isZero: try writeCondition(to: &writer)
        case .row(let values):
            writer.append("(")
            try writer.append(values, separator: ", ") { try $0.write(to: &$1) }
            writer.append(")")
        case .subquery(let subquery): try subquery.writeInParentheses(to: &writer)
        case .function(let call): try call.write(to: &writer)
        case .cast(let operand, let storageClass):
            writer.append("CAST(")
            try operand.write(to: &writer)
            writer.append(" AS \(storageClass))")
        case .collated(let operand, let collation):
            try operand.write(to: &writer)
            writer.append(" COLLATE " + collation.sqlCollationName)
        case .qualified(let base, let alias): try writer.qualified(by: alias) { try base.write(to: &$0) }
        case .json(let base): try base.write(to: &writer)
        case .custom(let expression): try expression.write(to: &writer)
        case .wholeRow(let tableName): writer.append(wholeRowOf: tableName)
        }
    }

    private func writeCondition(to writer: inout SQLWriter) throws {
        switch node {
        case .between(let element, let lower, let upper, let isNegated):
            try element.writeOperand(to: &writer)
            writer.append(isNegated ? " NOT BETWEEN " : " BETWEEN ")
            try lower.writeOperand(to: &writer)
            writer.append(" AND ")
            try upper.writeOperand(to: &writer)
        case .like(let string, let pattern, let escape, let isNegated):
            try Self.write(string, isNegated ? "NOT LIKE" : "LIKE", pattern, to: &writer)
            if let escape {
                writer.append(" ESCAPE ")
                try escape.writeOperand(to: &writer)
            }
        case .listed(let element, let values, let isNegated):
            try element.writeOperand(to: &writer)
            writer.append(isNegated ? " NOT IN (" : " IN (")
            try writer.append(list: values, separator: ", ")
            writer.append(")")
        case .contained(let element, let subquery, let isNegated):
            try element.writeOperand(to: &writer)
            writer.append(isNegated ? " NOT IN " : " IN ")
            try subquery.writeList(to: &writer)
        case .exists(let subquery, let isNegated):
            writer.append(isNegated ? "NOT EXISTS " : "EXISTS ")
            try subquery.writeInParentheses(to: &writer)
        case .isZero(let count, let isNegated):
            try count.writeOperand(to: &writer)
            writer.append(isNegated ? " > 0" : " = 0")
        default:
            break
        }
    }

    private static func write(
        _ lhs: SQLExpression, _ op: String, _ rhs: SQLExpression, to writer: inout SQLWriter
    ) throws {
        try lhs.writeOperand(to: &writer)
        writer.append(" \(op) ")
        try rhs.writeOperand(to: &writer)
    }

    /// Writes the expression as an operand, in parentheses if its surroundings could split it.
    func writeOperand(to writer: inout SQLWriter) throws {
        if isTight { return try write(to: &writer) }
        writer.append("(")
        try write(to: &writer)
        writer.append(")")
    }

    private var isTight: Bool {
        switch node {
        case .value, .column, .wholeRow, .function, .cast, .subquery, .row: true
        case .qualified(let base, _), .json(let base): base.isTight
        default: false
        }
    }
}

extension SQLExpression.FunctionCall {
    func write(to writer: inout SQLWriter) throws {
        writer.append(name)
        writer.append(isDistinct ? "(DISTINCT " : "(")
        try writer.append(arguments, separator: ", ") { try $0.write(to: &$1) }
        if let ordering {
            writer.append(" ORDER BY ")
            try ordering.write(to: &writer)
        }
        writer.append(")")
        if let filter {
            writer.append(" FILTER (WHERE ")
            try filter.write(to: &writer)
            writer.append(")")
        }
    }
}
