let options = Options(CommandLine.arguments)
switch options.subject {
case .items:
    var comparison = try Comparison(options)
    try comparison.run()
case .compare:
    var comparison = try CommitComparison(options)
    try comparison.run()
case .life: try Life(options).run()
case .growth:
    var growth = try GrowthTable(options)
    try growth.run()
case .footprint:
    var footprint = try Footprint(options)
    try footprint.run()
}
