import Accounts
import Automation
import Base
import Foundation
import GRDB
import Runs
import Testing

@testable import volley_console

/// Plans that wait while their campaign's file is changed or archived.
@Suite("plans that wait in the console")
struct WaitingPlanTests {
    private static let id = "20261201-090000-spring-sale-7f3a"
    private static let campaign = "/campaign?file=spring-sale.yaml"

    private static func text(_ office: OrderPageTests.Office) throws -> String {
        try String(contentsOfFile: "\(office.folder.path)/spring-sale.yaml", encoding: .utf8)
    }

    /// The values of the hidden fields of a page's form with this action.
    private static func fields(_ page: String, action: String) throws -> [(String, String)] {
        let start = try #require(page.range(of: "action=\"\(action)\""), "\(page)")
        let form = page[start.upperBound...]
        let end = try #require(form.range(of: "</form>"))
        return form[..<end.lowerBound].matches(of: #/<input type="hidden" name="([a-z]+)" value="([^"]*)">/#)
            .map { (String($0.1), String($0.2)) }.filter { $0.0 != "token" }
    }

    @Test(
        "the pages of editor and approver say that a plan of an earlier version waits, and its editor can withdraw it")
    func changed() async throws {
        let office = try OrderPageTests.Office()
        let text = try Self.text(office)
        try office.folder.run(Self.id, .planned, source: text)
        let (ben, edith) = (try office.session("ben", [.approver]), try office.session("edith", [.editor], app: "shop"))
        try await TestServer.with(office.site) { server throws in
            let path = "/runs/\(Self.id)"
            for page in [Self.campaign, path] {
                #expect(
                    try !server.request("GET", page, session: edith).body.contains(
                        "was changed after this plan was made"), "\(page)")
            }
            try office.folder.write(
                "spring-sale.yaml",
                text.replacing("title: Hi", with: "title: Corrected")
                    + "schedule: {timezone: UTC, at: \"2099-01-01 09:00\"}\n")
            let editor = try server.request("GET", Self.campaign + "&saved=1", session: edith).body
            #expect(editor.contains("A plan of an earlier version waits: <a href=\"\(path)\">"), "\(editor)")
            #expect(editor.contains("was changed after this plan was made"))
            #expect(editor.contains("sent again at its own time, 2099-01-01 09:00"))
            let approver = try server.request("GET", path, session: ben).body
            let words = try #require(approver.range(of: "was changed after this plan was made"), "\(approver)")
            let button = try #require(approver.range(of: "\(path)/approve\""))
            #expect(
                words.lowerBound < button.lowerBound
                    && approver.contains("sent again at its own time, 2099-01-01 09:00"))
            #expect(!approver.contains("\(path)/withdraw\""), "it can be rejected")
            let page = try server.request("GET", path, session: edith).body
            let fields = try Self.fields(page, action: "\(path)/withdraw")
            #expect(try server.form("\(path)/withdraw", session: ben, fields).status == 403)
            #expect(try server.form("\(path)/withdraw", session: edith, fields).status == 303)
            #expect(try office.ordered() == ["withdraw by edith"])
            #expect(
                try office.site.accounts.activities(ActivityFilter(kind: .withdrawn)).activities.map(\.subject) == [
                    Self.id
                ])
        }
    }

    @Test(
        "archiving a campaign names the plans that wait, cancels them, and an approver reads that the campaign is gone")
    func archived() async throws {
        let office = try OrderPageTests.Office()
        let text = try Self.text(office)
        try office.folder.run(Self.id, .planned, source: text)
        let (ben, edith) = (try office.session("ben", [.approver]), try office.session("edith", [.editor], app: "shop"))
        try await TestServer.with(office.site) { server throws in
            let archive = "/campaign/archive?file=spring-sale.yaml", path = "/runs/\(Self.id)"
            let page = try server.request("GET", Self.campaign, session: edith).body
            #expect(
                page.contains("This plan waits, and is cancelled with it:") && page.contains("<a href=\"\(path)\">"),
                "\(page)")
            let fields = try Self.fields(page, action: archive)
            // A plan that the page did not show is not cancelled unseen.
            #expect(try server.form(archive, session: edith, fields.filter { $0.0 != "plans" }).status == 409)
            #expect(try office.ordered().isEmpty && Self.text(office) == text)
            #expect(try server.form(archive, session: edith, fields).status == 303)
            #expect(try office.ordered() == ["withdraw by edith"])
            let approver = try server.request("GET", path, session: ben).body
            let words = try #require(
                approver.range(of: "is no longer there: it was archived, moved or removed"), "\(approver)")
            let button = try #require(approver.range(of: "\(path)/approve\""))
            #expect(words.lowerBound < button.lowerBound)
        }
    }

    @Test(
        "plans are cancelled with their campaign though that cannot be noted, and those that cannot be are named",
        arguments: [true, false])
    func halfArchived(isNoteMissing: Bool) async throws {
        let office = try OrderPageTests.Office()
        try office.folder.run(Self.id, .planned, source: Self.text(office))
        let edith = try office.session("edith", [.editor], app: "shop")
        _ = try office.site.orders.place(Order(nonce: "1", kind: .pause(run: Self.id), by: "edith"))
        try await TestServer.with(office.site) { server throws in
            let archive = "/campaign/archive?file=spring-sale.yaml"
            let fields = try Self.fields(server.request("GET", Self.campaign, session: edith).body, action: archive)
            let (path, table) =
                isNoteMissing
                ? (office.site.accounts.path, "activity") : (office.folder.runs + "/orders.sqlite", "placed")
            try DatabaseQueue(path: path).write {
                try $0.execute(
                    sql: "CREATE TRIGGER forbidden BEFORE INSERT ON \(table) BEGIN SELECT RAISE(ABORT, 'no'); END")
            }
            let reply = try server.form(archive, session: edith, fields)
            #expect(reply.status == 500 && !FilePaths.exists("\(office.folder.path)/spring-sale.yaml"), "\(reply.body)")
            let words =
                isNoteMissing
                ? "This was done, but not noted"
                : "The campaign was archived. These plans still wait: \(Self.id); their pages have the button Withdraw."
            #expect(reply.body.contains(words) && !reply.body.contains("Nothing was saved"), "\(reply.body)")
            #expect(try office.ordered().contains("withdraw by edith") == isNoteMissing)
        }
    }
}
