import Accounts
import Automation
import Base
import Foundation
import GRDB
import Runs
import Testing

@testable import volley_console

/// Approving a time of a schedule on its page, before it comes. No sender is at work, so orders
/// stay as they were placed.
@Suite("approving a time ahead")
struct TimeApprovalTests {
    /// A campaign that goes out every morning, and the morning after next.
    private struct House {
        let folder: TestFolder
        let site: Site
        let ben: String
        let time: String

        init() throws {
            folder = try TestFolder()
            try folder.write("devices.csv", "token\n\(TestFolder.token(1))\n")
            try House.write(folder)
            site = try folder.siteWithAccounts()
            ben = try site.session("ben", [.approver])
            let noon = Timestamp.now().adding(seconds: 2 * 86_400).description
            time = noon.prefix(10) + "T09:00"
        }

        static func write(_ folder: TestFolder, title: String = "Hi") throws {
            try folder.write(
                "daily.yaml",
                """
                name: daily
                app: shop
                audience: {devices: devices.csv, everyone: true}
                content: {title: \(title)}
                schedule: {timezone: UTC, repeat: "0 9 * * *"}

                """)
        }

        var path: String { "/campaign/ahead?file=daily.yaml&time=\(FormFields.encode(time))" }
        var withdrawal: String { "/campaign/ahead/withdraw?file=daily.yaml&time=\(FormFields.encode(time))" }

        /// The sender's record of an approval.
        func approve(_ digest: String, most: Int) throws {
            let store = try ScheduleStore(folder: folder.runs)
            defer { store.close() }
            let key = ScheduledRun.Key(campaign: "daily", occurrence: time)
            try store.save(
                AdvanceApproval(key: key, digest: digest, mostDevices: most, name: "ben", approvedAt: .now()))
        }

        func orders() throws -> [Order.Kind] { try OrderRecords(folder: folder.runs).read().orders.map(\.order.kind) }
    }

    private static func fields(_ page: String) -> [(String, String)] {
        page.matches(of: #/<input type="hidden" name="(nonce|digest)" value="([^"]*)">/#).map {
            (String($0.1), String($0.2))
        }
    }

