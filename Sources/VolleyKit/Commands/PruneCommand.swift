import Base
import Campaigns
import Runs

/// `volley prune`: takes recipients out of the files of old runs, and leaves the figures.
public enum PruneCommand {
    /// - Parameters:
    ///   - keep: a length of time: runs that ended less long ago are left as they are.
    ///   - includesStopped: also runs that could be resumed or retried.
    ///   - isRehearsal: only says what would be done.
    ///   - isConfirmed: does not ask.
    public static func run(
        keep: String, includesStopped: Bool, isRehearsal: Bool, isConfirmed: Bool, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        let seconds = try LengthOfTime.seconds(keep)
        guard isRehearsal || isConfirmed || console.inputIsTerminal else {
            throw Diagnostic(
                "volley prune asks before it removes anything, and standard input is no terminal",
                remedy: "Add --yes to prune without a question, or --dry-run to see what it would do. Nothing was removed.")
        }
        Interruption.install()
        let now = Timestamp.now()
        let folder = try Project.runsFolder(options)
        let (runs, broken, copies) = FilePaths.exists(folder) ? try RunStore.all(in: folder) : ([], [], [])
        let selection = try PruneSelection(runs, endedBefore: now.adding(seconds: -Double(seconds)), includesStopped: includesStopped)
        // No run, and of no use to anybody, however recent they are.
        let ownerless = try UnfinishedPlan.all(in: folder).filter { !$0.isOwned }
        var pruning = Pruning(isRehearsal: isRehearsal, selection: selection, ownerless: ownerless, broken: broken + copies)
        if !selection.chosen.isEmpty || !ownerless.isEmpty, !isRehearsal {
            if !isConfirmed {
                console.warn(pruning.text(keep))
                let plans = ownerless.isEmpty ? "" : " and \(Pruning.plans(ownerless.count))"
                guard try console.confirms("Remove the recipients of \(Pruning.runs(selection.chosen.count))\(plans) for good?") else {
                    console.warn("Nothing was removed.")
                    return .wrong
                }
            }
            pruning.prune(at: now, console)
        }
        let text = pruning.text(keep)
        let status = console.answer(options.isJSON ? pruning.json.indentedText : text, done: text + "\n")
        // Where nothing was removed, nothing was done.
        if pruning.isDone, !pruning.pruned.isEmpty { return pruning.failures.isEmpty ? status : .wrong }
        return pruning.failures.isEmpty && status == .done ? .done : .wrong
    }
}

/// Which runs are to be pruned, and why others are not.
struct PruneSelection {
    /// Why a run that ended long enough ago is left as it is.
    enum Obstacle: String {
        case unsent = "a plan that was never sent"
        case underway = "it is being sent"
        case resumable = "it can be resumed"
        case retriable = "some of its devices can be retried"
        /// It says whom a new plan must leave out, should the retry not be able to go on.
        case retried = "a retry of it is not over"
        /// It says whom another retry must leave out.
        case needed = "the run that it retries can be retried again"
        /// It says whom that one must leave out.
        case neededBeside = "an older run of its campaign can still be sent, or gone on with"
        /// Figures that say too little would stay for good.
        case outdated = "its file knows less than was sent: put the newest one back, or remove the file"
        case unmarked = "how far it was is not known: put its .claimed file back"
        case unreadable = "whether its file knows all that was sent cannot be seen: sent.db beside it, or the file, cannot be read"

        init(_ gap: SendingRecord.Gap) {
            switch gap {
            case .certain, .cancelled: self = .outdated
            case .possible: self = .unmarked
            case .unreadable: self = .unreadable
            }
        }

        /// Whether `--include-stopped` takes such a run.
        var isOfStopped: Bool { self == .resumable || self == .retriable || self == .retried || self == .needed || self == .neededBeside }
    }

    /// Each with the status that it was chosen by: it may be gone on with while somebody is asked.
    private(set) var chosen: [(run: RunStore, status: RunStatus)] = []
    private(set) var left: [(run: RunStore, why: Obstacle)] = []
    /// Ended too recently.
    private(set) var recent = 0
    private(set) var prunedBefore = 0

    init(_ runs: [RunStore], endedBefore limit: Timestamp, includesStopped: Bool) throws {
        let retries = Dictionary(grouping: runs) { $0.plan.retryOf ?? "" }
        let known = runs.first.map { KnownRuns(beside: $0) }
        for run in runs {
            defer { run.close() }
            if run.prunedAt != nil {
                prunedBefore += 1
                continue
            }
            let status = try run.status()
            // Whatever was cut off has no end, and perhaps no beginning.
            guard (status.finishedAt ?? status.startedAt ?? run.plan.plannedAt) < limit else {
                recent += 1
                continue
            }
            var why = try Self.obstacle(run, status, known?.gap(of: run), retries[run.plan.id] ?? [])
            if why == nil, !includesStopped, try Self.hasOpenRetry(run.plan.id, retries) { why = .retried }
            if why == nil, !includesStopped, let parent = run.plan.retryOf.flatMap({ id in runs.first { $0.plan.id == id } }),
                try Self.isNeeded(for: parent, retries[parent.plan.id] ?? [])
            {
                why = .needed
            }
            if why == nil, !includesStopped, try runs.contains(where: { try Self.asks($0, about: run) }) { why = .neededBeside }
            if let why, !(includesStopped && why.isOfStopped) {
                left.append((run, why))
            } else {
                chosen.append((run, status))
            }
        }
    }

