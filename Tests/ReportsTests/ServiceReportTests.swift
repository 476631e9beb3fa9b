import Base
import PushServices
import Runs
import Testing

@testable import Reports

/// Sixty devices of APNs and forty of FCM in one run.
@Suite("the report of a run of several services")
struct ServiceReportTests {
    private static func fcmToken(_ number: Int) -> String { String(repeating: "Q", count: 140) + "\(number)" }

    /// - Parameters:
    ///   - first: how many devices are of APNs.
    ///   - environment: where FCM's pushes go.
    static func run(
        _ folder: TemporaryFolder, id: String = "20261201-090000-spring-sale-7f3a", first: Int = 60,
        environment: FrozenEnvironment = .simulator, preview: JSONValue = .null
    ) throws -> RunFile {
        let writer = try RunWriter(folder: folder.path, id: id, sorter: SegmentSorter(services: 2))
        for slot in 0..<100 {
            let target = slot < first ? token(slot) : fcmToken(slot)
            try writer.put(
                Recipient(
                    token: Target(normalized: target), registrationID: "r\(slot)", alias: "a\(slot)",
                    language: slot % 3 == 0 ? "de" : "en",
                    variant: slot % 2 == 0 ? "short" : "long"),
                at: slot, service: slot < first ? 0 : 1)
        }
        try writer.drop(BitSet(), of: 100)
        let settings = settings(.production) {
            var second = ServiceSettings(environment: environment, topic: "shop-1a2b")
            second.serviceName = FCM().name
            $0.services.append(second)
        }
        return try writer.finish(
            RunPlan(
                id: id, campaign: "spring-sale", app: "shop", campaignFile: "spring.yaml", campaignSource: "",
                projectFile: "volley.yaml",
                seed: RunSeed(high: 1, low: 2), fields: [], plannedAt: start.adding(seconds: -48), planHash: "",
                rows: 110, audience: 100,
                skipped: [.noService: 4, .badToken: 6], settings: .success(settings), preview: preview,
                serviceSegments: writer.segments))
    }

    static func settled(_ id: Int, _ outcome: Outcome, _ status: Int, _ reason: String = "", attempts: Int = 1)
        -> Settlement
    {
        Settlement(
            recipient: id, outcome: outcome, status: status, reason: reason, attempts: attempts,
            latencyMilliseconds: status > 0 ? 20 + id : 0, settledAt: start.adding(seconds: Double(id) / 3))
    }

