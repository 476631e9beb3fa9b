import Accounts
import Automation
import Base
import Foundation
import GRDB
import Reports
import Runs
import Testing

@testable import volley_console

/// Four eyes against one administrator with several accounts. No sender is at work; its decisions
/// come from `AccountRights`, as in the sender.
@Suite("approvals by accounts in one hand")
struct TiedApprovalTests {
    typealias Office = OrderPageTests.Office

    /// An office with a planned run, whose text ada, an administrator, has written.
    private struct ControlContext {
        let office: Office
        let run: RunFile
        let ada: Actor
        var id: String { run.plan.id }

        init(writer: String = "ada") throws {
            office = try Office()
            _ = try office.session("ada", [.administrator])
            _ = try office.session("root", [.administrator])
            _ = try office.session("ap", [.approver])
            _ = try office.session("ed", [.editor])
            ada = Actor(try #require(try office.site.accounts.account(named: AccountName("ada"))).id, address: nil)
            try office.folder.run("20261201-090000-spring-sale-7f3a", .planned)
            run = try RunsFolder(office.folder.runs).open("20261201-090000-spring-sale-7f3a")
            let actor = Actor(
                try #require(try office.site.accounts.account(named: AccountName(writer))).id, address: nil)
            // The fixture's campaign has a blank text.
            try office.site.accounts.keep(version: "", of: "spring-sale.yaml", app: "shop", by: actor, at: .now())
        }

        func id(of name: String) throws -> AccountID {
            try #require(try office.site.accounts.account(named: AccountName(name))).id
        }

        /// A new password for a colleague, chosen by the person that has the link.
        func takeOver(_ name: String) throws {
            let link = try office.site.accounts.offerNewPassword(of: id(of: name), by: ada, at: .now())
            _ = try Authenticator(office.site.accounts).accept(
                link.token, password: "wooden spoon under seven lanterns", from: nil, at: .now())
        }

        /// Why the sender would refuse an approval.
        func refusal(_ name: String) -> String? {
            let order = Order(nonce: Secrets.make(), kind: .approve(run: id, digest: run.planDigest), by: name)
            return office.site.rights.refusal(of: order)?.sentence
        }
    }

    @Test(
        "a damaged version of its campaign keeps a plan from being approved, but its page is shown, and it can be rejected",
        arguments: ["at = 'x'", "digest = x'FF'", "app = x'FF'", "account = 'x'", "name = x'FF'"])
    func damagedVersion(damage: String) async throws {
        let scene = try ControlContext()
        try await DatabaseQueue(path: scene.office.site.accounts.path).writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF")
            try $0.execute(sql: "UPDATE version SET \(damage)")
        }
        let (ap, root, ed) = try (
            scene.office.site.enter("ap"), scene.office.site.enter("root"), scene.office.site.enter("ed")
        )
        try await TestServer.with(scene.office.site) { server throws in
            for (name, session) in [("ap", ap), ("root", root), ("ed", ed)] {
                let page = try server.request("GET", "/runs/\(scene.id)", session: session)
                #expect(page.status == 200 && page.body.contains("Since it was sent last"), "\(damage), \(name)")
                #expect(page.body.contains("Who wrote this version cannot be read"), "\(damage), \(name)")
                #expect(
                    page.body.contains("action=\"/runs/\(scene.id)/reject\"") == (name != "ed"), "\(damage), \(name)")
                #expect(!page.body.contains("action=\"/runs/\(scene.id)/approve\""), "\(damage), \(name)")
            }
            let fields = [("nonce", Secrets.make()), ("digest", scene.run.planDigest)]
            #expect(try server.form("/runs/\(scene.id)/approve", session: ap, fields).status == 403)
            #expect(try server.form("/runs/\(scene.id)/reject", session: ap, fields + [("reason", "no")]).status == 303)
        }
    }

    @Test(
        "a colleague whose password an administrator replaced approves what that administrator wrote only once another one confirms"
    )
    func reset() async throws {
        let scene = try ControlContext()
        #expect(scene.refusal("ap") == nil && scene.refusal("ada") != nil)
        try scene.takeOver("ap")
        let why = try #require(scene.refusal("ap"))
        #expect(why.contains("counts as one person with ada, because ada gave a new password to ap"))
        let (ap, root) = (try scene.office.site.enter("ap"), try scene.office.site.enter("root"))
        let number = try scene.id(of: "ap").number
        try await TestServer.with(scene.office.site) { server throws in
            let page = try server.request("GET", "/runs/\(scene.id)", session: ap).body
            #expect(
                page.contains("counts as one person with ada") && !page.contains("action=\"/runs/\(scene.id)/approve\"")
            )
            let forced = [("nonce", Secrets.make()), ("digest", scene.run.planDigest)]
            #expect(try server.form("/runs/\(scene.id)/approve", session: ap, forced).status == 403)
            #expect(try scene.office.ordered().isEmpty)
            let own = try server.request("GET", "/account", session: ap).body
            #expect(
                own.contains("Counts as one person with others") && own.contains("<b>root</b>")
                    && !own.contains("/confirm\""))
            let seen = try server.request("GET", "/users/\(number)", session: root).body
            #expect(seen.contains("action=\"/users/\(number)/confirm\""))
            #expect(try server.form("/users/\(number)/confirm", session: root).status == 303)
            #expect(
                try server.request("GET", "/activity", session: root).body.contains(
                    "confirmed that only its person holds the account"))
            #expect(try !server.request("GET", "/account", session: ap).body.contains("Counts as one person"))
            let after = try server.request("GET", "/runs/\(scene.id)", session: ap).body
            #expect(after.contains("action=\"/runs/\(scene.id)/approve\""))
            #expect(try server.form("/runs/\(scene.id)/approve", session: ap, forced).status == 303)
        }
        #expect(scene.refusal("ap") == nil && scene.refusal("ada") != nil)
    }

    @Test(
        "neither the administrator nor an account of theirs confirms, and what a second account wrote is as their own")
    func socks() async throws {
        let scene = try ControlContext(writer: "ed")
        #expect(scene.refusal("ada") == nil && scene.refusal("ap") == nil)
        // Writing as another person, and approving as oneself.
        try scene.takeOver("ed")
        #expect(scene.refusal("ada")?.contains("confirm the account ed") == true && scene.refusal("ap") == nil)
        // Writing as one, and approving as the other.
        try scene.takeOver("ap")
        #expect(scene.refusal("ap")?.contains("as one person with ed") == true)
        let ada = try scene.office.site.enter("ada")
        let number = try scene.id(of: "ap").number
        try await TestServer.with(scene.office.site) { server throws in
            #expect(try !server.request("GET", "/users/\(number)", session: ada).body.contains("/confirm\""))
            let refused = try server.form("/users/\(number)/confirm", session: ada)
            #expect(refused.status == 403 && refused.body.contains("ou cannot confirm this account"))
        }
        #expect(scene.refusal("ap") != nil)
        #expect(scene.refusal("root") == nil, "a person without a tie approves")
    }
}
