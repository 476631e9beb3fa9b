import Workspace
import Base
import Campaigns
import Runs
import Sending

/// `volley prune`: removes recipients from the files of old runs, and keeps the figures.
public enum PruneCommand {
    /// Which runs are pruned, and how.
    public struct Settings: Sendable {
        /// How long ago a run must have ended, as a length of time.
        public var keep: String
        /// Whether runs that could be resumed or retried are pruned too.
        public var includesStopped: Bool
        /// Whether to show only what would be done.
        public var isDryRun: Bool
        /// Whether to skip the question.
        public var isConfirmed: Bool

        /// Creates settings.
        public init(keep: String, includesStopped: Bool, isDryRun: Bool, isConfirmed: Bool) {
            self.keep = keep
            self.includesStopped = includesStopped
            self.isDryRun = isDryRun
            self.isConfirmed = isConfirmed
        }
    }

    /// Prunes the runs of a folder after a confirmation.
    public static func run(_ settings: Settings, options: CommonOptions, console: Console) throws -> ExitStatus {
        let (keep, isDryRun, isConfirmed) = (settings.keep, settings.isDryRun, settings.isConfirmed)
        let seconds = try LengthOfTime.seconds(keep)
        try console.checkCanAsk(
            unless: isDryRun || isConfirmed, "volley prune", does: "removes anything",
            remedy: "Add --yes to prune without a question, or --dry-run to see what it would do. Nothing was removed.")
        Interruption.install()
        let now = Timestamp.now()
        var pruning = try Pruning(
            of: Project.presentCatalog(options.project), Project.find(with: options.project), keepSeconds: seconds,
            includesStopped: settings.includesStopped, at: now)
        pruning.isDryRun = isDryRun
        let (selection, abandonedPlans) = (pruning.selection, pruning.abandonedPlans)
        if !selection.chosen.isEmpty || !abandonedPlans.isEmpty, !isDryRun {
            if !isConfirmed {
                console.warn(pruning.text(keep))
                let plans = abandonedPlans.isEmpty ? "" : " and \(Pruning.plans(abandonedPlans.count))"
                guard
                    try console.confirms(
                        "Remove the recipients of \(Pruning.runs(selection.chosen.count))\(plans) permanently?")
                else {
                    console.warn("Nothing was removed.")
                    return .wrong
                }
            }
            pruning.prune(at: now, Interruption.process, Observer { console.progress("pruning \($0)") })
            console.clearProgress()
            for failure in pruning.failures { console.warn(failure.description) }
        }
        let text = pruning.text(keep)
        let status = console.answer(options.isJSON ? pruning.json.indentedText : text, done: text + "\n")
        // If nothing was removed, nothing was done.
        if pruning.isDone, !pruning.pruned.isEmpty { return pruning.failures.isEmpty ? status : .wrong }
        return pruning.failures.isEmpty && status == .done ? .done : .wrong
    }
}

extension Pruning {
    static func plans(_ count: Int) -> String { TextFormat.counted(count, one: "unfinished plan") }

    /// Files that killed processes left behind.
    private var removedLines: [String] {
        let plans = isDone ? removed : abandonedPlans
        guard !plans.isEmpty else { return [] }
        return [
            "\(Self.plans(plans.count)), left behind by processes that are gone, \(isDone ? "removed" : "would be removed"):"
        ]
            + plans.map { "  \($0.place), \(TextFormat.bytes($0.size))" }
    }

    static func runs(_ count: Int) -> String { TextFormat.counted(count, one: "run") }

    func text(_ keep: String) -> String {
        var lines: [String] = []
        let before = pruned.reduce(0) { $0 + $1.bytesBefore }, after = pruned.reduce(0) { $0 + ($1.bytesAfter ?? 0) }
        let names = pruned.map(\.run.count).max() ?? 0
        for one in pruned {
            let after = one.bytesAfter.map { " -> \(TextFormat.bytes($0))" } ?? ""
            // The file of a run of few devices may grow, as it gets a table of its figures.
            let size = one.bytesAfter ?? 0 < one.bytesBefore ? ", \(TextFormat.bytes(one.bytesBefore))\(after)" : ""
            lines.append(
                "  \(TextFormat.padded(one.run, to: names))  \(TextFormat.count(one.recipients)) recipients\(size)")
        }
        let head: String
        if pruned.isEmpty {
            head =
                failures.isEmpty ? "There is no run to prune that ended more than \(keep) ago." : "No run was pruned."
        } else if isDone {
            let size = after < before ? ". \(TextFormat.bytes(before)) became \(TextFormat.bytes(after))" : ""
            head = "Recipients of \(Self.runs(pruned.count)) were removed; their figures are kept\(size):"
        } else {
            head =
                "Recipients of \(Self.runs(pruned.count)) would be removed, \(TextFormat.bytes(before)); their figures would be kept:"
        }
        lines.insert(head, at: 0)
        lines += removedLines
        if !selection.left.isEmpty {
            lines.append("Left unchanged, although they are older than \(keep):")
            let names = selection.left.map(\.run.plan.id.count).max() ?? 0
            lines += selection.left.map { one in
                let until = one.until.map { " until \($0.adding(seconds: 59).minuteText)" } ?? ""
                return "  \(TextFormat.padded(one.run.plan.id, to: names))  \(one.why.rawValue)\(until)"
            }
            if selection.left.contains(where: { $0.why.needsIncludeStopped }) {
                lines.append(
                    "  --include-stopped also prunes runs that can be resumed or retried, or were sent in the last 12 hours."
                )
            }
            if selection.left.contains(where: { $0.why == .counted }) {
                lines.append(
                    "  Without the devices that a run reached, others could send them more than 'frequency' allows. Prune it after that time."
                )
            }
            if selection.left.contains(where: { $0.why == .unsent }) {
                lines.append("  `volley cancel RUN` ends a plan permanently; then `volley prune` prunes it too.")
            }
        }
        lines += broken.map { "Cannot be read: \($0.description)" }
        return lines.joined(separator: "\n")
    }

    var json: JSONValue {
        func number(_ value: Int?) -> JSONValue { value.map { .integer(Int64($0)) } ?? .null }
        let pruned = pruned.map { one in
            JSONValue.object(pairs: [
                ("run", .string(one.run)), ("recipients", number(one.recipients)),
                ("bytes_before", number(one.bytesBefore)),
                ("bytes_after", number(one.bytesAfter)),
            ])
        }
        let left = selection.left.map { one in
            JSONValue.object(
                pairs: [("run", .string(one.run.plan.id)), ("reason", .string(one.why.rawValue))]
                    + (one.until.map { [("until", .string($0.description))] } ?? []))
        }
        return .object(pairs: [
            ("dry_run", .bool(isDryRun)), ("pruned", .array(pruned)), ("left", .array(left)),
            ("recent", number(selection.recent)),
            ("pruned_before", number(selection.prunedBefore)), ("failed", .array(failures.map(\.json))),
            ("unfinished", .array((isDone ? removed : abandonedPlans).map { .string($0.place) })),
            ("broken", .array(broken.map(\.json))),
        ])
    }
}