    /// Every device has an answer; the word NOT_FOUND comes from both services.
    private static func finished(_ folder: TemporaryFolder) throws -> RunFile {
        let run = try run(folder)
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<100, at: start))
        try run.append(
            .settled([
                (0..<100).map { id in
                    switch id {
                    case 3, 4: settled(id, .invalidToken, 410, "Unregistered")
                    case 5: settled(id, .rejected, 404, "NOT_FOUND")
                    case 60..<67: settled(id, .invalidToken, 404, "UNREGISTERED")
                    case 70: settled(id, .failed, 503, "UNAVAILABLE", attempts: 4)
                    case 71, 72: settled(id, .rejected, 404, "NOT_FOUND")
                    default: settled(id, .accepted, 200)
                    }
                }
            ]))
        try run.append(.state(.finished, at: start.adding(seconds: 60)))
        return run
    }

    /// FCM stopped at its first device; all of APNs' were sent.
    private static func partlyStopped(_ folder: TemporaryFolder) throws -> RunFile {
        let run = try run(folder, id: "20261208-090000-spring-sale-8a4b")
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<61, at: start))
        try run.append(
            .settled([(0..<60).map { settled($0, .accepted, 200) } + [settled(60, .rejected, 401, "UNAUTHENTICATED")]]))
        let stop = StopCause.service(FCM().name, .refused(reason: "UNAUTHENTICATED", status: 401, clockLagSeconds: nil))
        try run.append(
            .state(
                .stopped,
                cause: .services(
                    PartialStop(
                        stopped: [.init(service: FCM().name, cause: stop)], finished: [PushServices.standard.name])),
                at: start.adding(seconds: 60)))
        return run
    }

    @Test("the text has a line for each service, its reasons in its own words, and where each went")
    func text() throws {
        let folder = try TemporaryFolder()
        let text = try Report(Self.finished(folder)).text(width: 100, colour: false).replacing(
            folder.path, with: "runs")
        expectSnapshot(text, "services")
    }

    @Test("the text of a run that one service stopped says which, and how to send what is left through it")
    func stoppedText() throws {
        let folder = try TemporaryFolder()
        let text = try Report(Self.partlyStopped(folder)).text(width: 100, colour: false).replacing(
            folder.path, with: "runs")
        expectSnapshot(text, "services-stopped")
    }

    @Test("the figures of the services add up to those of the run, in JSON and CSV")
    func sums() throws {
        let folder = try TemporaryFolder()
        let run = try Self.finished(folder)
        let report = try Report(run)
        guard case .array(let services)? = report.json["services"] else { throw Diagnostic("no services") }
        #expect(services.map { $0["service"] } == [.string("apns"), .string("fcm")])
        #expect(services.map { $0["environment"] } == [.string("production"), .string("simulator")])
        #expect(services.map { $0["topic"] } == [.string("com.example.shop"), .string("shop-1a2b")])
        let rows = parseCSV(try csv(run))
        #expect(rows[0] == ReportCSV.columnsOfSeveralServices && rows[0].last == "service" && rows[0][9] == "push_id")
        #expect(rows.count == 101 && rows.allSatisfy { $0.count == 13 })
        for service in services {
            let own = rows.filter { $0[12] == service["service"]?.stringValue }
            #expect(service["audience"] == .integer(Int64(own.count)))
            for outcome in Outcome.allCases {
                #expect(service["outcomes"]?[outcome.name] == .integer(Int64(own.count { $0[5] == outcome.name })))
            }
            guard case .object(let reasons)? = service["reasons"] else { throw Diagnostic("no reasons") }
            for reason in reasons {
                #expect(reason.value == .integer(Int64(own.count { $0[7] == reason.name })), "\(reason.name)")
            }
            #expect(service["attempts"] == .integer(Int64(own.compactMap { Int($0[8]) }.reduce(0, +))))
        }
        for member in ["audience", "attempts"] {
            #expect(services.compactMap { $0[member]?.integerValue }.reduce(0, +) == report.json[member]?.integerValue)
        }
        #expect(
            rows[61][0] == Self.fcmToken(60) && rows[61][9] == PushID(runSeed: run.plan.seed, recipient: 60).description
        )
    }

    @Test("only the service that stopped says why, and the run's own sentence names it")
    func stoppedJSON() throws {
        let folder = try TemporaryFolder()
        let json = try Report(Self.partlyStopped(folder)).json
        guard case .array(let services)? = json["services"] else { throw Diagnostic("no services") }
        #expect(services[0]["stopped_because"] == nil)
        #expect(
            services[1]["stopped_because"]?.stringValue?.hasPrefix("FCM refused the push with UNAUTHENTICATED (401)")
                ?? false)
        #expect(json["stopped_because"]?.stringValue?.hasPrefix("Nothing more was sent through FCM: ") ?? false)
        #expect(json["state"] == .string("stopped"))
    }

    @Test("the page shows every figure of the JSON, and both services", arguments: [false, true])
    func page(isStopped: Bool) throws {
        let folder = try TemporaryFolder()
        let report = try Report(isStopped ? Self.partlyStopped(folder) : Self.finished(folder))
        let page = ReportPage(report, madeBy: "Volley", madeAt: start).html.markup
        let json = figures(of: report.json)
        let shown = figures(ofPage: page)
        for figure in shown { #expect(figure.value == json[figure.path], "\(figure.path)") }
        let missing = Set(json.filter { $0.value != 0 }.keys).subtracting(shown.map(\.path)).subtracting([
            "timeline/seconds_per_step"
        ])
        #expect(missing.isEmpty, "\(missing.sorted())")
        #expect(json["services/fcm/audience"] == 40 && shown.contains { $0.path == "services/fcm/outcomes/rejected" })
        #expect(unbalancedElements(page).isEmpty)
        #expect(page.contains("<title>Report of spring-sale, production, simulator</title>"))
        #expect(page.contains("volley resume") == isStopped && page.contains("FCM, stopped") == isStopped)
        #expect(!page.contains("volley send spring.yaml"), "another run would send again to the devices of APNs")
    }

    @Test("two runs are compared service by service, and the page shows what their reports say")
    func comparison() throws {
        let folder = try TemporaryFolder(), other = try TemporaryFolder()
        let (before, after) = (try Report(Self.finished(folder)), try Report(Self.partlyStopped(other)))
        let comparison = ReportComparison(before: before, after: after)
        let rows = comparison.rows.filter { $0.section == "Services" }
        #expect(rows.count == 14)
        let accepted = try #require(rows.first { $0.path == "services/fcm/outcomes/accepted" })
        #expect(
            accepted.name == "FCM, accepted" && accepted.before == 30 && accepted.after == 0
                && accepted.beforeShare == 0.75)
        let (first, second) = (figures(of: before.json), figures(of: after.json))
        for figure in figures(ofPage: comparison.page(madeBy: "Volley", madeAt: start).markup) {
            let path = figure.path.split(separator: "/").map(String.init)
            #expect(
                figure.value
                    == (path[0] == "before" ? first : second)[path.dropFirst().joined(separator: "/"), default: 0])
        }
    }

    @Test("a reason is explained by the service that gave it")
    func reasons() throws {
        let folder = try TemporaryFolder()
        let text = try Report(Self.finished(folder)).text(width: 4000, colour: false)
        let parts = text.components(between: "Reasons of ", and: "\n\n")
        #expect(parts.count == 2 && parts[0].hasPrefix("APNs") && parts[1].hasPrefix("FCM"))
        let name = APNs().displayName
        #expect(parts[0].contains(Report.explanation(of: "Unregistered", by: APNs())), "\(name)")
        #expect(parts[1].contains(Report.explanation(of: "UNREGISTERED", by: FCM())))
        #expect(!parts[0].contains("UNREGISTERED"))
        #expect(Report.explanation(of: "NOT_FOUND", by: APNs()) != Report.explanation(of: "NOT_FOUND", by: FCM()))
    }

    @Test(
        "where wrong settings of one service may be why its tokens were refused, the next step names that service alone"
    )
    func doubt() throws {
        let folder = try TemporaryFolder()
        let run = try Self.run(folder)
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<100, at: start))
        try run.append(
            .settled([
                (0..<100).map {
                    switch $0 {
                    case 0, 1: Self.settled($0, .invalidToken, 410, "Unregistered")
                    case 60...: Self.settled($0, .invalidToken, 403, "SENDER_ID_MISMATCH")
                    default: Self.settled($0, .accepted, 200)
                    }
                }
            ]))
        try run.append(.state(.finished, at: start.adding(seconds: 60)))
        let report = try Report(run)
        #expect(report.services.map(\.doubtsTokens) == [false, true])
        #expect(report.blamedServices.map(\.name) == [FCM().name])
        let text = report.text(width: 4000, colour: false)
        #expect(
            text.contains("Next: 40 devices had a registration token that FCM refused; this checks the settings:"),
            "\(text)")
        #expect(!text.contains("that APNs refused"))
    }

    @Test("a service without devices is not named, and the CSV has its column all the same")
    func one() throws {
        let folder = try TemporaryFolder()
        let run = try Self.run(folder, first: 0)
        let report = try Report(run)
        #expect(report.services.map(\.name) == ["fcm"] && report.takers == "FCM")
        #expect(parseCSV(try csv(run))[1].last == "fcm")
        #expect(report.text(width: 200, colour: false).contains("Environment  simulator: no device gets it"))
    }

    @Test(
        "a service that stopped while another is still sent to is named at once, and forgotten when the run is resumed")
    func stoppedMeanwhile() throws {
        let folder = try TemporaryFolder()
        let run = try Self.run(folder)
        try run.append(.epochBegan("1-a", at: start, from: [.planned]))
        let cause = StopCause.service(FCM().name, .outage(lastReason: "UNAVAILABLE", seconds: 600))
        try run.append(.segment(run.plan.segments[1], SegmentState(cause: cause)))
        let running = try Report(run)
        #expect(running.services.map(\.state) == [.running, .stopped] && running.services[1].cause == cause)
        #expect(
            running.text(width: 100, colour: false).contains("Next: it is still being sent; this shows newer figures:"))
        #expect(
            ReportPage(running, madeBy: "Volley", madeAt: start).html.markup.contains(
                HTML.escaped("FCM: \(cause.sentence)")))
        try run.append(.state(.stopped, cause: .interrupted, at: start))
        let interrupted = try Report(run)
        #expect(interrupted.services.map(\.state) == [.stopped, .stopped])
        #expect(interrupted.text(width: 100, colour: false).contains("Next: this resumes it where it stopped:"))
        for face in [TextMedium.terminal, .console] {
            var report = interrupted
            report.face = face
            let page = ReportPage(report, madeBy: "Volley", madeAt: start).content.markup
            #expect(!page.contains("fixed") && page.contains("interrupted"), "\(page)")
        }
        try run.append(.epochBegan("2-b", at: start, from: [.stopped]))
        #expect(try Report(run).services.map(\.cause) == [nil, nil])
    }

    @Test(
        "where the end shows that the settings of a service are wrong, nothing is left to resume, and no sentence says so"
    )
    func judgedAtEnd() throws {
        let folder = try TemporaryFolder()
        let run = try Self.run(folder)
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<100, at: start))
        try run.append(
            .settled([
                (0..<100).map {
                    $0 < 60
                        ? Self.settled($0, .accepted, 200) : Self.settled($0, .invalidToken, 403, "SENDER_ID_MISMATCH")
                }
            ]))
        let evidence = RunEvidence(try run.figures().tokenEvidence(ofService: 1, in: run.plan))
        let stop = StopCause.service(
            FCM().name, .targetsRefused(reason: "SENDER_ID_MISMATCH", TargetRefusals(evidence)))
        let partial = PartialStop(
            stopped: [.init(service: FCM().name, cause: stop)], finished: [PushServices.standard.name])
        try run.append(.state(.stopped, cause: .services(partial), at: start))
        let report = try Report(run)
        let text = report.text(width: 4000, colour: false)
        #expect(
            text.contains("Next: nothing is left to send; this checks the settings of FCM:\n      volley doctor shop"),
            "\(text)")
        #expect(!text.contains("volley resume") && !text.contains("Nothing more was sent through"), "\(text)")
        #expect(text.contains("All pushes through APNs were sent.\n"))
        let page = ReportPage(report, madeBy: "Volley", madeAt: start).html.markup
        #expect(
            page.contains("This checks the settings of FCM: <code>volley doctor shop</code>")
                && !page.contains("volley resume"))
    }

    @Test(
        "the page tells of each service where it is, how to let it through a firewall, and where its reasons are explained"
    )
    func folds() throws {
        let folder = try TemporaryFolder()
        let page = ReportPage(try Report(Self.partlyStopped(folder)), madeBy: "Volley", madeAt: start).html.markup
        for service in [APNs(), FCM()] as [any PushService] {
            let fold = try #require(
                page.components(between: "<summary>More about \(service.displayName)", and: "</details>").first)
            for words in [
                service.owner.networks, service.owner.ports, TextFormat.capitalized(service.owner.reasonsPage),
            ] {
                #expect(fold.contains(HTML.escaped(words)), "\(words)")
            }
        }
        #expect(
            page.contains(
                "this sends what is left through FCM. Devices that got the push do not get it twice: <code>volley resume"
            ))
    }

    @Test("the chain of a retry adds up for each service, in text, JSON and page")
    func chain() throws {
        let folder = try TemporaryFolder()
        let run = try Self.finished(folder)
        let settings = try run.plan.settings.get()
        let writer = try RunWriter(
            folder: folder.path, id: "20261202-090000-spring-sale-0002", sorter: SegmentSorter(services: 2))
        try writer.put(Recipient(token: Target(normalized: Self.fcmToken(70))), at: 0, service: 1)
        try writer.drop(BitSet(), of: 1)
        let retry = try writer.finish(
            RunPlan(
                id: "20261202-090000-spring-sale-0002", campaign: "spring-sale", app: "shop",
                campaignFile: "spring.yaml",
                campaignSource: "",
                projectFile: "volley.yaml", seed: RunSeed(high: 1, low: 3), fields: [],
                plannedAt: start.adding(seconds: 99), planHash: "",
                rows: 1, audience: 1, skipped: [:], settings: .success(settings), preview: .null, retryOf: run.plan.id,
                serviceSegments: writer.segments))
        try retry.append(.state(.running, at: start))
        try retry.append(.claimed(0..<1, at: start))
        try retry.append(.settled([[Self.settled(0, .accepted, 200)]]))
        try retry.append(.state(.finished, at: start))
        let report = try Report(retry, chain: RunChain(of: retry))
        let text = report.text(width: 4000, colour: false)
        #expect(text.contains("87 accepted of 100 (APNs 57 of 60, FCM 30 of 40)"), "\(text)")
        #expect(text.contains("88 accepted of 100 (APNs 57 of 60, FCM 31 of 40)"), "\(text)")
        let json = figures(of: report.json)
        #expect(
            json["chain/\(retry.plan.id)/services/fcm/accepted"] == 1
                && json["chain/\(run.plan.id)/services/apns/audience"] == 60)
        let page = ReportPage(report, madeBy: "Volley", madeAt: start).html.markup
        #expect(page.contains("88.0 %: 57 of 60 through APNs and 31 of 40 through FCM."))
        for figure in figures(ofPage: page) { #expect(figure.value == json[figure.path], "\(figure.path)") }
    }

    @Test("the texts of a campaign stand below the services that take them")
    func texts() throws {
        let folder = try TemporaryFolder()
        func message(_ service: String, _ title: String, _ recipients: Int64) -> JSONValue {
            .object(pairs: [
                ("service", .string(service)), ("variant", .string("")), ("language", .string("")),
                ("recipients", .integer(recipients)),
                ("title", .string(title)), ("body", .string("Body")),
            ])
        }
        let run = try Self.run(
            folder,
            preview: .object(pairs: [
                ("messages", .array([message("apns", "For Apple", 60), message("fcm", "For others", 40)]))
            ]))
        let page = ReportPage(try Report(run), madeBy: "Volley", madeAt: start).html.markup
        let texts = try #require(
            page.components(between: "All 2 texts, by service, language and variant", and: "</section>").first)
        let places = try ["<h3>APNs</h3>", "For Apple", "<h3>FCM</h3>", "For others"].map {
            try #require(texts.firstRange(of: $0)).lowerBound
        }
        #expect(places == places.sorted())
        #expect(page.contains("What most devices read: APNs"))
    }

    @Test("a run of both is compared with one of APNs alone, service by service")
    func comparisonWithOne() throws {
        let folder = try TemporaryFolder()
        let first = try makeRun(
            folder, id: "20261101-090000-spring-sale-0001", plannedAt: start.adding(seconds: -9000), recipients(300))
        try first.append(.state(.running, at: start))
        try first.append(.claimed(0..<300, at: start))
        try first.append(
            .settled([
                (0..<300).map {
                    $0 < 30 ? Self.settled($0, .invalidToken, 410, "Unregistered") : Self.settled($0, .accepted, 200)
                }
            ]))
        try first.append(.state(.finished, at: start.adding(seconds: 60)))
        let comparison = try ReportComparison(before: Report(first), after: Report(Self.finished(folder)))
        let changes = figures(of: try #require(comparison.json["differences"]))
        #expect(
            changes["services/apns/outcomes/accepted/before"] == 270
                && changes["services/apns/outcomes/accepted/after"] == 57)
        #expect(changes["services/fcm/audience/before"] == nil && changes["services/fcm/audience/after"] == 40)
        #expect(comparison.sentences.contains("APNs accepted 95.0 %, instead of 90.0 %."))
        #expect(comparison.sentences.contains("Only the second went through FCM: 75.0 % were accepted."))
    }
}
