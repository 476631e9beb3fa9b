import Base

/// What became of the devices of an audience.
struct SettledDevices {
    /// Devices found, which have the slots 0 ..< count.
    var count: Int
    /// The slots that did not become recipients.
    var dropped: BitSet
    /// The selections of the first `AudienceResult.namedSlots` slots: numbers of `SelectionSets`.
    var firstSelections: [Int]
}
