import Accounts
import Base
import Foundation
import Runs
import Testing

@testable import volley_console

@Suite("Text of others on every page")
struct HostileTests {
    private static let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u{202E}\u{7}"
    /// A name that is allowed for a file, but not for a campaign.
    private static let file = "<b onclick=x>'\"&\u{202E}.yaml"

    @Test("no campaign, file, app, cell, person or query becomes markup, or hides what it is")
    func markup() async throws {
        let quoted = Self.evil.replacing("'", with: "''").replacing("\u{7}", with: "")
        let folder = try TestFolder(
            project: """
                apps:
                  shop: {topic: com.example.shop, environment: simulator, approval: required}
                  '\(quoted)': {topic: com.example.news, environment: simulator}

                """)
        let id = "20261201-090000-spring-sale-7f3a"
        try folder.run("20261201-090000-odd-7f3b", campaign: Self.evil, app: Self.evil, .planned)
        try folder.run(id, campaign: Self.evil, app: Self.evil, .stopped, cause: .described(Self.evil))
        try folder.write(
            Self.file, "name: spring-sale\napp: '\(quoted)'\ndescription: '\(quoted)'\naudiense: '\(quoted)'\n")
        try folder.write(
            "good.yaml",
            "name: good\napp: '\(quoted)'\ndescription: '\(quoted)'\naudience: {everyone: true}\ncontent: {title: '\(quoted)'}\nschedule: {at: 2099-01-01T09:00, timezone: Europe/Berlin}\n"
        )
        try folder.write("runs/20261201-090000-broken-7f3c.sqlite", Self.evil)
        let signIn = FixedSignIn([
            Self.evil: .init(password: "x", rights: Rights([RoleGrant(.administrator, .allApps)]))
        ])
        let session = signIn.begin(Self.evil)
        try await TestServer.with(folder.site(signIn)) { server throws in
            let query = FormFields.encode(Self.evil)
            let paths =
                [
                    "/", "/campaigns", "/campaigns?q=\(query)", "/calendar", "/runs",
                    "/runs?q=\(query)&app=\(query)&state=\(query)&page=\(query)", "/runs/\(id)",
                    "/runs/\(id)/report", "/system", "/users", "/invite", "/activity?app=\(query)&person=\(query)",
                    "/suppression",
                    "/suppression/app?app=\(query)",
                    "/account/proof?to=\(query)", "/runs/\(query)", "/nowhere/\(query)", "/sign-in?to=\(query)",
                ]
                + [Self.file, "good.yaml"].flatMap { file in
                    ["/campaign", "/campaign/form"].map { "\($0)?file=\(FormFields.encode(file))" }
                }
            for path in paths {
                let reply = try server.request("GET", path, session: path.hasPrefix("/sign-in") ? nil : session)
                let body = reply.body
                #expect(body.contains("<h1"), "\(path): \(reply.status)")
                #expect(!body.contains("<script>"), "\(path)")
                #expect(!body.contains("<img"), "\(path)")
                #expect(!body.contains("<b onclick"), "\(path)")
                #expect(!body.contains("\u{7}"), "\(path)")
                #expect(
                    Self.tags(of: body).allSatisfy { !$0.contains("onerror") && !$0.contains("onclick") }, "\(path)")
                #expect(!Self.unisolated(body).contains("\u{202E}"), "\(path)")
            }
            let live = try server.request("GET", "/runs/\(id)/live.json", session: session)
            #expect(live["content-type"] == "application/json; charset=utf-8")
            #expect(!live.body.contains("<script>"))
        }
    }

    /// Tags with their attributes, without the text in quotes.
    private static func tags(of body: String) -> [String] {
        body.matches(of: #/<[a-zA-Z\/][^<>]*>/#).map { String($0.output).replacing(#/"[^"]*"/#, with: "") }
    }

    /// The page without the elements that isolate the direction of foreign text.
    private static func unisolated(_ body: String) -> String {
        body.replacing(#/<(\w+)[^<>]*dir="auto"[^<>]*>(?s:.*?)<\/\1>/#, with: "").replacing(
            #/<title>.*?<\/title>/#, with: ""
        )
        .replacing(#/"[^"]*"/#, with: "")
    }
}
