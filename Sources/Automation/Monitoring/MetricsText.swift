import Base

/// Lines in the text format of Prometheus.
struct MetricsText {
    private(set) var text = ""

    mutating func family(_ name: String, type: String, help: String) { text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n" }

    mutating func add(_ name: String, _ labels: [(String, String)], value: Double) {
        let list = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        text += "\(name)\(list.isEmpty ? "" : "{\(list)}") \(JSONValue.double(value).text)\n"
    }

    static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
