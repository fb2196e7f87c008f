/// The references between the folders of a layer.
struct SourceGraph: CustomStringConvertible {
    /// The number of references from each folder to each other one.
    let counts: [String: [String: Int]]

    init(counts: [String: [String: Int]]) {
        self.counts = counts
    }

    /// - parameter layer: the layer whose folders are compared.
    init(of layer: String, _ references: [SourceLayers.Reference]) {
        var counts: [String: [String: Int]] = [:]
        for reference in references where reference.from.layer == layer && reference.to.layer == layer {
            guard reference.from.folder != reference.to.folder else { continue }
            counts[reference.from.folder, default: [:]][reference.to.folder, default: 0] += 1
        }
        self.counts = counts
    }

    /// The sets of folders that reach each other, of two and more.
    var cycles: Set<Set<String>> { References(counts.mapValues { Set($0.keys) }).cycles }

    var description: String {
        counts.keys.sorted().map { folder in
            "\(folder): " + counts[folder]!.sorted { $0.key < $1.key }.map { "\($0) \($1)" }.joined(separator: ", ")
        }.joined(separator: "\n")
    }
}
