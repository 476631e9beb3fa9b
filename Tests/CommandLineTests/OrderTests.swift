import Accounts
import Base
import Cryptography
import Foundation
import Runs
import TestCommands
import Testing

/// Orders that the console would place, done by the real `volley schedule`.
@Suite("orders of the console")
struct OrderTests {
    /// A folder with a campaign without times, and its orders.
    private final class Bench {
        let folder: ProjectFolder
        let store: OrderStore
        var numbers = 0

        init(_ folder: ProjectFolder) throws {
            self.folder = folder
            store = try OrderStore(folder: folder.url.path + "/runs")
            // The default author of orders: an administrator of all apps.
            try accounts { accounts in
                let link = try accounts.inviteFirstAdministrator(AccountName("anna"), DisplayName("Anna"), at: .now())
                _ = try Authenticator(accounts).accept(link.token, password: Self.password, from: nil, at: .now())
            }
        }

        private static let password = "a-long-pass-for-tests-7"

        func accounts(_ body: (AccountStore) throws -> Void) throws {
            let accounts = try AccountStore(beside: folder.url.path + "/runs")
            defer { accounts.close() }
            try body(accounts)
        }

        /// Makes an account with these roles.
        func add(_ name: String, _ grants: Set<RoleGrant>) throws {
            try accounts { accounts in
                let link = try accounts.invite(AccountName(name), DisplayName(name), grants, by: .terminal, at: .now())
                _ = try Authenticator(accounts).accept(link.token, password: Self.password, from: nil, at: .now())
            }
        }

        deinit { store.close() }

        func schedule() throws -> RunningVolley { try VolleyBinary.start(["schedule", "."], in: folder.url) }

        @discardableResult
        func place(_ kind: Order.Kind, by name: String = "anna", at moment: OrderMoment = .now()) throws -> String {
            numbers += 1
            return try store.place(Order(nonce: "form \(numbers)", kind: kind, by: name, at: moment)).order.nonce
        }

        func state(_ nonce: String) throws -> OrderState { try #require(try store.order(nonce)).state }

        /// Waits for the end of an order; fails after a minute.
        func end(of nonce: String, _ running: RunningVolley) throws -> OrderState {
            try OrderTests.wait(running, "the end of \(nonce)") { try state(nonce).hasEnded }
            return try state(nonce)
        }

        /// Makes a plan, and returns its id and digest.
        func plan(_ file: String) throws -> (id: String, digest: String) {
            let planned = try folder.volley("plan", file, "--json")
            #expect(planned.status == 0, "\(planned.errors)")
            let id = try #require(try planned.json()["run"]?.stringValue)
            return (id, try digest(id))
        }

        func digest(_ run: String) throws -> String {
            let run = try RunsFolder(folder.url.path + "/runs").open(run)
            defer { run.close() }
            return run.planDigest
        }

        /// A campaign file as a page would name it.
        func shown(_ file: String) throws -> (path: String, digest: String) {
            let url = folder.url.appendingPathComponent(file)
            return (url.path, SHA256.hex(SHA256.digest(of: Array(try Data(contentsOf: url)))))
        }
    }

    private static func wait(_ running: RunningVolley, _ what: Comment, _ condition: () throws -> Bool) throws {
        let end = Date(timeIntervalSinceNow: 60)
        while try !condition() {
            try #require(running.isRunning, "ended before \(what): \(running.errorsSoFar)")
            try #require(Date() < end, "waited in vain for \(what): \(running.errorsSoFar)")
            usleep(20_000)
        }
    }

    private func stop(_ running: RunningVolley) {
        kill(running.processID, SIGTERM)
        let result = running.finish()
        #expect(result.status == 130, "\(result.errors)")
    }

