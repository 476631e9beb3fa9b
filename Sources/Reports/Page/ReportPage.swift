public import Base
import PushServices
import Runs

/// A report as a page: one file that needs no network and no script, for a phone, a large screen or
/// paper.
///
/// The first screen says what was sent, the audience, the time, the place, the result, and what to
/// do next. Then follow what was lost and why, the way from the export to the devices, and the
/// groups. Details are folded. Every figure says in words what it is. Figures that
/// `report --format json` also holds carry `data-figure` (the path of members that leads to it,
/// joined by slashes) and `data-value` (the number); tests compare them. Device tokens are
/// shortened.
///
/// ```swift
/// let page = ReportPage(report, madeBy: "Volley", madeAt: .now()).html.markup
/// ```
public struct ReportPage {
    let report: Report
    let madeBy: String
    let madeAt: Timestamp

    /// - Parameters:
    ///   - madeBy: the program, with its version.
    ///   - madeAt: the time that the page's figures refer to.
    public init(_ report: Report, madeBy: String, madeAt: Timestamp) {
        self.report = report
        self.madeBy = madeBy
        self.madeAt = madeAt
    }

    var state: RunState { report.status.state }

    /// Whether there can be results.
    var hasBegun: Bool { report.status.startedAt != nil }
    /// Whether outcomes have a meaning: for a held plan they say that it may have been sent since
    /// the backup.
    var hasOutcomes: Bool { hasBegun || report.isHeld }

    /// Where it went; empty when the plan does not say.
    var badges: HTML { EnvironmentBadge.html(of: report.plan) }

    /// The names of the places where it went, each once.
    private var places: [String] {
        EnvironmentBadge.all(of: report.plan).map(\.badge.name).reduce(into: []) {
            if !$0.contains($1) { $0.append($1) }
        }
    }

    var isSimulated: Bool { places == ["simulator"] }

    /// The most rows of a list that a person can still read through.
    static let shownRows = 100

    /// The document.
    public var html: HTML {
        let environment = places.map { ", \($0)" }.joined()
        return PageStyle.document(
            title: "Report of \(report.plan.campaign)\(environment)",
            style: Self.style, content)
    }

    /// The rules of a report's page, after those of `PageStyle`.
    public static let style: HTML = "\(Chart.style)\(groupStyle)\(missedStyle)"

    /// What the document shows, for other pages that show a report.
    public var content: HTML { parts.withoutTokens }

    private var parts: HTML {
        """
        \(head)
        \(Chart.patterns)
        \(summary)
        \(nextStep)
        \(services)\
        \(afterwards)\
        \(losses)
        \(audience)
        \(variants)
        \(languages)
        \(texts)
        \(timeline)
        \(testDevices)
        \(otherRuns)
        \(details)
        <footer>Made by \(madeBy) at \(Self.moment(madeAt)) · times are UTC · \(report.guide.noun)s are shortened\
        <span class="when-printed"> · folded sections are not printed</span></footer>
        """
    }

    private var head: HTML {
        let plan = report.plan
        var chips: [HTML] = [badges, "<span class=\"chip\">\(state.rawValue)</span>"]
        if plan.isTest { chips.append("<span class=\"chip\">test</span>") }
        if plan.retryOf != nil { chips.append("<span class=\"chip\">retry</span>") }
        let about: HTML =
            plan.preview["description"]?.stringValue.map { "<p class=\"about\" dir=\"auto\">\($0)</p>" } ?? ""
        return """
            <header>
            <p class="eyebrow"><span>Delivery report</span> \(chips)</p>
            <h1 dir="auto">\(plan.campaign)</h1>
            \(about)
            </header>
            """
    }

    // MARK: - Pieces

    /// A number that programs can find too.
    func figure(_ path: String, number: Int) -> HTML {
        "<span data-figure=\"\(path)\" data-value=\"\(number)\">\(TextFormat.count(number))</span>"
    }

    /// A number that a sentence puts into words.
    func hidden(_ path: String, number: Int) -> HTML {
        "<span data-figure=\"\(path)\" data-value=\"\(number)\" hidden></span>"
    }

