import Base
import PushServices
public import Runs

/// The part of a service in a run.
struct ServiceReport: Sendable {
    /// Its facts.
    let service: any PushService
    /// Its name as in run files; also for a service that this Volley no longer supports.
    let name: String
    /// nil when the plan's settings cannot be read.
    let settings: ServiceSettings?
    let audience: Int
    let figures: RunFigures
    /// Its reasons, most frequent first, then by name.
    let reasons: [(name: String, recipients: Int)]
    /// How many a resumed run would send to, or settle.
    let left: Int
    /// Why nothing more was sent through it; nil when it did not stop by itself.
    let cause: StopCause?
    /// The run's state, except that a service which stopped is `stopped`, and one that was sent to
    /// until its end is `finished` although others stopped.
    let state: RunState
    /// Whether wrong settings may be why its tokens were refused.
    let doubtsTokens: Bool
    /// Whether the run was put back from a backup before it had ended; whether other machines may
    /// have sent more than its file has.
    let isHeld: Bool, isNotFetched: Bool
    /// Whether its pushes go to tokens of Live Activities.
    let areActivities: Bool

    /// For people.
    var displayName: String { PushServices.named(name)?.displayName ?? name }

    func count(_ outcome: Outcome) -> Int { figures.outcomes[outcome, default: 0] }

    /// Where its pushes go, in words.
    var environment: String? { settings.map { Report.words($0.environment) } }

    /// What outcomes mean where this service took the pushes.
    var guide: OutcomeGuide {
        var guide = OutcomeGuide(
            services: [service], state: state, doubtsTokens: doubtsTokens, isHeld: isHeld, isNotFetched: isNotFetched)
        guide.areActivities = areActivities
        guide.hasRefusedAgain = figures.count(.refusedAgain) > 0
        return guide
    }

    /// Why services of a run that has not finished stopped while others were still sent to, by
    /// their names.
    static func stops(of run: RunFile, _ status: RunStatus) throws -> [String: StopCause] {
        guard run.plan.serviceCount > 1, status.state != .finished, let services = try? run.plan.settings.get().services
        else { return [:] }
        let states = try run.status().segments
        let stops = run.plan.segments.compactMap { segment in
            states[segment.ids.lowerBound]?.cause.map { (services[segment.service].serviceName, $0) }
        }
        return Dictionary(stops) { first, _ in first }
    }
}

extension Report {
    /// Whether several services take its pushes, even if only one of them has devices.
    var hasServices: Bool { plan.serviceCount > 1 }

    /// The services through which devices are reached, in the plan's order; empty when the run has
    /// one service only.
    var services: [ServiceReport] {
        // Figures that an older version kept do not include services.
        guard hasServices, figures.services.count == plan.serviceCount else { return [] }
        let settings = try? plan.settings.get().services
        return plan.services.enumerated().compactMap { number, service in
            let audience = plan.ids(ofService: number).count
            guard audience > 0 else { return nil }
            let name = settings?[number].serviceName ?? service.name
            return ServiceReport(
                service: service, name: name, settings: settings?[number], audience: audience,
                figures: figures.services[number],
                reasons: Self.sorted(reasonCounts(ofService: number)),
                left: plan.left(figures.services[number], ofService: number),
                cause: stops.cause(ofService: name), state: stops.state(ofService: name),
                doubtsTokens: doubtsTokens(ofService: number),
                isHeld: isHeld, isNotFetched: isNotFetched, areActivities: targetsActivities(of: service))
        }
    }

    /// The services that stopped, in words; blank when the run did not stop for that.
    var stoppedServices: String {
        stops.ofRun == nil ? "" : Self.listed(services.filter { $0.cause != nil }.map(\.displayName), by: "and")
    }

    /// The services that stopped and have something left to send that a resumption can send; empty
    /// when the run did not stop for that.
    var resumableServices: [ServiceReport] {
        stops.ofRun == nil ? [] : services.filter { $0.left > 0 && !($0.cause?.blamesMessage() ?? true) }
    }

    /// The services that do not accept the message, which the run keeps; empty when the run did not
    /// stop for that.
    var servicesWithoutMessage: [ServiceReport] {
        stops.ofRun == nil ? [] : services.filter { $0.cause?.blamesMessage() ?? false }
    }

    /// The services of the chain's runs, as files and as sentences name them; empty when one takes
    /// all pushes.
    var chainServices: [(name: String, displayName: String)] {
        chain.first?.services.map { ($0.name, $0.displayName) } ?? []
    }

    /// What the runs of the chain achieved together through a service, of the first run's devices.
    func together(through name: String) -> (accepted: Int, audience: Int) {
        let parts = chain.map { $0.services.first { $0.name == name } }
        return (parts.reduce(0) { $0 + ($1?.accepted ?? 0) }, parts.first??.audience ?? 0)
    }

    /// Whether it stopped in some of its services, while others may have been sent to until their
    /// end.
    var hasStoppedServices: Bool { stops.ofRun?.isEmpty == false }

    /// The services that took the pushes, in words: one name, or all of them.
    var takers: String {
        let names = services.map(\.displayName)
        return names.isEmpty ? service.displayName : Self.listed(names, by: "and")
    }

    /// Those of them that accepted anything, for a sentence about what was accepted; all of them
    /// when none did.
    var acceptors: String {
        let names = services.filter { $0.count(.accepted) > 0 }.map(\.displayName)
        return names.isEmpty ? takers : Self.listed(names, by: "and")
    }

    /// The word for targets that are not devices: one that fits all its services.
    var shortNoun: String { guide.shortNoun }