    @Test(
        "the calendar leads to the page; the order is bound to what it shows and to the number that was typed, and is placed once"
    )
    func approve() async throws {
        let house = try House()
        try await TestServer.with(house.site) { server throws in
            let calendar = try server.request("GET", "/calendar", session: house.ben).body
            #expect(
                calendar.contains("needs approval")
                    && calendar.contains("daily, \(DateWords.time(house.time)): approve ahead\">Approve ahead</a>"))
            let page = try server.request("GET", house.path, session: house.ben).body
            let fields = Self.fields(page)
            #expect(fields.count == 2 && page.contains("Devices at most"))
            for typed in ["", "many", "1.5", "10,00", "-3", "0"] {
                let reply = try server.form(house.path, session: house.ben, fields + [("count", typed)])
                #expect(reply.status == 422 && reply.body.contains("Type the largest number of devices"), "\(typed)")
            }
            #expect(try house.orders().isEmpty)
            for _ in 0..<2 {
                #expect(try server.form(house.path, session: house.ben, fields + [("count", "10,000")]).status == 303)
            }
            let digest = try #require(fields.first { $0.0 == "digest" }?.1)
            #expect(
                try house.orders() == [
                    .approveTime(campaign: "daily", occurrence: house.time, digest: digest, mostDevices: 10_000)
                ])
            let order = try server.request(
                "GET", "/orders/\(fields.first { $0.0 == "nonce" }?.1 ?? "")", session: house.ben
            ).body
            #expect(order.contains("Approve daily at \(DateWords.time(house.time)) for at most 10,000 devices"))
            let activity = try house.site.accounts.activities(ActivityFilter(kind: .timeApproved)).activities.first
            #expect(
                activity?.kind == .timeApproved(house.time, mostDevices: 10_000, digest: digest)
                    && activity?.app == "shop")
        }
    }

    @Test("a campaign or an app that was changed after the page was loaded is not approved, nor a time that is none")
    func outdated() async throws {
        let house = try House()
        try await TestServer.with(house.site) { server throws in
            var fields = Self.fields(try server.request("GET", house.path, session: house.ben).body)
            try House.write(house.folder, title: "Hello")
            #expect(try server.form(house.path, session: house.ben, fields + [("count", "10")]).status == 409)
            fields = Self.fields(try server.request("GET", house.path, session: house.ben).body)
            try house.folder.write(
                "volley.yaml", TestFolder.project.replacing("com.example.shop", with: "com.example.store"))
            #expect(try server.form(house.path, session: house.ben, fields + [("count", "10")]).status == 409)
            let none = "/campaign/ahead?file=daily.yaml&time=2026-01-01T09:01"
            #expect(try server.request("GET", none, session: house.ben).status == 409)
            #expect(try house.orders().isEmpty)
        }
    }

    @Test("a damaged version keeps a time from being approved, but its page is shown, and an approval can be withdrawn")
    func damagedVersion() async throws {
        let house = try House()
        try house.site.accounts.keep(version: "name: daily\n", of: "daily.yaml", app: "shop", by: .terminal, at: .now())
        try await DatabaseQueue(path: house.site.accounts.path).write {
            try $0.execute(sql: "UPDATE version SET at = 'x'")
        }
        try await TestServer.with(house.site) { server throws in
            let page = try server.request("GET", house.path, session: house.ben)
            #expect(
                page.status == 200 && page.body.contains("Who wrote this version cannot be read")
                    && !page.body.contains("Devices at most"))
            try house.approve("0", most: 10)
            let given = try server.request("GET", house.path, session: house.ben).body
            #expect(given.contains("Withdraw it"))
            #expect(try server.form(house.withdrawal, session: house.ben, Self.fields(given)).status == 303)
        }
    }

    @Test(
        "a damaged request keeps its author from approving the time, but the page is shown, and an approval can be withdrawn"
    )
    func damagedRequest() async throws {
        let house = try House()
        let eva = try house.site.session("eva", [.editor, .approver])
        try await TestServer.with(house.site) { server throws in
            #expect(try server.form(house.path.replacing("/ahead?", with: "/ahead/ask?"), session: eva).status == 303)
            let fields = Self.fields(try server.request("GET", house.path, session: house.ben).body)
            try DatabaseQueue(path: house.site.accounts.path).write {
                try $0.execute(
                    sql:
                        "DROP TRIGGER activity_stays; UPDATE activity SET details = '{' WHERE kind = 'time_approval_asked'"
                )
                #expect($0.changesCount == 1)
            }
            let page = try server.request("GET", house.path, session: eva)
            #expect(
                page.status == 200 && page.body.contains("equest for an approval ahead cannot be read")
                    && !page.body.contains("Devices at most"))
            #expect(try server.form(house.path, session: eva, fields + [("count", "10")]).status == 403)
            #expect(try house.orders().isEmpty)
            try house.approve("0", most: 10)
            let given = try server.request("GET", house.path, session: house.ben).body
            #expect(try server.form(house.withdrawal, session: house.ben, Self.fields(given)).status == 303)
        }
    }

    @Test(
        "an author asks for the approval of a time ahead; approvers find that on Today, and the author of the request cannot approve it"
    )
    func request() async throws {
        let house = try House()
        let (eva, vera) = try (house.site.session("eva", [.editor, .approver]), house.site.session("vera", [.viewer]))
        let page = "/campaign?file=daily.yaml", target = house.path.replacing("/ahead?", with: "/ahead/ask?")
        try await TestServer.with(house.site) { server throws in
            let shown = try server.request("GET", page, session: eva).body
            #expect(
                shown.contains("Ask for approval ahead")
                    && shown.contains("Ask for the approval</a> of its next time ahead"))
            for other in [vera, house.ben] {
                #expect(try !server.request("GET", page, session: other).body.contains("Ask for approval ahead"))
                #expect(try server.form(target, session: other).status == 403)
            }
            #expect(try !server.request("GET", "/", session: house.ben).body.contains("asked for its approval ahead"))
            for _ in 0..<2 { #expect(try server.form(target, session: eva).status == 303) }
            #expect(try house.site.accounts.activities(ActivityFilter(kind: .timeApprovalAsked)).activities.count == 1)
            #expect(
                try server.request("GET", page, session: vera).body.contains(
                    "<b dir=\"auto\">eva</b> asked for its approval ahead"))
            func panel(_ id: String, _ session: String) throws -> Substring {
                let today = try server.request("GET", "/", session: session).body
                return try #require(today.firstMatch(of: Regex("<h2 id=\"\(id)\">(?s:.*?)</section>"))).output[0]
                    .substring ?? ""
            }
            #expect(try panel("waiting", house.ben).contains("href=\"/campaign/ahead?file=daily.yaml"))
            #expect(try panel("others", eva).contains("href=\"/campaign?file=daily.yaml"))
            let fields = Self.fields(try server.request("GET", house.path, session: house.ben).body)
            #expect(try Self.fields(server.request("GET", house.path, session: eva).body).isEmpty)
            #expect(try server.form(house.path, session: eva, fields + [("count", "10")]).status == 403)
            #expect(try house.orders().isEmpty)
            #expect(try server.form(house.path, session: house.ben, fields + [("count", "10")]).status == 303)
            try house.approve(try #require(fields.first { $0.0 == "digest" }?.1), most: 10)
            #expect(try !server.request("GET", "/", session: house.ben).body.contains("asked for its approval ahead"))
        }
    }

    @Test("the author of a request cannot approve the time, however many requests for other campaigns there were since")
    func manyRequests() async throws {
        let house = try House(), accounts = house.site.accounts
        let eva = try house.site.session("eva", [.editor, .approver])
        try await TestServer.with(house.site) { server throws in
            let fields = Self.fields(try server.request("GET", house.path, session: eva).body)
            #expect(!fields.isEmpty)
            #expect(try server.form(house.path.replacing("/ahead?", with: "/ahead/ask?"), session: eva).status == 303)
            for _ in 0..<501 {
                try accounts.note(
                    .timeApprovalAsked(house.time), app: "news", subject: "other", by: .terminal, at: .now())
            }
            #expect(try Self.fields(server.request("GET", house.path, session: eva).body).isEmpty)
            #expect(try server.form(house.path, session: eva, fields + [("count", "10")]).status == 403)
            #expect(try server.request("GET", "/", session: house.ben).body.contains("asked for its approval ahead"))
        }
    }

    @Test("who may not approve, or wrote it, is told so; apps without approval have nothing to approve")
    func rights() async throws {
        let house = try House()
        let (edith, eva) = try (
            house.site.session("edith", [.editor]), house.site.session("eva", [.editor, .approver])
        )
        let text = try String(decoding: FilePaths.read(house.folder.path + "/daily.yaml"), as: UTF8.self)
        let account = try #require(try house.site.accounts.account(named: AccountName("eva")))
        try house.site.accounts.keep(
            version: text, of: "daily.yaml", app: "shop", by: Actor(account.id, address: nil), at: .now())
        try await TestServer.with(house.site) { server throws in
            #expect(try !server.request("GET", "/calendar", session: edith).body.contains("Approve ahead"))
            #expect(try server.request("GET", house.path, session: edith).status == 403)
            let page = try server.request("GET", house.path, session: eva).body
            #expect(
                page.contains("You wrote this campaign") && Self.fields(page).isEmpty
                    && page.contains("Written by <b dir=\"auto\">eva</b>")
            )
            let fields = Self.fields(try server.request("GET", house.path, session: house.ben).body) + [("count", "10")]
            #expect(try server.form(house.path, session: eva, fields).status == 403)
            try house.folder.write("volley.yaml", TestFolder.project.replacing(", approval: required", with: ""))
            #expect(try server.request("GET", house.path, session: house.ben).status == 409)
            #expect(try !server.request("GET", "/calendar", session: house.ben).body.contains("Approve ahead"))
            #expect(try house.orders().isEmpty)
        }
    }

    @Test("an approval for fewer devices than there are today says so")
    func few() async throws {
        let house = try House()
        try house.folder.write("devices.csv", "token\n" + (1...3).map { TestFolder.token($0) + "\n" }.joined())
        try await TestServer.with(house.site) { server throws in
            let digest = try #require(
                Self.fields(try server.request("GET", house.path, session: house.ben).body).first { $0.0 == "digest" }?
                    .1)
            func page(most: Int) throws -> String {
                try house.approve(digest, most: most)
                for _ in 0..<600 {
                    let page = try server.request("GET", house.path, session: house.ben).body
                    if page.contains("Preview · nothing was sent") { return page }
                    Thread.sleep(forTimeInterval: 0.1)
                }
                return ""
            }
            #expect(try page(most: 2).contains("With the exports of today it would go to 3 devices"))
            let enough = try page(most: 3)
            #expect(enough.contains("for at most 3 devices") && !enough.contains("With the exports of today"))
        }
    }

    @Test("calendar, campaign and approval say the weekday and the zone of a time")
    func weekday() async throws {
        #expect(DateWords.time("2026-12-01T09:00") == "Tuesday, 1 December 2026, 09:00")
        let house = try House()
        let words = DateWords.time(house.time)
        try await TestServer.with(house.site) { server throws in
            #expect(
                try server.request("GET", "/calendar", session: house.ben).body.contains(
                    "\(words) <span class=\"note\">UTC</span>"))
            #expect(
                try server.request("GET", "/campaign?file=daily.yaml", session: house.ben).body.contains(
                    "<li><p>\(words) in UTC "))
            #expect(try server.request("GET", house.path, session: house.ben).body.contains("<b>\(words)</b> in UTC"))
        }
    }

    @Test(
        "an approval is shown with who gave it and its largest audience, until the campaign is changed; it can be taken back"
    )
    func given() async throws {
        let house = try House()
        try await TestServer.with(house.site) { server throws in
            let digest = try #require(
                Self.fields(try server.request("GET", house.path, session: house.ben).body).first { $0.0 == "digest" }?
                    .1)
            try house.approve(digest, most: 12_000)
            let calendar = try server.request("GET", "/calendar", session: house.ben).body
            #expect(calendar.contains("approved by ben for at most 12,000 devices"))
            #expect(try !server.request("GET", "/", session: house.ben).body.contains("approved it ahead, but"))
            let page = try server.request("GET", house.path, session: house.ben).body
            #expect(page.contains("approved this time for at most 12,000 devices") && !page.contains("Devices at most"))
            let fields = Self.fields(page)
            #expect(try server.form(house.withdrawal, session: house.ben, fields).status == 303)
            #expect(try house.orders() == [.withdrawApproval(campaign: "daily", occurrence: house.time)])
            try House.write(house.folder, title: "Hello")
            let today = try server.request("GET", "/", session: house.ben).body
            #expect(today.contains("approved it ahead, but") && today.contains("were changed afterwards"))
            let again = try server.request("GET", house.path, session: house.ben).body
            #expect(again.contains("It is not sent without another approval") && again.contains("Devices at most"))
        }
    }

    @Test(
        "numbers are read as people write them, or not at all",
        arguments: [
            ("10000", 10_000), ("10,000", 10_000), ("10.000", 10_000), ("1 234 567", 1_234_567),
            ("1’234’567", 1_234_567), (" 7 ", 7),
            ("1.5", nil), ("10,00", nil), ("1,234.567", nil), ("", nil), ("1e5", nil), ("+5", nil), ("٣", nil),
        ] as [(String, Int?)])
    func numbers(text: String, number: Int?) { #expect(OrderForm.number(in: text) == number) }
}
