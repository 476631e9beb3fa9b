import Base
import Glibc

/// What a contestant's run cost.
struct Measurement {
    var pushes: Int
    var seconds: Double
    /// The contestant's user and system time.
    var cpuSeconds: Double
    /// The most memory its process ever held.
    var peakBytes: Int
    /// The server's user and system time for these pushes.
    var serverCPUSeconds: Double

    var rate: Double { Double(pushes) / seconds }
    /// CPU seconds for 100,000 pushes.
    var cpuPer100000: Double { cpuSeconds * 100_000 / Double(pushes) }
    /// The share of the time that the contestant and its server spent on a core. The one near 100 %
    /// is the bottleneck.
    var ownShare: Double { cpuSeconds / seconds }
    var serverShare: Double { serverCPUSeconds / seconds }
}

/// Medians, because a slow minute of the machine would distort a mean.
struct Medians {
    let rate: Double
    let cpuPer100000: Double
    let ownShare: Double
    let serverShare: Double
    /// The largest, as peak memory does not vary with the machine's speed.
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

/// Markdown for docs/performance.md. Each line is printed as soon as it is known.
enum Table {
    static func line(_ cells: [String]) { say("| \(cells.joined(separator: " | ")) |") }

    static func head(_ cells: [String]) {
        line(cells)
        say("|" + String(repeating: "---|", count: cells.count))
    }

    /// Reports progress on stderr, outside the Markdown.
    static func progress(_ text: String) {
        let line = Array("… \(text)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }

    static func say(_ text: String) {
        print(text)
        fflush(nil)
    }

    /// Formats a number with two digits after the decimal point.
    static func fixed(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }

    static func count(_ value: Double) -> String { TextFormat.count(Int(value.rounded())) }

    static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
}
