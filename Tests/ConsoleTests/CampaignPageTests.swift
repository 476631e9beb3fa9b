import Accounts
import Base
import Campaigns
import Foundation
import Glibc
import PushServices
import Runs
import Testing

@testable import volley_console

@Suite("the page of a campaign, and the calendar")
struct CampaignPageTests {
    typealias Office = OrderPageTests.Office

    private static let path = "/campaign?file=spring-sale.yaml"

    @Test(
        "a campaign's page shows what phones show, who gets it, its next step and its last result before everything else, and folds the source"
    )
    func overview() async throws {
        let office = try Office()
        let (edith, vera) = (try office.session("edith", [.editor]), try office.session("vera", [.viewer]))
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: edith).body
            let overview = try #require(page.range(of: "class=\"panel overview\"")),
                source = try #require(page.range(of: "id=\"source\""))
            #expect(overview.lowerBound < source.lowerBound)
            let first = page[overview.lowerBound..<source.lowerBound]
            #expect(
                first.contains("<p class=\"title\" dir=\"auto\">Hi</p>") && first.contains("Every device of the export")
            )
            #expect(
                first.contains("Ask for the approval</a> of a plan") && first.contains("By hand")
                    && !first.contains("Last result"))
            #expect(page.contains("<details><summary><h2 id=\"source\">"))
            #expect(try !server.request("GET", Self.path, session: vera).body.contains("/campaign/form"))
            let plan = try office.folder.run("20261201-100000-spring-sale-7f3b", .planned)
            try office.folder.run("20261201-090000-spring-sale-7f3a")
            usleep(600_000)
            let sent = try server.request("GET", Self.path, session: edith).body
            #expect(sent.contains("Last result") && sent.contains("2 of 5 devices accepted"))
            #expect(sent.contains("A plan waits for an approval: <a href=\"/runs/\(plan.plan.id)\">"))
            // With a mistake, the source is open at it.
            try office.folder.write(
                "spring-sale.yaml", "name: spring-sale\napp: shop\naudience: {}\ncontent: {titel: Hi}\n")
            let broken = try server.request("GET", Self.path, session: edith).body
            #expect(
                broken.contains("Mend the mistakes") && broken.contains("<details open><summary><h2 id=\"source\">"))
            #expect(broken.contains("Not chosen yet"))
        }
    }

    @Test("a finding in another file than the campaign's own comes with that file's name, and without its folder")
    func otherFile() async throws {
        let office = try Office()
        try office.folder.write(
            "volley.yaml",
            "apps:\n  shop: {topic: com.example.shop, environment: simulator, approval: required, devices: missing.csv}\n"
        )
        try office.folder.write(
            "spring-sale.yaml", "name: spring-sale\napp: shop\naudience: {everyone: true}\ncontent: {title: Hi}\n")
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            for path in [Self.path, "/campaign/form?file=spring-sale.yaml"] {
                let page = try server.request("GET", path, session: edith).body
                #expect(page.contains("<li dir=\"auto\"><b>volley.yaml</b>: There is no file"), "\(path)")
            }
            // One in its own file is not named again.
            try office.folder.write(
                "spring-sale.yaml", "name: spring-sale\napp: shop\naudience: {}\ncontent: {title: Hi}\n")
            #expect(try !server.request("GET", Self.path, session: edith).body.contains("<b>spring-sale.yaml</b>"))
        }
    }

    @Test("texts that are marked as older are the first doubt of a campaign and of its plan, by variant and language")
    func olderTexts() async throws {
        let office = try Office(), id = "20261201-100000-spring-sale-7f3b"
        let head = "name: spring-sale\napp: shop\naudience: {devices: devices.csv, everyone: true}\n"
        let source =
            head + """
                content:
                  title: Hi
                  languages:
                    # volley: translate content.languages.de (title)
                    de: {title: Hallo}
                variants:
                  long: {share: 50}
                  short:
                    share: 50
                    content:
                      body: Short
                      languages:
                        # volley: translate variants.short.content.languages.fr (title, body)
                        fr: {title: Salut, body: Bref}

                """
        try office.folder.write("spring-sale.yaml", source)
        let warnings = try JSONValue(
            parsing: "{\"warnings\": [{\"name\": \"sent-recently\", \"message\": \"doubt\", \"remedy\": \"Look.\"}]}")
        try office.folder.run(id, .planned, source: source, preview: warnings).close()
        let (edith, ben) = (try office.session("edith", [.editor]), try office.session("ben", [.approver]))
        try await TestServer.with(office.site) { server throws in
            let plan = try server.request("GET", "/runs/\(id)", session: ben).body
            for page in [plan, try server.request("GET", Self.path, session: edith).body] {
                #expect(page.contains("<b>3 texts are marked as older than the ones that they belong to</b>"))
                #expect(
                    page.contains(">German (de): title</li>")
                        && page.contains(">Variant short, French (fr): title, text</li>"))
            }
            let order = try ["Older texts", "Sent lately", "/approve\""].map {
                try #require(plan.range(of: $0), "\($0)").lowerBound
            }
            #expect(order == order.sorted())
            try office.folder.write("spring-sale.yaml", source.replacing(#/ +# volley.*\n/#, with: ""))
            #expect(try !server.request("GET", Self.path, session: edith).body.contains("Older texts"))
        }
    }

    @Test("one phone is next to the facts, and the others are below a fold")
    func onePhone() {
        func sample(_ language: String) -> DraftPreview.Sample {
            .init(
                service: "apns", variant: "", language: language, push: ShownPush(title: "Hi \(language)"),
                hasBlanks: false)
        }
        let (first, others) = PhoneControl.glance(["", "de", "fr"].map(sample), app: "shop") ?? ("", "")
        #expect(first.markup.components(separatedBy: "<figure").count == 2 && first.markup.contains("Hi "))
        #expect(others.markup.hasPrefix("<details class=\"others\"><summary>2 other devices</summary>"))
        #expect(others.markup.contains("data-variant=\"\" data-language=\"de\"") && others.markup.contains("Hi fr"))
        #expect(
            PhoneControl.glance([sample("")], app: "shop")?.others.markup == ""
                && PhoneControl.glance([], app: "shop") == nil)
    }

    @Test(
        "an audience is said in words",
        arguments: [
            ("{everyone: true}", "Every device of the export"),
            ("{tags: [vip, new]}", "Devices with the tag vip or new"),
            (
                "{tags: {any: [a], all: [b, c], none: [d]}}",
                "Devices with the tag a and with all of the tags b and c and without the tag d"
            ),
            (
                "{tags: {any: [a], none: [d]}, aliases: [u1], where: {store: missing}}",
                "Devices with the tag a and without the tag d, and devices of the aliases u1, if store is not known"
            ),
            ("{channel: dHN0LXNyY2gtY2hubA==}", "Phones that follow the channel dHN0LXNyY2gtY2hubA=="),
            (
                "{everyone: true, where: {last_active: within 30 days, app_version: \">= 3.2.0\", language: [de, en], store: missing}}",
                "Every device of the export, if last active is at most 30 days ago, and app version is at least 3.2.0, and language is de or en, and store is not known"
            ),
            (
                "{aliases: [u1], exclude: {tags: [unsubscribed], devices: gone.csv}}",
                "Devices of the aliases u1; but not those with the tag unsubscribed, or listed in gone.csv"
            ),
            ("{tags: [a, b, c, d, e, f, g, h]}", "Devices with the tag a, b, c, d, e, f or 2 more"),
            ("{}", "Not chosen yet"),
            ("{where: {last_active: older than 60 days}}", "Devices, if last active is more than 60 days ago"),
        ])
    func audience(source: String, words: String) throws {
        let draft = Campaign.draft(
            text: "name: x\napp: shop\naudience: \(source)\ncontent: {title: Hi}\n", file: "x.yaml", now: .now()
        ) { _ in [PushServices.standard] }
        #expect(AudienceWords.html(try #require(draft.audience)).markup == words)
    }

    @Test(
        "month and week show coming times and what was sent, each with a link to its campaign; each person's clock is a span"
    )
    func calendar() async throws {
        let folder = try TestFolder()
        try folder.write(
            "daily.yaml",
            "name: daily\napp: news\naudience: {everyone: true}\ncontent: {title: Hi}\nschedule: {repeat: \"0 9 * * *\", timezone: recipient, fallback_timezone: Europe/Berlin}\n"
        )
        try folder.write(
            "spring-sale.yaml", "name: spring-sale\napp: shop\naudience: {everyone: true}\ncontent: {title: Hi}\n")
        try folder.run("20261201-090000-spring-sale-7f3a")
        let signIn = FixedSignIn.usual
        let (anna, reader) = (signIn.begin("anna"), signIn.begin("reader"))
        try await TestServer.with(folder.site(signIn)) { server throws in
            for query in ["month=2026-12", "week=2026-12-03"] {
                let page = try server.request("GET", "/calendar?\(query)", session: anna).body
                #expect(
                    page.contains(
                        query.hasPrefix("month") ? "December 2026</h2>" : "Week of Monday, 30 November 2026</h2>"),
                    "\(query)")
                #expect(page.contains("<a href=\"/campaign?file=spring-sale.yaml\" dir=\"auto\">spring-sale</a>"))
                #expect(page.contains("href=\"/runs/20261201-090000-spring-sale-7f3a\">finished</a>"))
                #expect(page.contains("datetime=\"2026-12-01T09:00:00Z\" data-clock>Tue, 09:00 UTC</time>"))
            }
            let now = try server.request("GET", "/calendar", session: anna).body
            #expect(
                now.contains("<a href=\"/campaign?file=daily.yaml\" dir=\"auto\">daily</a>")
                    && now.contains("aria-current=\"date\""))
            #expect(
                now.contains("each person’s clock: <time")
                    && now.contains("on each person’s clock <span class=\"note\">from <time"))
            #expect(try !server.request("GET", "/calendar", session: reader).body.contains("daily"))
            for odd in ["month=2026-13", "month=x", "week=2026-02-30", "week=9999-12-31", "month=0000-00", "week="] {
                #expect(try server.request("GET", "/calendar?\(odd)", session: anna).status == 200, "\(odd)")
            }
            let edges = try server.request("GET", "/calendar?month=2026-12", session: anna).body
            #expect(
                edges.contains("/calendar?month=2026-11\" rel=\"prev\"")
                    && edges.contains("/calendar?month=2027-01\" rel=\"next\""))
        }
    }
}
