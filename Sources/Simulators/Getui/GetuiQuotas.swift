import Base

/// How often an app may send to everyone and to tags, in all, and what it may name there.
/// Source: a copy of "code" of 2022 on DCloud's page about uni-push: 30014 for "app" pushes in a minute, 30007 and 30010 for those of a day. Our
/// facts about Getui name 30012 for everyone, which that page has for changes of tags.
struct GetuiQuotas {
    static let usualPerDay = 100, usualPerMinute = 5
    /// Getui does not publish it: what Volley names at most.
    static let mostTags = 100
    private static let longestTag = 31

    private let takesTags: Bool, perDay: Int, perMinute: Int
    private var days: [String: DayQuota] = [:]
    private var minutes: [String: MinuteQuota] = [:]

    init(_ configuration: SimulatorConfiguration) {
        takesTags = configuration.takesTags
        perDay = configuration.broadcastsPerDay ?? Self.usualPerDay
        perMinute = configuration.broadcastsPerMinute ?? Self.usualPerMinute
    }

    /// The refusal of a push to everyone or to tags, whose form is right; nil if it is taken, which counts for the minute.
    mutating func refusal(of entries: [GetuiEntry], app: String, now: Timestamp) -> GetuiReply? {
        let isForTags = entries.first?.kind == .tag
        if isForTags, let refusal = refusal(ofTags: entries.map(\.name)) { return refusal }
        guard minutes[app, default: MinuteQuota(limit: perMinute)].take(at: now) else { return .refusal(30014) }
        let day = days[app] ?? DayQuota(limit: perDay)
        return day.hasRoom(at: now) ? nil : .refusal(isForTags ? 30010 : 30007)
    }

    private func refusal(ofTags tags: [String]) -> GetuiReply? {
        if !takesTags { return .refusal(30003) }
        if tags.count > Self.mostTags { return .refusal(30016) }
        if tags.contains(where: { $0.utf16.count > Self.longestTag }) { return .refusal(30005) }
        return tags.contains { $0.contains { $0.isWhitespace || $0 == "," } } ? .badParameter("tag is invalid") : nil
    }

    /// Counts a push to everyone or to tags for the day.
    mutating func take(app: String, now: Timestamp) { _ = days[app, default: DayQuota(limit: perDay)].take(1, at: now) }
}

/// How much an app may do in a day, which begins at midnight in China, whose clocks are eight hours ahead.
struct DayQuota {
    private static let secondsOfDay: Int64 = 86_400, secondsAhead: Int64 = 28_800

    private let limit: Int
    private var day: Int64 = .min
    private var taken = 0

    init(limit: Int) { self.limit = limit }

    /// Whether so much more may be done.
    func hasRoom(_ count: Int = 1, at now: Timestamp) -> Bool { (Self.day(of: now) == day ? taken : 0) + count <= limit }

    /// Counts something; false, and nothing, if it is too much.
    mutating func take(_ count: Int, at now: Timestamp) -> Bool {
        guard hasRoom(count, at: now) else { return false }
        let today = Self.day(of: now)
        (taken, day) = (day == today ? taken + count : count, today)
        return true
    }

    private static func day(of now: Timestamp) -> Int64 { (now.epochSeconds + secondsAhead) / secondsOfDay }
}
