public import Base
import Glibc

/// Receives the recipients of a scan. Slots count from 0 in the order in which tokens are first
/// selected. Everything is called on the thread that scans.
public protocol RecipientSink: AnyObject {
    /// The number of slots for which it wants recipients: the first slots, with the data of their
    /// newest rows. `Int.max` for all.
    var recordLimit: Int { get }
    /// Takes recipients: each in a new slot (always the next one), or again the same device from a
    /// newer row, which replaces it. Some beyond the limit may be among them.
    func receive(_ batch: RecipientBatch) throws
    /// Called once at the end: these slots did not become recipients (they were refused by the
    /// check, excluded by a newer row, or beyond an alias limit); the rest did. Not called when the
    /// scan throws.
    func finish(slots: Int, dropping dropped: BitSet) throws
}

/// What a scan found.
public struct AudienceResult: Sendable {
    /// Rows read, broken ones included, headers not. Equals `audience` plus the sum of `skipped`.
    public var rows: Int
    /// Recipients.
    public var audience: Int
    /// Rows that did not become recipients, by reason; reasons without rows are absent.
    public var skipped: [SkipReason: Int]
    /// Recipients by selector (`tag:NAME`, `alias`, `registration_id`, `everyone`), each under
    /// every selector that names it, in the query's order.
    public var selectedBy: [(selector: String, recipients: Int)]
    /// Recipients by language, blank ones under "".
    public var languages: [String: Int]
    /// Recipients by the size of their payload in bytes, as judged.
    public var payloadBytes: [Int: Int] {
        payloadBytesOfGroups.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }
    /// The same for each group of the check.
    public var payloadBytesOfGroups: [Int: [Int: Int]]
    /// Recipients by the group of their check.
    public var groups: [Int: Int]
    /// Recipients by the wave of their check.
    public var waves: [Int: Int]
    /// Recipients that an earlier sending reached, by the first number of `AudienceQuery.reached`
    /// that has them.
    public var reachedBySending: [Int: Int]
    /// Recipients that got pushes today, by the first number of `AudienceQuery.today` whose cap
    /// they reach.
    public var reachedToday: [Int: Int]
    /// Devices that did not become recipients, by reason and the group of their check.
    public var skippedGroups: [SkipReason: [Int: Int]]
    /// What each part of `exclude` left out, in its order; empty without one.
    public var exclusions: [ExclusionCount]
    /// The counts of each condition of `where`.
    public var conditions: [ConditionCount]
    /// What rows skipped as `badToken` have in place of a device token, the most frequent shape
    /// first.
    public var badTokens: [BadTokenCount]
    /// What the column that says which service reaches a device holds in rows that none reaches,
    /// selected or not, the most frequent first; at least a hundred different cells are known.
    public var unreachedCells: [(cell: String, rows: Int)]
    /// Numbers of services, when there are several, for which no export has a column of targets.
    public var servicesWithoutColumn: Set<Int>
    /// The first ten rows that could not be read, with file and line.
    public var badRows: [Diagnostic]
    /// Warnings: unknown selectors, columns that appear twice, …
    public var warnings: [Diagnostic]
    /// By group the recipients with the lowest slots, in order, at most `mostSamples` of each: a
    /// preview may show them as samples.
    public var firstRecipients: [Int: [FirstRecipient]]
    /// Bytes of the largest payload that was too large, at most `measurablePayload`; 0 without one.
    public var largestSkippedPayload: Int
    /// A checksum of the selected devices, their order and their data: token, language, cells of
    /// templates, and which of a device's rows is the newest. Equal for equal input, whatever the
    /// number of threads.
    public var digest: [UInt64]

    /// The group of devices that are suppressed because their export calls them invalid; 0 is that
    /// of devices that a service refused.
    public static let groupOfInvalid = 1
    /// The group of users skipped as `duplicateToken` because a device stands for them. Rows that a
    /// newer one replaces are in group 0.
    public static let groupOfUsers = 1
    /// The column in which exports of LeanCloud say so.
    public static let validityColumn = LeanCloudExport.validity

    /// How many recipients of a group `firstRecipients` keeps.
    public static let mostSamples = 500
    /// The largest payload with bytes that are counted; a larger one counts as this.
    public static let measurablePayload = 0x1FFF
}

/// How many devices a part of `exclude` left out: they would be in the audience without `exclude`.
public struct ExclusionCount: Hashable, Sendable {
    /// The key below `exclude`.
    public enum Kind: String, Hashable, Sendable {
        case tags, aliases, devices
        case registrationIDs = "registration_ids"
    }

