import Base

/// Identifies the recipients of a run: 128 bits, the sum of a hash of each row, its id included.
///
/// A sum can be kept while rows are stored, replaced and moved, in any order, and costs some twenty
/// nanoseconds a row. It notices every change except one made to deceive it: a program that may
/// write the file could also write another digest into it.
struct RecipientsDigest: Hashable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// The texts of a row, in the order of its columns.
    typealias Row = (
        token: UnsafeBufferPointer<UInt8>, registrationID: UnsafeBufferPointer<UInt8>,
        alias: UnsafeBufferPointer<UInt8>,
        language: UnsafeBufferPointer<UInt8>, variant: UnsafeBufferPointer<UInt8>, fields: UnsafeBufferPointer<UInt8>
    )

    /// Adds a row.
    @inline(__always) mutating func add(_ id: Int, _ row: Row) {
        let hash = RowHash(id, row)
        low = low &+ hash.first
        high = high &+ hash.second
    }

    /// Removes a row that was added.
    @inline(__always) mutating func subtract(_ id: Int, _ row: Row) {
        let hash = RowHash(id, row)
        low = low &- hash.first
        high = high &- hash.second
    }

    /// Adds the rows of another digest.
    mutating func add(_ other: RecipientsDigest) {
        low = low &+ other.low
        high = high &+ other.high
    }

    /// 32 hex digits.
    var text: String {
        [high, low].map { TextFormat.hex($0, digits: 16) }.joined()
    }
}

/// Two lanes of multiplications, after wyhash (Wang Yi, public domain): each step takes in sixteen
/// bytes.
private struct RowHash {
    private(set) var first: UInt64
    private(set) var second: UInt64

    private static let keys: (UInt64, UInt64, UInt64, UInt64) = (
        0xA076_1D64_78BD_642F, 0xE703_7ED1_A0B4_28DB, 0x8EBC_6AF0_9C88_C6E3, 0x5899_65CC_7537_4CC3
    )

    @inline(__always) init(_ id: Int, _ row: RecipientsDigest.Row) {
        (first, second) = (Self.keys.2, Self.keys.3)
        mix(UInt64(truncatingIfNeeded: id), right: 0)
        mix(row.token)
        mix(row.registrationID)
        mix(row.alias)
        mix(row.language)
        mix(row.variant)
        mix(row.fields)
        mix(Self.keys.2, right: Self.keys.3)
    }

    @inline(__always) private mutating func mix(_ left: UInt64, right: UInt64) {
        let product = (first ^ left).multipliedFullWidth(by: right ^ Self.keys.0)
        let other = (second ^ right).multipliedFullWidth(by: left ^ Self.keys.1)
        first = (product.high ^ product.low) &+ right
        second = (other.high ^ other.low) &+ left
    }

    /// A text and its length, so that two rows whose texts are split differently never have the
    /// same words.
    @inline(__always) private mutating func mix(_ text: UnsafeBufferPointer<UInt8>) {
        let raw = UnsafeRawBufferPointer(text)
        func word(_ offset: Int) -> UInt64 { raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        func half(_ offset: Int) -> UInt64 { UInt64(raw.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
        var offset = 0
        while raw.count - offset >= 16 {
            mix(word(offset), right: word(offset + 8))
            offset += 16
        }
        first ^= UInt64(truncatingIfNeeded: raw.count)
        let left = raw.count - offset
        switch left {
        case 0: mix(0, right: 0)
        case 8...: mix(word(offset), right: word(raw.count - 8))
        case 4...: mix(half(offset), right: half(raw.count - 4))
        default:
            mix(UInt64(raw[offset]) << 16 | UInt64(raw[offset + left / 2]) << 8 | UInt64(raw[raw.count - 1]), right: 0)
        }
    }
}
