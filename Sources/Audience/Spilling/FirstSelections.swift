/// Who selected the devices that were found first: previews say so of their samples.
struct FirstSelections {
    private var found: [(place: Int, selection: Int)] = []
    private let limit: Int
    /// Places from here on are too late.
    private var end = Int.max

    /// - Parameter limit: how many devices are wanted.
    init(limit: Int) { self.limit = limit }

    /// - Parameters:
    ///   - place: tells which of two devices was found first; a device comes once.
    ///   - selection: a number of `SelectionSets`.
    mutating func note(place: Int, selection: Int) {
        guard place < end else { return }
        found.append((place, selection))
        if found.count >= 2 * limit { prune() }
    }

    private mutating func prune() {
        found.sort { $0.place < $1.place }
        found = Array(found.prefix(limit))
        if found.count == limit, let last = found.last { end = last.place }
    }

    /// The selections of the first devices, in order.
    mutating func inOrder() -> [Int] {
        prune()
        return found.map(\.selection)
    }
}