    /// What a recipient of the run is: a device, or a call after which the service chooses devices.
    var noun: String { report.service.recipientNoun }

    /// A part of the audience.
    func percent(_ count: Int) -> String { Self.percent(count, of: report.plan.audience) }

    static func percent(_ count: Int, of total: Int) -> String {
        TextFormat.percent(total == 0 ? 0 : Double(count) / Double(total))
    }

    /// `2026-12-01 09:00:00`
    static func moment(_ moment: Timestamp) -> String {
        String(moment.description.dropLast().replacing("T", with: " "))
    }

    /// Names and their values.
    static func facts(_ facts: [(name: String, value: HTML)]) -> HTML {
        let rows: [HTML] = facts.map { "<dt>\($0.name)</dt><dd dir=\"auto\">\($0.value)</dd>" }
        return "<dl class=\"facts\">\(rows)</dl>"
    }

    /// Missed devices must stand out.
    private static let missedStyle: HTML = """

        main:has(.lead.missed) { --unsent: #9a3412; }
        @media (prefers-color-scheme: dark) { main:has(.lead.missed) { --unsent: #ffab7a; } }
        .lead.missed { border-left: .35rem solid var(--unsent); padding-left: .8rem; }

        """
}

/// Other runs next to this one.
extension ReportPage {
    var otherRuns: HTML {
        guard !report.chain.isEmpty || !report.earlier.isEmpty else { return "" }
        return "<section class=\"panel\"><h2>Other runs</h2>\(chain)\(earlierRuns)</section>"
    }

    private var chain: HTML {
        guard let first = report.chain.first else { return "" }
        let rows = report.chain.map { link in
            let accepted: HTML =
                link.accepted.map { figure("chain/\(link.id)/accepted", number: $0) } ?? "cannot be read"
            let isOwn = link.id == report.plan.id
            return DataTable.Row(
                name: "\(link.id)\(isOwn ? " (this run)" : "")",
                cells: [figure("chain/\(link.id)/audience", number: link.audience), accepted]
                    + report.chainServices.map { part(of: link, $0.name) },
                isTotal: isOwn)
        }
        let together = report.chain.reduce(0) { $0 + ($1.accepted ?? 0) }
        let sums = report.chainServices.map { name, displayName in
            let sum = report.together(through: name)
            return "\(TextFormat.count(sum.accepted)) of \(TextFormat.count(sum.audience)) through \(displayName)"
        }
        let through = sums.isEmpty ? "" : ": \(Report.listed(sums, by: "and"))"
        return """
            <h3>Chain of retries</h3>
            <p class="note">Each retry sends again to some \(noun)s of an earlier run. Together they reached \(TextFormat.count(together)) of \(TextFormat.count(first.audience)) \(noun)s, \(Self.percent(together, of: first.audience))\(through).</p>
            \(DataTable(columns: ["Run", "\(noun)s", "accepted"] + report.chainServices.map(\.displayName), rows: rows).html)
            """
    }

    /// The accepted share of the devices that go through a service.
    private func part(of link: Report.ChainLink, _ service: String) -> HTML {
        guard let part = link.services.first(where: { $0.name == service }), let accepted = part.accepted else {
            return "–"
        }
        let path = "chain/\(link.id)/services/\(service)"
        return "\(figure("\(path)/accepted", number: accepted)) of \(figure("\(path)/audience", number: part.audience))"
    }

