/// The recipients of each group that were found first: previews show them as samples.
struct FirstRecipients {
    private var found: [[Found]]
    private let limit: Int
    /// By group: places from here on are too late.
    private var ends: [Int]

    private struct Found {
        let place: Int
        let selection: Int
    }

    /// - Parameter limit: how many of a group are wanted.
    init(limit: Int) {
        self.limit = limit
        found = Array(repeating: [], count: RecipientCheck.groupLimit)
        ends = Array(repeating: .max, count: RecipientCheck.groupLimit)
    }

    /// - Parameters:
    ///   - place: tells which of two devices was found first; a device comes once.
    ///   - deviceClass: of a recipient.
    @inline(__always) mutating func note(place: Int, _ deviceClass: DeviceClass) {
        if place < ends[deviceClass.group] { add(place, deviceClass) }
    }

    private mutating func add(_ place: Int, _ deviceClass: DeviceClass) {
        let group = deviceClass.group
        found[group].append(Found(place: place, selection: deviceClass.selection))
        if found[group].count >= 2 * limit { prune(group) }
    }

    private mutating func prune(_ group: Int) {
        found[group].sort { $0.place < $1.place }
        found[group] = Array(found[group].prefix(limit))
        if found[group].count == limit, let last = found[group].last { ends[group] = last.place }
    }

    /// By group the places of the first recipients and their selections (numbers of
    /// `SelectionSets`), in order.
    mutating func inOrder() -> [Int: [(place: Int, selection: Int)]] {
        var groups: [Int: [(place: Int, selection: Int)]] = [:]
        for group in found.indices where !found[group].isEmpty {
            prune(group)
            groups[group] = found[group].map { ($0.place, $0.selection) }
        }
        return groups
    }
}
