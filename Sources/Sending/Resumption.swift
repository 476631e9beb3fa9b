import Base
public import Runs

/// What is left of a run that is about to continue, and what may reach a device twice.
public struct Resumption: Sendable {
    /// The part of a service.
    public struct Part: Sendable {
        /// The service, and what the campaign says of pushes without an answer.
        public var settings: RunSettings
        /// Recipients that nothing was sent to.
        public var unsent: Int
        /// Recipients whose pushes went out, or were about to, and have no answer: they are sent again, or left, as
        /// `settings` says.
        public var unknown: Int
        /// Recipients that get the push again because the service recognizes a push that it already has.
        public var recognized: Int
    }

    /// The run.
    public let plan: RunPlan
    /// By the numbers of the services.
    public let parts: [Part]

    /// - Parameter run: no process may be sending it.
    /// - Throws: `Diagnostic`: it cannot be read, or is damaged.
    public init(of run: any RunLedger, _ settings: RunSettings) throws {
        plan = run.plan
        // Counted only once: it reads every outcome.
        let figures = try run.figures(withGroups: false)
        parts = try settings.services.indices.map { number in
            let own = settings.ofService(number), outcomes = figures.figures(ofService: number).outcomes
            let lost = try LostDevices(of: run, at: own.service, number: number)
            return Part(
                settings: own, unsent: outcomes[.unsent, default: 0] + lost.unsent,
                unknown: outcomes[.unknown, default: 0] - lost.unsent - lost.recognized, recognized: lost.recognized)
        }
    }

    /// Recipients that nothing was sent to, through all services.
    public var unsent: Int { parts.reduce(0) { $0 + $1.unsent } }
}