    @Test(
        "a sender that is killed with an order leaves it, says so, and sends nothing more until somebody resumes: nobody gets a push twice"
    )
    func killed() throws {
        let server = try LedgeredServer(app: "pace: 1000/s", devices: 3_000, faults: ["--latency", "5"])
        try server.folder.writeCampaign(name: "one", delivery: "unknown: skip")
        let bench = try Bench(server.folder)
        let plan = try bench.plan("campaign.yaml")
        var running = try bench.schedule()
        defer { _ = running.finish(timeout: 0) }
        let send = Order.Kind.send(run: plan.id, digest: plan.digest)
        let first = try bench.place(send)
        // The form again: no second order.
        #expect(try bench.store.place(Order(nonce: first, kind: send, by: "anna")).order.nonce == first)
        // Another form: the run goes out once.
        let second = try bench.place(send)
        try Self.wait(running, "the first pushes") { server.acceptedSoFar().count > 300 }
        guard case .refused(.described) = try bench.end(of: second, running) else {
            Issue.record("another end of \(second)")
            return
        }
        kill(running.processID, SIGKILL)
        _ = running.finish()
        guard case .taken = try bench.state(first) else {
            Issue.record("another end of \(first)")
            return
        }
        running = try bench.schedule()
        #expect(try bench.end(of: first, running) == .left(.unfinished(run: plan.id)))
        let reached = server.acceptedOnceQuiet().count
        // Orders that are carried out in between show that it looks at orders, and resumes nothing
        // by itself.
        let other = try bench.place(.pause(run: plan.id))
        guard case .refused = try bench.end(of: other, running) else {
            Issue.record("another end of \(other)")
            return
        }
        #expect(server.acceptedOnceQuiet().count == reached)
        let resume = try bench.place(.resume(run: plan.id))
        #expect(try bench.end(of: resume, running) == .done(.init(run: plan.id, end: .finished)))
        stop(running)
        server.stop()
        let ledger = try server.accepted()
        #expect(ledger.values.allSatisfy { $0.count == 1 })
        let outcomes = try server.folder.volley("report", plan.id, "--format", "json").json()["outcomes"]
        let (accepted, unknown) = (outcomes?.int("accepted") ?? 0, outcomes?.int("unknown") ?? 0)
        #expect(
            accepted + unknown == 3_000 && accepted <= ledger.count && ledger.count <= 3_000,
            "\(accepted), \(unknown), \(ledger.count)")
        #expect(try OrderRecords(folder: FilePaths.folder(of: bench.store.place)).read(atMost: 10).orders.count == 4)
    }

    @Test(
        "a run that an order sends is paused, resumed and ended like any other, and SIGTERM is what the order says; the list shows it"
    )
    func interrupted() throws {
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 500/s", export: ProjectFolder.export(devices: 5_000))
        try folder.writeCampaign()
        let bench = try Bench(folder)
        let plan = try bench.plan("campaign.yaml")
        let running = try bench.schedule()
        defer { _ = running.finish(timeout: 0) }
        let send = try bench.place(.send(run: plan.id, digest: plan.digest))
        func state() throws -> String? {
            try folder.volley("report", plan.id, "--format", "json").json()["state"]?.stringValue
        }
        try Self.wait(running, "sending") { try state() == "running" }
        #expect(try bench.end(of: bench.place(.pause(run: plan.id)), running) == .done(.init(run: plan.id)))
        #expect(try state() == "paused")
        #expect(try bench.end(of: bench.place(.resume(run: plan.id)), running) == .done(.init(run: plan.id)))
        try Self.wait(running, "going on") { try state() == "running" }
        stop(running)
        #expect(try bench.state(send) == .done(.init(run: plan.id, end: .interrupted)))
        let list = try folder.volley("orders", "--json")
        #expect(list.status == 0, "\(list.errors)")
        guard case .array(let orders)? = try list.json()["orders"] else {
            Issue.record("\(list.output)")
            return
        }
        #expect(orders.compactMap { $0["kind"]?.stringValue } == ["send", "pause", "resume"])
        #expect(orders.first?["details"]?["end"]?.stringValue == "interrupted")
        #expect(try list.json()["at_work"] == .bool(false))
        #expect(try folder.volley("orders", "--last", "1").output.contains("Older orders are left out"))
    }

