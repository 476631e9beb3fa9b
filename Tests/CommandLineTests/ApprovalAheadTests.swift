import Accounts
import Automation
import Base
import Foundation
import Planning
import Runs
import TestCommands
import Testing
import Workspace

/// Approvals of times before they come, as the real `volley schedule` keeps and judges them.
@Suite("approvals ahead")
struct ApprovalAheadTests {
    private static let password = "a-long-pass-for-tests-7"

    /// A folder whose campaigns all go out at the next minute that is at least twenty seconds away.
    private struct House {
        let folder: ProjectFolder
        let accounts: AccountStore
        let orders: OrderStore
        let moment: Date

        init() throws {
            folder = try ProjectFolder(app: "environment: simulator\napproval: required")
            try Shell.run("touch -d '1 hour ago' '\(folder.url.path)/devices.csv'")
            let runs = folder.url.path + "/runs"
            accounts = try AccountStore(beside: runs)
            orders = try OrderStore(folder: runs)
            moment = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 / 60 + 20.0 / 60).rounded(.up) * 60)
            for name in ["anna", "ben", "carl"] { try enter(name) }
        }

        /// Makes an account.
        func enter(_ name: String) throws {
            let link = try accounts.invite(
                AccountName(name), DisplayName(name), [RoleGrant(.approver, .allApps)], by: .terminal, at: .now())
            _ = try Authenticator(accounts).accept(link.token, password: password, from: nil, at: .now())
        }

        func occurrence() -> String {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(identifier: "UTC")
            formatter.dateFormat = "yyyy-MM-dd'T'HH:mm"
            return formatter.string(from: moment)
        }

        func write(_ name: String, title: String = "Hello") throws {
            let time = occurrence().replacing("T", with: " ")
            try folder.write(
                "\(name).yaml",
                """
                name: \(name)
                app: shop
                audience: {devices: devices.csv, everyone: true}
                content: {title: \(title), body: World}
                schedule: {at: \(time), timezone: UTC}

                """)
        }

        func place(_ kind: Order.Kind, by name: String = "anna") throws -> String {
            try orders.place(Order(nonce: UUID().uuidString, kind: kind, by: name)).order.nonce
        }

        /// Approves a campaign's time as a page shows it.
        func approve(_ name: String, most: Int = 1_000, by person: String = "anna") throws -> String {
            let source = try CampaignSource(
                CampaignFile(folder.url.path + "/\(name).yaml", in: ProjectChoice()), now: .now())
            return try place(
                .approveTime(campaign: name, occurrence: occurrence(), digest: source.digest, mostDevices: most),
                by: person)
        }

        func state(_ nonce: String) throws -> OrderState { try #require(try orders.order(nonce)).state }

        func end(of nonce: String, _ running: RunningVolley) throws -> OrderState {
            try ApprovalAheadTests.wait(running, "the end of an order") { try state(nonce).hasEnded }
            return try state(nonce)
        }

        /// The state and the notes of each campaign's time.
        func times() throws -> [String: (state: String, notes: String)] {
            guard case .array(let times)? = try folder.volley("schedule", ".", "--list", "--json").json()["times"]
            else { return [:] }
            return times.reduce(into: [:]) { found, time in
                found[time["campaign"]?.stringValue ?? ""] = (
                    time["state"]?.stringValue ?? "", time["notes"]?.text ?? ""
                )
            }
        }
    }

    private static func wait(_ running: RunningVolley, _ what: Comment, _ condition: () throws -> Bool) throws {
        let end = Date(timeIntervalSinceNow: 150)
        while try !condition() {
            try #require(running.isRunning, "ended before \(what): \(running.errorsSoFar)")
            try #require(Date() < end, "waited in vain for \(what): \(running.errorsSoFar)")
            usleep(50_000)
        }
    }

    @Test(
        "a time that was approved ahead goes out by itself; changed, too large, withdrawn, by a person who may no more, or whose name another has now, it waits"
    )
    func judged() throws {
        let house = try House()
        for name in ["good", "changed", "large", "withdrawn", "demoted", "replaced", "left"] { try house.write(name) }
        var running = try VolleyBinary.start(["schedule", "."], in: house.folder.url)
        defer { _ = running.finish(timeout: 0) }
        try Self.wait(running, "being at work") { running.errorsSoFar.contains("good: next") }
        let done = OrderState.done(.init(run: nil))
        for name in ["good", "changed", "withdrawn"] {
            #expect(try house.end(of: house.approve(name), running) == done)
        }
        #expect(try house.end(of: house.approve("large", most: 2), running) == done)
        #expect(try house.end(of: house.approve("demoted", by: "ben"), running) == done)
        #expect(try house.end(of: house.approve("replaced", by: "carl"), running) == done)
        let time = house.occurrence()
        #expect(
            try house.end(of: house.place(.withdrawApproval(campaign: "withdrawn", occurrence: time)), running) == done)
        #expect(try house.end(of: house.place(.skip(campaign: "left", occurrence: time)), running) == done)
        #expect(try house.end(of: house.approve("left"), running) == .refused(.noSuchTime))
        let wrong = Order.Kind.approveTime(
            campaign: "good", occurrence: time, digest: String(repeating: "0", count: 64), mostDevices: 9)
        #expect(try house.end(of: house.place(wrong), running) == .refused(.fileDiffers))
        let none = Order.Kind.approveTime(campaign: "good", occurrence: "2099-02-28T09:00", digest: "", mostDevices: 9)
        #expect(try house.end(of: house.place(none), running) == .refused(.fileDiffers))
        #expect(try house.times()["good"]?.notes.contains("approved by anna for at most 1,000 devices") == true)
        // Another process, which sees only recorded approvals.
        kill(running.processID, SIGTERM)
        #expect(running.finish().status == 130)
        try house.write("changed", title: "Howdy")
        let ben = try #require(try house.accounts.account(named: AccountName("ben")))
        try house.accounts.disable(ben.id, by: .terminal, at: .now())
        let carl = try #require(try house.accounts.account(named: AccountName("carl")))
        try house.accounts.remove(carl.id, by: .terminal, at: .now())
        try house.enter("carl")
        running = try VolleyBinary.start(["schedule", "."], in: house.folder.url)
        try Self.wait(running, "the time") {
            let times = try house.times()
            return times["good"]?.state == "finished" && times.values.count { $0.state == "waiting" } == 5
        }
        let times = try house.times()
        #expect(times["changed"]?.notes.contains("anna approved it beforehand, but the campaign") == true)
        #expect(times["large"]?.notes.contains("for at most 2 devices, and it would reach") == true)
        #expect(
            times["demoted"]?.notes.contains("ben approved it beforehand, but that person may not approve any more")
                == true)
        #expect(
            times["replaced"]?.notes.contains("carl approved it beforehand, but that person may not approve any more")
                == true)
        #expect(times["withdrawn"]?.notes.contains("beforehand") == false && times["left"]?.state == "skipped")
        // It reports that as long as it waits, and goes out once it is approved.
        usleep(3_000_000)
        #expect(try house.times()["large"]?.notes.contains("for at most 2 devices") == true)
        let waiting = try RunsFolder(house.folder.url.path + "/runs").list().runs
        defer { for run in waiting { run.close() } }
        let large = try #require(waiting.first { $0.plan.campaign == "large" })
        let approval = Order.Kind.approve(run: large.plan.id, digest: large.planDigest)
        #expect(try house.end(of: house.place(approval), running) == .done(.init(run: large.plan.id)))
        try Self.wait(running, "the approved one") { try house.times()["large"]?.state == "finished" }
        let good = try #require(waiting.first { $0.plan.campaign == "good" })
        #expect(try good.approval()?.name == "anna")
        // A time that has come can no longer be approved ahead.
        guard case .refused(.timeHasCome) = try house.end(of: house.approve("changed"), running) else {
            Issue.record("a time that waits was approved ahead")
            return
        }
        kill(running.processID, SIGTERM)
        #expect(running.finish().status == 130)
    }
}
