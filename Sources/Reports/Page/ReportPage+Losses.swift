import Base
import PushServices
import Runs

/// Where pushes were lost, the largest loss first, each with its cause.
extension ReportPage {
    var losses: HTML {
        let losses = allLosses
        let folded = FoldedSection("Every outcome and what it means", outcomeTable).html
        let others = reasonFolds
        guard hasOutcomes, report.plan.audience > 0 else {
            let reasons = HTML(joined: report.reasons.map { hidden("reasons/\($0.name)", number: $0.recipients) })
            return losses.isEmpty ? reasons : section("What cannot be sent to", losses.map(\.item), reasons)
        }
        if losses.isEmpty {
            return
                "<section class=\"panel short\"><h2>Nothing was lost</h2><p class=\"note\">Every \(noun) of the audience \(report.service.choosesDevices ? "was accepted" : "got the push"), or its answer is still to come.</p>\(folded)\(others)</section>"
        }
        return section(
            report.isHeld ? "What was lost by the backup, and what is not known since" : "What was lost, and why",
            losses.map(\.item),
            "\(folded)\(others)")
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
        let isUnderway = !report.isHeld && (state == .running || state == .paused)
        let outcomes =
            !hasOutcomes
            ? [] : Outcome.allCases.filter { $0 != .accepted && !(isUnderway && ($0 == .unknown || $0 == .unsent)) }
        let causes = reasonsByOutcome
        let ofPushes = outcomes.filter { report.count($0) > 0 }.map { outcome in
            let count = report.count(outcome)
            let stop =
                state == .stopped && outcome == .unsent && !report.isHeld
                ? report.status.because(for: report.face) : nil
            let meaning =
                stop.map { Prose.html("The run stopped: \($0)") }
                ?? "\(report.guide.meaning(outcome))"
            // The cause of a stop says more than the state.
            let known = (causes?[outcome] ?? []).filter { stop == nil || $0.name != OwnReason.stopped.rawValue }
            return Loss(
                count: count,
                item: BarList.Item(
                    "\(Chart.swatch(outcome))\(report.guide.title(outcome))",
                    figure("outcomes/\(outcome.name)", number: count), share: percent(count),
                    parts: [.init(count, ink: outcome.name)],
                    notes: notes(known, of: count, otherwise: meaning)))
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

    /// The explanation of a loss: its reasons, or the meaning of the outcome if no reason is known.
    private func notes(_ reasons: [Cause], of count: Int, otherwise meaning: HTML) -> [HTML] {
        let rest = count - reasons.reduce(0) { $0 + $1.recipients }
        guard rest > 0, !reasons.isEmpty else { return reasons.isEmpty ? [meaning] : reasons.map(cause) }
        return reasons.map(cause) + ["\(TextFormat.count(rest)) others: \(meaning)"]
    }

    private func cause(_ reason: Cause) -> HTML {
        """
        \(figure(reason.path, number: reason.recipients)) <code dir="auto">\(TextStyle.safe(reason.name, limit: 200))</code> \(Prose.html(Report.explanation(of: reason.name, by: reason.service, for: report.face)))
        """
    }

    /// A reason of a service.
    private struct Cause {
        var service: any PushService
        /// The place of its number in the JSON report.
        var path: String
        var name: String
        var recipients: Int
    }

    /// The reasons of all services, most frequent first.
    private var causes: [Cause] {
        guard !report.services.isEmpty else {
            return report.reasons.map {
                Cause(service: report.service, path: "reasons/\($0.name)", name: $0.name, recipients: $0.recipients)
            }
        }
        return report.services.flatMap { service in
            service.reasons.map {
                Cause(
                    service: service.service, path: "services/\(service.name)/reasons/\($0.name)", name: $0.name,
                    recipients: $0.recipients)
            }
        }.sorted { ($1.recipients, $0.path) < ($0.recipients, $1.path) }
    }

    /// The three most frequent reasons of each outcome; nil if the figures do not connect reasons
    /// with outcomes.
    private var reasonsByOutcome: [Outcome: [Cause]]? {
        var found: [Outcome: [Cause]] = [:]
        for reason in causes {
            guard let outcome = ReasonText.outcome(of: reason.name, by: reason.service) else { return nil }
            found[outcome, default: []].append(reason)
        }
        let isCertain = Outcome.allCases.allSatisfy { outcome in
            let told = (found[outcome] ?? []).reduce(0) { $0 + $1.recipients }
            // Figures that an older version kept may lack some.
            return [.unknown, .unsent].contains(outcome)
                ? told <= report.count(outcome) : outcome == .accepted || told == report.count(outcome)
        }
        guard isCertain else { return nil }
        return found.mapValues { Array($0.prefix(3)) }
    }

    // MARK: - In full

    private var outcomeTable: HTML {
        guard hasOutcomes, report.plan.audience > 0 else { return "" }
        let hiddenOutcomes: [HTML] = Outcome.allCases.filter { !report.isShown($0) }.map {
            hidden("outcomes/\($0.name)", number: 0)
        }
        let items = Outcome.allCases.filter(report.isShown).map { outcome in
            BarList.Item(
                "\(Chart.swatch(outcome))\(outcome.name)",
                figure("outcomes/\(outcome.name)", number: report.count(outcome)),
                share: percent(report.count(outcome)), parts: [.init(report.count(outcome), ink: outcome.name)],
                notes: ["\(report.guide.meaning(outcome))"])
        }
        return """
            <p class="note">Every planned \(noun) ends in exactly one of these; together they are the \(TextFormat.count(report.plan.audience)) of the audience.</p>
            \(BarList(items, whole: report.plan.audience).html)\(hiddenOutcomes)
            """
    }

    /// All reasons, separately for each service, as the same word may mean two things.
    private var reasonFolds: HTML {
        guard !report.services.isEmpty else {
            return FoldedSection(
                "All reasons, as \(report.service.displayName) and Volley name them",
                reasonList(report.reasons, of: report.service, below: "")
            ).html
        }
        let folds: [HTML] = report.services.map { service in
            FoldedSection(
                "All reasons of \(service.displayName), as it and Volley name them",
                reasonList(service.reasons, of: service.service, below: "services/\(service.name)/")
            ).html
        }
        return HTML(joined: folds + report.reasons.map { hidden("reasons/\($0.name)", number: $0.recipients) })
    }

    private func reasonList(_ all: [(name: String, recipients: Int)], of service: any PushService, below path: String)
        -> HTML
    {
        guard !all.isEmpty else { return "" }
        let total = all.reduce(0) { $0 + $1.recipients }
        let items = all.prefix(Self.shownRows).map { reason in
            BarList.Item(
                "<code dir=\"auto\">\(TextStyle.safe(reason.name, limit: 200))</code>",
                figure("\(path)reasons/\(reason.name)", number: reason.recipients),
                share: Self.percent(reason.recipients, of: total), parts: [.init(reason.recipients)],
                notes: [Prose.html(report.meaning(of: reason.name, by: service))])
        }
        let hidden = all.count - items.count
        let more: HTML =
            hidden > 0
            ? "<p class=\"note\">and \(TextFormat.count(hidden)) more reasons; the JSON report names them all</p>" : ""
        return
            "<p class=\"note\">Shares are of all \(noun)s that have a reason.</p>\(BarList(Array(items), whole: total).html)\(more)"
    }
}
