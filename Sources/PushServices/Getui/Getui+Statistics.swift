import Base

/// What Getui counts of pushes. Source: docs.getui.com, RestAPI V2, "report"; the shape of the answer from Getui's SDK for Java,
/// `StatisticApi`. Reports of tasks are kept for 90 days; for those of groups the documentation does not say.
extension Getui {
    /// By the run's label, which is the `group_name` of its pushes: Getui has no report of single ones.
    public var statistics: StatisticsFacts? { Self.statistics }

    private static let counted: [StatisticsFacts.Count] = [
        .init("target_num", "passed on to phones"), .init("receive_num", "received by phones"), .init("display_num", "shown"),
        .init("click_num", "tapped"),
    ]

    private static let statistics = StatisticsFacts(
        subject: .label, days: 90, counts: counted,
        question: { app, labels, _ in StatisticsFacts.Question(path: "/v2/\(app)/report/push/task_group/\(labels.joined(separator: ","))")
        },
        read: counts)

    /// `{"code": 0, "data": {"GROUP": {"total": {"target_num": 5, "receive_num": 4}, "gt": {…}}}}`: the total is that of all channels.
    @Sendable private static func counts(in answer: JSONValue, of labels: [String]) -> [String: [String: Int]]? {
        guard answer["code"] == .integer(0), case .object(let groups)? = answer["data"] else { return nil }
        var counts: [String: [String: Int]] = [:]
        for group in groups where labels.contains(group.name) {
            guard case .object(let members)? = group.value["total"] else { continue }
            guard counts[group.name] == nil, let own = StatisticsFacts.counts(members, Set(counted.map(\.key))) else { return nil }
            counts[group.name] = own
        }
        return counts
    }
}