    private var earlierRuns: HTML {
        guard !report.earlier.isEmpty else { return "" }
        let own = DataTable.Row(
            name: "\(Self.moment(report.plan.plannedAt)), this run",
            cells: [
                badges, "\(TextFormat.count(report.plan.audience))",
                hasBegun ? "\(percent(report.count(.accepted)))" : "–",
                hasBegun ? "\(percent(report.count(.invalidToken)))" : "–",
            ], isTotal: true)
        let rows = report.earlier.map { run in
            DataTable.Row(
                name: "\(Self.moment(run.plannedAt))<br><span class=\"note\">\(run.id)</span>",
                cells: [
                    run.badges, figure("earlier_runs/\(run.id)/audience", number: run.audience),
                    "\(Self.percent(run.accepted, of: run.audience))\(count("earlier_runs/\(run.id)/accepted", number: run.accepted))",
                    "\(Self.percent(run.invalidToken, of: run.audience))\(count("earlier_runs/\(run.id)/invalid_token", number: run.invalidToken))",
                ])
        }
        let table = DataTable(
            columns: ["Planned (UTC)", "where", "\(noun)s", "accepted", "app gone"], rows: [own] + rows)
        return """
            <h3>Earlier runs of this campaign</h3>
            <p class="note">Tests and retries are left out. If the audience shrinks, or more devices have lost the app, check the export.</p>
            \(table.html)
            """
    }

    private func count(_ path: String, number: Int) -> HTML {
        " <span class=\"note\">\(figure(path, number: number))</span>"
    }
}

/// What each service of a run of several did, one below the other.
extension ReportPage {
    var services: HTML {
        let services = report.services
        guard !services.isEmpty, hasBegun else { return "" }
        let rows = services.map { service in
            let outcomes = Outcome.allCases.map {
                figure("services/\(service.name)/outcomes/\($0.name)", number: service.count($0))
            }
            return DataTable.Row(
                name: "\(service.displayName)\(service.cause == nil ? "" : ", stopped")",
                cells: [figure("services/\(service.name)/audience", number: service.audience)] + outcomes + [
                    figure("services/\(service.name)/attempts", number: service.figures.attempts)
                ])
        }
        let stops: [HTML] = services.compactMap { part in
            part.cause.map {
                "<p class=\"note trouble\" dir=\"auto\">\(part.displayName): \(Prose.html($0.sentence(for: report.face)))</p>"
            }
        }
        let folds: [HTML] = services.map { FoldedSection("More about \($0.displayName)", details(of: $0)).html }
        let columns = ["Service", "devices"] + Outcome.allCases.map { report.guide.title($0) } + ["pushes sent"]
        return """
            <section class="panel" id="services"><h2>Services</h2>
            <p class="note">Each device is reached through one of them. If one stops, the others continue.</p>
            \(DataTable(columns: columns, rows: rows).html)\(HTML(joined: stops + folds))</section>

            """
    }

    /// Where it went, how fast, what its outcomes mean, and where its owner explains it.
    private func details(of part: ServiceReport) -> HTML {
        let items = Outcome.allCases.filter { part.count($0) > 0 }.map { outcome in
            BarList.Item(
                "\(Chart.swatch(outcome))\(part.guide.title(outcome))",
                figure("services/\(part.name)/outcomes/\(outcome.name)", number: part.count(outcome)),
                share: Self.percent(part.count(outcome), of: part.audience),
                parts: [.init(part.count(outcome), ink: outcome.name)],
                notes: ["\(part.guide.meaning(outcome))"])
        }
        return "\(Self.facts(facts(of: part)))\(BarList(items, whole: part.audience).html)"
    }

    private func facts(of part: ServiceReport) -> [(name: String, value: HTML)] {
        let service = part.service
        var facts: [(String, HTML)] = []
        if let settings = part.settings {
            facts.append(("Sent to", EnvironmentBadge(settings.environment.name, of: service).html))
            facts.append((TextFormat.capitalized(service.account.topic.noun), "<code>\(settings.topic)</code>"))
        }
        facts.append(("State", "\(part.state.rawValue)"))
        if let latency = part.figures.latency {
            let path = "services/\(part.name)/latency_ms"
            facts.append(
                (
                    "Answers took",
                    """
                    half at most \(figure("\(path)/p50", number: latency.p50)) ms, 90 % at most \(figure("\(path)/p90", number: latency.p90)) ms, \
                    99 % at most \(figure("\(path)/p99", number: latency.p99)) ms, the slowest \(figure("\(path)/max", number: latency.max)) ms
                    """
                ))
        }
        facts.append(("Reasons", "\(TextFormat.capitalized(service.owner.reasonsPage)) explains them."))
        facts.append(("Firewall", "\(service.owner.ports) must be open. \(service.owner.networks)"))
        return facts
    }
}

