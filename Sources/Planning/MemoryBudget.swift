import Base

/// How much memory planning may use: `--memory`.
///
/// ```swift
/// let budget = MemoryBudget("2G")
/// ```
public struct MemoryBudget: Hashable, Sendable {
    /// The limit for the whole process.
    public let bytes: Int

    /// Reads a number with a unit: `512M`, `1.5G`, `1GB`, `800MiB`. A kilobyte is 1,024 bytes, a
    /// plain number is bytes; case does not matter.
    /// - Returns: nil for anything else, and for numbers that are too large.
    public init?(_ text: String) {
        let units: [(String, Double)] = [("k", 0x1p10), ("m", 0x1p20), ("g", 0x1p30), ("t", 0x1p40)]
        var number = text.lowercased()
        for ending in ["ib", "b"] where number.hasSuffix(ending) {
            number.removeLast(ending.count)
            break
        }
        var factor = 1.0
        if let unit = units.first(where: { number.hasSuffix($0.0) }) {
            factor = unit.1
            number.removeLast()
        }
        let isPlain = !number.isEmpty && number.allSatisfy { $0.isASCII && $0.isNumber || $0 == "." }
        guard isPlain, let value = Double(number), value * factor < 1e18 else { return nil }
        bytes = Int(value * factor)
    }

    /// The memory of the process without any device: the program, the blocks of each thread, the
    /// queue between the scan and the run file, and the buffers of temporary files. Measured; see
    /// docs/performance.md.
    private static func fixed(threads: Int) -> Int { (96 + 4 * threads) << 20 }

    /// With less than this, planning is not practical.
    private static let leastForDevices = 16 << 20

    /// Returns the bytes left for devices.
    /// - Parameter known: bytes that lists of devices already use, such as suppressed devices.
    /// - Throws: `Diagnostic` when that is too little.
    func forDevices(threads: Int = availableCores(), besides known: Int = 0) throws(Diagnostic) -> Int {
        let fixed = Self.fixed(threads: threads) + known
        guard bytes >= fixed + Self.leastForDevices else {
            let least = (fixed + Self.leastForDevices + 1 << 20 - 1) >> 20
            throw Diagnostic(
                "the limit of --memory is too small to plan with",
                remedy: "On this machine the minimum is \(least)M; without the option, Volley uses what it needs.",
                [.ask(.giveMemory)])
        }
        return bytes - fixed
    }
}
