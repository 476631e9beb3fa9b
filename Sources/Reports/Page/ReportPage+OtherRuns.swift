import Base
import Runs

/// Other runs beside this one.
extension ReportPage {
    var otherRuns: HTML {
        guard !report.chain.isEmpty || !report.earlier.isEmpty else { return "" }
        return "<section class=\"panel\"><h2>Other runs</h2>\(chain)\(earlierRuns)</section>"
    }

    private var chain: HTML {
        guard let first = report.chain.first else { return "" }
        let rows = report.chain.map { link in
            let accepted: HTML = link.accepted.map { figure("chain/\(link.id)/accepted", number: $0) } ?? "cannot be read"
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

    /// What was accepted through a service, of the devices that go through it.
    private func part(of link: Report.ChainLink, _ service: String) -> HTML {
        guard let part = link.services.first(where: { $0.name == service }), let accepted = part.accepted else { return "–" }
        let path = "chain/\(link.id)/services/\(service)"
        return "\(figure("\(path)/accepted", number: accepted)) of \(figure("\(path)/audience", number: part.audience))"
    }

    private var earlierRuns: HTML {
        guard !report.earlier.isEmpty else { return "" }
        let own = DataTable.Row(
            name: "\(Self.moment(report.plan.plannedAt)), this run",
            cells: [
                badges, "\(TextFormat.count(report.plan.audience))", hasBegun ? "\(percent(report.count(.accepted)))" : "–",
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
        let table = DataTable(columns: ["Planned (UTC)", "where", "\(noun)s", "got it", "app gone"], rows: [own] + rows)
        return """
            <h3>Earlier runs of this campaign</h3>
            <p class="note">Tests and retries are left out. If the audience shrinks, or more devices have lost the app, check the export.</p>
            \(table.html)
            """
    }

    private func count(_ path: String, number: Int) -> HTML { " <span class=\"note\">\(figure(path, number: number))</span>" }
}
