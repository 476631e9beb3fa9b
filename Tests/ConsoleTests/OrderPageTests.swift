import Accounts
import Automation
import Base
import Foundation
import GRDB
import Planning
import Runs
import TestCommands
import Testing
import Workspace

@testable import volley_console

/// A console whose users have accounts and place orders. No sender is at work, so orders stay as
/// they were placed.
@Suite("ordering on pages")
struct OrderPageTests {
    private static let id = "20261201-090000-spring-sale-7f3a"

    /// A folder with accounts: edith writes, ben approves, anna administers, eva writes and
    /// approves, vera looks.
    final class Office: Sendable {
        let folder: TestFolder
        let site: Site

        init() throws {
            folder = try TestFolder(
                project: """
                    apps:
                      shop: {topic: com.example.shop, environment: simulator, approval: required, test_devices: ["\(TestFolder.token(1))"]}
                      news: {topic: com.example.news, environment: simulator}

                    """)
            try folder.write("devices.csv", "token\n\(TestFolder.token(1))\n")
            try folder.write(
                "spring-sale.yaml",
                "name: spring-sale\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Hi}\n"
            )
            site = try folder.siteWithAccounts()
        }

        /// A session of a person with these roles.
        func session(_ name: String, _ roles: [Role], app: String? = nil) throws -> String {
            let grants = Set(roles.map { RoleGrant($0, app.map { .app($0) } ?? .allApps) })
            let link = try site.accounts.invite(AccountName(name), DisplayName(name), grants, by: .terminal, at: .now())
            let authenticator = Authenticator(site.accounts)
            _ = try authenticator.accept(
                link.token, password: "wooden spoon under seven lanterns", from: nil, at: .now())
            let attempt = SignInAttempt(
                name: name, password: "wooden spoon under seven lanterns", source: SignInSource(address: nil), agent: ""
            )
            guard case .signedIn(let token) = try authenticator.signIn(attempt, at: .now()) else {
                throw Diagnostic("\(name) cannot sign in")
            }
            return token.text
        }

        /// The orders so far, in sequence: `send by ben`.
        func ordered() throws -> [String] {
            try OrderRecords(folder: folder.runs).read().orders.reversed().map {
                "\($0.order.kind.name) by \($0.order.by)"
            }
        }
    }

    /// The values of the hidden fields of the form with this action.
    private static func fields(_ page: String, action: String) -> [(String, String)]? {
        guard let start = page.range(of: "action=\"\(action)\""),
            let end = page[start.upperBound...].range(of: "</form>")
        else {
            return nil
        }
        let form = page[start.upperBound..<end.lowerBound]
        return form.matches(of: #/<input type="hidden" name="([a-z]+)" value="([^"]*)">/#).map {
            (String($0.1), String($0.2))
        }
        .filter { $0.0 != "token" }
    }

