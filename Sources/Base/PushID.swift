/// The id that a push has on the wire: a lower-case UUID (version 8, RFC 9562) derived from the run
/// and the recipient, so that a repetition of the same push is recognisable and the id needs no
/// storage. Within a run no two recipients share one: recipient ids pass a bijection on the 62 bits
/// that the UUID leaves free.
///
/// ```swift
/// let id = PushID(runSeed: .random(), recipient: 0).description
/// ```
public struct PushID: Hashable, Sendable, CustomStringConvertible {
    /// The UUID's first and last eight bytes.
    public let high: UInt64, low: UInt64

    /// - Parameters:
    ///   - runSeed: 128 random bits, drawn once when the run was planned.
    ///   - recipient: the recipient's dense id.
    public init(runSeed: RunSeed, recipient: Int) {
        let free: UInt64 = (1 << 62) - 1
        var bits = UInt64(bitPattern: Int64(recipient)) & free
        // Odd multipliers and shifted xors are bijections on 62 bits.
        bits = (bits &* 0x9E37_79B9_7F4A_7C15) & free
        bits ^= bits >> 31
        bits = (bits &* 0xBF58_476D_1CE4_E5B9) & free
        bits ^= bits >> 29
        high = runSeed.high & ~0xF000 | 0x8000
        low = (bits ^ (runSeed.low & free)) | 0x8000_0000_0000_0000
    }

    /// Characters of the UUID.
    public static let textCount = 36
    /// What a payload has in place of an id before there is a run.
    public static let sample = PushID(runSeed: RunSeed(high: 0, low: 0), recipient: 0)

    /// Writes the 36 characters of the UUID.
    /// - Parameter text: at least 36 bytes long.
    public func write(to text: UnsafeMutableBufferPointer<UInt8>) {
        precondition(text.count >= 36, "a UUID needs 36 characters")
        Self.write(high >> 32, digits: 8, to: text, at: 0)
        text[8] = UInt8(ascii: "-")
        Self.write(high >> 16 & 0xFFFF, digits: 4, to: text, at: 9)
        text[13] = UInt8(ascii: "-")
        Self.write(high & 0xFFFF, digits: 4, to: text, at: 14)
        text[18] = UInt8(ascii: "-")
        Self.write(low >> 48, digits: 4, to: text, at: 19)
        text[23] = UInt8(ascii: "-")
        Self.write(low & 0xFFFF_FFFF_FFFF, digits: 12, to: text, at: 24)
    }

    /// Appends the 36 characters of the UUID.
    public func append(to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.textCount) { text in
            write(to: text)
            bytes.append(contentsOf: text)
        }
    }

    private static func write(_ number: UInt64, digits: Int, to text: UnsafeMutableBufferPointer<UInt8>, at start: Int)
    {
        var rest = number
        var place = start + digits
        while place > start {
            place -= 1
            let digit = UInt8(truncatingIfNeeded: rest & 15)
            text[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
            rest >>= 4
        }
    }

    /// In lower case with hyphens, as in headers.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.textCount) { text in
            write(to: text)
            return Self.textCount
        }
    }
}

/// 128 random bits that distinguish one run from every other.
public struct RunSeed: Hashable, Sendable {
    /// The first and last 64 bits.
    public let high: UInt64, low: UInt64

    /// A seed from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A new seed from the system's random numbers.
    public static func random() -> RunSeed {
        RunSeed(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }
}

/// What a tracked push says of itself, under `volley` in the app's own data and in links to web
/// pages (`delivery: {track: true}`).
public struct PushTracking: Hashable, Sendable {
    /// The key of the app's own data.
    public static let key = "volley"

    /// The run's id; in a preview, zeros of the same length.
    public var run: String
    /// The campaign's name.
    public var campaign: String
    /// The variant's name; blank where there is none, and where devices of several variants may
    /// share a request.
    public var variant = ""
    /// Whether silent pushes say it, too: no one sees or opens them.
    public var includesSilent: Bool
    /// Where the campaign says it.
    public var place: SourcePosition

    /// Tracking of a run.
    public init(run: String, campaign: String, includesSilent: Bool, place: SourcePosition) {
        (self.run, self.campaign, self.includesSilent, self.place) = (run, campaign, includesSilent, place)
    }

    /// The members of `volley` in front of the push's id.
    public var members: [(name: String, value: String)] {
        [("run", run), ("campaign", campaign)] + (variant.isEmpty ? [] : [("variant", variant)])
    }

    /// What a link to a web page gets, as a URL's query has it: what is not a letter, a digit or
    /// one of `-._~` is percent-encoded (RFC 3986).
    public var linkParameters: [String] {
        [("source", "volley"), ("medium", "push"), ("campaign", campaign), ("content", variant), ("id", run)].filter {
            !$1.isEmpty
        }
        .map { "utm_\($0)=\(Self.encoded($1))" }
    }

    private static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return text.utf8.reduce(into: "") { encoded, byte in
            let character = Character(Unicode.Scalar(byte))
            if character.isASCII, character.isLetter || character.isNumber || "-._~".contains(character) {
                encoded.append(character)
            } else {
                encoded += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
    }
}

/// The place of a push's id in a rendered payload. Which request carries the push, and with which
/// others, is decided after rendering: a request for many devices has one id in its body, that of
/// its first push. Until then the place is filled with a byte that UTF-8 never has, so that
/// payloads have their final length, equal texts are equal bytes, and no text can be taken for it.
public enum PushIDPlace {
    private static let byte: UInt8 = 0xC1

    /// Appends a place for an id.
    public static func append(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: repeatElement(byte, count: PushID.textCount))
    }

    /// Writes an id into all its places from `start` on.
    public static func fill(_ bytes: inout [UInt8], from start: Int, with id: PushID) {
        bytes.withUnsafeMutableBufferPointer { all in
            var index = start
            while index < all.count {
                if all[index] == byte {
                    id.write(to: UnsafeMutableBufferPointer(rebasing: all[index..<index + PushID.textCount]))
                    index += PushID.textCount
                } else {
                    index += 1
                }
            }
        }
    }

    /// A payload with an id in all its places: itself if it has none.
    public static func filled(_ payload: ArraySlice<UInt8>, with id: PushID) -> ArraySlice<UInt8> {
        guard payload.contains(byte) else { return payload }
        var bytes = Array(payload)
        fill(&bytes, from: 0, with: id)
        return bytes[...]
    }
}

/// A request that was named before it left, for a service that recognizes repeats: by a name that
/// the service gave out for the request, or by the generation of its pushes.
public struct NamedCall: Hashable, Sendable {
    /// Its place among the calls of its run, in the order in which they were named; 0 before it is
    /// recorded.
    public var number: Int
    /// The number of the service in the run.
    public var service: Int
    /// The name by which the service recognizes the call; blank for recipients that may have got a
    /// push under an earlier name.
    public var name: String
    /// When it was named.
    public var namedAt: Timestamp
    /// The recipients of its pushes, in their order.
    public var recipients: [Int]

    /// A call.
    public init(number: Int = 0, service: Int = 0, name: String, namedAt: Timestamp, recipients: [Int]) {
        self.number = number
        self.service = service
        self.name = name
        self.namedAt = namedAt
        self.recipients = recipients
    }
}
