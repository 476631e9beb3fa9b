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

/// A checksum of a sequence, made from those of its pieces: it tells two audiences apart, but does
/// not withstand an attacker that wants them to look alike.
struct SequenceDigest: Hashable, Sendable {
    private(set) var count = 0
    private var polynomial: UInt64 = 0
    private var sum: UInt64 = 0

    private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15 | 1

    /// Adds an element.
    @inline(__always) mutating func append(_ element: UInt64) {
        count += 1
        polynomial = polynomial &* Self.factor &+ element
        sum = sum &+ Self.mixed(element, right: 0xC2B2_AE3D_27D4_EB4F)
    }

    /// Adds the elements of another sequence.
    mutating func append(_ other: SequenceDigest) {
        var (factor, power, exponent) = (Self.factor, UInt64(1), other.count)
        while exponent > 0 {
            if exponent & 1 == 1 { power = power &* factor }
            factor = factor &* factor
            exponent >>= 1
        }
        count += other.count
        polynomial = polynomial &* power &+ other.polynomial
        sum = sum &+ other.sum
    }

    /// Its words, for a hash over more than this.
    var words: [UInt64] { [UInt64(count), polynomial, sum] }

    /// An element made from bytes: words of eight are multiplied into each other (as in wyhash by
    /// Wang Yi).
    @inline(__always) static func element(_ bytes: UnsafeBufferPointer<UInt8>, with seed: UInt64) -> UInt64 {
        let raw = UnsafeRawBufferPointer(bytes)
        var state = seed ^ UInt64(truncatingIfNeeded: raw.count)
        var place = 0
        while place + 16 <= raw.count {
            let first = raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            let second = raw.loadUnaligned(fromByteOffset: place + 8, as: UInt64.self)
            state = mixed(first ^ 0xA076_1D64_78BD_642F, right: second ^ state)
            place += 16
        }
        var (first, second, shift) = (UInt64(0), UInt64(0), UInt64(0))
        while place < raw.count {
            if shift < 64 { first |= UInt64(raw[place]) << shift } else { second |= UInt64(raw[place]) << (shift - 64) }
            shift += 8
            place += 1
        }
        return mixed(mixed(first ^ 0xE703_7ED1_A0B4_28DB, right: second ^ state), right: 0x8EBC_6AF0_9C88_C6E3)
    }

    @inline(__always) private static func mixed(_ left: UInt64, right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}

/// A row's device and tags, examined to find out whether an export has a row for each tag.
struct TagSample {
    let fingerprint: TokenFingerprint
    /// Milliseconds since 1970.
    let lastActive: Int64
    /// A hash of the cell.
    let tags: UInt64
    /// The token's first four bytes and its last four; nil for one that is not longer than these,
    /// which is not shown at all.
    private let ends: (UInt32, UInt32)?

    init(fingerprint: TokenFingerprint, lastActive: Int64, tags: UInt64, token: UnsafeBufferPointer<UInt8>) {
        self.fingerprint = fingerprint
        self.lastActive = lastActive
        self.tags = tags
        let raw = UnsafeRawBufferPointer(token)
        ends =
            raw.count > 8
            ? (raw.loadUnaligned(as: UInt32.self), raw.loadUnaligned(fromByteOffset: raw.count - 4, as: UInt32.self))
            : nil
    }

    /// The device as it may be shown.
    var shown: String {
        func text(_ digits: UInt32) -> String { withUnsafeBytes(of: digits) { String(decoding: $0, as: UTF8.self) } }
        return ends.map { "\(text($0.0))…\(text($0.1))" } ?? "…"
    }

    /// Whether rows of a device are examined in every block, not only in the first: one device in
    /// 256, by its token, so that they are the same devices whenever the export is read.
    @inline(__always) static func isAlwaysTaken(_ token: UnsafeBufferPointer<UInt8>) -> Bool {
        token.count > 1 && token[token.count - 1] == UInt8(ascii: "0") && token[token.count - 2] == UInt8(ascii: "0")
    }
}

/// Finds out whether an export has a row for each tag: several rows of a device in one file, with
/// the same last activity but different tags.
struct TagRows {
    private struct Seen {
        var file: Int
        var lastActive: Int64
        var tags: UInt64
    }

    private var seen: [TokenFingerprint: Seen] = [:]
    /// The first device with such rows, to be shown, and the file that has them.
    private(set) var found: (token: String, file: Int)?

    /// The most devices that are remembered.
    private static let limit = 50_000

    mutating func add(_ samples: [TagSample], file: Int) {
        guard found == nil else { return }
        for sample in samples {
            guard let earlier = seen[sample.fingerprint] else {
                if seen.count < Self.limit {
                    seen[sample.fingerprint] = Seen(file: file, lastActive: sample.lastActive, tags: sample.tags)
                }
                continue
            }
            if earlier.file == file, earlier.lastActive == sample.lastActive, earlier.tags != sample.tags {
                found = (sample.shown, file)
                seen = [:]
                return
            }
            seen[sample.fingerprint] = Seen(file: file, lastActive: sample.lastActive, tags: sample.tags)
        }
    }
}
