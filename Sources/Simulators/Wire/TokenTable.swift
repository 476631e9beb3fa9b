/// The tokens that were accepted, each with the first apns-id that it was accepted with. An entry
/// has 24 bytes, and the table is filled to between 57 and 85 percent, so a token needs 28 to 42
/// bytes.
///
/// The table uses open addressing with linear probing. The place of a hash is proportional to its
/// value, so entries are roughly in the order of their hashes, and growing walks both tables from
/// front to back.
struct TokenTable {
    /// How an accepted push relates to earlier ones with the same token.
    enum Repeat {
        /// The first push to the token.
        case none
        /// The token's first repeat with an id other than its first.
        case newID
        /// The token's first repeat with the same id.
        case sameID
        /// Neither: this kind of repeat was seen before for the token.
        case known
    }

    private struct Entry {
        var token: TokenHash
        /// The hash of the first id. Its lowest two bits say which kinds of repeat were seen.
        var id: UInt64
    }

    private static let newIDSeen: UInt64 = 1, sameIDSeen: UInt64 = 2, flags: UInt64 = 3
    private static let empty = Entry(token: TokenHash(high: 0, low: 0), id: 0)

    private var entries: [Entry]
    /// The number of distinct tokens.
    private(set) var count = 0

    init(capacity: Int = 1024) { entries = Array(repeating: Self.empty, count: capacity) }

    /// Notes an accepted push.
    mutating func insert(_ token: TokenHash, id: TokenHash) -> Repeat {
        // All zeros marks an empty place, so a token with that hash, which is as unlikely as any
        // other, gets another one.
        let token = token.high | token.low == 0 ? TokenHash(high: 0, low: 1) : token
        let place = place(of: token)
        guard entries[place].token.high | entries[place].token.low != 0 else {
            entries[place] = Entry(token: token, id: id.high & ~Self.flags)
            count += 1
            if count * 20 > entries.count * 17 { grow() }
            return .none
        }
        let isSame = entries[place].id & ~Self.flags == id.high & ~Self.flags
        let flag = isSame ? Self.sameIDSeen : Self.newIDSeen
        guard entries[place].id & flag == 0 else { return .known }
        entries[place].id |= flag
        return isSame ? .sameID : .newID
    }

    /// The place where a token is, or would be put.
    private func place(of token: TokenHash) -> Int {
        var place = Int(token.high.multipliedFullWidth(by: UInt64(entries.count)).high)
        while true {
            let there = entries[place].token
            if there == token || there.high | there.low == 0 { return place }
            place += 1
            if place == entries.count { place = 0 }
        }
    }

    private mutating func grow() {
        let old = entries
        entries = Array(repeating: Self.empty, count: old.count + old.count / 2)
        for entry in old where entry.token.high | entry.token.low != 0 { entries[place(of: entry.token)] = entry }
    }
}

/// A hash of 128 bits for a device token or an apns-id. The probability that any two of ten million
/// tokens share a hash is below 10⁻²⁴.
struct TokenHash: Hashable {
    let high: UInt64, low: UInt64

    /// A hash made from its halves.
    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Hashes hex digits of either case to the same value.
    init(hexDigits bytes: UnsafeBufferPointer<UInt8>) {
        // Bit 0x20 distinguishes upper from lower case in letters, and is set in every digit.
        self.init(UnsafeRawBufferPointer(bytes), orMask: 0x2020_2020_2020_2020)
    }

    /// Hashes hex digits from a configuration.
    init(hexDigits text: String) { self = Array(text.utf8).withUnsafeBufferPointer { TokenHash(hexDigits: $0) } }

    /// Hashes a text, byte by byte.
    init(text: String) {
        var text = text
        self = text.withUTF8 { TokenHash(UnsafeRawBufferPointer($0), orMask: 0) }
    }

    private init(_ bytes: UnsafeRawBufferPointer, orMask: UInt64) {
        var first: UInt64 = 0x9E37_79B9_7F4A_7C15 &+ UInt64(bytes.count)
        var second: UInt64 = 0xC2B2_AE3D_27D4_EB4F
        var offset = 0
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) | orMask
            first = Self.fold(first ^ word, 0xA076_1D64_78BD_642F)
            second = Self.fold(second &+ word, 0xE703_7ED1_A0B4_28DB)
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset]) | orMask & 0xFF
            offset += 1
        }
        high = Self.fold(first ^ rest, 0x8EBC_6AF0_9C88_C6E3)
        low = Self.fold(second &+ rest, 0x5899_65CC_7537_4CC3)
    }

    /// The two halves of a 128-bit product combined by XOR: every bit of the result depends on
    /// every bit of the factors (as in wyhash).
    private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }
}
