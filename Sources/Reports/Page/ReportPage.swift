public import Base
import PushServices
import Runs

/// A report as a page: one file that needs no network and no script, for a phone, a large screen or paper.
///
/// The first screen says what was sent to whom, when and where, with what result, and what to do next. Then follow what was lost and why, the way from
/// the export to the devices, and the groups. Details are folded. Every figure says in words what it is. Figures that `report --format json`
/// also holds carry `data-figure` (the path of members that leads to it, joined by slashes) and `data-value` (the number); tests compare them.
/// Device tokens are shortened.
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
    /// Whether outcomes say anything: of a held plan, that it may have been sent since the backup.
    var hasOutcomes: Bool { hasBegun || report.isHeld }

    /// Where it went; empty when the plan does not say.
    var badges: HTML { EnvironmentBadge.html(of: report.plan) }

    /// The names of the places where it went, each once.
    private var places: [String] {
        EnvironmentBadge.all(of: report.plan).map(\.badge.name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    var isSimulated: Bool { places == ["simulator"] }

    /// The most rows of a list that a person can still read.
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
        let about: HTML = plan.preview["description"]?.stringValue.map { "<p class=\"about\" dir=\"auto\">\($0)</p>" } ?? ""
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
    static func moment(_ moment: Timestamp) -> String { String(moment.description.dropLast().replacing("T", with: " ")) }

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
