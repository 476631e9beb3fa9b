/// How the rendering of a claim is shared out among threads: a value that decides, and starts none.
struct ClaimParts {
    /// Recipients of a part at least, and of each but the last a multiple of it: as many as a batch, so that batches are as full as when one thread
    /// renders all.
    private let unit: Int
    /// Threads that render, the one that claims among them.
    let renderers: Int

    /// - Parameter unit: pushes of a batch.
    init(unit: Int, renderers: Int) { (self.unit, self.renderers) = (max(1, unit), max(1, renderers)) }

    /// A claim in parts, in order; one for each thread at most, and as equal as whole batches allow.
    func parts(of claim: Range<Int>) -> [Range<Int>] {
        let units = (claim.count + unit - 1) / unit
        let count = max(1, min(renderers, units))
        return (0..<count).map { part in
            let (first, last) = (units * part / count, units * (part + 1) / count)
            return claim.lowerBound + first * unit..<min(claim.upperBound, claim.lowerBound + last * unit)
        }
    }
}
