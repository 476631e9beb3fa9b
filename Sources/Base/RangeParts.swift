/// How a range of ids is shared out among threads: a value that decides, and starts none.
public struct RangeParts {
    /// Ids of a part at least, and of each but the last a multiple of it.
    private let unit: Int
    private let threads: Int

    /// - Parameters:
    ///   - unit: ids that stay together, as those of a batch do: a part has that many at least.
    ///   - threads: how many work on parts, the one that asks among them.
    public init(unit: Int, threads: Int) { (self.unit, self.threads) = (max(1, unit), max(1, threads)) }

    /// A range in parts, in order; one for each thread at most, and as equal as whole units allow.
    public func parts(of range: Range<Int>) -> [Range<Int>] {
        let units = range.count / unit + (range.count % unit > 0 ? 1 : 0)
        let count = max(1, min(threads, units))
        return (0..<count).map { part in
            let (first, last) = (units * part / count, units * (part + 1) / count)
            return range.lowerBound + first * unit..<(part == count - 1 ? range.upperBound : range.lowerBound + last * unit)
        }
    }
}
