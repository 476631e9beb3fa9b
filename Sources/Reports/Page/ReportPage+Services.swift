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
        let stops: [HTML] = services.compactMap { part in
            part.cause.map {
                "<p class=\"note trouble\" dir=\"auto\">\(part.displayName): \(Prose.html($0.sentence(for: report.face)))</p>"
            }
        }
        let folds: [HTML] = services.map { Fold("More about \($0.displayName)", details(of: $0)).html }
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
                share: Self.percent(part.count(outcome), of: part.audience), parts: [.init(part.count(outcome), ink: outcome.name)],
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
        facts.append(("Reasons", "\(TextFormat.capitalized(service.reasonsPage)) explains them."))
        facts.append(("Firewall", "\(service.ports) must be open. \(service.networks)"))
        return facts
    }
}
