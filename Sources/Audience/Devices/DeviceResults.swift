import Base

/// The results for the devices of an audience.
struct DeviceResults {
    /// Devices of the exports.
    var devices: Int
    /// Those of them that are what the newest row that has them calls its activity, or its
    /// registration id, and not its device.
    var decidedByOthers = 0
    /// Devices that another row selects although `exclude` names one of theirs, or `where` leaves
    /// it out, which has no date. Alias limits do not count.
    var undatedExclusions = 0
    /// Whether any row has a date.
    var hasDates = false
    /// Devices that have slots, 0 ..< count: some row of them was selected.
    var count: Int
    /// The slots that did not become recipients.
    var dropped: BitSet
    /// By group, the slots of the first recipients and their selections: numbers of
    /// `SelectionSets`.
    var first: [Int: [(place: Int, selection: Int)]]
}