    /// Which.
    public var kind: Kind
    /// For `devices`, the list's path; nil for what several lists beyond the first few left out
    /// together.
    public var list: String?
    /// Names, or lines of a list.
    public var entries: Int
    /// Lines of a list that are not a device of the exports, or name none; 0 for names.
    public var unmatched = 0
    /// A device that several of them leave out counts for each.
    public var devices: Int
}

/// One of the recipients that were found first.
public struct FirstRecipient: Hashable, Sendable {
    /// Where the sink finds it.
    public var slot: Int
    /// The names of the selectors that name it.
    public var selectors: [String]
}

/// How far a scan is. Called about ten times a second from the scanning thread.
public struct ScanProgress: Sendable {
    /// Bytes read of the files on disk, and their total.
    public var bytesRead: Int, bytesTotal: Int
    /// Rows read and recipients found so far.
    public var rows: Int, recipients: Int
    /// The share of devices that are concluded, once everything is read, if they had to go to
    /// temporary files; otherwise nil.
    public var settled: Double?
}

extension AudienceQuery {
    /// Reads the exports once, on all cores that the process may use, and hands every selected
    /// device to `sink`.
    ///
    /// A device's newest row decides: by `last_active`, and of rows that tie or have no date, the
    /// one that is read last, files in the order of `files`. A row that replaces an older one of
    /// its device is handed over at the same slot; how the newest row is judged counts. Other rows
    /// of the device are `duplicateToken`. The result depends neither on the number of threads nor
    /// on `deviceMemory`. Memory: a fixed amount for blocks, and at most 32 bytes a device of the
    /// exports (some 250 where tokens of Live Activities are targets), and some 200 a row that an
    /// alias selects; when these come to more than `deviceMemory`, they go to temporary files, and
    /// about a byte a selected row remains.
    /// - Parameters:
    ///   - deviceMemory: bytes for devices.
    ///   - makeChecker: makes the check that decides whether a selected device can be sent to;
    ///     called once for each thread.
    ///   - progress: called about ten times a second, and once at the end.
    ///   - isCancelled: called about ten times a second; true ends the scan with
    ///     `CancellationError`.
    /// - Throws: `Diagnostics` for a file that cannot be read or lacks a column, for too many bad
    ///   rows; whatever the sink throws.
    public func scan(
        into sink: any RecipientSink, deviceMemory: Int = .max,
        checking makeChecker: @escaping @Sendable () -> RecipientChecker = { { _ in RecipientCheck() } },
        progress: (ScanProgress) -> Void = { _ in }, isCancelled: () -> Bool = { false }
    ) throws -> AudienceResult {
        let limits = ReadingLimits(deviceMemory: deviceMemory)
        return try scan(into: sink, limits: limits, checking: makeChecker, progress: progress, isCancelled: isCancelled)
    }

    /// The same with limits that tests make small.
    func scan(
        into sink: any RecipientSink, limits: ReadingLimits,
        checking makeChecker: @escaping @Sendable () -> RecipientChecker = { { _ in RecipientCheck() } },
        progress: (ScanProgress) -> Void = { _ in }, isCancelled: () -> Bool = { false }
    ) throws -> AudienceResult {
        if files.isEmpty {
            throw Diagnostics(
                Diagnostic("no export is named", remedy: "Name one: `audience: {devices: exports/devices.csv}`."))
        }
        return try overUnchangedFiles {
            let plan: ScanLayout, warnings: [Diagnostic]
            (plan, warnings) = try self.plan(limits, makeChecker)
            var scanThreads = ScanThreads(plan, warnings: warnings, recordLimit: sink.recordLimit)
            return try scanThreads.run(into: sink, progress: progress, isCancelled: isCancelled)
        }
    }

    /// Looks at headers and lists.
    func plan(
        _ limits: ReadingLimits, _ makeChecker: @escaping @Sendable () -> RecipientChecker
    ) throws(Diagnostics) -> (ScanLayout, warnings: [Diagnostic]) {
        var limits = limits
        limits.sources = sources
        limits.targets = targets
        let preparation = try ScanPreparation(self, limits: limits)
        let plan = ScanLayout(
            query: self, files: preparation.files, selectors: CompiledSelectors(self), excluded: preparation.excluded,
            hash: preparation.hash, limits: limits, makeChecker: makeChecker)
        return (plan, preparation.warnings)
    }

    /// A file that changed while it was read may show any kind of error: then only the change is
    /// reported.
    func overUnchangedFiles<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            if !(error is CancellationError) { try sources.checkUnchanged() }
            throw error
        }
    }
}