    /// - Parameter retries: the runs that retry it.
    private static func obstacle(
        _ run: RunStore, _ status: RunStatus, _ gap: SendingRecord.Gap?, _ retries: [RunStore]
    ) throws -> Obstacle? {
        if run.isBeingSent { return .underway }
        if let gap { return Obstacle(gap) }
        switch status.state {
        case .planned: return .unsent
        case .running, .paused, .stopped: return .resumable
        case .cancelled:
            // Of a plan that was given up before anything was sent, nothing can be gone on with.
            guard try run.hasBegun() else { return nil }
            let standing = try retries.filter { try $0.standsAsRetry() }
            return try standing.isEmpty ? .resumable : isRetriable(run, standing) ? .retriable : nil
        case .finished: return try isRetriable(run, retries.filter { try $0.standsAsRetry() }) ? .retriable : nil
        }
    }

    /// Whether an older run of a campaign, before more of it is sent, must know whom another one has reached.
    private static func asks(_ older: RunStore, about run: RunStore) throws -> Bool {
        guard older.plan.campaign == run.plan.campaign, older.plan.app == run.plan.app, older.plan.id != run.plan.id, !run.plan.isTest,
            older.plan.plannedAt <= run.plan.plannedAt, older.prunedAt == nil, !older.plan.isTest, try run.hasBegun()
        else { return false }
        defer { older.close() }
        let times = try [older, run].map { try RunSettings(json: $0.plan.settings, runFile: $0.path).schedule?.occurrence }
        // Each time of a schedule goes out once.
        if let first = times[0], let second = times[1], first != second { return false }
        switch try older.status().state {
        case .planned, .running, .paused, .stopped: return true
        case .cancelled: return try older.hasBegun()
        case .finished: return false
        }
    }

    /// Whether a retry of a run, or one of that, can still be sent or gone on with.
    private static func hasOpenRetry(_ id: String, _ retries: [String: [RunStore]]) throws -> Bool {
        try (retries[id] ?? []).contains { retry in
            defer { retry.close() }
            switch try retry.status().state {
            case .planned, .running, .paused, .stopped: return true
            case .cancelled where try retry.hasBegun():
                let standing = try (retries[retry.plan.id] ?? []).filter { try $0.standsAsRetry() }
                if standing.isEmpty { return true }
            case .cancelled, .finished: break
            }
            return try hasOpenRetry(retry.plan.id, retries)
        }
    }

    /// Whether what a retry holds decides who another retry of the same run goes to.
    private static func isNeeded(for parent: RunStore, _ retries: [RunStore]) throws -> Bool {
        defer { parent.close() }
        guard parent.prunedAt == nil, [.finished, .cancelled].contains(try parent.status().state) else { return false }
        return try isRetriable(parent, retries.filter { try $0.standsAsRetry() })
    }

    /// Whether devices could be sent to again that no retry has taken over. Of one that was pruned nobody knows whom it has: then there is no other.
    private static func isRetriable(_ run: RunStore, _ retries: [RunStore]) throws -> Bool {
        let open: Set<Outcome> = [.failed, .unknown, .unsent]
        let outcomes = try run.figures().outcomes
        guard !run.plan.isTest, open.contains(where: { outcomes[$0, default: 0] > 0 }), retries.allSatisfy({ $0.prunedAt == nil }) else {
            return false
        }
        guard !retries.isEmpty else { return true }
        var taken: Set<DeviceToken> = []
        for retry in retries {
            defer { retry.close() }
            try retry.forEachResult { _, recipient, _, _ in taken.insert(recipient.token) }
        }
        var isLeft = false
        try run.forEachResult { _, recipient, settlement, isClaimed in
            isLeft = isLeft || open.contains(settlement?.outcome ?? (isClaimed ? .unknown : .unsent)) && !taken.contains(recipient.token)
        }
        return isLeft
    }
}

/// What pruning did, or would do.
private struct Pruning {
    struct Pruned {
        var run: String
        var recipients: Int
        var bytesBefore: Int
        /// nil when nothing was done.
        var bytesAfter: Int?
    }

    let isRehearsal: Bool
    let selection: PruneSelection
    let ownerless: [UnfinishedPlan]
    let broken: [Diagnostic]
    private(set) var pruned: [Pruned]
    private(set) var removed: [UnfinishedPlan] = []
    private(set) var failures: [Diagnostic] = []
    private(set) var isDone = false

