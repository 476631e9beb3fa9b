/// With a pace: how long before a request may leave its name is requested. This is long enough for
/// the name to be there in time, and no longer, because a name closes the request to further
/// pushes.
struct NamingLeadTime {
    private static let least = 30e6, most = 2e9
    /// What a longest time counts after each further one: of ten names the one that is fetched
    /// first takes longer than the others.
    private static let memory = 0.95

    private var longest = 0.0
    /// The question that is timed, one at a time.
    private var timed: (question: Int, at: Int64)?

    var nanoseconds: Int64 { Int64(min(Self.most, max(Self.least, 2 * longest))) }

    mutating func asked(_ question: Int, at nanoseconds: Int64) { if timed == nil { timed = (question, nanoseconds) } }

    /// Notes that a question was answered, or is no longer waited for.
    mutating func answered(_ question: Int, at nanoseconds: Int64) {
        guard let timed, timed.question <= question else { return }
        self.timed = nil
        if timed.question == question { longest = max(Double(nanoseconds - timed.at), longest * Self.memory) }
    }
}