/// An audience that needs no export: its recipients are known.
public struct GivenAudience: Sendable {
    /// In sending order, each in its own slot.
    private let recipients: [Recipient]

    /// - Parameter recipients: in sending order, each once.
    public init(_ recipients: [Recipient]) { self.recipients = recipients }

    /// Hands the recipients to a sink as a scan does.
    /// - Parameter check: decides whether a recipient can be sent to.
    /// - Throws: whatever the sink throws.
    public func scan(into sink: any RecipientSink, checking check: RecipientChecker) throws -> AudienceResult {
        var (batch, dropped, digest) = (RecipientBatch(), BitSet(), SequenceDigest())
        var result = AudienceResult(rows: recipients.count)
        for (slot, recipient) in recipients.enumerated() {
            batch.append(recipient, at: slot)
            let (found, element) = batch.withRecord(slot) { record in
                (
                    check(record),
                    SequenceDigest.element(record.fields, with: SequenceDigest.element(record.token, with: 0))
                )
            }
            digest.append(element)
            if result.add(found, slot: slot) { continue }
            dropped.insert(slot)
        }
        try sink.receive(batch)
        try sink.finish(slots: recipients.count, dropping: dropped)
        result.digest = digest.words
        return result
    }
}

extension AudienceResult {
    /// No recipients yet.
    fileprivate init(rows: Int) {
        self.init(
            rows: rows, audience: 0, skipped: [:], selectedBy: [], languages: [:], payloadBytesOfGroups: [:],
            groups: [:], waves: [:],
            reachedBySending: [:], reachedToday: [:], skippedGroups: [:], exclusions: [], conditions: [], badTokens: [],
            unreachedCells: [],
            servicesWithoutColumn: [], badRows: [],
            warnings: [], firstRecipients: [:], largestSkippedPayload: 0, digest: [])
    }

    /// Counts a recipient.
    /// - Returns: whether it can be sent to.
    fileprivate mutating func add(_ check: RecipientCheck, slot: Int) -> Bool {
        if let reason = check.reason {
            skipped[reason, default: 0] += 1
            skippedGroups[reason, default: [:]][check.group, default: 0] += 1
            if reason == .payloadTooLarge {
                largestSkippedPayload = max(largestSkippedPayload, min(check.payloadBytes, Self.measurablePayload))
            }
            return false
        }
        audience += 1
        languages["", default: 0] += 1
        payloadBytesOfGroups[check.group, default: [:]][check.payloadBytes, default: 0] += 1
        groups[check.group, default: 0] += 1
        waves[check.wave, default: 0] += 1
        if firstRecipients[check.group, default: []].count < Self.mostSamples {
            firstRecipients[check.group, default: []].append(FirstRecipient(slot: slot, selectors: []))
        }
        return true
    }
}

/// The counts of a condition of `where`.
public struct ConditionCount: Hashable, Sendable {
    /// Which.
    public var condition: ColumnCondition
    /// Rows that it was evaluated for: they are selected and meet the conditions before it.
    public var rows: Int
    /// The rows among them that meet it.
    public var holdingRows: Int
    /// The rows among them with a cell that it cannot compare: not a number, not a date. They do
    /// not meet it.
    public var unreadableRows: Int
    /// Examples of such cells.
    public var cells: [String]

    /// Cells that are shown.
    static let mostCells = 3
}

/// What is known about a recipient apart from its export: whether it can be sent to.
public struct RecipientCheck: Hashable, Sendable {
    /// Bytes of the payload as rendered, also of one that is too large; 0 when it cannot be
    /// rendered.
    public var payloadBytes: Int
    /// Why the recipient cannot be sent to (renderError, payloadTooLarge, suppressed, frequency,
    /// holdout), or nil.
    public var reason: SkipReason?
    /// What the recipient is counted under in addition to its reason: the check's own number, below
    /// `groupLimit`.
    public var group: Int

    /// Which of the campaign's sending times applies: the check's own number; 0 when all are sent
    /// together.
    public var wave: Int

    /// The most groups that can be distinguished.
    public static let groupLimit = 512

    /// A check.
    public init(payloadBytes: Int = 0, reason: SkipReason? = nil, group: Int = 0, wave: Int = 0) {
        self.payloadBytes = payloadBytes
        self.reason = reason
        self.group = group
        self.wave = wave
    }
}

/// Judges one recipient after another.
public typealias RecipientChecker = (RecipientRecord) -> RecipientCheck