    init(isRehearsal: Bool, selection: PruneSelection, ownerless: [UnfinishedPlan], broken: [Diagnostic]) {
        (self.isRehearsal, self.selection, self.ownerless, self.broken) = (isRehearsal, selection, ownerless, broken)
        pruned = selection.chosen.map { Pruned(run: $0.run.plan.id, recipients: $0.run.plan.audience, bytesBefore: $0.run.fileSize) }
    }

    /// Run after run; one that cannot be pruned keeps none of the others.
    mutating func prune(at now: Timestamp, _ console: Console) {
        isDone = true
        pruned = []
        for (run, status) in selection.chosen {
            if Interruption.isRequested {
                failures.append(Diagnostic("interrupted; the runs that are not named below are as they were"))
                break
            }
            console.progress("pruning \(run.plan.id)")
            let before = run.fileSize
            do {
                try run.prune(at: now, ifStill: status)
                pruned.append(
                    Pruned(run: run.plan.id, recipients: run.plan.audience, bytesBefore: before, bytesAfter: run.fileSize))
            } catch { failures.append(error as? Diagnostic ?? Diagnostic("\(error)", file: run.path)) }
        }
        for plan in ownerless where !Interruption.isRequested {
            do { if try plan.remove() { removed.append(plan) } } catch {
                failures.append(error as? Diagnostic ?? Diagnostic("\(error)", file: plan.path))
            }
        }
        for failure in failures { console.warn(failure.description) }
    }

    static func plans(_ count: Int) -> String { "\(TextFormat.count(count)) unfinished plan\(count == 1 ? "" : "s")" }

    /// What became of files that killed processes left behind.
    private var removedLines: [String] {
        let plans = isDone ? removed : ownerless
        guard !plans.isEmpty else { return [] }
        return ["\(Self.plans(plans.count)), left behind by processes that are gone, \(isDone ? "removed" : "would be removed"):"]
            + plans.map { "  \($0.path), \(TextFormat.bytes($0.size))" }
    }

    static func runs(_ count: Int) -> String { "\(TextFormat.count(count)) run\(count == 1 ? "" : "s")" }

    func text(_ keep: String) -> String {
        var lines: [String] = []
        let before = pruned.reduce(0) { $0 + $1.bytesBefore }, after = pruned.reduce(0) { $0 + ($1.bytesAfter ?? 0) }
        let names = pruned.map(\.run.count).max() ?? 0
        for one in pruned {
            let size = TextFormat.bytes(one.bytesBefore) + (one.bytesAfter.map { " -> \(TextFormat.bytes($0))" } ?? "")
            lines.append("  \(TextFormat.padded(one.run, to: names))  \(TextFormat.count(one.recipients)) recipients, \(size)")
        }
        let head: String
        if pruned.isEmpty {
            head = failures.isEmpty ? "No run that ended more than \(keep) ago is to be pruned." : "No run was pruned."
        } else if isDone {
            head =
                "Recipients of \(Self.runs(pruned.count)) were removed; their figures are kept. \(TextFormat.bytes(before)) became \(TextFormat.bytes(after)):"
        } else {
            head = "Recipients of \(Self.runs(pruned.count)) would be removed, \(TextFormat.bytes(before)); their figures would be kept:"
        }
        lines.insert(head, at: 0)
        lines += removedLines
        if !selection.left.isEmpty {
            lines.append("Left as they are, although they are older than \(keep):")
            let names = selection.left.map(\.run.plan.id.count).max() ?? 0
            lines += selection.left.map { "  \(TextFormat.padded($0.run.plan.id, to: names))  \($0.why.rawValue)" }
            if selection.left.contains(where: { $0.why.isOfStopped }) {
                lines.append("  --include-stopped takes those as well that can be resumed or retried.")
            }
            if selection.left.contains(where: { $0.why == .unsent }) {
                lines.append("  `volley cancel RUN` ends a plan for good; then `volley prune` takes it as well.")
            }
        }
        lines += broken.map { "Cannot be read: \($0.description)" }
        return lines.joined(separator: "\n")
    }

    var json: JSONValue {
        func number(_ value: Int?) -> JSONValue { value.map { .integer(Int64($0)) } ?? .null }
        let pruned = pruned.map { one in
            JSONValue.object(pairs: [
                ("run", .string(one.run)), ("recipients", number(one.recipients)), ("bytes_before", number(one.bytesBefore)),
                ("bytes_after", number(one.bytesAfter)),
            ])
        }
        let left = selection.left.map { one in
            JSONValue.object(pairs: [("run", .string(one.run.plan.id)), ("reason", .string(one.why.rawValue))])
        }
        return .object(pairs: [
            ("dry_run", .bool(isRehearsal)), ("pruned", .array(pruned)), ("left", .array(left)), ("recent", number(selection.recent)),
            ("pruned_before", number(selection.prunedBefore)), ("failed", .array(failures.map(\.json))),
            ("unfinished", .array((isDone ? removed : ownerless).map { .string($0.path) })),
            ("broken", .array(broken.map(\.json))),
        ])
    }
}
