import Base

/// What FCM counts: the messages to Android devices that carry a label, by days. Source: Google,
/// "Firebase Cloud Messaging Data API", `projects.androidApps.deliveryData`.
extension FCM {
    /// By the label of a tracked run.
    public var statistics: StatisticsFacts? { Self.statistics }

    private static let taken = "countMessagesAccepted"

    /// Each with the group of percents that it is in.
    private static let shares: [(group: String, key: String, words: String)] = [
        ("messageOutcomePercents", "delivered", "delivered"),
        ("messageOutcomePercents", "pending", "waiting for their devices"),
        ("messageOutcomePercents", "collapsed", "replaced by a later one"),
        ("messageOutcomePercents", "droppedAppForceStopped", "dropped, as the app was stopped by force"),
        ("messageOutcomePercents", "droppedDeviceInactive", "dropped, as the device was not used for a month"),
        ("messageOutcomePercents", "droppedTooManyPendingMessages", "dropped, as too many waited for the device"),
        ("messageOutcomePercents", "droppedTtlExpired", "expired"),
        ("messageInsightPercents", "priorityLowered", "lowered in priority"),
    ]

    private static let statistics = StatisticsFacts(
        subject: .label, days: 7,
        counts: [.init(taken, "counted on Android")] + shares.map { .init($0.key, "\($0.words) (about)") },
        scope: "https://www.googleapis.com/auth/cloud-platform", needsTracking: true,
        note: """
            Google counts messages to Android devices by label and by day of Los Angeles, up to five days late, and shows a week. Percents are \
            of a sample and rounded, small numbers are left out, and devices whose owners opted out are missing: the figures need not add \
            up, and never say which device got a push. iPhones and browsers are not in them.
            """,
        question: { topic, _, environment in
            let parts = topic.split(separator: "/", maxSplits: 1)
            let path =
                "/v1beta1/projects/\(parts[0])/androidApps/\(parts.count > 1 ? parts[1] : "-")/deliveryData?pageSize=10000"
            return StatisticsFacts.Question(host: environment == nil ? nil : "fcmdata.googleapis.com", path: path)
        }, read: counts)

    /// `{"androidDeliveryData": [{"date": {"year": 2026, "month": 12, "day": 1}, "analyticsLabel":
    /// "…", "data": {"countMessagesAccepted": "1000", "messageOutcomePercents": {"delivered":
    /// 95.5}}}]}`; without members where there is nothing. A day is a subject, so that what was
    /// said of it stays when it is a week ago.
    @Sendable private static func counts(in answer: JSONValue, of runs: [String]) -> [String: [String: Int]]? {
        guard case .object = answer, answer["error"] == nil, let label = runs.first.map(label) else { return nil }
        guard let found = answer["androidDeliveryData"] else { return [:] }
        guard case .array(let days) = found else { return nil }
        var counts: [String: [String: Int]] = [:]
        for day in days where day["analyticsLabel"] == .string(label) {
            guard let date = day["date"], let year = date["year"]?.integerValue,
                let month = date["month"]?.integerValue,
                let number = date["day"]?.integerValue
            else { return nil }
            // A number of 64 bits is a text.
            guard let text = day["data"]?[taken]?.stringValue else { continue }
            guard let accepted = Int(text), (0...1_000_000_000_000).contains(accepted) else { return nil }
            var own = [taken: accepted]
            for (group, key, _) in shares {
                guard let share = day["data"]?[group]?[key]?.doubleValue else { continue }
                guard (0...100).contains(share) else { return nil }
                own[key] = Int((Double(accepted) * share / 100).rounded())
            }
            counts["\(label) \(year)-\(month)-\(number)"] = own
        }
        return counts
    }
}
