public import Base

/// How runs are named.
///
/// ```swift
/// let id = RunID.make(campaign: "spring-sale", now: .now(), seed: .random())
/// ```
public enum RunID {
    /// `20261201-090000-spring-sale-7f3a`: the moment of planning in UTC, the campaign, and four
    /// random hex digits, so two plans of the same second differ.
    public static func make(campaign: String, now: Timestamp, seed: RunSeed) -> String {
        "\(now.compact)-\(campaign)-\(TextFormat.hex(seed.high >> 48, digits: 4))"
    }

    /// An id as a preview shows it, before there is a run: zeros in place of the moment and of the
    /// random digits. Ids of a campaign all have its length.
    public static func sample(campaign: String) -> String { "00000000-000000-\(campaign)-0000" }

    /// Whether a text can be an id: with a moment that exists, a campaign's name and four hex
    /// digits.
    static func isPossible(_ text: String) -> Bool {
        func number(_ from: Int, _ count: Int) -> Int { Int(text.dropFirst(from).prefix(count)) ?? -1 }
        guard text.utf8.allSatisfy({ $0 < 0x80 }), let campaign = campaign(of: text[...]),
            text.dropFirst(15).first == "-",
            LocalTime(
                year: number(0, 4), month: number(4, 2), day: number(6, 2), hour: number(9, 2), minute: number(11, 2))
                != nil,
            number(13, 2) < 60, text.dropLast(4).last == "-"
        else { return false }
        // As campaigns may be called.
        return campaign.utf8.count <= 64
            && campaign.utf8.allSatisfy { isDigit($0) || (0x61...0x7a).contains($0) || $0 == UInt8(ascii: "-") }
            && text.utf8.suffix(4).allSatisfy { isDigit($0) || (0x61...0x66).contains($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// The campaign that an id names; nil when it is not an id.
    package static func campaign(of id: Substring) -> Substring? {
        guard moment(of: id) != nil, id.utf8.count > 21 else { return nil }
        return id.dropFirst(16).dropLast(5)
    }

    /// Whether an id or a file's name begins with a later moment of planning than another; false
    /// when either has none.
    static func isLater(_ name: Substring, than other: Substring) -> Bool {
        guard let moment = moment(of: name), let otherMoment = self.moment(of: other) else { return false }
        return moment > otherMoment
    }

    private static func moment(of name: Substring) -> Substring? {
        let moment = name.prefix(15)
        let isMoment =
            moment.utf8.count == 15
            && moment.utf8.enumerated().allSatisfy { place, byte in
                place == 8 ? byte == UInt8(ascii: "-") : isDigit(byte)
            }
        return isMoment ? moment : nil
    }
}
