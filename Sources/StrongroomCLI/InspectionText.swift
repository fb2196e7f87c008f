import Strongroom

/// What `strongroom info` says.
struct InspectionText: CustomStringConvertible {
    let file: String
    let inspection: DatabaseFile.Inspection

    var description: String { "\(file): \(inspection.kind)" }
}
