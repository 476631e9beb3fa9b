/// Where a push goes: the name by which the service knows an app on a device, or a user, such as a device token or a registration id. Only
/// the service knows what it looks like (`TargetForm`).
public struct Target: Hashable, Sendable, CustomStringConvertible {
    /// As in requests.
    public let text: String

    /// Takes a text that is known to be a target in its stored form.
    public init(normalized text: String) { self.text = text }

    /// The first and last four characters, the most that any log, error or page may show.
    public var redacted: String { Self.redact(text) }

    /// From this many characters on, a part of a target in a text is not shown: next to the target's short form, it tells the rest.
    private static let fewestOfPart = 12

    /// A text in which the target, and each longer part of it, is shortened wherever it occurs, in capitals or small letters: no more of it
    /// is shown than `redacted` shows.
    public func redacted(in text: String) -> String {
        let (target, bytes) = (Array(self.text.utf8), Array(text.utf8))
        let fewest = min(Self.fewestOfPart, target.count)
        guard bytes.count >= fewest, fewest > 0 else { return text }
        var shown: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard let part = Self.part(of: target, in: bytes[index...]), part.count >= fewest else {
                shown.append(bytes[index])
                index += 1
                continue
            }
            let (start, end) = (part.lowerBound == 0, part.upperBound == target.count)
            shown += (start && end ? redacted : start ? "\(self.text.prefix(4))…" : end ? "…\(self.text.suffix(4))" : "…").utf8
            index += part.count
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// The longest part of a target that some bytes begin with, in either case.
    private static func part(of target: [UInt8], in bytes: ArraySlice<UInt8>) -> Range<Int>? {
        target.indices.map { start in
            start..<start + zip(bytes, target[start...]).prefix { $0 == $1 || $0 | 0x20 == $1 }.count
        }.max { $0.count < $1.count }
    }

    /// The redacted form: printing a target by accident must not reveal it.
    public var description: String { redacted }

    /// Shortens anything that may be a target to its first and last four characters.
    public static func redact(_ text: String) -> String {
        text.count <= 8 ? "…" : "\(text.prefix(4))…\(text.suffix(4))"
    }
}