    @Test("a damaged order is named on its run's page, and the run can be paused and cancelled all the same")
    func damagedOrder() async throws {
        let office = try Office()
        let run = try office.folder.run(Self.id, app: "news", .paused)
        defer { run.close() }
        let ben = try office.session("ben", [.approver])
        let store = try OrderStore(folder: office.folder.runs)
        for nonce in ["1", "2"] {
            _ = try store.place(Order(nonce: nonce, kind: .resume(run: Self.id), by: "ben", at: .now()))
        }
        store.close()
        try await DatabaseQueue(path: office.folder.runs + "/orders.sqlite").write {
            try $0.execute(sql: "UPDATE placed SET kind = 'x' WHERE number = 1")
        }
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", "/runs/\(Self.id)", session: ben)
            #expect(
                page.status == 200 && page.body.contains("Order 1 is damaged")
                    && page.body.contains("/runs/\(Self.id)/cancel"))
            #expect(!page.body.contains("sqlite3"))
            #expect(try server.request("GET", "/runs/\(Self.id)/live.json", session: ben).status == 200)
        }
    }

    @Test("a campaign of an app without test devices says so to those who may send tests, instead of offering one")
    func noTestDevices() async throws {
        let office = try Office()
        let ben = try office.session("ben", [.approver]), vera = try office.session("vera", [.viewer])
        try office.folder.write(
            "daily.yaml",
            "name: daily\napp: news\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Hi}\n")
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", "/campaign?file=daily.yaml", session: ben).body
            #expect(
                page.contains("news has no test devices. Ask the people who run Volley to add your phone:")
                    && !page.contains("test_devices") && !page.contains("/campaign/test"))
            #expect(
                try !server.request("GET", "/campaign?file=daily.yaml", session: vera).body.contains("test devices"))
            #expect(
                try server.request("GET", "/campaign?file=spring-sale.yaml", session: ben).body.contains(
                    "/campaign/test"))
            let project = try String(contentsOfFile: "\(office.folder.path)/volley.yaml", encoding: .utf8)
            try office.folder.write(
                "volley.yaml", project.replacing("test_devices: [", with: "test_devices: [{name: Anna, alias: anna}, "))
            #expect(
                try server.request("GET", "/campaign?file=spring-sale.yaml", session: ben).body.contains(
                    "the test devices of its app, 1 device and the devices of 1 person."))
        }
    }

    @Test("a test goes to the chosen people with the chosen texts, and its page shows what each of them got")
    func chosenTest() async throws {
        let office = try Office()
        let devices = ["Anna", "Ben"].enumerated().map {
            "{name: \($0.element), token: \"\(TestFolder.token($0.offset + 1))\"}"
        }
        try office.folder.write(
            "volley.yaml",
            "apps:\n  shop: {topic: com.example.shop, environment: simulator, approval: required, test_devices: [\(devices.joined(separator: ", "))]}\n"
        )
        let texts = "content: {title: Hi, languages: {de: {title: Hallo}, fr: {title: Salut}}}\n"
        try office.folder.write(
            "spring-sale.yaml",
            "name: spring-sale\napp: shop\naudience: {devices: devices.csv, everyone: true}\n\(texts)")
        let ben = try office.session("ben", [.approver])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", "/campaign?file=spring-sale.yaml", session: ben).body
            #expect(page.contains("This campaign goes now to the test devices of its app, 2 devices, in 3 texts."))
            #expect(page.contains("name=\"device.Anna\" value=\"1\" checked") && page.contains("German (de)"))
            let fields = try #require(Self.fields(page, action: "/campaign/test?file=spring-sale.yaml"))
            let none = try server.form(
                "/campaign/test?file=spring-sale.yaml", session: ben, fields + [("device.Anna", "1")])
            #expect(none.status == 422 && none.body.contains("choose at least one device and one text"))
            let chosen = [("device.Ben", "1"), ("language.", "1"), ("language.de", "1")]
            #expect(
                try server.form("/campaign/test?file=spring-sale.yaml", session: ben, fields + chosen).status == 303)
            let order = try #require(OrderRecords(folder: office.folder.runs).read().orders.first?.order)
            guard case .test(_, _, let text) = order.kind else {
                Issue.record("\(order.kind)")
                return
            }
            let choice = try TestChoice(text)
            #expect(choice.devices == ["Ben"] && choice.variants == nil && choice.languages == ["", "de"])
            var file = CampaignFile("\(office.folder.path)/spring-sale.yaml", in: ProjectChoice())
            file.isConfined = true
            let options = PlanOptions(observer: Observer { _ in }, cancellation: try Cancellation())
            let run = try planTest(file, choosing: choice, options, at: .now())
            let id = run.plan.id
            #expect(run.plan.audience == 2)
            run.close()
            let shown = try server.request("GET", "/runs/\(id)", session: ben).body
            #expect(
                shown.contains("2 pushes to 1 device.") && shown.contains("<b dir=\"auto\">Ben</b>")
                    && shown.contains("Hallo")
                    && shown.contains(">Hi<"))
            #expect(!shown.contains("Salut") && !shown.contains(TestFolder.token(2)))
            var unknown = TestChoice()
            unknown.devices = ["Anna", "Eve"]
            let refused = #expect(throws: Diagnostic.self) {
                try planTest(file, choosing: unknown, options, at: .now())
            }
            #expect(refused?.message.contains("no test device 'Eve'") == true)
        }
    }

    @Test("what a test sent is shown as its service shows it, whatever services the names of devices and texts name")
    func testOfAnotherService() async throws {
        let office = try Office()
        let push = JSONValue.object(pairs: [
            ("device", .string("iPad without APNs")), ("token", .string("1507…1234")), ("text", .string("APNs or not")),
            ("service", .string("jpush")),
            (
                "payload",
                .object(pairs: [
                    ("notification", .object(pairs: [("ios", .object(pairs: [("alert", .string("Ni hao"))]))]))
                ])
            ),
        ])
        try office.folder.run(Self.id, preview: .object(pairs: [("pushes", .array([push]))]), isTest: true)
        let ben = try office.session("ben", [.approver])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", "/runs/\(Self.id)", session: ben).body
            #expect(
                page.contains("1 push to 1 device.") && page.contains("iPad without APNs") && page.contains(">Ni hao<"))
        }
    }

    @Test(
        "a plan is approved and sent by those who may, each with what the page showed; a second click is the same order"
    )
    func approveAndSend() async throws {
        let office = try Office()
        try office.folder.run(Self.id, .planned)
        let (ben, edith, vera) = (
            try office.session("ben", [.approver], app: "shop"), try office.session("edith", [.editor]),
            try office.session("vera", [.viewer])
        )
        try await TestServer.with(office.site) { server throws in
            let path = "/runs/\(Self.id)"
            for session in [edith, vera] {
                let page = try server.request("GET", path, session: session).body
                #expect(page.contains("waits for the approval of a person"))
                #expect(
                    Self.fields(page, action: "\(path)/approve") == nil
                        && Self.fields(page, action: "\(path)/send") == nil)
            }
            let page = try server.request("GET", path, session: ben).body
            let fields = try #require(Self.fields(page, action: "\(path)/approve"))
            #expect(Self.fields(page, action: "\(path)/send") == nil, "not before it is approved")
            // One changed byte.
            let changed = fields.map { ($0.0, $0.0 == "digest" ? String($0.1.reversed()) : $0.1) }
            #expect(try server.form("\(path)/approve", session: ben, changed).status == 409)
            #expect(try server.form("\(path)/approve", session: edith, fields).status == 403)
            #expect(try office.ordered().isEmpty)
            for _ in 0..<2 {
                let reply = try server.form("\(path)/approve", session: ben, fields)
                #expect(reply.status == 303 && reply["location"] == "\(path)#orders")
            }
            #expect(try office.ordered() == ["approve by ben"])
            #expect(try server.request("GET", path, session: ben).body.contains("Waiting for the sender."))
            // Before the sender has recorded it, nothing can be sent.
            let send = [
                ("nonce", Secrets.make()), ("digest", fields.first { $0.0 == "digest" }?.1 ?? ""), ("count", "5"),
            ]
            #expect(try server.form("\(path)/send", session: ben, send).status == 409)
            let run = try RunsFolder(office.folder.runs).open(Self.id, readOnly: false)
            try run.approve(RunApproval(name: "ben", approvedAt: .now()))
            try run.closeIntoOneFile()
            usleepHalfASecond()
            let approved = try server.request("GET", path, session: ben).body
            var form = try #require(Self.fields(approved, action: "\(path)/send"))
            let wrong = try server.form("\(path)/send", session: ben, form + [("count", "50")])
            #expect(wrong.status == 422 && wrong.body.contains("That is not the number of devices, which is 5."))
            #expect(try office.ordered() == ["approve by ben"])
            form.append(("count", "5"))
            #expect(try server.form("\(path)/send", session: ben, form).status == 303)
            #expect(try office.ordered() == ["approve by ben", "send by ben"])
            #expect(
                try office.site.accounts.activities(ActivityFilter(kind: .sent)).activities.map(\.subject) == [Self.id])
        }
    }

    /// What a plan keeps of a preview with one text, and with warnings of these names.
    private static func preview(to audience: String, body: String, warnings: [String] = []) throws -> JSONValue {
        let list = warnings.enumerated().map {
            "{\"name\": \"\($1)\", \"message\": \"doubt \($0)\", \"remedy\": \"Look.\"}"
        }.joined(
            separator: ",")
        return try JSONValue(
            parsing: """
                {"rows": 9, "selected_by": {"tag:vip": 5}, "skipped": {"not_matched": 4}, "seconds_at_pace": 60, "warnings": [\(list)],
                 "in_words": {"audience": "\(audience)", "expires": "4 hours after it goes out"},
                 "messages": [{"variant": "", "language": "", "recipients": 5, "title": "Sale", "body": "\(body)"}]}
                """)
    }

    @Test(
        "an approver finds the devices and the text, then the buttons, then doubts, each kind once, and what differs from the last run in words with both texts"
    )
    func planPage() async throws {
        let office = try Office(), earlier = "20261130-090000-spring-sale-1111"
        let doubts = Array(repeating: "bad-cell", count: 30) + ["sent-recently"]
        try office.folder.run(
            earlier, preview: Self.preview(to: "Devices with the tag gold", body: "10 % off"),
            plannedAt: TestFolder.start.adding(seconds: -86_400)
        ).close()
        try office.folder.run(
            Self.id, .planned, preview: Self.preview(to: "Devices with the tag vip", body: "20 % off", warnings: doubts)
        )
        .close()
        let ben = try office.session("ben", [.approver])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", "/runs/\(Self.id)", session: ben).body
            func place(_ text: String) throws -> String.Index {
                try #require(page.range(of: text), "\(text)").lowerBound
            }
            let order = try [
                "<b>5 devices</b>", "20 % off", "When this was planned, <time", "Doubt 30", "/approve\"", "/reject\"",
                "aria-label=\"Warnings\"",
                "How the devices were counted", "Since it was sent last",
            ].map(place)
            #expect(order == order.sorted())
            // The newest push to the same devices is the first doubt, and thirty of one kind are
            // three and a number.
            #expect(
                try place("Doubt 30") < place("Doubt 0") && !page.contains("Doubt 3.")
                    && page.contains("and 27 more</li>") && page.contains("doubt 9. Look. [bad-cell]"))
            #expect(
                page.contains(
                    "Doubt 0. Look.<details><summary>29 more of this kind</summary><ul><li dir=\"auto\">Doubt 1."))
            #expect(page.contains("Devices with the tag gold") && page.contains("Devices with the tag vip"))
            #expect(
                try place("10 % off") < place("20 % off</span></li>") && page.contains("tag:vip")
                    && page.contains("44.4 %"))
            #expect(page.contains("1 min 0 s at its pace"), "whole seconds are written without a fraction")
            // On a phone, the same two stay in sight.
            #expect(
                page.contains("form=\"order-approve\"") && page.contains("id=\"order-approve\"")
                    && page.contains("href=\"#order-reject\""))
        }
    }

    @Test("a rejection needs a reason")
    func rejection() async throws {
        let office = try Office()
        try office.folder.run(Self.id, .planned).close()
        let ben = try office.session("ben", [.approver])
        try await TestServer.with(office.site) { server throws in
            let path = "/runs/\(Self.id)"
            let fields = try #require(
                Self.fields(server.request("GET", path, session: ben).body, action: "\(path)/reject"))
            let refused = try server.form("\(path)/reject", session: ben, fields + [("reason", "  ")])
            #expect(refused.status == 422 && refused.body.contains("Say why"))
            #expect(try office.ordered().isEmpty)
            #expect(try server.form("\(path)/reject", session: ben, fields + [("reason", "Wrong price")]).status == 303)
            #expect(try office.ordered() == ["reject by ben"])
        }
    }

    @Test("the approval of a plan whose time is longer ago than its campaign allows says that nothing is sent")
    func overdue() throws {
        let office = try Office()
        var schedule = FrozenSchedule(Schedule(zone: .named(.utc)), nil)
        (schedule.occurrence, schedule.late) = (LocalTime("2026-12-01 09:00"), .skip(afterSeconds: 7200))
        let run = try RunSummary(
            office.folder.run(Self.id, .planned, schedule: schedule), figures: nil,
            known: HistorySnapshot(of: office.site.catalog))
        func words(after seconds: Double) -> String {
            RunAction.approve.meaning(for: run, at: TestFolder.start.adding(seconds: seconds)).markup
        }
        #expect(words(after: 7200).hasPrefix("The plan is sent then"))
        #expect(
            words(after: 7201).contains("nothing is sent, even if you approve it")
                && words(after: 7201).contains("write a later time"))
    }

    @Test(
        "a campaign whose only time was sent says that no time is left, and what to do; one whose time is to come does not"
    )
    func noTimeLeft() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor], app: "shop")
        @Sendable func write(_ at: String) throws {
            try office.folder.write(
                "once.yaml",
                "name: once\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Hi}\nschedule: {timezone: UTC, at: \"\(at)\"}\n"
            )
        }
        let store = try ScheduleStore(folder: office.folder.runs)
        defer { store.close() }
        let begins = try #require(Timestamp("2020-01-05T09:00:00Z"))
        try store.save(
            [
                ScheduledRun(
                    key: .init(campaign: "once", occurrence: "2020-01-05T09:00"),
                    file: "\(office.folder.path)/once.yaml", run: nil,
                    state: .finished, begins: begins, ends: begins, changedAt: begins)
            ], [])
        try write("2020-01-05 09:00")
        try await TestServer.with(office.site) { server throws in
            let over = try server.request("GET", "/campaign?file=once.yaml", session: edith).body
            #expect(over.contains("No time of this campaign is left") && over.contains("write a later time"), "\(over)")
            #expect(!over.contains("This campaign has times"))
            try write("2099-01-01 09:00")
            let coming = try server.request("GET", "/campaign?file=once.yaml", session: edith).body
            #expect(
                coming.contains("This campaign has times") && !coming.contains("No time of this campaign is left"),
                "\(coming)")
        }
    }

    @Test("the button that sends says how many devices wait for their time or their quiet hours, and until when")
    func sendingLater() throws {
        let office = try Office()
        var run = try RunSummary(
            office.folder.run(Self.id, .planned), figures: nil, known: HistorySnapshot(of: office.site.catalog))
        // 2026-12-01, 9:00 in UTC: 18:00 in Tokyo, 4:00 in New York.
        let now = try #require(Timestamp("2026-12-01T09:00:00Z"))
        func words() -> String { RunAction.send.meaning(for: run, at: now).markup }
        #expect(words() == "5 devices get a push, as soon as the sender begins.")
        run.waves = [
            RunWave(ids: 0..<2, zone: "Asia/Tokyo", due: now), RunWave(ids: 2..<5, zone: "America/New_York", due: now),
        ]
        #expect(words() == "5 devices get a push, as soon as the sender begins.")
        run.quietHours = try QuietHours("22:00-08:00")
        #expect(words().contains("5 devices get a push: 2 as soon as the sender begins, and 3 later"), "\(words())")
        #expect(words().contains("Tuesday, 1 December 2026, 13:00 UTC"), "\(words())")
        run.quietHours = nil
        run.waves[1].due = now.adding(seconds: 3600)
        #expect(
            words().contains("2 as soon as") && words().contains("Tuesday, 1 December 2026, 10:00 UTC"), "\(words())")
    }

    @Test("what continues or retries a run says which devices are sent to again, and how many frequency left out")
    func numbersOfOrders() throws {
        let office = try Office()
        func words(_ action: RunAction, _ id: String, _ outcome: Outcome, _ reasons: [OwnReason]) throws -> String {
            let run = try office.folder.run(id, .running, claimed: 5)
            defer { run.close() }
            let settled = reasons.enumerated().map {
                Settlement(recipient: 3 + $0.offset, outcome: outcome, own: $0.element, settledAt: TestFolder.start)
            }
            try run.append(.settled([settled]))
            try run.append(.state(.stopped, cause: .interrupted, at: TestFolder.start.adding(seconds: 60)))
            let summary = try RunSummary(run, figures: run.figures(), known: HistorySnapshot(of: office.site.catalog))
            return action.meaning(for: summary, at: TestFolder.start).markup
        }
        let resumed = try words(.resume, "20261201-090000-a-7f3a", .unknown, [.noAnswer, .refusedAgain])
        #expect(resumed.contains("sent again to the 1 device without an answer"), "\(resumed)")
        let retried = try words(.retryUnsent, "20261201-090000-b-7f3a", .unsent, [.frequencyCap, .expired])
        #expect(retried.contains("to the 2 devices to which this one never sent"), "\(retried)")
        #expect(retried.hasSuffix("The number includes 1 device that frequency left out."), "\(retried)")
        let other = try words(.retryUnsent, "20261201-090000-c-7f3a", .unsent, [.expired, .expired])
        #expect(!other.contains("frequency"), "\(other)")
    }

    @Test("while a service takes no push, the run says which, since when, and how many devices wait")
    func silentService() throws {
        let office = try Office(), run = try office.folder.run(Self.id, .running)
        defer { run.close() }
        var summary = try RunSummary(run, figures: run.figures(), known: HistorySnapshot(of: office.site.catalog))
        let now = TestFolder.start.adding(seconds: 600)
        func words(_ seconds: Double) -> String { RunPage.silence(of: summary, seconds: seconds, at: now).markup }
        #expect(words(2).isEmpty)
        #expect(words(300).contains("APNs has taken no push since \(Words.moment(now.adding(seconds: -300)).markup)"))
        #expect(words(300).contains(": 2 devices wait. The sender keeps trying."), "\(words(300))")
        summary.services.append("FCM")
        #expect(words(300).contains("The services have taken no push"))
    }

    @Test("a run that is paused or cancelled on one machine only says so, and its button tells the others")
    func onlyHere() throws {
        let office = try Office()
        var run = try RunSummary(
            office.folder.run(Self.id, .stopped), figures: nil, known: HistorySnapshot(of: office.site.catalog))
        for (order, action) in [(RunOrder.pause, RunAction.pause), (.cancel, .cancel)] {
            run.state = order.state
            #expect(!RunAction.pause.isOffered(for: run, needsApproval: false))
            run.orderToPassOn = order
            #expect(action.isOffered(for: run, needsApproval: false))
            #expect(
                action.meaning(for: run, at: TestFolder.start).markup.contains(
                    "Other machines that may be sending it are told as well"))
            #expect(Words.chips(of: run).markup.contains("not yet for other machines"))
            run.orderToPassOn = nil
        }
    }

    @Test("the page of a plan that was cancelled does not say that it is still to begin")
    func cancelledPlan() async throws {
        let office = try Office()
        let ben = try office.session("ben", [.approver])
        try office.folder.run(Self.id, .cancelled, cause: .cancelled, claimed: 0)
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", "/runs/\(Self.id)", session: ben).body
            #expect(
                page.contains("Cancelled before it began. It was planned for 5 devices.")
                    && !page.contains("Not begun"), "\(page)")
        }
    }

    @Test(
        "what no command does for a run that was put back from a backup is not offered, and the run says that it is held"
    )
    func putBack() async throws {
        let office = try Office()
        let ben = try office.session("ben", [.approver])
        let states: [RunState] = [.planned, .stopped, .cancelled, .finished]
        for state in states {
            try office.folder.run("20261201-090000-\(state.rawValue)-7f3a", campaign: state.rawValue, state)
        }
        let digest = try office.site.catalog.open("20261201-090000-planned-7f3a").planDigest
        func offered() throws -> [String: [RunAction]] {
            let runs = try RunArchive(office.site.catalog, timeToLive: .zero).listing().runs.map { run in
                var run = run
                if run.state != .planned { run.outcomes?[.failed] = 1 }
                return (
                    run.campaign,
                    RunAction.allCases.filter { $0.isOffered(for: run, needsApproval: run.state == .planned) }
                )
            }
            return Dictionary(uniqueKeysWithValues: runs)
        }
        let before: [String: [RunAction]] = [
            "planned": [.approve, .reject, .withdraw], "stopped": [.resume, .cancel, .retry],
            "cancelled": [.retry, .retryUnsent],
            "finished": [.retry, .retryUnsent],
        ]
        #expect(try offered() == before)
        let origin = RestoredRuns.Origin(
            backupAt: TestFolder.start, restoredAt: .now(), sending: [], nothingSentSince: false)
        #expect(try RestoredRuns(in: office.folder.runs, origin).held.count == 3)
        #expect(try offered() == ["planned": [.reject, .withdraw], "stopped": [], "cancelled": [], "finished": []])
        try await TestServer.with(office.site) { server throws in
            for state in states {
                let page = try server.request("GET", "/runs/20261201-090000-\(state.rawValue)-7f3a", session: ben).body
                #expect(
                    page.contains(">held</span>") == (state != .finished) && page.contains("From a backup of"),
                    "\(page)")
                #expect(!page.contains("/approve\"") && !page.contains("waits for the approval"), "\(page)")
            }
            let form = [("nonce", Secrets.make()), ("digest", digest)]
            let reply = try server.form("/runs/20261201-090000-planned-7f3a/approve", session: ben, form)
            #expect(reply.status == 409 && reply.body.contains("this run was put back from a backup"), "\(reply.body)")
            #expect(try office.ordered().isEmpty)
            let today = try server.request("GET", "/", session: ben).body
            #expect(today.contains("Nothing waits."))
            #expect(today.contains("It is held, because it was put back from a backup."), "\(today)")
        }
    }

    @Test(
        "the writers of a campaign are those of its copies: of a copy of a copy, a changed one, and one that is said to be none"
    )
    func copiesHaveWriters() async throws {
        let office = try Office()
        let (edith, boss) = (
            try office.session("edith", [.editor], app: "shop"),
            try office.session("boss", [.editor, .approver], app: "shop")
        )
        try await TestServer.with(office.site) { server throws in
            func writers(_ file: String) throws -> Set<String> {
                try office.site.accounts.writers(
                    ofText: ShownFile.digest(
                        of: Array(String(contentsOfFile: "\(office.folder.path)/\(file)", encoding: .utf8).utf8)),
                    in: file, after: [])
            }
            func make(_ text: String, _ session: String, from file: String? = nil) throws {
                let path = "/campaigns/new" + (file.map { "?file=\($0)" } ?? "")
                #expect(try server.form(path, session: session, [("text", text)]).status == 303)
            }
            let text =
                "name: laun\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: By the boss}\n"
            try make(text, boss)
            // By the form, and as a source.
            #expect(
                try server.form("/campaigns/new", session: edith, [("file", "laun.yaml"), ("name", "by-form")]).status
                    == 303)
            #expect(try writers("by-form.yaml") == ["boss", "edith"])
            // From a run: its frozen text has a writer, although the file was changed since.
            try office.folder.run("20261201-080000-laun-7f3a", campaign: "laun", source: text)
            let base = ShownFile.digest(of: Array(text.utf8))
            let changed = [("text", text.replacing("By the boss", with: "Anew")), ("digest", base)]
            #expect(try server.form("/campaign/save?file=laun.yaml", session: edith, changed).status == 303)
            let page = try server.request("GET", "/campaigns/new?run=20261201-080000-laun-7f3a", session: edith).body
            #expect(
                page.contains("Start from laun") && page.contains("value=\"laun-again\"") && !page.contains("<textarea")
            )
            let again = try server.form(
                "/campaigns/new", session: edith, [("run", "20261201-080000-laun-7f3a"), ("name", "laun-again")])
            #expect(again["location"] == "/campaign/form?file=laun-again.yaml")
            #expect(
                try String(contentsOfFile: "\(office.folder.path)/laun-again.yaml", encoding: .utf8)
                    == text.replacing("name: laun", with: "name: laun-again"))
            #expect(try writers("laun-again.yaml").contains("boss"))
            try make("# mine\n" + text.replacing("name: laun", with: "name: laun-copy") + "\n", edith)
            #expect(try writers("laun-copy.yaml") == ["boss", "edith"])
            try make(
                text.replacing("laun", with: "third").replacing("By the", with: "Of the"), edith, from: "laun-copy.yaml"
            )
            #expect(try writers("third.yaml") == ["boss", "edith"])
            try make(text.replacing("laun", with: "own").replacing("By the boss", with: "My own"), edith)
            #expect(try writers("own.yaml") == ["edith"])
        }
    }

    @Test("whoever wrote a campaign or asked for its approval is told so instead of being asked to approve")
    func fourEyes() async throws {
        let office = try Office()
        let run = try office.folder.run(Self.id, .planned)
        let eva = try office.session("eva", [.editor, .approver])
        let person = try #require(try office.site.accounts.account(named: AccountName("eva")))
        // The plans of these tests have no source.
        try office.site.accounts.keep(
            version: "", of: "x.yaml", app: "shop", by: Actor(person.id, address: nil), at: .now())
        let digest = run.planDigest
        try await TestServer.with(office.site) { server throws in
            let path = "/runs/\(Self.id)"
            let page = try server.request("GET", path, session: eva).body
            #expect(
                page.contains("You wrote this campaign, so another person must approve it")
                    && page.contains("Written by"))
            #expect(Self.fields(page, action: "\(path)/approve") == nil)
            let reply = try server.form(
                "\(path)/approve", session: eva, [("nonce", Secrets.make()), ("digest", digest)])
            #expect(reply.status == 403 && reply.body.contains("another person must approve it"))
            #expect(try office.ordered().isEmpty)
        }
    }

    @Test("a campaign is planned and tested as the page shows it; whoever ordered it sees what becomes of it")
    func plan() async throws {
        let office = try Office()
        let (edith, vera, other) = (
            try office.session("edith", [.editor], app: "shop"), try office.session("vera", [.viewer]),
            try office.session("other", [.administrator], app: "news")
        )
        try await TestServer.with(office.site) { server throws in
            let path = "/campaign?file=spring-sale.yaml"
            #expect(try !server.request("GET", path, session: vera).body.contains("Plan and ask for approval"))
            let page = try server.request("GET", path, session: edith).body
            let fields = try #require(Self.fields(page, action: "/campaign/plan?file=spring-sale.yaml"))
            let test = try #require(Self.fields(page, action: "/campaign/test?file=spring-sale.yaml"))
            #expect(page.contains("the test devices of its app, 1 device"))
            for session in [vera, other] {
                #expect(try server.form("/campaign/plan?file=spring-sale.yaml", session: session, fields).status == 403)
            }
            let reply = try server.form("/campaign/plan?file=spring-sale.yaml", session: edith, fields)
            let order = try #require(reply["location"])
            #expect(reply.status == 303 && order.hasPrefix("/orders/"))
            let waiting = try server.request("GET", order, session: edith)
            #expect(
                waiting.status == 200 && waiting.body.contains("A plan of spring-sale.yaml")
                    && waiting.body.contains("data-live"))
            #expect(try server.request("GET", order, session: vera).status == 404, "somebody else's")
            #expect(try server.request("GET", order + "/live.json", session: edith).body.contains("\"is_live\":true"))
            // Another person saves the file while the page is open.
            try office.folder.write(
                "spring-sale.yaml",
                "name: spring-sale\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Ho}\n"
            )
            #expect(try server.form("/campaign/test?file=spring-sale.yaml", session: edith, test).status == 409)
            #expect(try office.ordered() == ["plan by edith"])
            // After a sender has carried it out, the page links to the result.
            let store = try OrderStore(folder: office.folder.runs)
            defer { store.close() }
            let nonce = String(order.dropFirst("/orders/".count))
            #expect(try store.take(nonce, epoch: "life", at: .now()))
            #expect(try store.end(nonce, as: .done(OrderResult(run: Self.id)), epoch: "life", at: .now()))
            #expect(try server.request("GET", order, session: edith)["location"] == "/runs/\(Self.id)")
            let placed = try OrderRecords(folder: office.folder.runs).read(atMost: 1).orders.first
            #expect(placed?.order.kind.subject == .file("\(office.folder.path)/spring-sale.yaml"))
        }
    }

    @Test(
        "a run that is being sent can be paused and cancelled, one that stopped resumed or cancelled, and nothing else",
        arguments: RunState.allCases)
    func offers(state: RunState) async throws {
        let office = try Office()
        let run = try office.folder.run(Self.id, app: "news", state, cause: state == .stopped ? .interrupted : nil)
        defer { run.close() }
        let anna = try office.session("anna", [.administrator])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", "/runs/\(Self.id)", session: anna).body
            let offered = RunAction.allCases.filter { page.contains("action=\"/runs/\(Self.id)/\($0.rawValue)\"") }
            let expected: [RunAction] =
                switch state {
                case .planned: [.send, .cancel]
                case .running: [.pause, .cancel]
                case .paused: [.resume, .cancel]
                case .stopped: [.resume, .cancel]
                // Two of its devices were never sent to.
                case .finished, .cancelled: [.retryUnsent]
                }
            #expect(offered == expected)
            // To withdraw a plan is to cancel it, for people that may only plan.
            for action in RunAction.allCases
            where !expected.contains(action) && !(state == .planned && action == .withdraw) {
                let reply = try server.form(
                    "/runs/\(Self.id)/\(action.rawValue)", session: anna, [("nonce", Secrets.make())])
                #expect(reply.status == 409, "\(action)")
            }
            #expect(try office.ordered().isEmpty)
        }
    }

    @Test("what a cancelled run never sent goes out from its page, to each device once; the page leads to the new run")
    func retriesUnsent() async throws {
        let office = try Office(), folder = office.folder, url = URL(fileURLWithPath: office.folder.path)
        // It must be cancelled before the last, also on a busy machine.
        let devices = 40
        try folder.write("devices.csv", "token\n" + (0..<devices).map { TestFolder.token($0) + "\n" }.joined())
        try folder.write(
            "daily.yaml",
            "name: daily\napp: news\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Hi}\ndelivery: {pace: 2/s}\n"
        )
        let ben = try office.session("ben", [.approver])
        let first = try VolleyBinary.start(["send", "daily.yaml", "--yes"], in: url)
        defer { _ = first.finish(timeout: 0) }
        try Self.wait("the run did not begin") {
            let report = try VolleyBinary.run(["report", "last", "--format", "json"], in: url)
            return try report.status == 0 && (report.json()["outcomes"]?["accepted"]?.integerValue ?? 0) > 1
        }
        #expect(try VolleyBinary.run(["cancel", "last"], in: url).status == 0)
        _ = first.finish()
        let cancelled = try #require(office.site.archive.listing().runs.first)
        let unsent = cancelled.count(.unsent)
        #expect(cancelled.state == .cancelled && unsent > 0 && unsent < devices - 1)
        try await TestServer.with(office.site) { server throws in
            let path = "/runs/\(cancelled.id)"
            let page = try server.request("GET", path, session: ben).body
            let fields = try #require(Self.fields(page, action: "\(path)/retry-unsent"))
            #expect(page.contains("type the number of devices: \(unsent)<") && !page.contains("Retried by"))
            func order(_ count: Int) throws -> Int {
                try server.form("\(path)/retry-unsent", session: ben, fields + [(OrderForm.count, "\(count)")]).status
            }
            #expect(try order(devices) == 422 && office.ordered().isEmpty)
            #expect(try order(unsent) == 303 && office.ordered() == ["retry_unsent by ben"])
            let sender = try VolleyBinary.start(["schedule", "."], in: url)
            defer { _ = sender.finish(timeout: 0) }
            let orders = OrderRecords(folder: folder.runs)
            try Self.wait("the order did not end") { try orders.read().orders.first?.state.hasEnded ?? false }
            guard case .done(let result)? = try orders.read().orders.first?.state, let retry = result.run else {
                Issue.record("\(try orders.read().orders), \(sender.errorsSoFar)")
                return
            }
            #expect(result.end == .finished && retry != cancelled.id)
            usleepHalfASecond()
            let after = try server.request("GET", path, session: ben).body
            #expect(after.contains("Sent to its end. <a href=\"/runs/\(retry)\">The retry</a>"))
            #expect(after.contains("<dt>Retried by</dt>"))
            #expect(
                after.contains(
                    "<p>A retry took over \(TextFormat.devices(unsent)): <a href=\"/runs/\(retry)\">\(retry)</a> (finished).</p>"
                ))
            #expect(!after.contains("id=\"order-retry-unsent\""), "no device is left for another one")
            let report = try server.request("GET", "\(path)/report", session: ben).body
            #expect(report.contains("A retry has taken over") && !report.contains("“Retry unsent”"))
            #expect(try server.request("GET", "/runs/\(retry)", session: ben).body.contains("<dt>Retries</dt>"))
            var accepted: [Target] = []
            for id in [cancelled.id, retry] {
                let run = try office.site.catalog.open(id)
                defer { run.close() }
                try run.forEachResult { _, recipient, outcome, _ in
                    if outcome?.outcome == .accepted { accepted.append(recipient.token) }
                }
            }
            #expect(accepted.count == devices && Set(accepted).count == devices)
        }
    }

    /// Waits for at most a minute.
    private static func wait(_ what: Comment, until isSo: () throws -> Bool) throws {
        for _ in 0..<600 {
            if try isSo() { return }
            Thread.sleep(forTimeInterval: 0.1)
        }
        Issue.record(what)
    }

    @Test(
        "numbers are typed as people write them",
        arguments: ["1,234,567", "1.234.567", "1234567", "1 234 567", "1'234'567", "1\u{A0}234\u{202F}567"])
    func typed(text: String) {
        #expect(OrderForm.isTyped(text, 1_234_567))
        #expect(
            !OrderForm.isTyped(text + "8", 1_234_567) && !OrderForm.isTyped("", 0)
                && !OrderForm.isTyped("yes", 1_234_567))
    }

    @Test("a difference shows what was removed and added, with three lines around it")
    func difference() {
        let before = (1...20).map { "line \($0)" }.joined(separator: "\n")
        let lines = LineDiff.lines(from: before, to: before.replacing("line 10", with: "line ten"))
        #expect(
            lines == [
                .gap, .same("line 7"), .same("line 8"), .same("line 9"), .removed("line 10"), .added("line ten"),
                .same("line 11"),
                .same("line 12"), .same("line 13"), .gap,
            ])
        #expect(LineDiff.lines(from: before, to: before + "\n") == [])
        #expect(LineDiff.lines(from: "", to: "a") == [.added("a")])
        #expect(LineDiff.lines(from: "a\n", to: "") == [.removed("a")])
        #expect(LineDiff.html(from: "<b>", to: "\u{202E}").markup.contains("&lt;b&gt;"))
    }

    /// Listings stay valid for half a second.
    private func usleepHalfASecond() { Thread.sleep(forTimeInterval: 0.6) }
}
