/// What is fuzzed. Each takes any bytes and checks what must hold whatever they are; a crash or a hang is a finding too.
enum FuzzTarget: String, CaseIterable, Codable, Sendable {
    /// Exports as CSV and TSV.
    case csv
    /// Exports as JSON and JSON Lines.
    case json
    /// Exports that are compressed.
    case gzip
    /// Campaigns and volley.yaml.
    case yaml
    /// Texts with tags, and the cells of a device.
    case template

    /// Runs one input.
    func check(_ input: [UInt8]) throws(FuzzFinding) {
        switch self {
        case .csv: try fuzzCSV(input)
        case .json: try fuzzJSON(input)
        case .gzip: try fuzzGzip(input)
        case .yaml: try fuzzYAML(input)
        case .template: try fuzzTemplate(input)
        }
    }
}

/// Something that must hold does not.
struct FuzzFinding: Error, CustomStringConvertible {
    let description: String
}

/// Refuses what must not be.
func require(_ condition: Bool, _ message: @autoclosure () -> String) throws(FuzzFinding) {
    if !condition { throw FuzzFinding(description: message()) }
}
