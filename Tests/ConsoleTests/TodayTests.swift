import Accounts
import Base
import Foundation
import Glibc
import Runs
import Testing

@testable import volley_console

@Suite("Today")
struct TodayTests {
    typealias Office = OrderPageTests.Office

    private static let id = "20261201-090000-spring-sale-7f3a"

    @Test("a first user sees three steps instead of empty boxes; with a campaign there are boxes")
    func firstSteps() async throws {
        let office = try Office()
        let (edith, vera) = (try office.session("edith", [.editor]), try office.session("vera", [.viewer]))
        try await TestServer.with(office.site) { server throws in
            let usual = try server.request("GET", "/", session: edith).body
            #expect(usual.contains("Next seven days") && !usual.contains("Three steps"))
            #expect(usual.contains("<a class=\"button main\" href=\"/campaigns/new\">New campaign</a>"))
            try FileManager.default.removeItem(atPath: office.folder.path + "/spring-sale.yaml")
            for session in [edith, vera] {
                let first = try server.request("GET", "/", session: session).body
                #expect(first.contains("Three steps") && first.components(separatedBy: "<li><h2>").count == 4)
                #expect(!first.contains("Next seven days") && !first.contains("Nothing waits"))
                #expect(first.contains("href=\"/campaigns/new\"") == (session == edith))
            }
        }
    }

    @Test(
        "rejecting needs a reason, which the author reads on Today until the campaign is planned again; no other person does"
    )
    func rejection() async throws {
        let office = try Office()
        let source = try String(contentsOfFile: office.folder.path + "/spring-sale.yaml", encoding: .utf8)
        let (edith, eva, ben) = (
            try office.session("edith", [.editor]), try office.session("eva", [.editor]),
            try office.session("ben", [.approver])
        )
        let edithID = try #require(try office.site.accounts.account(named: AccountName("edith"))).id
        try office.site.accounts.keep(
            version: source, of: "spring-sale.yaml", app: "shop", by: Actor(edithID, address: nil), at: .now())
        let digest = try office.folder.run(Self.id, .planned, source: source).planDigest
        try await TestServer.with(office.site) { server throws in
            func reject(_ reason: String) throws -> Reply {
                let fields = [("nonce", Secrets.make()), ("digest", digest), ("reason", reason)]
                return try server.form("/runs/\(Self.id)/reject", session: ben, fields)
            }
            for blank in ["", " \n", "\u{200B}"] {
                let refused = try reject(blank)
                #expect(refused.status == 422 && refused.body.contains("Say why: the author reads it."))
            }
            #expect(try office.ordered().isEmpty)
            #expect(try reject("The <price> is wrong").status == 303)
            func shows(_ session: String) throws -> Bool {
                try server.request("GET", "/", session: session).body.contains("The &lt;price&gt; is wrong")
            }
            #expect(try !shows(edith), "not before it is done")
            let run = try office.site.catalog.open(Self.id, readOnly: false)
            try run.append(.state(.cancelled, cause: .cancelled, at: .now()))
            try run.closeIntoOneFile()
            usleep(600_000)
            #expect(try shows(edith) && !shows(eva) && !shows(ben))
        }
    }

    @Test("recent results have a chart with a column for each run, and tests and plans are not among them")
    func results() async throws {
        let folder = try TestFolder()
        try folder.run("20261201-090000-one-7f3a", campaign: "one")
        try folder.run("20261201-090000-two-7f3b", campaign: "two", .stopped, cause: .described("the key was revoked"))
        try folder.run("20261201-090000-plan-7f3c", campaign: "plan", .planned)
        let signIn = FixedSignIn.usual
        let (anna, other) = (signIn.begin("anna"), signIn.begin("other"))
        try await TestServer.with(folder.site(signIn)) { server throws in
            let page = try server.request("GET", "/", session: anna).body
            #expect(
                page.contains("aria-label=\"Outcomes of the last 2 runs\"")
                    && page.contains("<title>one: 40.0 % accepted</title>"))
            #expect(page.contains("2 of 5 devices accepted") && page.contains("/runs/20261201-090000-one-7f3a/report"))
            #expect(page.contains("<h3>Runs that stopped</h3>"))
            #expect(try !server.request("GET", "/", session: other).body.contains("Recent results"))
        }
    }

    @Test(
        "a campaign that its writer has not finished is to do for that person, and a problem of all once it was sent or has no writer"
    )
    func unfinished() async throws {
        let office = try Office()
        let (edith, ben) = (try office.session("edith", [.editor]), try office.session("ben", [.approver]))
        let begun =
            "name: %\napp: shop\naudience:\n  where:\n    last_active: older than 60 days\ncontent: {title: Hi}\n"
        let account = try #require(try office.site.accounts.account(named: AccountName("edith"))).id
        for name in ["winter", "summer", "found"] {
            let text = begun.replacing("%", with: name)
            try office.folder.write("\(name).yaml", text)
            guard name != "found" else { continue }
            try office.site.accounts.keep(
                version: text, of: "\(name).yaml", app: "shop", by: Actor(account, address: nil), at: .now())
        }
        try office.folder.run("20261201-090000-summer-7f3a", campaign: "summer")
        try await TestServer.with(office.site) { server throws in
            let own = try server.request("GET", "/", session: edith).body
            let other = try server.request("GET", "/", session: ben).body
            let panel = try #require(own.firstMatch(of: #/<h2 id="unfinished">To finish(?s:.*?)<\/section>/#)).output
            #expect(
                panel.contains(">winter</a>")
                    && panel.contains("The audience selects no devices. Choose them under “Who”"))
            #expect(!panel.contains("summer") && !panel.contains("found") && !other.contains("To finish"))
            for page in [own, other] {
                let problems = try #require(page.firstMatch(of: #/<h2 id="problems">(?s:.*?)<\/section>/#)).output
                #expect(
                    problems.contains("summer.yaml") && problems.contains("found.yaml") && !problems.contains("winter"))
            }
            // The form says it where the choice is, though a condition is on the same line.
            let form = try server.request("GET", "/campaign/form?file=winter.yaml", session: edith).body
            #expect(form.contains("<a href=\"#who\">Who</a>: The audience selects no devices."))
        }
    }

    @Test("what was left out on purpose is no problem, and what was not is")
    func onPurpose() {
        #expect(
            ScheduleProblem.leftOut(by: "ben").isOnPurpose
                && ScheduleProblem.andBefore(times: 2, .leftOut(by: "ben")).isOnPurpose)
        #expect(
            !ScheduleProblem.unapproved.isOnPurpose && !ScheduleProblem.andBefore(times: 2, .unapproved).isOnPurpose)
    }
}
