public import Base
import PushServices
public import Runs

/// All runs of a folder, for `volley runs`.
///
/// ```swift
/// let listing = try runs.list()
/// let list = try RunList(runs: listing.runs, broken: listing.broken)
/// print(list.text(width: 100, colour: false))
/// ```
public struct RunList: Sendable {
    private var reports: [Report] = []
    private var broken: [Diagnostic]
    private let unfinished: [UnfinishedPlan]
    private let isFiltered: Bool

    /// Gathers each run's figures, in the order given; a run that turns out to be broken joins
    /// `broken`, one that was removed since it was listed is left out. Leaves the runs closed.
    /// - Parameters:
    ///   - record: what the record next to the runs says; nil reads it for each of them.
    ///   - unfinished: plans that are being made, or that an ended process left behind.
    ///   - isFiltered: whether others were left out on purpose.
    /// - Throws: errors other than `Diagnostic`.
    public init(
        runs: [RunFile], broken: [Diagnostic], among record: HistorySnapshot? = nil, unfinished: [UnfinishedPlan] = [],
        isFiltered: Bool = false
    ) throws {
        self.broken = broken
        self.unfinished = unfinished
        self.isFiltered = isFiltered
        for run in runs {
            do {
                if let report = try run.unlessRemoved({ try Report($0, among: record, isSummary: true) }) {
                    reports.append(report)
                }
            } catch let error as Diagnostic { self.broken.append(error) }
            run.close()
        }
    }

    /// The document of `runs --json`: `runs`, each a summary of `report --format json`, `broken`,
    /// and `unfinished`.
    public var json: JSONValue {
        let broken = broken.map { diagnostic in
            JSONValue.object(pairs: [
                ("file", diagnostic.file.map { .string($0) } ?? .null), ("message", .string(diagnostic.message)),
                ("remedy", diagnostic.remedy.map { .string($0) } ?? .null),
            ])
        }
        let unfinished = unfinished.map { plan in
            JSONValue.object(pairs: [
                ("run", .string(plan.id)), ("file", .string(plan.place)), ("bytes", .integer(Int64(plan.size))),
                ("changed_at", .string(plan.changedAt.description)), ("is_being_made", .bool(plan.isOwned)),
            ])
        }
        return .object(pairs: [
            ("runs", .array(reports.map(\.json))), ("broken", .array(broken)), ("unfinished", .array(unfinished)),
        ])
    }

    /// A table with one line a run, and below it the problems of the broken files. Only outcomes
    /// that occur have a column. A narrow terminal loses the campaign (the id contains it), then
    /// the start, then the difference between what was not accepted.
    public func text(width: Int, colour: Bool) -> String {
        let style = TextStyle(width: width, colour: colour)
        guard !reports.isEmpty || !broken.isEmpty || !unfinished.isEmpty else {
            return isFiltered ? "No run matches." : "There are no runs yet. `volley plan` and `volley send` make one."
        }
        let columns = columns(within: style.width)
        var lines: [String] = []
        if !reports.isEmpty { lines.append(style.paint(Self.line(columns, \.title), .bold)) }
        for (row, report) in reports.enumerated() {
            lines.append(style.paint(Self.line(columns) { $0.cells[row] }, report.missedForGood > 0 ? .red : nil))
        }
        if reports.contains(where: { $0.missedForGood > 0 }) {
            lines +=
                [""]
                + style.wrapped(
                    "* Some devices were missed: pushes expired, or it was too late, before their turn came. `volley report RUN` says how many.",
                    indent: 0)
        }
        let held = reports.filter(\.isHeld)
        if !held.isEmpty {
            let (those, were, had) =
                held.count == 1 ? ("A run is", "It was", "it had") : ("\(held.count) runs are", "They were", "they had")
            lines +=
                [""]
                + style.wrapped(
                    "\(those) held. \(were) put back from a backup before \(had) ended, so more may have been sent than these figures say, and no "
                        + "command resumes or retries \(held.count == 1 ? "it" : "them"). `volley report RUN` says what to do.",
                    indent: 0)
        }
        if reports.contains(where: { $0.orderToPassOn != nil }) {
            lines +=
                [""]
                + style.wrapped(
                    "[only here]: the store that machines share could not be told, and other machines may still send the run. `volley report RUN` says what to do.",
                    indent: 0)
        }
        if !broken.isEmpty {
            if !lines.isEmpty { lines.append("") }
            lines.append(
                style.paint("\(broken.count) \(TextFormat.plural(broken.count, one: "file")) cannot be read:", .red))
            lines += broken.flatMap { style.wrapped($0.description, indent: 2) }
        }
        if !unfinished.isEmpty {
            if !lines.isEmpty { lines.append("") }
            lines.append(
                style.paint(
                    "\(unfinished.count) unfinished \(TextFormat.plural(unfinished.count, one: "plan")):", .yellow))
            lines += unfinished.flatMap { style.wrapped(Self.line($0), indent: 2) }
        }
        return lines.joined(separator: "\n")
    }

