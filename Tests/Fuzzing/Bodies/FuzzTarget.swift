/// The parts that are fuzzed. Each takes any bytes and checks what must hold for all of them; a
/// crash or a hang is also a finding.
enum FuzzTarget: String, CaseIterable, Codable, Sendable {
    /// Exports as CSV and TSV.
    case csv
    /// Exports as JSON and JSON Lines.
    case json
    /// Compressed exports.
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

/// Something that must hold but does not.
struct FuzzFinding: Error, CustomStringConvertible {
    let description: String
}

/// Throws if the condition does not hold.
func require(_ condition: Bool, _ message: @autoclosure () -> String) throws(FuzzFinding) {
    if !condition { throw FuzzFinding(description: message()) }
}
