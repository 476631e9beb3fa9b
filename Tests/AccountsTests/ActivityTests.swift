import Base
import GRDB
import Testing

@testable import Accounts

@Suite("What was done")
struct ActivityTests {
    private static let kinds: [ActivityKind] = [
        .signedIn, .signInFailed(.wrongPassword), .signInFailed(.wrongCode), .signInFailed(.disabled), .signedOut,
        .sessionEnded,
        .recoveryCodeUsed(left: 3), .passwordChanged, .secondFactorSetUp, .secondFactorRemoved,
        .invited([RoleGrant(.viewer, .allApps)]),
        .passwordResetOffered, .invitationAccepted, .invitationWithdrawn, .renamed(before: "a", after: "b\"\u{202E}"),
        .disabled, .enabled,
        .confirmed,
        .removed, .rolesChanged(before: [], after: [RoleGrant(.editor, .app("shop"))]),
        .rolesClaimed(before: [RoleGrant(.viewer, .allApps)], after: []), .campaignSaved(digest: "d"),
        .campaignArchived,
        .testSent(digest: "d"), .approvalAsked(digest: "d"), .approved(digest: "d"),
        .rejected(digest: "d", reason: "too \"loud\""),
        .withdrawn, .sent,
        .paused, .resumed, .cancelled, .retried, .timeSkipped("2026-12-01T09:00"),
        .timeApproved("2026-12-01T09:00", mostDevices: 10_000, digest: "d"), .approvalWithdrawn("2026-12-01T09:00"),
        .timeApprovalAsked("2026-12-01T09:00"),
        .tokensExported(rows: 10),
        .suppressed(devices: 1), .suppressionLifted(devices: 2),
    ]

    @Test("each kind is kept with its values")
    func kinds() throws {
        #expect(Set(Self.kinds.map(\.name)) == Set(ActivityKind.Name.allCases))
        let folder = try AccountFolder()
        for kind in Self.kinds { try folder.store.note(kind, app: "shop", subject: "x.yaml", by: .terminal, at: noon) }
        #expect(try folder.store.activities(count: 100).activities.reversed().map(\.kind) == Self.kinds)
        for kind in Self.kinds { #expect(ActivityKind(kind.name, values: kind.values) == kind) }
        // Values of another kind are damaged.
        #expect(ActivityKind(.approved, values: .object(pairs: [("digest", .integer(1))])) == nil)
        #expect(ActivityKind(.recoveryCodeUsed, values: .array([])) == nil)
    }

    @Test(
        "pages come newest first, in the order in which things were noted, whatever the clock said; none is missed or shown twice"
    )
    func pages() throws {
        let folder = try AccountFolder()
        let ben = try folder.account("ben", [])
        for number in 0..<25 {
            try folder.store.note(
                .suppressed(devices: number), app: "shop", subject: nil, by: ben,
                at: after(Int64(number % 2 == 0 ? number : -number)))
        }
        var seen: [ActivityKind] = []
        var before: Int64?
        var sizes: [Int] = []
        repeat {
            let page = try folder.store.activities(ActivityFilter(kind: .suppressed), before: before, count: 10)
            // Activities that are added in the meantime do not shift pages.
            try folder.store.note(.suppressed(devices: 99), app: "shop", subject: nil, by: ben, at: noon)
            seen += page.activities.map(\.kind)
            sizes.append(page.activities.count)
            before = page.next
        } while before != nil
        #expect(seen == (0..<25).reversed().map { .suppressed(devices: $0) } && sizes == [10, 10, 5])
        let whole = try folder.store.activities(ActivityFilter(kind: .suppressed), count: 28)
        #expect(whole.activities.count == 28 && whole.next == nil)
    }

    @Test("filters hold together")
    func filters() throws {
        let folder = try AccountFolder()
        let ben = try folder.account("ben", []), vera = try folder.account("vera", [])
        for (actor, app, kind) in [
            (ben, "shop", .paused), (vera, "shop", .paused), (ben, "news", .paused), (ben, "shop", .resumed),
            (.terminal, "shop", .paused),
        ] as [(Actor, String, ActivityKind)] {
            try folder.store.note(kind, app: app, subject: "run", by: actor, at: noon)
        }
        func count(_ filter: ActivityFilter) throws -> Int {
            let page: ActivityPage = try folder.store.activities(filter)
            return page.activities.count
        }
        #expect(try count(ActivityFilter(kind: .paused)) == 4)
        #expect(try count(ActivityFilter(app: "shop")) == 4)
        #expect(try count(ActivityFilter(app: "shop", kind: .paused)) == 3)
        #expect(try count(ActivityFilter(account: ben.account, app: "shop", kind: .paused)) == 1)
        #expect(try count(ActivityFilter(app: "' OR 1 --")) == 0)
        #expect(try count(ActivityFilter(apps: ["shop", "news"], kind: .paused)) == 4)
        #expect(try count(ActivityFilter(apps: ["shop", "'"])) == 4)
        #expect(try count(ActivityFilter(app: "news", apps: ["shop"])) == 0)
        #expect(try count(ActivityFilter(apps: [])) == 0, "what concerns no app is left out as well")
        let found = try #require(
            try folder.store.activities(ActivityFilter(account: ben.account, app: "news")).activities.first)
        #expect(
            found.person == .init(account: ben.account, name: try name("ben")) && found.address == home
                && found.subject == "run")
        #expect(found.at == noon && found.app == "news")
        try folder.store.note(.paused, app: "shop", subject: "other", by: ben, at: noon)
        #expect(try count(ActivityFilter(app: "shop", kind: .paused, subject: "other")) == 1)
        #expect(try count(ActivityFilter(app: "news", subject: "other")) == 0)
    }

    @Test("hostile names of files are kept short and harmless")
    func hostile() throws {
        let folder = try AccountFolder()
        for subject in ["a\u{1B}[2Jb\u{202E}c\n\u{0}", String(repeating: "é", count: 1 << 19)] {
            try folder.store.note(.campaignArchived, app: nil, subject: subject, by: .terminal, at: noon)
            let kept = try #require(try folder.store.activities(count: 1).activities.first?.subject)
            #expect(kept.utf8.count <= 1_000)
            #expect(kept.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) })
        }
        try folder.store.note(
            .rejected(digest: "d", reason: String(repeating: "no ", count: 1 << 18)), app: nil, subject: nil,
            by: .terminal, at: noon)
        guard case .rejected(_, let reason)? = try folder.store.activities(count: 1).activities.first?.kind else {
            Issue.record("no reason")
            return
        }
        #expect(reason.utf8.count <= 1_000 && reason.hasPrefix("no no"))
    }

    @Test(
        "the file itself lets nobody change or remove what was done",
        arguments: ["DELETE FROM activity", "UPDATE activity SET at = 0"])
    func kept(sql: String) throws {
        let folder = try AccountFolder()
        try folder.store.note(.paused, app: nil, subject: nil, by: .terminal, at: noon)
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: folder.file).write { try $0.execute(sql: sql) } }
        #expect(try folder.store.activities().activities.map(\.at) == [noon])
    }
}
