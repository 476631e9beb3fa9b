import Base
import PushServices
import Runs

/// What each service of a run of several did, one below the other.
extension ReportPage {
    var services: HTML {
        let services = report.services
        guard !services.isEmpty, hasBegun else { return "" }
        let rows = services.map { service in
            let outcomes = Outcome.allCases.map { figure("services/\(service.name)/outcomes/\($0.name)", number: service.count($0)) }
            return DataTable.Row(
                name: "\(service.displayName)\(service.cause == nil ? "" : ", stopped")",
                cells: [figure("services/\(service.name)/audience", number: service.audience)] + outcomes + [
                    figure("services/\(service.name)/attempts", number: service.figures.attempts)
                ])
        }
        let columns = ["Service", "devices"] + Outcome.allCases.map { report.guide.title($0) } + ["pushes sent"]
        return """
            <section class="panel" id="services"><h2>Services</h2>
            <p class="note">Each device is reached through one of them. If one stops, the others go on.</p>
            \(DataTable(columns: columns, rows: rows).html)</section>

            """
    }
}
