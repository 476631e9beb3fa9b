public import Base

/// How runs are named.
public enum RunID {
    /// `20261201-090000-spring-sale-7f3a`: the moment of planning in UTC, the campaign, and four random hex digits, so two plans
    /// of the same second differ.
    public static func make(campaign: String, now: Timestamp, seed: RunSeed) -> String {
        "\(now.compact)-\(campaign)-\(TextFormat.hex(seed.high >> 48, digits: 4))"
    }

    /// The campaign that an id names; nil when it is not an id.
    package static func campaign(of id: Substring) -> Substring? {
        guard moment(of: id) != nil, id.utf8.count > 21 else { return nil }
        return id.dropFirst(16).dropLast(5)
    }

    /// Whether an id or a file's name begins with a later moment of planning than another; false when either has none.
    static func isLater(_ name: Substring, than other: Substring) -> Bool {
        guard let moment = moment(of: name), let otherMoment = self.moment(of: other) else { return false }
        return moment > otherMoment
    }

    private static func moment(of name: Substring) -> Substring? {
        let moment = name.prefix(15)
        let isMoment =
            moment.utf8.count == 15
            && moment.utf8.enumerated().allSatisfy { place, byte in place == 8 ? byte == UInt8(ascii: "-") : (0x30...0x39).contains(byte) }
        return isMoment ? moment : nil
    }
}
