import Base
import Glibc

/// What a contestant's run took.
struct Measurement {
    var pushes: Int
    var seconds: Double
    /// The contestant's, in user and system.
    var cpuSeconds: Double
    /// The most memory its process ever held.
    var peakBytes: Int
    /// The server's, for these pushes.
    var serverCPUSeconds: Double

    var rate: Double { Double(pushes) / seconds }
    /// CPU seconds for 100,000 pushes.
    var cpuPer100000: Double { cpuSeconds * 100_000 / Double(pushes) }
    /// How much of the time the contestant and its server were on a core: who is near 100 % is the bottleneck.
    var ownShare: Double { cpuSeconds / seconds }
    var serverShare: Double { serverCPUSeconds / seconds }
}

/// Middle values, as a slow minute of a machine pulls a mean along.
struct Medians {
    let rate: Double
    let cpuPer100000: Double
    let ownShare: Double
    let serverShare: Double
    /// The largest, as memory has no good minutes.
    let peakBytes: Int

    init(_ measurements: [Measurement]) {
        rate = Self.median(measurements.map(\.rate))
        cpuPer100000 = Self.median(measurements.map(\.cpuPer100000))
        ownShare = Self.median(measurements.map(\.ownShare))
        serverShare = Self.median(measurements.map(\.serverShare))
        peakBytes = measurements.map(\.peakBytes).max() ?? 0
    }

    private static func median(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }
}

/// Markdown for docs/performance.md. Each line is out as soon as it is known.
enum Table {
    static func line(_ cells: [String]) { say("| \(cells.joined(separator: " | ")) |") }

    static func head(_ cells: [String]) {
        line(cells)
        say("|" + String(repeating: "---|", count: cells.count))
    }

    /// What is under way, for whoever waits; not part of the Markdown.
    static func progress(_ text: String) {
        let line = Array("… \(text)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }

    static func say(_ text: String) {
        print(text)
        fflush(nil)
    }

    /// With two digits behind the point.
    static func fixed(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }

    static func count(_ value: Double) -> String { TextFormat.count(Int(value.rounded())) }

    static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
}
