public import Base
public import PushServices
public import Runs

/// The report as CSV, one line per recipient, streamed.
///
/// RFC 4180 with one departure: lines end only with LF, because the file is read by scripts (cut,
/// awk, sort) as often as by spreadsheets, and every reader of CSV takes both; unless it is written
/// for Excel (`CSVForm`). A cell that a spreadsheet would run as a formula gets an apostrophe in
/// front (`CSVCell`). `variant` is blank when the campaign has no variants, `attempts` where a
/// process ended before it could record them. With several services the id of a push is in
/// `push_id`, and the last column, `service`, names the one that took it.
///
/// ```swift
/// var filter = ReportCSV.Filter()
/// filter.outcomes = [.rejected, .failed]
/// try ReportCSV.write(run, filter) { chunk in print(String(decoding: chunk, as: UTF8.self)) }
/// ```
public enum ReportCSV {
    /// The names of its columns, for a run that one service took.
    public static func columns(of service: any PushService) -> [String] {
        [
            "device_token", "registration_id", "alias", "language", "variant", "outcome", "status", "reason",
            "attempts", service.idColumn,
            "latency_ms", "settled_at",
        ]
    }

    /// The names of its columns, for a run that several services take.
    public static let columnsOfSeveralServices =
        columns(of: PushServices.standard).map {
            $0 == PushServices.standard.idColumn ? PushServices.commonIDColumn : $0
        } + ["service"]

    private static let chunk = 64 << 10
    /// How many of the columns, the first ones, identify a device.
    private static let targetColumns = 2

    /// Which lines to write: those that match every condition.
    public struct Filter: Sendable {
        /// nil for all.
        public var outcomes: Set<Outcome>?
        /// A language, `unknown` for devices without one; nil for all.
        public var language: String?
        /// nil for all.
        public var variant: String?
        /// Whether tokens and registration ids are written whole, and not by their first and last
        /// four characters.
        public var hasWholeTargets = true
        /// Whether only the columns that identify a device are written, as `exclude: {devices: …}`
        /// reads them.
        public var hasOnlyTargets = false

        /// Everything.
        public init() {}
    }

    /// Writes the header and a line per recipient in id order; `write` takes chunks of about 64
    /// KiB.
    /// - Returns: how many recipients got a line.
    /// - Throws: `Diagnostic` when the run file is damaged or its recipients were pruned; whatever
    ///   `write` throws.
    @discardableResult
    public static func write(
        _ run: RunFile, _ filter: Filter = Filter(), as form: CSVForm = .plain, to write: ([UInt8]) throws -> Void
    ) throws -> Int {
        let hasServices = run.plan.serviceCount > 1, isNotFetched = try run.isNotFetched(run.status())
        var line = LineWriter(
            seed: run.plan.seed, form: form,
            services: hasServices ? run.plan.services.map(\.name) : [],
            isNotFetched: isNotFetched,
            unrecorded: try UnrecordedReasons.ofServices(of: run, isHeld: RestoredRun(run)?.isHeld ?? false))
        line.hasWholeTargets = filter.hasWholeTargets
        line.hasOnlyTargets = filter.hasOnlyTargets
        line.bytes.reserveCapacity(chunk + 4096)
        let all = hasServices ? columnsOfSeveralServices : columns(of: run.plan.service)
        line.bytes += form.header(filter.hasOnlyTargets ? Array(all.prefix(targetColumns)) : all)
        let test = FilterTest(filter, isNotFetched: isNotFetched)
        var lines = 0
        try run.forEachStoredResult { result in
            guard test.holds(result) else { return }
            lines += 1
            line.append(result)
            if line.bytes.count >= chunk {
                try write(line.bytes)
                line.bytes.removeAll(keepingCapacity: true)
            }
        }
        if !line.bytes.isEmpty { try write(line.bytes) }
        return lines
    }
}

/// A filter as bytes.
private struct FilterTest {
    private let isWanted: [Bool]
    private let isNotFetched: Bool
    private let language: [UInt8]?
    private let variant: [UInt8]?

    init(_ filter: ReportCSV.Filter, isNotFetched: Bool) {
        self.isNotFetched = isNotFetched
        isWanted = Outcome.allCases.map { filter.outcomes?.contains($0) ?? true }
        language = filter.language.map { $0 == Report.unknownLanguage ? [] : Array($0.utf8) }
        variant = filter.variant.map { Array($0.utf8) }
    }

