public import Base
public import PushServices
public import Runs

/// Where pushes go, as a badge that is hard to overlook: some of a service's servers reach people,
/// everything else reaches testers at most.
public struct EnvironmentBadge: Sendable {
    /// The name of an environment of the service, `simulator`, or host and port, or URL, of another
    /// server.
    let name: String
    /// The service's own environment with that name.
    private let environment: ServiceEnvironment?

    /// - Parameters:
    ///   - name: as `preview --json` has it.
    ///   - service: the service that takes the pushes.
    public init(_ name: String, of service: any PushService = PushServices.standard) {
        self.name = name
        environment = service.account.environments.named(name)
    }

    /// The place of one of a run's services.
    private init(_ settings: ServiceSettings) { self.init(settings.environment.name, of: settings.service) }

    /// Where a run goes: a place for each service that has devices; empty when its plan does not
    /// say.
    static func all(of plan: RunPlan) -> [(service: String, badge: EnvironmentBadge)] {
        guard let services = try? plan.settings.get().services else { return [] }
        let used = Set(plan.serviceSegments.filter { !$0.ids.isEmpty }.map(\.service))
        return services.enumerated().filter { used.isEmpty ? $0.offset == 0 : used.contains($0.offset) }.map {
            (service: $0.element.service.displayName, badge: EnvironmentBadge($0.element))
        }
    }

    /// The badges of a run: one for each place, with its service's name where there are several.
    public static func html(of plan: RunPlan) -> HTML {
        let all = all(of: plan)
        if Set(all.map(\.badge.name)).count == 1, let first = all.first { return first.badge.html }
        let badges: [HTML] = all.map { "\($0.service) \($0.badge.html) " }
        return HTML(joined: badges)
    }

    private var isSimulator: Bool { name == "simulator" }

    /// The class that sets its colour.
    private var styleClass: String { environment.map { $0.reachesPeople ? "production" : "sandbox" } ?? kind }

    private var kind: String { environment?.name ?? (isSimulator ? name : "server") }

    /// The badge.
    public var html: HTML {
        let words = isSimulator ? "simulator, for practice" : name
        return "<span class=\"badge \(styleClass)\" data-environment=\"\(kind)\" dir=\"auto\">\(words)</span>"
    }

    static let style: HTML = """

        .badge { display: inline-block; border: 1px solid var(--line); border-radius: .4rem; padding: .05rem .5rem; font-size: .8125rem; font-weight: 600;
          line-height: 1.5; color: var(--ink); background: var(--paper); overflow-wrap: anywhere; }
        .badge.production { background: var(--live); border-color: var(--live); color: var(--on-live); }
        .badge.sandbox { background: var(--warn-ground); border-color: var(--warn); color: var(--warn); }
        .badge.simulator, .badge.server { border-style: dashed; border-color: var(--soft); }
        @media print { .badge { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }

        """
}