    /// `a`, `a and b`, `a, b and c`
    static func listed(_ names: [String], by word: String) -> String {
        guard names.count > 1, let last = names.last else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " \(word) \(last)"
    }

    /// Where pushes go, in a few words.
    static func words(_ environment: FrozenEnvironment) -> String {
        environment.isSimulator ? "simulator: no device gets it" : environment.name
    }

    static func sorted(_ reasons: [String: Int]) -> [(name: String, recipients: Int)] {
        reasons.map { (name: $0.key, recipients: $0.value) }.sorted {
            ($1.recipients, $0.name) < ($0.recipients, $1.name)
        }
    }
}

extension RunPlan {
    /// How many a resumed run would send to, or settle.
    public func left(_ figures: RunFigures) -> Int { total(figures) { left($0, ofService: $1) } }

    /// The recipients without an answer to which a resumed run would send again.
    public func repeated(_ figures: RunFigures) -> Int { total(figures) { repeated($0, ofService: $1) } }

    private func total(_ figures: RunFigures, _ part: (RunFigures, Int) -> Int) -> Int {
        // Figures that an older version kept do not include services.
        guard serviceCount > 1, figures.services.count == serviceCount else { return part(figures, 0) }
        return figures.services.enumerated().reduce(0) { $0 + part($1.element, $1.offset) }
    }

    /// The same through one service: recipients that are unsent but not permanently, those that an
    /// ended process left without an outcome, and, if the campaign wants that, those that are
    /// unknown.
    /// - Parameter figures: of the service's recipients.
    func left(_ figures: RunFigures, ofService number: Int) -> Int {
        let closed = OwnReason.final.reduce(0) { $0 + figures.count($1) }
        let unknown = resends(ofService: number) ? repeated(figures, ofService: number) : figures.unrecorded.claimed
        return max(0, figures.outcomes[.unsent, default: 0] - closed) + unknown
    }

    private func resends(ofService number: Int) -> Bool {
        (try? settings.get()).map { $0.ofService(number).unknownPolicy == .resend } ?? true
    }

    /// A push whose second answer refused it is not sent a third time.
    private func repeated(_ figures: RunFigures, ofService number: Int) -> Int {
        resends(ofService: number) ? max(0, figures.outcomes[.unknown, default: 0] - figures.count(.refusedAgain)) : 0
    }
}

/// What services reported about the pushes some time after they took them.
extension Report {
    /// What one service said.
    struct Afterwards {
        let service: any PushService
        let askedAt: Timestamp
        /// In the service's order. `older`: the time of the report, if it was before the last
        /// answer.
        let counts: [(key: String, words: String, count: Int, older: Timestamp?)]
        /// What they can and cannot tell; blank where their words say it.
        var note: String { service.statistics?.note ?? "" }
    }

    /// By services, in the plan's order; empty if none was queried.
    var afterwards: [Afterwards] {
        statistics.compactMap { said in
            let service = plan.services[said.service]
            guard let facts = service.statistics else { return nil }
            let counts = facts.counts.compactMap { fact in
                said.counts[fact.key].map { (fact.key, fact.words, $0, said.olderCounts[fact.key]) }
            }
            return Afterwards(service: service, askedAt: said.askedAt, counts: counts)
        }
    }

    /// For a person.
    var afterwardsTable: [(String, String)] {
        afterwards.map { said in
            let counts = said.counts.map { count in
                "\(TextFormat.count(count.count)) \(count.words)\(count.older.map { " as of \(TextStyle.moment($0))" } ?? "")"
            }
            return (
                said.service.displayName,
                (counts.isEmpty ? "nothing yet" : counts.joined(separator: ", "))
                    + " (asked \(TextStyle.moment(said.askedAt)))"
            )
        }
    }

    /// For programs; no member if no service was queried.
    var afterwardsMembers: [(String, JSONValue)] {
        let services = afterwards.map { said in
            let older = said.counts.compactMap { count in
                count.older.map { (count.key, JSONValue.string($0.description)) }
            }
            return JSONValue.object(
                pairs: [
                    ("service", .string(said.service.name)), ("asked_at", .string(said.askedAt.description)),
                    ("counts", .object(pairs: said.counts.map { ($0.key, .integer(Int64($0.count))) })),
                ] + (older.isEmpty ? [] : [("older", .object(pairs: older))])
                    + (said.note.isEmpty ? [] : [("note", .string(said.note))]))
        }
        return services.isEmpty ? [] : [("statistics", .array(services))]
    }
}

extension ReportPage {
    /// The panel about it; empty if no service was queried.
    var afterwards: HTML {
        let said = report.afterwards
        guard !said.isEmpty else { return "" }
        let tables: [HTML] = said.enumerated().map { place, part in
            let facts: [(name: String, value: HTML)] = part.counts.map { count in
                let older: HTML = count.older.map { " as of \(Self.moment($0))" } ?? ""
                return (
                    count.words, "\(figure("statistics/\(place)/counts/\(count.key)", number: count.count))\(older)"
                )
            }
            let body: HTML = facts.isEmpty ? "<p class=\"note\">Nothing yet.</p>" : Self.facts(facts)
            let note: HTML = part.note.isEmpty ? "" : "<p class=\"note\">\(part.note)</p>"
            return
                "<h3>\(part.service.displayName)</h3><p class=\"note\">Asked at \(Self.moment(part.askedAt)).</p>\(body)\(note)"
        }
        return """
            <section class="panel" id="afterwards"><h2>What services said afterwards</h2>
            <p class="note">These are the services' own counts. They grow for some days, and need not add up to the pushes that were accepted.</p>
            \(HTML(joined: tables))</section>

            """
    }
}
