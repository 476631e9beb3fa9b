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