    func holds(_ result: StoredResult) -> Bool {
        isWanted[result.outcome(isNotFetched).rawValue] && (language.map { result.language.elementsEqual($0) } ?? true)
            && (variant.map { result.variant.elementsEqual($0) } ?? true)
    }
}

private struct LineWriter {
    let seed: RunSeed
    let form: CSVForm
    var hasWholeTargets = true, hasOnlyTargets = false
    private let lineEnd: [UInt8]
    /// The services' names; empty when there is one only.
    private let services: [[UInt8]]
    /// The reasons of recipients without a record, by the numbers of the services.
    private let unrecorded: [UnrecordedReasons?]
    private let isNotFetched: Bool
    var bytes: [UInt8] = []
    /// Neighbours mostly share their second, so its text is made once.
    private var second = Int64.min
    private var secondText: [UInt8] = []
    private let names = Outcome.allCases.map { Array($0.name.utf8) }

    init(seed: RunSeed, form: CSVForm, services: [String], isNotFetched: Bool, unrecorded: [UnrecordedReasons?]) {
        self.isNotFetched = isNotFetched
        self.seed = seed
        self.form = form
        lineEnd = form.lineEnd
        self.services = services.map { Array($0.utf8) }
        self.unrecorded = unrecorded
    }

    mutating func append(_ result: StoredResult) {
        if hasWholeTargets {
            // Hex digits: no sign of a formula, no comma.
            if form.isForExcel {
                CSVCell.append(result.token, form, to: &bytes)
            } else {
                bytes.append(contentsOf: result.token)
            }
            comma()
            CSVCell.append(result.registrationID, form, to: &bytes)
        } else {
            CSVCell.append(shortened(result.token), form, to: &bytes)
            comma()
            CSVCell.append(shortened(result.registrationID), form, to: &bytes)
        }
        guard !hasOnlyTargets else {
            bytes += lineEnd
            return
        }
        comma()
        CSVCell.append(result.alias, form, to: &bytes)
        comma()
        CSVCell.append(result.language, form, to: &bytes)
        comma()
        CSVCell.append(result.variant, form, to: &bytes)
        comma()
        bytes.append(contentsOf: names[result.outcome(isNotFetched).rawValue])
        comma()
        let hasAnswer = result.status > 0
        if hasAnswer { number(result.status) }
        comma()
        let reason = reason(of: result)
        if !reason.isEmpty { CSVCell.append(reason, form, to: &bytes) }
        comma()
        if !result.hasUnknownAttempts { number(result.attempts) }
        comma()
        // A claimed push without an outcome may have been sent: its id helps to find out.
        if result.mayHaveBeenSent { PushID(runSeed: seed, recipient: result.id).append(to: &bytes) }
        comma()
        if hasAnswer { number(result.latencyMilliseconds) }
        comma()
        if let moment = result.settledAt { append(moment) }
        if !services.isEmpty {
            comma()
            bytes += services[result.service]
        }
        bytes += lineEnd
    }

    private func shortened(_ target: some Collection<UInt8>) -> String {
        target.isEmpty ? "" : Target.redact(String(decoding: target, as: UTF8.self))
    }

    private func reason(of result: StoredResult) -> String {
        if result.outcome != result.outcome(isNotFetched) { return OwnReason.notKnownHere.rawValue }
        return unrecorded[result.service]?.reason(of: result) ?? (result.isRecorded ? result.reason : "")
    }

    private mutating func comma() { bytes.append(form.separator) }

    private mutating func number(_ value: Int) {
        if value < 10 { return bytes.append(UInt8(ascii: "0") + UInt8(value)) }
        bytes.append(contentsOf: String(value).utf8)
    }

    private mutating func append(_ moment: Timestamp) {
        if moment.epochSeconds != second {
            second = moment.epochSeconds
            secondText = Array(moment.description.utf8)
        }
        bytes.append(contentsOf: secondText)
    }
}

extension StoredResult {
    /// The outcome as reports have it: a recipient that is unsent in a file without all that other
    /// machines recorded may have got the push (`RunFigures.asNotFetched`).
    fileprivate func outcome(_ isNotFetched: Bool) -> Outcome {
        let isOpen = !isRecorded || OwnReason(rawValue: reason).map { OwnReason.givenBack.contains($0) } ?? false
        return isNotFetched && outcome == .unsent && isOpen ? .unknown : outcome
    }
}