    private static func line(_ plan: UnfinishedPlan) -> String {
        "\(plan.place) (\(TextFormat.bytes(plan.size))) "
            + (plan.isOwned
                ? "is being made."
                : "was left behind and may hold \(Self.targets); `volley prune --keep 90d` removes it.")
    }

    /// The word for targets: an unfinished plan does not name its service.
    private static let targets = "\(PushServices.standard.target.nouns) or other targets"

    private struct Column {
        var title: String
        var isNumber: Bool
        var cells: [String]

        var width: Int { max(title.count, cells.map(\.count).max() ?? 0) }
    }

    private func columns(within width: Int) -> [Column] {
        let run = Column(title: "RUN", isNumber: false, cells: reports.map(\.plan.id))
        let campaign = Column(title: "CAMPAIGN", isNumber: false, cells: reports.map(\.plan.campaign))
        let state = Column(
            title: "STATE", isNumber: false,
            cells: reports.map {
                $0.status.state.rawValue + ($0.isHeld ? " [held]" : "")
                    + ($0.orderToPassOn == nil ? "" : " [only here]")
                    + ($0.missedForGood > 0 ? " *" : "")
                    + ($0.plan.isTest ? " [test]" : "")
                    + ($0.isPruned ? " [pruned]" : "")
            })
        let audience = numbers("AUDIENCE", \.plan.audience)
        let accepted = numbers("ACCEPTED") { $0.count(.accepted) }
        let rest = Outcome.allCases.dropFirst().filter { outcome in reports.contains { $0.count(outcome) > 0 } }
            .map { outcome in
                numbers(outcome == .invalidToken ? "INVALID" : outcome.name.uppercased()) { $0.count(outcome) }
            }
        let others = numbers("NOT ACCEPTED") { $0.plan.audience - $0.count(.accepted) }
        let started = Column(
            title: "STARTED", isNumber: false, cells: reports.map { $0.status.startedAt.map(TextStyle.moment) ?? "-" })
        let choices = [
            [run, campaign, state, audience, accepted] + rest + [started],
            [run, state, audience, accepted] + rest + [started],
            [run, state, audience, accepted] + rest,
        ]
        return choices.first { Self.width(of: $0) <= width } ?? [run, state, audience, accepted, others]
    }

    private func numbers(_ title: String, _ number: (Report) -> Int) -> Column {
        Column(title: title, isNumber: true, cells: reports.map { TextFormat.count(number($0)) })
    }

    private static func width(of columns: [Column]) -> Int { columns.reduce(-2) { $0 + $1.width + 2 } }

    private static func line(_ columns: [Column], _ cell: (Column) -> String) -> String {
        var line = columns.map {
            $0.isNumber ? TextFormat.aligned(cell($0), to: $0.width) : TextFormat.padded(cell($0), to: $0.width)
        }
        .joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }
}
