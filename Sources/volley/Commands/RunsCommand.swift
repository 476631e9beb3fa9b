import Base
import Campaigns
import Reports
import Runs
import Workspace

/// `volley runs`: lists the runs of a folder.
public enum RunsCommand {
    /// The choice of runs, as typed: a run must match all values.
    public struct Wanted: Sendable {
        /// A campaign's name; nil for all.
        public var campaign: String?
        /// An app's name; nil for all.
        public var app: String?
        /// Names of states; empty for all.
        public var states: [String]
        /// A date, or a length of time before now, since when a run was planned; nil for all.
        public var since: String?

        /// Creates a choice of runs.
        public init(campaign: String? = nil, app: String? = nil, states: [String] = [], since: String? = nil) {
            self.campaign = campaign
            self.app = app
            self.states = states
            self.since = since
        }

        var isAll: Bool { campaign == nil && app == nil && states.isEmpty && since == nil }
    }

    /// Lists runs, oldest first.
    public static func run(_ wanted: Wanted = Wanted(), options: CommonOptions, console: Console) throws -> ExitStatus {
        let states = try states(wanted.states)
        let since = try wanted.since.map { try moment($0, now: .now()) }
        let catalog = try Project.presentCatalog(options.project)
        let found = catalog.isThere ? try catalog.list() : RunListing()
        var (runs, broken) = (found.runs, found.broken + found.copies)
        let unfinished = wanted.isAll ? try catalog.unfinishedPlans() : []
        let isEmpty = runs.isEmpty && broken.isEmpty && unfinished.isEmpty
        let known = HistorySnapshot(of: catalog)
        runs = try runs.filter { run in
            guard wanted.campaign.map({ $0 == run.plan.campaign }) ?? true,
                wanted.app.map({ $0 == run.plan.app }) ?? true,
                since.map({ run.plan.plannedAt >= $0 }) ?? true
            else { return false }
            // Close each run: there may be more runs than a process may open files.
            defer { run.close() }
            do {
                return try run.unlessRemoved { run in
                    if let gap = LedgerGap(of: run, among: known), gap.isKnown { throw gap.diagnostic }
                    return try states.isEmpty || states.contains(run.status().state)
                } ?? false
            } catch let error as Diagnostic {
                broken.append(error)
                return false
            }
        }
        let list = try RunList(
            runs: runs, broken: broken, among: known, unfinished: unfinished, isFiltered: !wanted.isAll)
        if !runs.isEmpty, let why = known.failure {
            console.warn(
                "Volley cannot tell whether these files know all that was sent, so figures may be too small. \(why)")
        }
        if options.isJSON {
            try console.out(list.json)
        } else if isEmpty {
            console.say("There are no runs in \(catalog.place).")
        } else {
            try console.out(list.text(width: console.width, colour: console.colour))
        }
        return .done
    }

    private static func states(_ names: [String]) throws -> Set<RunState> {
        Set(
            try names.map { name in
                if let state = RunState(rawValue: name) { return state }
                let all = RunState.allCases.map(\.rawValue)
                throw Diagnostic(
                    "'\(name)' is not a state of a run",
                    remedy: nearestName(to: name, among: all).map { "Did you mean '\($0)'?" }
                        ?? "States are \(all.joined(separator: ", ")).")
            })
    }

    private static func moment(_ text: String, now: Timestamp) throws -> Timestamp {
        if let moment = Timestamp(text) { return moment }
        guard let seconds = try? LengthOfTime.seconds(text) else {
            throw Diagnostic(
                "'\(text)' is neither a date nor a length of time",
                remedy: "Write --since 2026-12-01 (UTC), or --since 7d for the last week.")
        }
        return now.adding(seconds: -Double(seconds))
    }
}

/// `volley orders`: lists what people ordered in the console.
public enum OrdersCommand {
    /// Lists orders, oldest first.
    /// - Parameter count: the number of orders to show, the newest; at least 1.
    public static func run(last count: Int, options: CommonOptions, console: Console) throws -> ExitStatus {
        guard count > 0 else {
            throw Diagnostic("--last needs a number of orders, at least 1", remedy: "For example: --last 100.")
        }
        let catalog = try Project.presentCatalog(options.project)
        let newest = try catalog.orders.read(atMost: count < .max ? count + 1 : count)
        let list = OrderList(newest, last: count, isAtWork: catalog.schedule.isAtWork, at: .now())
        try options.isJSON
            ? console.out(list.json) : console.out(list.text(width: console.width, colour: console.colour))
        return .done
    }
}
