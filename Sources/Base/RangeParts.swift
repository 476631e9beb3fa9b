/// How a range of ids is divided among threads: a value that decides, and starts no thread.
///
/// ```swift
/// let parts = RangeParts(unit: 1000, threads: 4).parts(of: 0..<250_000)
/// ```
public struct RangeParts {
    /// The least number of ids in a part; each part but the last has a multiple of it.
    private let unit: Int
    private let threads: Int

    /// - Parameters:
    ///   - unit: ids that stay together, such as those of a batch: a part has at least this many.
    ///   - threads: the threads that work on parts, including the calling one.
    public init(unit: Int, threads: Int) { (self.unit, self.threads) = (max(1, unit), max(1, threads)) }

    /// The parts of a range, in order: at most one for each thread, and as equal as whole units
    /// allow.
    public func parts(of range: Range<Int>) -> [Range<Int>] {
        let units = range.count / unit + (range.count % unit > 0 ? 1 : 0)
        let count = max(1, min(threads, units))
        return (0..<count).map { part in
            let (first, last) = (units * part / count, units * (part + 1) / count)
            return range.lowerBound + first
                * unit..<(part == count - 1 ? range.upperBound : range.lowerBound + last * unit)
        }
    }
}
