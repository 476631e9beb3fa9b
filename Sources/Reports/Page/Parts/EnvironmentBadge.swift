public import Base
import Runs

/// Where pushes go, as a badge that is hard to overlook: production reaches people, everything else reaches testers at most.
public struct EnvironmentBadge: Sendable {
    /// `production`, `sandbox`, `simulator`, or host and port, or URL, of another server.
    let name: String

    /// - Parameter name: as `preview --json` has it.
    public init(_ name: String) { self.name = name }

    /// nil when a run's plan does not say.
    init?(of plan: RunPlan) {
        guard let settings = try? plan.settings.get() else { return nil }
        name = settings.environment.name
    }

    private var kind: String { ["production", "sandbox", "simulator"].contains(name) ? name : "server" }

    /// The badge.
    public var html: HTML {
        let words = kind == "server" ? name : kind == "simulator" ? "simulator, for practice" : kind
        return "<span class=\"badge \(kind)\" data-environment=\"\(kind)\" dir=\"auto\">\(words)</span>"
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
