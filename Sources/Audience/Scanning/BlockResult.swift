import Base

/// A row that cannot be read.
struct BadRow {
    /// With its place, counted from the block's first byte.
    var mistake: Diagnostic
    /// Whether it is text at least: rows that are not come from an older encoding.
    var isUTF8: Bool
}

/// A row that has a device, as far as a block alone can tell.
struct DeviceRow: BitwiseCopyable {
    /// Of its token.
    var fingerprint: TokenFingerprint
    var moment: ActivityMoment
    /// A number of the block result's selections.
    var selection: Int32 = 0
    /// A number of the block result's languages.
    var language: Int32 = 0
    /// Of its payload as rendered; 0 when it cannot be.
    var payloadBytes: UInt16 = 0
    /// Of the check.
    var group: UInt16 = 0
    /// Of the check.
    var wave: UInt16 = 0
    /// The ordinal of why its device cannot be sent to when this is the newest row, + 1; 0 when it
    /// can.
    var reason: UInt8 = 0
    /// What reached its device lately: `DeviceClass.reached`.
    var sending: UInt8 = 0
    /// Whether it was judged, so that the block result has its texts.
    var hasRecord = false

    /// A row of a device that is not a recipient.
    /// - Parameters:
    ///   - reason: nil when its facts decide.
    ///   - facts: a number of the block result's selections.
    ///   - exclusions: what excludes it.
    init(
        _ fingerprint: TokenFingerprint, _ moment: ActivityMoment, reason: SkipReason?, facts: Int = 0,
        exclusions: Exclusions = []
    ) {
        self.fingerprint = fingerprint
        self.moment = moment
        self.reason = reason.map { UInt8($0.ordinal + 1) } ?? 0
        selection = Int32(truncatingIfNeeded: facts)
        group = UInt16(truncatingIfNeeded: exclusions.rawValue)
    }

    /// A row that was judged.
    init(
        _ fingerprint: TokenFingerprint, _ moment: ActivityMoment, _ recipientCheck: RecipientCheck, selection: Int,
        language: Int32
    ) {
        self.fingerprint = fingerprint
        self.moment = moment
        self.selection = Int32(truncatingIfNeeded: selection)
        self.language = language
        payloadBytes = UInt16(clamping: recipientCheck.payloadBytes)
        group = UInt16(clamping: recipientCheck.group)
        wave = UInt16(clamping: recipientCheck.wave)
        reason = recipientCheck.reason.map { UInt8($0.ordinal + 1) } ?? 0
        hasRecord = true
    }
}

/// What a block holds for a query. Everything in it depends on the block's bytes alone, so it does
/// not matter which thread reads which.
struct BlockResult {
    /// An alias that selects a row.
    struct AliasHit {
        /// Its place among `devices`.
        var row: Int
        var alias: Int
        var token: [UInt8]
    }

    /// Something that few rows say.
    struct Note<Value> {
        /// The row's place among `devices`.
        var row: Int
        var value: Value
    }

    /// The block's.
    let number: Int
    let file: Int
    let bytesRead: Int
    /// What the block was expected to begin with.
    let expected: ReadingState

    var rows = 0
    /// Rows without a device.
    var skipped = SkipCounts()
    /// The first rows that could not be read; lines and columns count from the block's beginning.
    var badRows: [BadRow] = []
    /// Rows that take up many lines and could not be read.
    var longBadRows: [Diagnostic] = []

    /// Rows that cannot be read and are shown.
    static let shownBadRows = 10
    /// JSON objects with a key twice.
    var rowsWithDuplicateKeys = 0
    /// JSON objects that lack a used key and have one like it, by that key.
    var rowsWithLookalikes: [String: Int] = [:]
    var seen = SeenNames()
    /// Tags of its first rows, if it is one of the first blocks.
    var sampledTags: Set<String> = []
    var sampledAliases: Set<String> = []
    var tagForms = TagFormats()
    var tagSpellings = SpellingCounts()
    var aliasSpellings = SpellingCounts()
    var idSpellings = SpellingCounts()
    /// Registration ids that a list of excluded devices has without what is around them.
    var listedInDisguise = SpellingCounts()
    var badTokens = BadTokens()
    /// Rows that `exclude` names and that have no readable device.
    var excludedWithoutDevice = 0
    var foreignTargets = ForeignTargets()
    /// Cells of the column that says which service reaches a device, of rows that none reaches.
    var unreached: [[UInt8]: Int] = [:]
    var unreadDates = UnreadDates()
    /// The same of the column that says whether a device is valid.
    var unreadValidity = UnreadDates()
    /// Rows of recipients that an alias or a registration id selects and that carry a tag of
    /// `none`.
    var rowsDespiteNone = 0
    /// The same of `registered_at`, of devices with tokens that are known to be invalid.
    var unreadRegistrations = UnreadDates()
    var conditions: [ConditionFindings]
    var comparisons: [ComparisonFindings] = []
    /// By field of the query.
    var flaws: [CellFlaws] = []

    /// How many of `devices` are targets that a row has in addition to the one that is used.
    var unusedTargets = 0
    /// Rows that have a device, in order.
    var devices: [DeviceRow] = []
    /// Distinct sets of selectors or, where rows are united, of `RowFacts`. The first is empty.
    var selections: [[UInt32]] = [[]]
    var languages: [String] = []
    var aliasHits: [AliasHit] = []
    /// Users that rows name in addition to the target that they use, in the order of `devices`, at
    /// most one of a row.
    var users: [Note<TokenFingerprint>] = []
    /// In the same order, where pushes go to the tokens of Live Activities.
    var activityLinks: [Note<ActivityLinks>] = []
    var tagSamples: [TagSample] = []
    /// Places of its rows' devices in the lists of excluded devices.
    var listedDevices: [UInt32] = []
    /// The texts of the rows that have some, in the same order; empty when they are not wanted.
    var records = RecipientBatch()
    /// Of the rows that have texts, in order.
    var digest = SequenceDigest()

    // What remains of the block, and the expected state there.
    var consumed = 0
    var end = TextPlace()
    var state: ReadingState
    /// A mistake after which nothing in the file can be trusted.
    var failure: Diagnostic?

    init(_ block: Block, expecting state: ReadingState, _ plan: ScanLayout) {
        conditions = plan.query.conditions.map(ConditionFindings.init)
        number = block.number
        file = block.file
        bytesRead = block.bytesRead
        expected = state
        self.state = state
    }
}

extension BlockResult {
    /// Cells that are distinguished.
    static let mostUnreached = 100

    /// Notes the cell of a row that no service reaches.
    @inline(never) mutating func noteUnreached(_ cell: UnsafeBufferPointer<UInt8>) {
        let cell = Array(cell.prefix(4096))
        guard unreached[cell] != nil || unreached.count < Self.mostUnreached else { return }
        unreached[cell, default: 0] += 1
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
        case .noService: 6
        case .suppressed: 7
        case .duplicateToken: 8
        case .aliasLimit: 9
        case .frequency: 10
        case .holdout: 11
        case .renderError: 12
        case .payloadTooLarge: 13
        }
    }
}
