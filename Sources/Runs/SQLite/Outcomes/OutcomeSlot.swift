import Base

/// The outcome of one recipient in 16 bytes, high byte first: outcome (4 bits, 0 for none), status (12), number of the
/// reason (16), attempts (16), latency in milliseconds (32), milliseconds since 1970 (48). So each is a whole number of
/// hex digits, which SQL can read.
///
/// Values that do not fit become the largest that do: 65,535 attempts, 49 days of latency.
struct OutcomeSlot: BitwiseCopyable {
    static let bytes = 16
    /// Words of 64 bits of a slot.
    static let words = 2

    /// The words as in the file, in the byte order of this machine.
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// - Parameter reason: the number of the settlement's reason, 0 for none.
    @inline(__always) init(_ settled: borrowing Settlement, reason: Int) {
        let latency = UInt64(UInt32(clamping: settled.latencyMilliseconds))
        high =
            UInt64(settled.outcome.rawValue + 1) << 60 | UInt64(min(max(settled.status, 0), 0xFFF)) << 48
            | UInt64(UInt16(clamping: reason)) << 32 | UInt64(UInt16(clamping: settled.attempts)) << 16 | latency >> 16
        low = (latency & 0xFFFF) << 48 | UInt64(min(max(settled.settledAt.epochMilliseconds, 0), 0xFFFF_FFFF_FFFF))
    }

    /// Nothing is recorded.
    var isEmpty: Bool { high == 0 && low == 0 }

    /// 1 and more; a number that is not an outcome was not written by Volley.
    private var outcomeNumber: Int { Int(high >> 60) }
    var isUnsent: Bool { outcomeNumber == Outcome.unsent.rawValue + 1 }
    /// nil when the file was damaged.
    var outcome: Outcome? { Outcome(rawValue: outcomeNumber - 1) }
    var status: Int { Int(high >> 48 & 0xFFF) }
    var reason: Int { Int(high >> 32 & 0xFFFF) }
    var attempts: Int { Int(high >> 16 & 0xFFFF) }
    var latencyMilliseconds: Int { Int((high & 0xFFFF) << 16 | low >> 48) }
    var settledAt: Timestamp { Timestamp(epochMilliseconds: Int64(low & 0xFFFF_FFFF_FFFF)) }
}

/// Slots of neighbouring recipients, a row of the run file: recipient `id` has slot `id % 250` of block `id / 250`.
///
/// The count is such that a row fills a page of 4,096 bytes: a row for each recipient took four times as long to write.
enum OutcomeBlock {
    static let slots = 250
    static let bytes = slots * OutcomeSlot.bytes
    static let words = slots * OutcomeSlot.words

    /// Reads the words of a row, high byte first; nil when it is not a block.
    @inline(__always) static func read(_ row: UnsafeRawBufferPointer, into words: UnsafeMutableBufferPointer<UInt64>) -> Bool {
        guard row.count == bytes, words.count == self.words else { return false }
        for index in 0..<self.words {
            words[index] = UInt64(bigEndian: row.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
        return true
    }
}
