import Base

/// Lines in the text format of Prometheus.
struct MetricsText {
    /// Labels with their values, and the value of a sample.
    typealias Sample = (labels: [(String, String)], value: Double)

    private(set) var text = ""

    mutating func gauge(_ name: String, _ help: String, _ samples: [Sample]) { add(name, type: "gauge", help, samples) }

    mutating func counter(_ name: String, _ help: String, _ samples: [Sample]) { add(name, type: "counter", help, samples) }

    /// - Parameters:
    ///   - bounds: the upper bounds of the buckets, rising.
    ///   - samples: labels, how many fell into each bucket and no smaller one, and the sum of all that was measured.
    mutating func histogram(
        _ name: String, _ help: String, bounds: [Double], _ samples: [(labels: [(String, String)], counts: [Int], sum: Double)]
    ) {
        begin(name, type: "histogram", help)
        for sample in samples {
            var sum = 0
            for (place, count) in sample.counts.enumerated() {
                sum += count
                let bound = place < bounds.count ? JSONValue.double(bounds[place]).text : "+Inf"
                add("\(name)_bucket", sample.labels + [("le", bound)], Double(sum))
            }
            add("\(name)_sum", sample.labels, sample.sum)
            add("\(name)_count", sample.labels, Double(sum))
        }
    }

    private mutating func add(_ name: String, type: String, _ help: String, _ samples: [Sample]) {
        begin(name, type: type, help)
        for sample in samples { add(name, sample.labels, sample.value) }
    }

    private mutating func begin(_ name: String, type: String, _ help: String) { text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n" }

    private mutating func add(_ name: String, _ labels: [(String, String)], _ value: Double) {
        let list = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        text += "\(name)\(list.isEmpty ? "" : "{\(list)}") \(JSONValue.double(value).text)\n"
    }

    static func escaped(_ value: String) -> String {
        value.replacing(scalar: "\\", with: "\\\\").replacing(scalar: "\"", with: "\\\"").replacing(scalar: "\n", with: "\\n")
    }
}
