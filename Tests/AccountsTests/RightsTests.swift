import Base
import Testing

@testable import Accounts

@Suite("Roles and rights")
struct RightsTests {
    /// The table, written a second time: rows are rights, letters are viewer, editor, approver,
    /// administrator.
    private static let table: [Right: String] = [
        .seeCampaigns: "VEPA", .readReports: "VEPA", .edit: "EA", .sendTests: "EPA", .askForApproval: "EA",
        .approve: "PA",
        .controlSending: "PA", .exportTokens: "A", .manageSuppression: "A", .manageUsers: "A", .seeSystem: "A",
    ]

    @Test("each role has its rights and no other", arguments: Right.allCases)
    func roles(right: Right) throws {
        let letters = try #require(Self.table[right])
        for (role, letter) in [(Role.viewer, "V"), (.editor, "E"), (.approver, "P"), (.administrator, "A")]
            as [(Role, Character)]
        {
            #expect(
                Rights([RoleGrant(role, .app("shop"))]).allows(right, app: "shop") == letters.contains(letter),
                "\(role)")
        }
    }

    @Test(
        "a role is for its app alone, spelled exactly so; one for all apps is for each of them, and for what concerns all"
    )
    func scopes() {
        let one = Rights([RoleGrant(.administrator, .app("shop"))])
        #expect(one.allows(.edit, app: "shop"))
        for other in [nil, "Shop", "shop ", "", "*", "news"] { #expect(!one.allows(.edit, app: other)) }
        let all = Rights([RoleGrant(.administrator, .allApps)])
        for app in [nil, "shop", ""] { #expect(all.allows(.manageUsers, app: app)) }
        // An app without a name must not mean all apps.
        #expect(!Rights([RoleGrant(.administrator, .app(""))]).allows(.edit, app: nil))
        #expect(one.allowsSomewhere(.edit) && !Rights([]).allowsSomewhere(.seeCampaigns))
    }

    @Test("roles add up, app by app")
    func union() {
        let rights = Rights([
            RoleGrant(.editor, .app("shop")), RoleGrant(.approver, .app("shop")), RoleGrant(.viewer, .allApps),
        ])
        #expect(
            rights.allows(.edit, app: "shop") && rights.allows(.approve, app: "shop")
                && rights.allows(.readReports, app: "news"))
        #expect(!rights.allows(.edit, app: "news") && !rights.allows(.manageUsers, app: "shop"))
    }

    @Test(
        "an administrator of some apps gives and takes roles for these alone, and takes over no account that has others"
    )
    func administration() {
        let shop = Administration(rights: Rights([RoleGrant(.administrator, .app("shop"))]))
        let news = RoleGrant(.viewer, .app("news")), all = RoleGrant(.viewer, .allApps),
            own = RoleGrant(.editor, .app("shop"))
        #expect(shop.mayChange([], to: [own]) && shop.mayChange([own, news], to: [news]))
        #expect(
            !shop.mayChange([], to: [all]) && !shop.mayChange([news], to: [])
                && !shop.mayChange([own], to: [own, news]))
        #expect(shop.mayControl([own]) && !shop.mayControl([own, news]) && !shop.mayControl([all]))
        #expect(!Administration(rights: Rights([RoleGrant(.approver, .allApps)])).mayControl([]))
        #expect(Administration(rights: nil).mayControl([all, news]))
    }

    @Test("roles are stored and read back; anything else is not read")
    func stored() throws {
        let grants: Set = [
            RoleGrant(.editor, .app("a \"b\"\u{202E}")), RoleGrant(.viewer, .allApps), RoleGrant(.viewer, .app("")),
        ]
        #expect(RoleGrant.grants(RoleGrant.json(grants)) == grants)
        #expect(RoleGrant.json(grants).text.hasPrefix(#"[{"role":"viewer"},{"role":"viewer","app":""}"#))
        for text in ["{}", #"[{"role":"king"}]"#, #"[{"role":"viewer","app":null}]"#, #"[{"app":"x"}]"#, "[1]"] {
            #expect(RoleGrant.grants(try .init(parsing: text)) == nil, "\(text)")
        }
    }
}
