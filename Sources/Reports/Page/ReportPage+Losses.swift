import Base
import PushServices
import Runs

/// Where pushes were lost, the largest loss first, each with its cause.
extension ReportPage {
    var losses: HTML {
        let losses = allLosses
        let folded = Fold("Every outcome and what it means", outcomeTable).html
        let others = Fold("All reasons, as \(report.service.displayName) and Volley name them", reasonList).html
        guard hasBegun, report.plan.audience > 0 else {
            return losses.isEmpty ? "" : section("What cannot be sent to", losses.map(\.item), "")
        }
        if losses.isEmpty {
            return
                "<section class=\"panel short\"><h2>Nothing was lost</h2><p class=\"note\">Every device of the audience got the push, or its answer is still to come.</p>\(folded)\(others)</section>"
        }
        return section("What was lost, and why", losses.map(\.item), "\(folded)\(others)")
    }

    private func section(_ title: String, _ items: [BarList.Item], _ more: HTML) -> HTML {
        """
        <section class="panel" id="losses"><h2>\(title)</h2>
        <p class="note">The largest first. Bars share one scale.</p>
        \(BarList(items).html)\(more)</section>
        """
    }

    // MARK: - One by one

    struct Loss {
        var count: Int
        var item: BarList.Item
    }

    /// Bad outcomes, and rows that were intended but could not become devices.
    var allLosses: [Loss] {
        let isUnderway = state == .running || state == .paused
        let outcomes = !hasBegun ? [] : Outcome.allCases.filter { $0 != .accepted && !(isUnderway && ($0 == .unknown || $0 == .unsent)) }
        let causes = reasonsByOutcome
        let ofPushes = outcomes.filter { report.count($0) > 0 }.map { outcome in
            let count = report.count(outcome)
            let stop = state == .stopped && outcome == .unsent ? report.status.because : nil
            let meaning =
                stop.map { Prose.html("The run stopped: \($0)") }
                ?? "\(report.guide.meaning(outcome))"
            return Loss(
                count: count,
                item: BarList.Item(
                    "\(Chart.swatch(outcome))\(report.guide.title(outcome))",
                    figure("outcomes/\(outcome.name)", number: count), share: percent(count), parts: [.init(count, ink: outcome.name)],
                    notes: notes(causes?[outcome] ?? [], of: count, otherwise: meaning)))
        }
        let why = whyInPreview
        let ofRows = OutcomeGuide.unintended.compactMap { reason -> Loss? in
            guard let rows = report.plan.skipped[reason], rows > 0 else { return nil }
            let notes: [HTML] = (why[reason.rawValue] ?? [report.guide.note(skipped: reason.rawValue)]).map {
                Prose.html(TextFormat.capitalized($0))
            }
            return Loss(
                count: rows,
                item: BarList.Item(
                    "\(report.guide.title(skipped: reason)) <span class=\"code\">before sending</span>",
                    figure("skipped/\(reason.rawValue)", number: rows),
                    parts: [.init(rows, ink: "lost")], notes: notes))
        }
        return (ofPushes + ofRows).sorted { $0.count > $1.count }
    }

    /// What is known of a loss: its reasons, or what the outcome means where no reason is known.
    private func notes(_ reasons: [(name: String, recipients: Int)], of count: Int, otherwise meaning: HTML) -> [HTML] {
        let rest = count - reasons.reduce(0) { $0 + $1.recipients }
        guard rest > 0, !reasons.isEmpty else { return reasons.isEmpty ? [meaning] : reasons.map(cause) }
        return reasons.map(cause) + ["\(TextFormat.count(rest)) others: \(meaning)"]
    }

    private func cause(_ reason: (name: String, recipients: Int)) -> HTML {
        """
        \(figure("reasons/\(reason.name)", number: reason.recipients)) <code dir="auto">\(TextStyle.safe(reason.name, limit: 200))</code> \(Prose.html(report.explanation(of: reason.name)))
        """
    }

    /// The three most frequent reasons of each outcome; nil when the figures do not tell which reason led to which outcome.
    private var reasonsByOutcome: [Outcome: [(name: String, recipients: Int)]]? {
        var found: [Outcome: [(name: String, recipients: Int)]] = [:]
        for reason in report.reasons {
            guard let outcome = ReasonText.outcome(of: reason.name, by: report.service) else { return nil }
            found[outcome, default: []].append(reason)
        }
        let isCertain = Outcome.allCases.allSatisfy { outcome in
            let told = (found[outcome] ?? []).reduce(0) { $0 + $1.recipients }
            // Recipients never claimed, or in doubt after a crash, have no reason.
            return [.unknown, .unsent].contains(outcome)
                ? told <= report.count(outcome) : outcome == .accepted || told == report.count(outcome)
        }
        guard isCertain else { return nil }
        return found.mapValues { Array($0.prefix(3)) }
    }

    // MARK: - In full

    private var outcomeTable: HTML {
        guard hasBegun, report.plan.audience > 0 else { return "" }
        let items = Outcome.allCases.map { outcome in
            BarList.Item(
                "\(Chart.swatch(outcome))\(outcome.name)", figure("outcomes/\(outcome.name)", number: report.count(outcome)),
                share: percent(report.count(outcome)), parts: [.init(report.count(outcome), ink: outcome.name)],
                notes: ["\(report.guide.meaning(outcome))"])
        }
        return """
            <p class="note">Every planned device ends in exactly one of these; together they are the \(TextFormat.count(report.plan.audience)) of the audience.</p>
            \(BarList(items, whole: report.plan.audience).html)
            """
    }

    private var reasonList: HTML {
        let all = report.reasons
        guard !all.isEmpty else { return "" }
        let total = all.reduce(0) { $0 + $1.recipients }
        let items = all.prefix(Self.shownRows).map { reason in
            BarList.Item(
                "<code dir=\"auto\">\(TextStyle.safe(reason.name, limit: 200))</code>",
                figure("reasons/\(reason.name)", number: reason.recipients),
                share: Self.percent(reason.recipients, of: total), parts: [.init(reason.recipients)],
                notes: [Prose.html(report.explanation(of: reason.name))])
        }
        let hidden = all.count - items.count
        let more: HTML =
            hidden > 0 ? "<p class=\"note\">and \(TextFormat.count(hidden)) more reasons; the JSON report names them all</p>" : ""
        return "<p class=\"note\">Shares are of all devices that have a reason.</p>\(BarList(Array(items), whole: total).html)\(more)"
    }
}
