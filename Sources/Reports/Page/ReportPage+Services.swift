import Base
import PushServices
import Runs

/// What became of the pushes through each service, where a run has several.
extension ReportPage {
    var services: HTML {
        let services = report.services
        guard !services.isEmpty, hasBegun else { return "" }
        let shown = Outcome.allCases.filter { outcome in outcome == .accepted || services.contains { $0.count(outcome) > 0 } }
        let rows = services.enumerated().map { number, service in
            DataTable.Row(
                name: "\(service.name)",
                cells: [
                    figure("services/\(number)/audience", number: service.audience),
                    "\(Self.percent(service.count(.accepted), of: service.audience))",
                ] + shown.map { figure("services/\(number)/outcomes/\($0.name)", number: service.count($0)) })
        }
        let stops: [HTML] = services.compactMap { service in
            service.cause.map { "<p class=\"note trouble\">\(service.service.displayName): \($0.sentence)</p>" }
        }
        return """
            <section class="panel"><h2>Services</h2>
            <p class="note">Each device is reached through one service. Services are sent to side by side; one that stops does not stop the others.</p>
            \(DataTable(columns: ["Service", "devices", "got it"] + shown.map(\.name), rows: rows).html)
            \(stops)
            \(services.enumerated().map(reasons))
            </section>
            """
    }

    private func reasons(_ number: Int, _ service: ReportService) -> HTML {
        guard !service.reasons.isEmpty else { return "" }
        let rows = service.reasons.prefix(Self.shownReasons).map { reason in
            DataTable.Row(
                name: "<span class=\"code\">\(reason.name)</span>",
                cells: [
                    figure("services/\(number)/reasons/\(reason.name)", number: reason.recipients),
                    "\(ReasonText.explanation(of: reason.name, by: service.service) ?? "")",
                ])
        }
        let table = DataTable(columns: ["Reason", "devices", "what it means"], rows: Array(rows))
        return Fold(
            "Reasons of \(service.service.displayName)", "\(table.html)<p class=\"note\">In full: \(service.service.reasonsPage).</p>"
        ).html
    }

    /// How many reasons of a service are shown.
    private static let shownReasons = 12
}