    @Test("plan, approve, send and test, each only with what was shown; what waited too long is not done")
    func shown() throws {
        let device = "aa11" + String(repeating: "0", count: 60)
        let folder = try ProjectFolder(app: "environment: simulator\napproval: required\ntest_devices: [\"\(device)\"]")
        try folder.writeCampaign()
        let bench = try Bench(folder)
        try bench.add("ben", [RoleGrant(.approver, .allApps)])
        var moment = OrderMoment.now()
        moment.uptime.milliseconds -= 600_000
        let file = try bench.shown("campaign.yaml")
        let late = try bench.place(.plan(file: file.path, digest: file.digest), at: moment)
        let running = try bench.schedule()
        defer { _ = running.finish(timeout: 0) }
        #expect(try bench.end(of: late, running) == .lapsed)
        #expect(!folder.files(in: "runs").contains { $0.hasSuffix("-test.sqlite") || $0.contains("-test-") })

        let planned = try bench.end(of: bench.place(.plan(file: file.path, digest: file.digest)), running)
        guard case .done(let result) = planned, let run = result.run else {
            Issue.record("\(planned)")
            return
        }
        let digest = try bench.digest(run)
        let unapproved = try bench.end(of: bench.place(.send(run: run, digest: digest)), running)
        guard case .refused(.described(let words)) = unapproved else {
            Issue.record("\(unapproved)")
            return
        }
        #expect(words.contains("approv"))
        let other = String(digest.reversed())
        #expect(
            try bench.end(of: bench.place(.approve(run: run, digest: other), by: "ben"), running)
                == .refused(.planDiffers))
        #expect(try bench.end(of: bench.place(.approve(run: run, digest: digest)), running) == .refused(.askedForIt))
        #expect(
            try bench.end(of: bench.place(.approve(run: run, digest: digest), by: "ben"), running)
                == .done(.init(run: run)))
        #expect(try bench.end(of: bench.place(.send(run: run, digest: other)), running) == .refused(.planDiffers))
        #expect(
            try bench.end(of: bench.place(.send(run: run, digest: digest)), running)
                == .done(.init(run: run, end: .finished)))
        #expect(try folder.volley("report", run, "--format", "json").json()["outcomes"]?.int("accepted") == 20)
        #expect(try bench.end(of: bench.place(.retry(run: run)), running) == .refused(.nothingToRetry))
        #expect(try bench.end(of: bench.place(.retryUnsent(run: run)), running) == .refused(.nothingToRetry))

        let test = try bench.end(of: bench.place(.test(file: file.path, digest: file.digest)), running)
        guard case .done(let tested) = test, tested.end == .finished else {
            Issue.record("\(test)")
            return
        }
        #expect(try folder.volley("report", tested.run ?? "", "--format", "json").json().int("audience") == 1)
        try folder.write("campaign.yaml", String(contentsOfFile: file.path, encoding: .utf8) + " ")
        for kind in [
            Order.Kind.test(file: file.path, digest: file.digest), .plan(file: file.path, digest: file.digest),
        ] {
            #expect(try bench.end(of: bench.place(kind), running) == .refused(.fileDiffers))
        }

        let next = try bench.shown("campaign.yaml")
        let replan = try bench.place(.plan(file: next.path, digest: next.digest))
        guard case .done(let again) = try bench.end(of: replan, running), let rejected = again.run
        else {
            Issue.record("not planned")
            return
        }
        let reject = Order.Kind.reject(
            run: rejected, digest: try bench.digest(rejected), reason: "The price is last week's.")
        #expect(try bench.end(of: bench.place(reject, by: "ben"), running) == .done(.init(run: rejected)))
        #expect(
            try folder.volley("report", rejected).output.contains("ben rejected the plan: The price is last week's."))
        stop(running)
    }

    @Test("people that may plan a campaign withdraw its plans, approved or not, and no run that has begun")
    func withdrawn() throws {
        let folder = try ProjectFolder(app: "environment: simulator\napproval: required")
        try folder.writeCampaign()
        let bench = try Bench(folder)
        try bench.add("ben", [RoleGrant(.approver, .allApps)])
        try bench.add("edith", [RoleGrant(.editor, .allApps)])
        func plan() throws -> String {
            try #require(try folder.volley("plan", "campaign.yaml", "--json").json()["run"]?.stringValue)
        }
        let (waiting, approved, begun) = (try plan(), try plan(), try plan())
        for run in [approved, begun] { #expect(try folder.volley("approve", run, "--by", "Ben", "--yes").status == 0) }
        #expect(try folder.volley("send", "--plan", begun, "--yes").status == 0)
        let running = try bench.schedule()
        defer { _ = running.finish(timeout: 0) }
        #expect(try bench.end(of: bench.place(.withdraw(run: waiting), by: "ben"), running) == .refused(.notPermitted))
        for run in [waiting, approved] {
            #expect(try bench.end(of: bench.place(.withdraw(run: run), by: "edith"), running) == .done(.init(run: run)))
            #expect(try folder.volley("report", run, "--format", "json").json()["state"]?.stringValue == "cancelled")
        }
        guard
            case .refused(.described(let words)) = try bench.end(
                of: bench.place(.withdraw(run: begun), by: "edith"), running)
        else {
            Issue.record("a run that was sent is no plan")
            return
        }
        #expect(words.contains("only a plan can be withdrawn"), "\(words)")
        stop(running)
    }

    @Test(
        "an order is done by the right of who gave it at the moment when it is done, and nobody approves what they wrote"
    )
    func rights() throws {
        let folder = try ProjectFolder(app: "environment: simulator\napproval: required")
        try folder.writeCampaign()
        let bench = try Bench(folder)
        try bench.add("edith", [RoleGrant(.editor, .app("shop"))])
        try bench.add("ben", [RoleGrant(.approver, .app("shop"))])
        try bench.add("other", [RoleGrant(.administrator, .app("other"))])
        try bench.accounts { store in
            let edith = try #require(try store.account(named: AccountName("edith")))
            let text = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
            try store.keep(
                version: text, of: "campaign.yaml", app: "shop", by: Actor(edith.id, address: nil), at: .now())
        }
        let file = try bench.shown("campaign.yaml")
        let waiting = try bench.place(.plan(file: file.path, digest: file.digest), by: "edith")
        let running = try bench.schedule()
        defer { _ = running.finish(timeout: 0) }
        func end(_ kind: Order.Kind, by name: String) throws -> OrderState {
            try bench.end(of: bench.place(kind, by: name), running)
        }
        guard case .done(let result) = try bench.end(of: waiting, running), let run = result.run else {
            Issue.record("not planned")
            return
        }
        let digest = try bench.digest(run)
        // A role for another app, too small a role, and an unknown name.
        let stranger: [(Order.Kind, String)] = [
            (.plan(file: file.path, digest: file.digest), "other"), (.approve(run: run, digest: digest), "other"),
            (.approve(run: run, digest: digest), "edith"), (.cancel(run: run), "edith"),
            (.send(run: run, digest: digest), "edith"),
            (.send(run: run, digest: digest), "nobody"),
            (.skip(campaign: "test", occurrence: "2026-02-03T09:00"), "ben"),
        ]
        for (kind, name) in stranger {
            #expect(try end(kind, by: name) == .refused(.notPermitted), "\(kind.name) by \(name)")
        }
        // Now edith is also an approver, and still the writer.
        try bench.accounts { store in
            let edith = try #require(try store.account(named: AccountName("edith")))
            let both: Set = [RoleGrant(.editor, .app("shop")), RoleGrant(.approver, .app("shop"))]
            try store.setGrants(both, of: edith.id, by: .terminal, at: .now())
        }
        #expect(try end(.approve(run: run, digest: digest), by: "edith") == .refused(.wroteIt))
        #expect(try end(.approve(run: run, digest: digest), by: "ben") == .done(.init(run: run)))
        try bench.accounts { store in
            let ben = try #require(try store.account(named: AccountName("ben")))
            try store.disable(ben.id, by: .terminal, at: .now())
        }
        #expect(try end(.send(run: run, digest: digest), by: "ben") == .refused(.notPermitted))
        #expect(try end(.send(run: run, digest: digest), by: "edith") == .done(.init(run: run, end: .finished)))
        stop(running)
    }

    @Test("a time that is left out does not fire, and the schedule says who left it out")
    func leftOut() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign(name: "later")
        let text = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", text + "schedule: {timezone: UTC, repeat: \"0 9 1 * *\"}\n")
        func times() throws -> [JSONValue] {
            guard case .array(let times)? = try folder.volley("schedule", ".", "--list", "--json").json()["times"]
            else { return [] }
            return times
        }
        let next = try #require(try times().first?["occurrence"]?.stringValue)
        let bench = try Bench(folder)
        let running = try bench.schedule()
        defer { _ = running.finish(timeout: 0) }
        let skip = try bench.place(.skip(campaign: "later", occurrence: next), by: "anna")
        #expect(try bench.end(of: skip, running) == .done(.init(run: nil)))
        #expect(
            try bench.end(of: bench.place(.skip(campaign: "later", occurrence: "2099-02-28T09:00")), running)
                == .refused(.noSuchTime))
        let time = try #require(try times().first { $0["occurrence"]?.stringValue == next })
        #expect(time["state"]?.stringValue == "skipped" && "\(time.text)".contains("anna left it out beforehand"))
        stop(running)
    }

    @Test("a record of orders that cannot be used stops nothing else, and is used again once it can")
    func damaged() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("runs"), withIntermediateDirectories: true)
        try folder.write(
            "runs/orders.sqlite", "This is a letter, and no database at all. It is long enough to be read as one.")
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = running.finish(timeout: 0) }
        try Self.wait(running, "the complaint") {
            running.errorsSoFar.contains("No orders are taken until this is mended")
        }
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("runs/orders.sqlite"))
        let bench = try Bench(folder)
        let file = try bench.shown("campaign.yaml")
        guard case .done = try bench.end(of: bench.place(.plan(file: file.path, digest: file.digest)), running) else {
            Issue.record("not planned")
            return
        }
        stop(running)
        #expect(running.errorsSoFar.components(separatedBy: "No orders are taken").count == 2, "said once")
    }
}