/// When it happened.
extension ReportPage {
    var timeline: HTML {
        guard let timeline = report.figures.timeline, !timeline.steps.isEmpty else { return "" }
        let length = Self.duration(timeline.secondsPerStep)
        let table: HTML = """
            <p class="note">Devices by the time their outcome was known, in steps of \(length).</p>
            \(timeTable(timeline))
            """
        return """
            <section class="panel short">
            <h2>Over time</h2>
            \(chart(timeline, length: length))
            \(FoldedSection("The same as a table", table).html)
            </section>
            """
    }

    /// Everything on one scale: what was lost next to what was not.
    private func chart(_ timeline: RunTimeline, length: String) -> HTML {
        let outcomes = Outcome.allCases.filter { outcome in
            outcome != .unsent && timeline.steps.contains { $0[outcome.rawValue] > 0 }
        }
        let last = timeline.steps.count - 1
        let columns = timeline.steps.enumerated().map { place, step in
            let words = outcomes.filter { step[$0.rawValue] > 0 }.map {
                "\(TextFormat.count(step[$0.rawValue])) \($0.name)"
            }
            return Chart.Column(
                title: "\(clock(timeline, step: place)): \(words.joined(separator: ", "))",
                parts: outcomes.map { Chart.Part(value: step[$0.rawValue], ink: $0.name) })
        }
        let heights = columns.map(\.height)
        let (total, highest) = (TextFormat.count(heights.reduce(0, +)), heights.max() ?? 0)
        let at = clock(timeline, step: heights.firstIndex(of: highest) ?? 0)
        // The middle mark needs the same number of columns on both sides.
        let marks = [0] + (columns.count % 2 == 0 && columns.count > 2 ? [columns.count / 2] : []) + [columns.count]
        let legend = Chart.legend(
            outcomes.map { ($0, "\(report.guide.title($0))" as HTML) })
        return """
            \(legend)
            \(Chart(
                title: "Answers over time",
                description: "\(total) \(noun)s from \(clock(timeline, step: 0)) to \(clock(timeline, step: last)); most of them, \(TextFormat.count(highest)) in \(length), at \(at).",
                unit: "Devices in each step of \(length)", columns: columns, marks: marks.map { clock(timeline, step: $0) },
                note: "Each column is \(length); the highest, at \(at), is \(report.service.recipients(highest)) of \(total).", name: "timeline"
            ).html)
            """
    }

    private func timeTable(_ timeline: RunTimeline) -> HTML {
        let shown = Outcome.allCases.filter { outcome in
            outcome != .unsent && timeline.steps.contains { $0[outcome.rawValue] > 0 }
        }
        let rows = timeline.steps.enumerated().filter { $0.element.contains { $0 > 0 } }.map { place, step in
            let begin = timeline.begin(of: place).description
            return DataTable.Row(
                name: "\(clock(timeline, step: place))",
                cells: shown.map { figure("timeline/steps/\(begin)/\($0.name)", number: step[$0.rawValue]) })
        }
        return DataTable(columns: ["From (UTC)"] + shown.map(\.name), rows: rows).html
    }

    /// The time of day, with the date where a run took more than one.
    private func clock(_ timeline: RunTimeline, step: Int) -> String {
        let text = Self.moment(timeline.begin(of: step))
        let hasDays =
            Self.moment(timeline.begin(of: 0)).prefix(10)
            != Self.moment(timeline.begin(of: timeline.steps.count - 1)).prefix(10)
        return String(hasDays ? text.dropLast(3) : text.dropFirst(11))
    }

    /// `1 second`, `2 minutes`
    private static func duration(_ seconds: Int) -> String {
        let (number, unit) =
            seconds % 86_400 == 0
            ? (seconds / 86_400, "day")
            : seconds % 3600 == 0
                ? (seconds / 3600, "hour") : seconds % 60 == 0 ? (seconds / 60, "minute") : (seconds, "second")
        return "\(number) \(TextFormat.plural(number, one: unit))"
    }
}
