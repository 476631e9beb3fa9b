public import Base
import Campaigns
import Content
import Delivery
import PushServices
public import Runs
public import Workspace

/// Queries the services of a run for the results of its pushes, and keeps what they say in the run.
/// A service that does not answer leaves what the others say.
/// - Returns: why services were not asked, or did not answer.
/// - Throws: `Diagnostic`: no service can be queried.
public func askStatistics(
    of run: RunFile, in choice: ProjectChoice, _ context: SendingContext, at now: Timestamp
) throws -> [Diagnostic] {
    let settings = try run.plan.settings.get()
    guard let startedAt = try run.status().startedAt else {
        throw Diagnostic("nothing of this run was sent yet", file: run.place, remedy: "Ask when it was sent.")
    }
    let having = settings.services.indices.filter { number in
        settings.services[number].service.statistics != nil && !run.plan.ids(ofService: number).isEmpty
    }
    guard !having.isEmpty else {
        let names = PushServices.all.filter { $0.statistics != nil }.map(\.displayName).joined(separator: ", ")
        throw Diagnostic(
            "no service of this run says anything of its pushes afterwards", file: run.place,
            remedy: names.isEmpty ? nil : "Those that do: \(names).")
    }
    let present = try CurrentProject(of: run, in: choice)
    let reasons = having.map { unaskable(settings.services[$0], of: run, present) }
    let asked = zip(having, reasons).compactMap { $1 == nil ? $0 : nil }
    // What one service lacks does not matter where another one is asked.
    if asked.isEmpty, let reason = reasons.compactMap(\.self).first { throw reason }
    let withFiles = present.withPresentFiles(settings)
    var troubles: [Diagnostic] = []
    for number in asked {
        let own = withFiles.ofService(number), name = own.service.displayName
        do {
            try present.checkAccount(settings.services[number], pushType: settings.pushType)
            let counts = try ServiceStatisticsQuestions(
                run: run, service: number, settings: own, startedAt: startedAt, now: now
            )
            .counts(over: ProxyRoute(present, own), context, of: present.countedApp(of: settings.services[number]))
            try run.record(statistics: counts, ofService: number, at: now)
        } catch {
            var trouble = Diagnostic(explaining: error)
            trouble.message = "\(name) was not asked, or did not say: \(trouble.message)"
            troubles.append(trouble)
        }
    }
    return troubles
}

/// Why a service that has statistics cannot be asked about a run; nil if it can.
private func unaskable(_ service: ServiceSettings, of run: RunFile, _ present: CurrentProject) -> Diagnostic? {
    let facts = service.service, name = facts.displayName
    if let field = facts.account.countedApp, present.countedApp(of: service) == nil {
        return Diagnostic(
            "\(name) counts pushes by app, and volley.yaml does not say which app of the project it is",
            file: run.place,
            remedy:
                "\(field.source), and write it next to \(facts.account.topic.key): \(field.key): \"\(field.example)\".")
    }
    if facts.statistics?.needsTracking == true, (try? MessageCatalog(frozenIn: run.plan))?.isTracked != true {
        return Diagnostic(
            "\(name) counts pushes by a label, and those of this run have none, as its campaign does not track them",
            file: run.place,
            remedy: "Write track: true under 'delivery' of the next campaign.")
    }
    return nil
}

/// The questions to one service of a run.
private struct ServiceStatisticsQuestions {
    let run: RunFile
    let service: Int
    /// As the service sees them.
    let settings: RunSettings
    let startedAt: Timestamp
    let now: Timestamp

    /// What the answers say, by what was asked about.
    /// - Parameter app: `AccountForm.countedApp` of the app.
    func counts(over route: ProxyRoute, _ context: SendingContext, of app: String?) throws -> [String: [String: Int]] {
        guard let facts = settings.service.statistics else { return [:] }
        if settings.firstService.environment.isSimulator {
            throw Diagnostic(
                "the simulator inside Volley ended with the run", remedy: "`volley simulate` starts one that stays.")
        }
        let days = (now.epochSeconds - startedAt.epochSeconds) / 86_400
        guard days <= Int64(facts.days) else {
            throw Diagnostic("it knows pushes for \(facts.days) days, and this run began \(days) days ago")
        }
        let questions = try subjects(facts)
        guard !questions.isEmpty else { throw Diagnostic("no answer of it gave an id by which it can be asked") }
        let gateway = try Gateway(settings, context, proxy: route.tokenProxyURL, scope: facts.scope, now: now)
        defer { _ = gateway.close() }
        var sender = SenderSettings(
            settings.service, endpoint: gateway.endpoint, credentials: gateway.credentials,
            options: settings.options(startingAt: now),
            runSeed: run.plan.seed)
        route.apply(to: &sender)
        let environment: ServiceEnvironment? =
            if case .named(let server) = settings.firstService.environment { server } else { nil }
        var counts: [String: [String: Int]] = [:]
        for subjects in questions {
            if context.cancellation?.isRequested == true { throw CancellationError() }
            let topic = [settings.firstService.topic, app].compactMap(\.self).joined(separator: "/")
            let answer = try ServiceQuery(sender).ask(facts.question(topic, subjects, environment))
            guard let found = facts.read(answer, subjects) else {
                let reason = settings.service.details(of: answer).reason
                throw Diagnostic(
                    "its answer cannot be read\(reason.isEmpty ? "" : ": \(TextFormat.foreign(reason, maximumBytes: 100))")",
                    remedy: "What it said before is kept. Ask again later.")
            }
            counts.merge(found) { $1 }
        }
        return counts
    }

    private func subjects(_ facts: StatisticsFacts) throws -> [[String]] {
        switch facts.subject {
        case .label: return [[run.plan.id]]
        case .receipts(let most):
            let receipts = try run.receipts(ofService: service)
            return stride(from: 0, to: receipts.count, by: max(1, most)).map {
                Array(receipts[$0..<min($0 + most, receipts.count)])
            }
        }
    }
}
