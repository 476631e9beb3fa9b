import Base

/// What JPush counts of pushes. Source: docs.jiguang.cn, "Report API v3", received/detail: a hundred numbers of pushes at a time, for a month.
extension JPush {
    /// By the numbers that answers gave.
    public var statistics: StatisticsFacts? { Self.statistics }

    private static let counted: [StatisticsFacts.Count] = [
        .init("jpush_received", "received over JPush's own channel"), .init("android_pns_sent", "passed on to makers of phones"),
        .init("android_pns_received", "received over those"), .init("ios_apns_sent", "passed on to Apple"),
        .init("ios_apns_received", "received on iPhones"), .init("ios_msg_received", "messages received in the app on iPhones"),
    ]

    private static let statistics = StatisticsFacts(
        subject: .receipts(atMost: 100), days: 30, counts: counted,
        question: { _, receipts, environment in
            let query = "received/detail?msg_ids=\(receipts.joined(separator: ","))"
            guard let environment else { return StatisticsFacts.Question(path: "/v3/\(query)") }
            // In Beijing the server that takes the pushes has the reports, too.
            return environment.region == beijing.name
                ? StatisticsFacts.Question(path: "/v3/report/\(query)")
                : StatisticsFacts.Question(host: "report.jpush.cn", path: "/v3/\(query)")
        }, read: counts)

    /// `[{"msg_id": "1828256757", "jpush_received": 5, "ios_apns_sent": null}]`: null is for what the push has no part of.
    @Sendable private static func counts(in answer: JSONValue, of numbers: [String]) -> [String: [String: Int]]? {
        guard case .array(let pushes) = answer else { return nil }
        var counts: [String: [String: Int]] = [:]
        for push in pushes {
            guard case .object(let members) = push, let number = number(of: push["msg_id"]) else { return nil }
            guard numbers.contains(number) else { continue }
            guard counts[number] == nil, let own = StatisticsFacts.counts(members, Set(counted.map(\.key))) else { return nil }
            counts[number] = own
        }
        return counts
    }
}
