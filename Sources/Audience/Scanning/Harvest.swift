import Base

/// A row that has a device which may be sent to, as far as a block alone can tell.
struct Candidate: BitwiseCopyable {
    /// Of its token.
    var fingerprint: UInt64
    var moment: ActivityMoment
    /// A number of the harvest's selections.
    var selection: Int32
    /// A number of the harvest's languages.
    var language: Int32
    /// Of its payload as rendered; 0 when it cannot be.
    var payloadBytes: UInt16
    /// Of the judgement.
    var group: UInt16
    /// Of the judgement.
    var wave: UInt16
    /// The ordinal of why it cannot be sent to, + 1; 0 when it can.
    var reason: UInt8
}

/// What a block holds for a query. Everything in it depends on the block's bytes alone, so that it does not matter which thread reads which.
struct Harvest {
    /// An alias that selects a candidate.
    struct AliasHit {
        var candidate: Int
        var alias: Int
        var token: [UInt8]
    }

    /// The block's.
    let number: Int
    let file: Int
    let bytesRead: Int
    /// What the block was expected to begin with.
    let expected: ReadingState

    var rows = 0
    var skipped = SkipCounts()
    /// The first rows that could not be read; lines and columns count from the block's beginning.
    var badRows: [Diagnostic] = []
    /// Rows that take up many lines and could not be read.
    var longBadRows: [Diagnostic] = []

    /// JSON objects that name a key twice.
    var rowsWithDuplicateKeys = 0
    var seen = SeenNames()
    /// Tags of its first rows, if it is one of the first blocks.
    var sampledTags: Set<String> = []
    var conditions: ConditionFindings

    var candidates: [Candidate] = []
    /// Distinct sets of selectors.
    var selections: [[UInt32]] = []
    var languages: [String] = []
    var aliasHits: [AliasHit] = []
    var exclusions: [ExclusionMarks.Mark] = []
    /// The lists of excluded devices that its rows' devices are in, as far as that was asked.
    var exclusionMatches: ExclusionMatches
    /// The candidates' texts, in the same order; empty when they are not wanted.
    var records = RecipientBatch()
    /// Of the candidates, in order.
    var digest = SequenceDigest()

    // What remains of the block, and what is to be expected there.
    var consumed = 0
    var end = TextPlace()
    var state: ReadingState
    /// A mistake after which nothing in the file can be trusted.
    var failure: Diagnostic?

    init(_ block: Block, expecting state: ReadingState, _ plan: ScanPlan) {
        conditions = ConditionFindings(plan.query.conditions)
        exclusionMatches = ExclusionMatches(lists: plan.excluded.lists.count)
        (number, file, bytesRead) = (block.number, block.file, block.bytesRead)
        expected = state
        self.state = state
    }
}

/// Rows by skip reason.
struct SkipCounts {
    private var counts = [Int](repeating: 0, count: SkipReason.allCases.count)

    subscript(reason: SkipReason) -> Int {
        @inline(__always) get { counts[reason.ordinal] }
        @inline(__always) set { counts[reason.ordinal] = newValue }
    }

    mutating func add(_ other: SkipCounts) {
        for index in counts.indices { counts[index] += other.counts[index] }
    }

    /// Reasons without rows left out.
    var byReason: [SkipReason: Int] {
        Dictionary(uniqueKeysWithValues: SkipReason.allCases.map { ($0, self[$0]) }.filter { $0.1 > 0 })
    }
}

extension SkipReason {
    /// The place in `allCases`, which is the order in which reasons apply.
    @inline(__always) var ordinal: Int {
        switch self {
        case .badRow: 0
        case .notMatched: 1
        case .filtered: 2
        case .excluded: 3
        case .missingToken: 4
        case .badToken: 5
        case .suppressed: 6
        case .duplicateToken: 7
        case .aliasLimit: 8
        case .frequency: 9
        case .holdout: 10
        case .renderError: 11
        case .payloadTooLarge: 12
        }
    }
}
