let options = Options(CommandLine.arguments)
switch options.subject {
case .items:
    var comparison = Comparison(options)
    try comparison.run()
case .life: try Life(options).run()
case .growth:
    var growth = GrowthTable(options)
    try growth.run()
case .footprint:
    var footprint = Footprint(options)
    try footprint.run()
}
