/// The first pushes of a run, which go ahead of all others: what is wrong with a campaign as a
/// whole shows in their answers before the rest is on its way.
///
/// A push of the canary is awaited until the service has answered it (accepted, refused, or try
/// again later), until it is settled in any other way, or until its answer is overdue. A push that
/// was lost with its connection and is sent again is still awaited, as often as it may be tried.
struct Canary {
    /// Enough answers for the alarms about shares of answers to judge.
    static let usualSize = 100

    private let size: Int
    private var admitted = 0
    /// How many answers are still missing.
    private(set) var awaited = 0
    private(set) var isJudged = false

    /// - Parameter size: pushes that go ahead; 0 for none, which is over at once.
    init(size: Int) {
        self.size = size
        isJudged = size == 0
    }

    /// Whether all of it has been sent and nothing is awaited any more.
    var isOver: Bool { admitted == size && awaited == 0 }

    /// How many more pushes belong to it.
    var capacity: Int { size - admitted }

    /// Whether one more push belongs to it.
    var hasCapacity: Bool { admitted < size }

    mutating func admit(_ pushes: Int) {
        admitted += pushes
        awaited += pushes
    }

    mutating func resolve(_ pushes: Int) { awaited -= pushes }

    /// Returns true once, when the canary is over.
    mutating func isDueForJudgement() -> Bool {
        guard isOver, !isJudged else { return false }
        isJudged = true
        return true
    }
}
