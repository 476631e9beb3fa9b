import Base

/// The results for the devices of an audience.
struct ConcludedDevices {
    /// Devices of the exports.
    var devices: Int
    /// Rows that `exclude` names, that have no date, and lost to a row of their device with a date that selects it.
    var undatedExclusions = 0
    /// Devices that have slots, 0 ..< count: some row of them was selected.
    var count: Int
    /// The slots that did not become recipients.
    var dropped: BitSet
    /// By group, the slots of the first recipients and their selections: numbers of `SelectionSets`.
    var first: [Int: [(place: Int, selection: Int)]]
}
