import Base
import PushServices
import Runs

/// What became of the pushes through one of a run's services.
struct ReportService: Sendable {
    /// The service.
    let service: any PushService
    /// Where pushes went, for people; nil when the plan does not say.
    let environment: String?
    /// Of its recipients.
    let figures: RunFigures
    /// Why nothing more was sent through it; nil if it did not stop by itself.
    let cause: StopCause?

    var audience: Int { figures.outcomes.values.reduce(0, +) }

    func count(_ outcome: Outcome) -> Int { figures.outcomes[outcome, default: 0] }

    /// Its name with where pushes went.
    var name: String { [service.displayName, environment].compactMap(\.self).joined(separator: ", ") }

    /// Reasons, most frequent first, then by name.
    var reasons: [(name: String, recipients: Int)] {
        figures.reasons.map { (name: $0.key, recipients: $0.value) }.sorted { ($1.recipients, $0.name) < ($0.recipients, $1.name) }
    }

    /// Its member of `services` in `report --json`.
    var json: JSONValue {
        func counts(_ pairs: [(String, Int)]) -> JSONValue { .object(pairs: pairs.map { ($0.0, .integer(Int64($0.1))) }) }
        return .object(
            pairs: [
                ("service", .string(service.name)), ("environment", environment.map { .string($0) } ?? .null),
                ("audience", .integer(Int64(audience))), ("outcomes", counts(Outcome.allCases.map { ($0.name, count($0)) })),
                ("reasons", counts(reasons.map { ($0.name, $0.recipients) })),
            ] + (cause.map { [("stopped_because", .string($0.sentence))] } ?? []))
    }
}

extension Report {
    /// The run's services with what became of their pushes, in their order; empty where one service took all.
    var services: [ReportService] {
        guard !figures.services.isEmpty else { return [] }
        let settings = try? plan.settings.get()
        return plan.services.enumerated().map { number, service in
            ReportService(
                service: service, environment: settings?.services[number].environment.name, figures: figures.figures(ofService: number),
                cause: partialStop?.stopped.first { $0.service == service.name }?.cause)
        }
    }

    /// Which services stopped while others went on; nil if the run did not stop that way.
    private var partialStop: PartialStop? { if case .services(let partial)? = status.cause { partial } else { nil } }

    /// Who took the pushes, in a sentence: all services that had recipients.
    var serviceNames: String {
        let names = services.filter { $0.audience > 0 }.map(\.service.displayName)
        guard let last = names.last, names.count > 1 else { return names.first ?? service.displayName }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}
