public import Base

/// What a service says of pushes some time after it took them: how many phones got them, how often
/// they were opened. It is the service's own count, which no answer to a push shows.
public struct StatisticsFacts: Sendable {
    /// What a question names.
    public enum Subject: Hashable, Sendable {
        /// Ids that answers gave (`AnswerDetails.receipt`), at most this many at a time.
        case receipts(atMost: Int)
        /// The run's label (`PushOptions.label`).
        case label
    }

    /// A question: GET over HTTPS.
    public struct Question: Hashable, Sendable {
        /// The service's server for it; nil for the one that takes the pushes.
        public var host: String?
        /// With the subjects.
        public var path: String

        /// A question.
        public init(host: String? = nil, path: String) {
            self.host = host
            self.path = path
        }
    }

    /// Something that the service counts.
    public struct Count: Hashable, Sendable {
        /// In JSON and in run files: the service's own name for it.
        public var key: String
        /// After a number: "received by phones".
        public var words: String

        /// A count.
        public init(_ key: String, _ words: String) {
            self.key = key
            self.words = words
        }
    }

    /// What a question names.
    public let subject: Subject
    /// For how many days after a push the service keeps it.
    public let days: Int
    /// What it counts, in the order in which a report shows it.
    public let counts: [Count]
    /// The scope of the token that the question needs; nil for that of pushes.
    public let scope: String?
    /// Whether only pushes of tracked runs (`MessageContent.tracking`) have the label.
    public let needsTracking: Bool
    /// What the figures can and cannot tell, in whole sentences; blank where their words say it.
    public let note: String
    /// The question about some subjects, at least one. `topic`: with a slash and
    /// `AccountForm.countedApp` behind it, where there is one. `environment`: nil where another
    /// server replaces the service's own.
    public let question:
        @Sendable (_ topic: String, _ subjects: [String], _ environment: ServiceEnvironment?) -> Question
    /// What an answer says of the subjects of the question, each by the keys of `counts`. What the
    /// service does not have is missing, and other subjects are left out. nil if this is not an
    /// answer of the service, or if the answer says that it has no statistics.
    public let read: @Sendable (_ answer: JSONValue, _ subjects: [String]) -> [String: [String: Int]]?

    /// Facts about a service.
    public init(
        subject: Subject, days: Int, counts: [Count], scope: String? = nil, needsTracking: Bool = false,
        note: String = "",
        question:
            @escaping @Sendable (_ topic: String, _ subjects: [String], _ environment: ServiceEnvironment?) -> Question,
        read: @escaping @Sendable (_ answer: JSONValue, _ subjects: [String]) -> [String: [String: Int]]?
    ) {
        self.subject = subject
        self.days = days
        self.counts = counts
        self.scope = scope
        self.needsTracking = needsTracking
        self.note = note
        self.question = question
        self.read = read
    }

    /// More than any service has pushed in the months that it remembers.
    private static let mostOfCount: Int64 = 1_000_000_000_000

    /// The counts among the members of an object. null is for what the service does not know;
    /// members with other names do not matter.
    /// - Parameter names: of the counts.
    /// - Returns: nil if one of them is no number of pushes: negative, beyond all measure, or not a
    ///   whole number.
    static func counts(_ members: [JSONMember], _ names: Set<String>) -> [String: Int]? {
        var counts: [String: Int] = [:]
        for member in members where names.contains(member.name) && member.value != .null {
            guard let count = member.value.integerValue, (0...mostOfCount).contains(count), counts[member.name] == nil
            else { return nil }
            counts[member.name] = Int(count)
        }
        return counts
    }
}
