import Accounts
import Base
import Foundation
import Runs
import Testing

@testable import volley_console

/// Names of the files in a folder.
enum FolderNames {
    static func of(_ folder: String) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder) }
}

@Suite("who did what, in the console")
struct ActivityPageTests {
    private static let id = "20261201-090000-spring-sale-7f3a"

    private static func text(_ reply: Reply) -> String {
        reply.body.replacing(#/<[^>]*>/#, with: " ").split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Each kind once, with the words that the page has for it.
    private static let kinds: [(ActivityKind, String?, String)] = [
        (.signedIn, nil, "signed in"), (.signInFailed(.wrongPassword), nil, "typed a wrong password"),
        (.signedOut, nil, "signed out"),
        (.sessionEnded, nil, "signed out in another browser"),
        (.recoveryCodeUsed(left: 3), nil, "used a recovery code (3 left)"),
        (.passwordChanged, nil, "changed their password"), (.secondFactorSetUp, nil, "set up a second factor"),
        (.secondFactorRemoved, "eva", "removed the second factor of eva"),
        (.invited([RoleGrant(.editor, .app("shop"))]), "eva", "invited eva as editor of shop"),
        (.passwordResetOffered, "eva", "offered eva a new password"),
        (.invitationAccepted, nil, "used a link, and chose a password"),
        (.invitationWithdrawn, "eva", "withdrew the invitation of eva"),
        (.renamed(before: "Eva", after: "Eva R"), "eva", "renamed eva from Eva to Eva R"),
        (.disabled, "eva", "disabled eva"),
        (.enabled, "eva", "enabled eva"), (.confirmed, "eva", "confirmed that only its person holds the account eva"),
        (.removed, "eva", "removed eva"),
        (
            .rolesChanged(before: [], after: [RoleGrant(.viewer, .allApps)]), "eva",
            "changed the roles of eva from no role to viewer of all apps"
        ),
        (
            .rolesClaimed(before: [RoleGrant(.viewer, .allApps)], after: [RoleGrant(.editor, .app("shop"))]), nil,
            "came from the provider of identities with other roles: viewer of all apps before, editor of shop now"
        ),
        (.campaignSaved(digest: "d"), "a.yaml", "saved a.yaml"), (.campaignArchived, "a.yaml", "archived a.yaml"),
        (.testSent(digest: "d"), "a.yaml", "asked for a test of a.yaml"),
        (.approvalAsked(digest: "d"), "a.yaml", "asked for a plan of a.yaml"),
        (.approved(digest: "d"), id, "asked to approve \(id)"),
        (.rejected(digest: "d", reason: "too <b>loud"), id, "asked to reject \(id) :"),
        (.withdrawn, id, "asked to withdraw \(id)"), (.sent, id, "asked to send \(id)"),
        (.paused, id, "asked to pause \(id)"),
        (.resumed, id, "asked to resume \(id)"),
        (.cancelled, id, "asked to cancel \(id)"), (.retried, id, "asked to retry \(id)"),
        (.timeSkipped("2026-12-01T09:00"), "spring", "asked to leave out spring at 2026-12-01 09:00"),
        (
            .timeApproved("2026-12-01T09:00", mostDevices: 10_000, digest: "d"), "spring",
            "asked to approve spring at 2026-12-01 09:00 for at most 10,000 devices"
        ),
        (
            .approvalWithdrawn("2026-12-01T09:00"), "spring",
            "asked to withdraw the approval of spring at 2026-12-01 09:00"
        ),
        (.timeApprovalAsked("2026-12-01T09:00"), "spring", "asked for the approval of spring at 2026-12-01 09:00"),
        (.tokensExported(rows: 5), id, "downloaded the device tokens of \(id) , 5 devices"),
        (.suppressed(devices: 2), nil, "suppressed 2 devices"),
        (.suppressionLifted(devices: 1), nil, "took 1 device off the suppression list"),
    ]

    @Test("every kind has words, and those about runs and campaigns lead there")
    func words() async throws {
        #expect(Set(Self.kinds.map(\.0.name)) == Set(ActivityKind.Name.allCases))
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let id = try site.person("anna", [.administrator])
        let anna = try site.enter("anna")
        for (kind, subject, _) in Self.kinds {
            try site.accounts.note(kind, app: "shop", subject: subject, by: Actor(id, address: nil), at: .now())
        }
        try await TestServer.with(site) { server throws in
            let page = try server.request("GET", "/activity", session: anna)
            for (kind, _, words) in Self.kinds {
                #expect(Self.text(page).contains(words), "\(kind)")
                let one = Self.text(
                    try server.request("GET", "/activity?app=shop&kind=\(kind.name.rawValue)", session: anna))
                #expect(one.contains(words), "\(kind)")
            }
            #expect(page.body.contains("<a href=\"/runs/\(Self.id)\" dir=\"auto\">\(Self.id)</a>"))
            #expect(page.body.contains("<a href=\"/campaign?file=a.yaml\" dir=\"auto\">a.yaml</a>"))
            #expect(page.body.contains("<q dir=\"auto\">too &lt;b&gt;loud</q>"))
        }
    }

    @Test("the newest come first, fifty to a page, and filters stay in the addresses")
    func paging() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let (anna, ben) = (try site.person("anna", [.administrator]), try site.person("ben", [.viewer]))
        let session = try site.enter("anna")
        for number in 0..<120 {
            try site.accounts.note(
                .paused, app: number % 2 == 0 ? "shop" : "news", subject: "run-\(number)",
                by: Actor(number % 3 == 0 ? ben : anna, address: nil), at: .now())
        }
        try await TestServer.with(site) { server throws in
            func runs(_ path: String) throws -> [Int] {
                try server.request("GET", path, session: session).body.matches(of: #/>run-([0-9]+)</#).compactMap {
                    Int(String($0.1))
                }
            }
            #expect(try runs("/activity") == (71..<120).reversed() || runs("/activity").first == 119)
            let first = try server.request("GET", "/activity?app=shop&kind=paused", session: session).body
            let next = try #require(
                first.firstMatch(of: #/href="(\/activity\?app=shop&amp;kind=paused&amp;before=[0-9]+)" rel="next"/#)
            ).1
            let second = try runs(String(next).replacing("&amp;", with: "&"))
            #expect(
                try runs("/activity?app=shop&kind=paused") + second == stride(from: 118, through: 0, by: -2).map { $0 })
            #expect(try runs("/activity?person=\(ben.number)").allSatisfy { $0 % 3 == 0 })
            #expect(first.contains("<option dir=\"auto\" value=\"shop\" selected>"))
            for query in ["person=x", "kind=none", "app=none", "app='"] {
                #expect(
                    try Self.text(server.request("GET", "/activity?\(query)", session: session)).contains(
                        "Nothing matches."), "\(query)")
            }
            #expect(try server.request("GET", "/activity?before=x", session: session).status == 200)
        }
    }

    @Test("an administrator of one app sees what concerns it alone, others see nothing")
    func ownApps() async throws {
        let folder = try TestFolder()
        let site = try folder.siteWithAccounts()
        let id = try site.person("anna", [.administrator])
        let (nina, edith) = (
            try site.session("nina", [.administrator], app: "news"), try site.session("edith", [.editor, .approver])
        )
        for app in ["shop", "news", nil] {
            try site.accounts.note(
                .paused, app: app, subject: "of-\(app ?? "none")", by: Actor(id, address: nil), at: .now())
        }
        try await TestServer.with(site) { server throws in
            for query in ["", "?person=\(id.number)", "?app=news", "?kind=paused"] {
                let page = try server.request("GET", "/activity\(query)", session: nina).body
                #expect(page.contains("of-news") && !page.contains("of-shop") && !page.contains("of-none"), "\(query)")
                #expect(!page.contains("value=\"shop\""))
            }
            #expect(
                try Self.text(server.request("GET", "/activity?app=shop", session: nina)).contains("Nothing matches."))
            #expect(try server.request("GET", "/activity", session: edith).status == 403)
        }
    }

    @Test(
        "editors download results without whole tokens; it gives nothing away, so it is not on record, and viewers get neither file"
    )
    func shortened() async throws {
        let folder = try TestFolder()
        try folder.run(Self.id).close()
        let site = try folder.siteWithAccounts()
        let (ed, vera) = (try site.session("ed", [.editor]), try site.session("vera", [.viewer]))
        try await TestServer.with(site) { server throws in
            let path = "/runs/\(Self.id)"
            #expect(try server.request("GET", path, session: ed).body.contains("\(path)/devices.csv"))
            let csv = try server.request("GET", "\(path)/devices.csv", session: ed)
            // Sizes of chunks are between the lines.
            let lines = csv.body.split(whereSeparator: \.isNewline).filter { $0.contains(",") }
            #expect(
                csv.status == 200 && lines.count == 6 && lines[1].hasPrefix("abab…0000,…,a,en,,accepted"), "\(csv.body)"
            )
            #expect((0..<5).allSatisfy { !csv.body.contains(TestFolder.token($0)) })
            #expect(try !server.request("GET", path, session: vera).body.contains(".csv"))
            #expect(try server.request("GET", "\(path)/devices.csv", session: vera).status == 403)
            #expect(try site.accounts.activities(ActivityFilter(kind: .tokensExported)).activities.isEmpty)
        }
    }

    @Test("any two runs are compared, the earlier one first; one that a person may not see is not there")
    func comparison() async throws {
        let folder = try TestFolder(), other = "20261130-090000-daily-1111", news = "20261130-090000-news-2222"
        try folder.run(Self.id).close()
        try folder.run(other, campaign: "daily", plannedAt: TestFolder.start.adding(seconds: -3_600)).close()
        try folder.run(news, app: "news").close()
        let site = try folder.siteWithAccounts()
        let ed = try site.session("ed", [.editor], app: "shop")
        try await TestServer.with(site) { server throws in
            #expect(try server.request("GET", "/runs", session: ed).body.contains("name=\"run.\(other)\""))
            let page = try server.request("GET", "/comparison?run.\(Self.id)=on&run.\(other)=on", session: ed)
            #expect(page.status == 200 && page.body.contains("The runs are of two campaigns: daily and spring-sale."))
            #expect(page.body.contains("<th scope=\"row\" dir=\"auto\">Accepted</th>"))
            // In words, with both moments, and what their texts say.
            #expect(
                !page.body.contains("invalid_token") && !page.body.contains("latency")
                    && page.body.contains("Texts and rules"))
            #expect(page.body.contains("of <time datetime=\"\(TestFolder.start.description)\""))
            #expect(
                try server.request("GET", "/comparison?run.\(Self.id)=on", session: ed).body.contains(
                    "1 run is checked"))
            let three = try server.request(
                "GET", "/comparison?run.\(Self.id)=on&run.\(other)=on&run.\(news)=on", session: ed)
            #expect(three.body.contains("Check two runs; 3 runs are checked."))
            #expect(
                try server.request("GET", "/comparison?run.\(Self.id)=on&run.\(news)=on", session: ed).status == 404)
            // From a run's page, whatever page of the list the other one is on.
            let run = try server.request("GET", "/runs/\(Self.id)", session: ed).body
            let way = "/runs?q=spring-sale&amp;with=\(Self.id)"
            #expect(run.contains("<a href=\"\(way)\">Compare it with another run</a>"), "\(run)")
            let list = try server.request("GET", "/runs?with=\(Self.id)", session: ed).body
            #expect(list.contains("<input type=\"hidden\" name=\"run.\(Self.id)\" value=\"on\">"))
            #expect(list.contains("name=\"run.\(other)\"") && list.contains("Compare it with the one that is checked"))
            #expect(!list.contains("type=\"checkbox\" name=\"run.\(Self.id)\""))
            let hidden = try server.request("GET", "/runs?with=\(news)", session: ed).body
            #expect(!hidden.contains(news) && hidden.contains("Compare the two that are checked"))
        }
    }

    @Test("a download of whole tokens is on record with its devices, also when it is broken off")
    func download() async throws {
        let folder = try TestFolder()
        try folder.run(Self.id)
        let site = try folder.siteWithAccounts()
        let anna = try site.session("anna", [.administrator])
        try await TestServer.with(site) { server throws in
            #expect(try server.request("HEAD", "/runs/\(Self.id)/results.csv", session: anna).status == 200)
            let csv = try server.request("GET", "/runs/\(Self.id)/results.csv", session: anna)
            #expect(csv.status == 200 && csv.body.contains(TestFolder.token(0)))
            let noted = try site.accounts.activities(ActivityFilter(kind: .tokensExported)).activities
            #expect(
                noted.map(\.kind) == [.tokensExported(rows: 5)] && noted.first?.subject == Self.id
                    && noted.first?.app == "shop")
            #expect(
                try Self.text(server.request("GET", "/activity", session: anna)).contains(
                    "downloaded the device tokens of \(Self.id)"))
        }
        // A person that leaves the page after the first part.
        let visit = Visit(
            person: Person(id: AccountID(1), account: "anna", displayName: "anna", rights: Rights([]), isFresh: true),
            secret: nil,
            parameters: [:], query: [:],
            requestOrigin: HostRules.RequestOrigin(client: nil, isSecure: false, origin: ""), now: .now())
        #expect(throws: CancellationError.self) {
            try TokenExport.noting(app: "shop", run: Self.id, visit, site) { counted in
                _ = counted(Array("device_token\na\nb\n".utf8))
                throw CancellationError()
            }
        }
        #expect(try site.accounts.activities(count: 1).activities.first?.kind == .tokensExported(rows: 2))
    }
}
