/// The references between named things.
struct References {
    private let uses: [String: Set<String>]

    init(_ uses: [String: Set<String>]) {
        self.uses = uses
    }

    /// The sets of names that reach each other, of two and more.
    var cycles: Set<Set<String>> {
        let reached = Dictionary(uniqueKeysWithValues: uses.keys.map { ($0, self.reached(from: $0)) })
        return Set(
            reached.map { name, others in others.filter { reached[$0]?.contains(name) == true }.union([name]) }
                .filter { $0.count > 1 })
    }

    private func reached(from name: String) -> Set<String> {
        var reached: Set<String> = [], next = [name]
        while let name = next.popLast() {
            for other in uses[name] ?? [] where reached.insert(other).inserted { next.append(other) }
        }
        return reached
    }
}
