public import Base

/// Brings recipients, which a scan finds in the order of the export, into the order of their waves. Until all are there, they are in a
/// temporary table, which SQLite keeps outside the run file and without a name; a byte for each remains in memory.
public struct WaveSorter {
    /// The most waves.
    public static let mostWaves = 256

    let waves: Int
    private let wave: (RecipientRecord) -> Int
    /// By slot.
    private(set) var numbers: [UInt8] = []

    /// - Parameters:
    ///   - waves: how many there are, at most `mostWaves`.
    ///   - wave: the place in sending order of a recipient's wave, 0 ..< waves.
    public init(waves: Int, wave: @escaping (RecipientRecord) -> Int) {
        precondition((1...Self.mostWaves).contains(waves), "a byte is kept for each recipient")
        self.waves = waves
        self.wave = wave
    }

    /// A recipient is stored at its slot, which is the next one or one that was stored before.
    @inline(__always) mutating func note(_ recipient: RecipientRecord, at slot: Int) {
        let number = UInt8(wave(recipient))
        if slot == numbers.count { numbers.append(number) } else { numbers[slot] = number }
    }
}
