import Accounts
import Base
import Foundation
import PushServices
import Runs
import Testing

@testable import volley_console

@Suite("suppressed devices in the console")
struct SuppressionPageTests {
    private static let path = "/suppression/app?app=shop"

    private static func list(_ folder: TestFolder, app: String = "shop") -> SuppressionList {
        SuppressionList(app: app, environment: "simulator", folder: folder.runs)
    }

    /// The text of a page, without its markup.
    private static func text(_ reply: Reply) -> String {
        reply.body.replacing(#/<[^>]*>/#, with: " ").split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test("a token in the column of reasons is cut, too")
    func tokenAsReason() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let anna = try site.session("anna", [.administrator])
        let (token, reason) = (TestFolder.token(1), TestFolder.token(5))
        try await TestServer.with(site) { server throws in
            let fields = [("list", "simulator"), ("devices", "token,reason\n\(token),\(reason)\n")]
            let added = try server.form("/suppression/add?app=shop", session: anna, fields)
            #expect(added.status == 200, "\(added.body)")
            let page = try server.request("GET", Self.path, session: anna)
            #expect(page.body.contains(Target.redact(reason)) && !page.body.contains(reason.prefix(32)))
        }
    }

    @Test("the devices of a customer are found by the alias, suppressed and taken off together; no token is shown")
    func alias() async throws {
        let project = "apps:\n  shop: {topic: com.example.shop, environment: simulator, devices: devices.csv}\n"
        let folder = try TestFolder(project: project)
        let rows = [(1, "anna"), (2, "anna"), (3, "ben")].map { "\(TestFolder.token($0)),\($1)\n" }
        try folder.write("devices.csv", "token,alias\n" + rows.joined())
        let site = try folder.siteWithAccounts()
        let anna = try site.session("anna", [.administrator])
        _ = try Self.list(folder).add(at: .now()) {
            try $0.add(Target(normalized: TestFolder.token(2)), reason: "complaint", invalidSince: .now())
        }
        try await TestServer.with(site) { server throws in
            func send(_ fields: [(String, String)]) throws -> Reply {
                for _ in 0..<600 {
                    let reply = try server.form("/suppression/alias?app=shop", session: anna, fields)
                    for number in 1...4 { #expect(!reply.body.contains(TestFolder.token(number))) }
                    guard reply.body.contains("data-again") else { return reply }
                    Thread.sleep(forTimeInterval: 0.1)
                }
                throw Diagnostic("no answer within a minute")
            }
            let found = try send([("alias", "anna")])
            #expect(found.status == 200 && Self.text(found).contains("anna has 2 devices, 1 of them suppressed."))
            #expect(
                found.body.contains("complaint")
                    && Self.text(found).contains("\(Target.redact(TestFolder.token(1))) : not suppressed"))
            func digest(_ page: Reply) throws -> (String, String) {
                ("digest", String(try #require(page.body.firstMatch(of: #/name="digest" value="([0-9a-f]+)"/#)).1))
            }
            let fields = [("alias", "anna"), try digest(found)]
            #expect(Self.text(try send(fields + [("do", "suppress")])).contains("2 devices, 2 of them suppressed."))
            #expect(try Self.list(folder).count() == 2, "and not those of others")
            // The exports have another device of hers by now; what a page said of them before is
            // not known any more.
            try folder.write("devices.csv", "token,alias\n" + rows.joined() + "\(TestFolder.token(4)),anna\n")
            try folder.write("volley.yaml", "# later\n" + project)
            for action in ["suppress", "remove"] {
                let other = try send(fields + [("do", action)])
                #expect(
                    Self.text(other).contains("Nothing was changed")
                        && Self.text(other).contains("3 devices, 2 of them suppressed."))
                #expect(try Self.list(folder).count() == 2, "\(action)")
            }
            let all = [("alias", "anna"), try digest(send([("alias", "anna")]))]
            #expect(Self.text(try send(all + [("do", "suppress")])).contains("3 devices, 3 of them suppressed."))
            let lifted = try send(all + [("do", "remove")])
            #expect(
                Self.text(lifted).contains("3 devices, 0 of them suppressed.")
                    && !lifted.body.contains("off the list</button>"))
            #expect(try Self.list(folder).count() == 0)
            let none = try send([("alias", "eve")])
            #expect(none.status == 422 && Self.text(none).contains("No device of the exports has the alias “eve”."))
        }
    }

    @Test(
        "devices are added from lines and tables, looked up, and taken off again; every token is cut, and each change is on record"
    )
    func changes() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let anna = try site.session("anna", [.administrator])
        let tokens = (1...4).map(TestFolder.token)
        let cut = Target.redact(tokens[0])
        try await TestServer.with(site) { server throws in
            func send(_ action: String, _ fields: [(String, String)]) throws -> Reply {
                let reply = try server.form("/suppression/\(action)?app=shop", session: anna, fields)
                for token in tokens { #expect(!reply.body.contains(token.prefix(32)), "\(action)") }
                return reply
            }
            func add(_ text: String, _ more: [(String, String)] = []) throws -> Reply {
                try send("add", [("list", "simulator"), ("devices", text)] + more)
            }
            #expect(try Self.text(server.request("GET", Self.path, session: anna)).contains("No device is suppressed."))
            let lines = try add(
                "# complaints, of May\r\n \(tokens[0]) \r\n\r\n\(tokens[1].uppercased())", [("reason", "complaint")])
            #expect(lines.status == 200 && Self.text(lines).contains("2 devices added."))
            let table = try add(
                "token,reason,invalid_since\n\(tokens[1]),asked <b>twice</b>,2020-01-01\n\(tokens[2]),asked <b>twice</b>,\n"
            )
            #expect(Self.text(table).contains("1 device added, 1 known before."))
            #expect(table.body.contains("asked &lt;b&gt;twice&lt;/b&gt;"))
            #expect(Self.text(try add("token\n\(tokens[3])\n")).contains("1 device added."), "a table of one column")
            #expect(
                Self.text(try add("token\treason\n\(tokens[3])\tx\n")).contains(
                    "0 devices added, 1 now known to be gone more recently."))
            // All or nothing.
            let wrong = try add("\(TestFolder.token(9))\n\(tokens[0])zz\n")
            #expect(
                wrong.status == 422 && wrong.body.contains("Nothing was added.")
                    && wrong.body.contains("Line 2, column 1"))
            #expect(!wrong.body.contains("pasted-"), "paths of the server are its own")
            let export = "token,alias,language\n\(TestFolder.token(9)),a,en\n"
            let refused = try add(export)
            #expect(refused.status == 422 && Self.text(refused).contains("or tick the box if you mean all of them"))
            #expect(try Self.list(folder).count() == 4)
            #expect(Self.text(try add(export, [("all", "yes")])).contains("1 device added."))
            #expect(try FolderNames.of("\(folder.runs)/console").allSatisfy { !$0.hasPrefix("pasted") })
            let found = try send("find", [("device", " \(tokens[0]) ")])
            #expect(Self.text(found).contains("On the list simulator: \(cut) : complaint , since"))
            #expect(
                Self.text(try send("find", [("device", TestFolder.token(77))])).contains(
                    "is not on the list simulator."))
            #expect(try send("find", [("device", "\(tokens[0])zz")]).status == 422)
            #expect(
                Self.text(try send("remove", [("device", tokens[0])])).contains("\(cut) is not suppressed any more."))
            let again = try send("remove", [("device", tokens[0])])
            #expect(again.status == 422 && Self.text(again).contains("\(cut) is not on a list of this app."))
            let mistyped = try send("remove-all", [("list", "simulator"), ("count", "5")])
            #expect(mistyped.status == 422 && Self.text(mistyped).contains("not the number of devices, which is 4."))
            #expect(
                Self.text(try send("remove-all", [("list", "simulator"), ("count", "4")])).contains(
                    "4 devices taken off the list."))
            #expect(try Self.list(folder).count() == 0)
            let kinds = try site.accounts.activities(ActivityFilter(app: "shop")).activities.map(\.kind)
            #expect(
                kinds == [
                    .suppressionLifted(devices: 4), .suppressionLifted(devices: 1), .suppressed(devices: 1),
                    .suppressed(devices: 1),
                    .suppressed(devices: 1), .suppressed(devices: 1), .suppressed(devices: 2),
                ])
            #expect(
                try Self.text(server.request("GET", "/activity?app=shop", session: anna)).contains(
                    "suppressed 2 devices ( simulator )"))
        }
    }

    @Test("each app's lists are for those who administer it; a long list of devices is taken, a longer one is not")
    func ownApps() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let (nina, edith) = (
            try site.session("nina", [.administrator], app: "news"), try site.session("edith", [.editor, .approver])
        )
        _ = try Self.list(folder).add {
            try $0.add(Target(normalized: TestFolder.token(1)), reason: "r", invalidSince: TestFolder.start)
        }
        try await TestServer.with(site) { server throws in
            let all = try server.request("GET", "/suppression", session: nina).body
            #expect(all.contains("/suppression/app?app=news") && !all.contains("shop"))
            #expect(try server.request("GET", "/suppression", session: edith).status == 403)
            #expect(try !server.request("GET", "/", session: edith).body.contains("Suppression"))
            #expect(try server.request("GET", "/suppression/app?app=none", session: nina).status == 404)
            #expect(try server.request("GET", "/suppression/app", session: nina).status == 404)
            for session in [nina, edith] {
                #expect(try server.request("GET", Self.path, session: session).status == 403)
                for action in ["find", "add", "remove", "remove-all"] {
                    let fields = [
                        ("list", "simulator"), ("device", TestFolder.token(1)), ("devices", TestFolder.token(2)),
                        ("count", "1"),
                    ]
                    #expect(
                        try server.form("/suppression/\(action)?app=shop", session: session, fields).status == 403,
                        "\(action)")
                }
            }
            #expect(try Self.list(folder).count() == 1)
            let many = (0..<20_000).map(TestFolder.token).joined(separator: "\n")
            let fields = [("list", "simulator"), ("devices", many)]
            let reply = try server.form("/suppression/add?app=news", session: nina, fields)
            #expect(Self.text(reply).contains("20,000 devices added."))
            #expect(
                try server.form("/suppression/add?app=news", session: nina, [("list", "production"), ("devices", "x")])
                    .status == 400)
            #expect(
                try server.form("/suppression/add?app=news", session: nina, [("devices", many + many)]).status == 413)
        }
    }

    @Test("an app with several services has a list for each")
    func severalServices() async throws {
        let folder = try TestFolder(
            project: """
                apps:
                  shop:
                    topic: com.example.shop
                    environment: simulator
                    services: {fcm: {project: shop-1a2b, environment: simulator}}
                    columns: {service: {column: platform, map: {ios: apns, android: fcm}}}

                """)
        let site = try folder.siteWithAccounts()
        let anna = try site.session("anna", [.administrator])
        try await TestServer.with(site) { server throws in
            let page = try server.request("GET", Self.path, session: anna).body
            #expect(page.contains("<option dir=\"auto\" value=\"fcm:simulator\">FCM, simulator</option>"))
            let id = "dPx3c9Qk2Lm0aBcDeFgHiJ"
            let added = try server.form(
                "/suppression/add?app=shop", session: anna, [("list", "fcm:simulator"), ("devices", id)])
            #expect(Self.text(added).contains("1 device added.") && !added.body.contains(id))
            let found = try server.form("/suppression/find?app=shop", session: anna, [("device", id)])
            #expect(
                Self.text(found).contains("On the list FCM, simulator: dPx3…HiJ")
                    || Self.text(found).contains("On the list FCM, simulator: dPx3…gHiJ"))
            let ids = found.body.matches(of: #/ id="([^"]*)"/#).map { String($0.1) }
            #expect(Set(ids).count == ids.count, "\(ids)")
        }
    }
}
