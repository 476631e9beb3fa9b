import Base
import Foundation
import Testing

@testable import Accounts

@Suite("Accounts")
struct AccountStoreTests {
    private let everything: Set = [RoleGrant(.administrator, .allApps)]

    @Test("the first administrator comes from a link that works once, for a day, and only while there is none")
    func first() throws {
        let folder = try AccountFolder()
        let (anna, ada) = (try name("anna"), try DisplayName("Ada"))
        let early = try folder.store.inviteFirstAdministrator(anna, ada, at: noon)
        #expect(early.invitation.lapsesAt == after(24 * 3600))
        let link = try folder.store.inviteFirstAdministrator(anna, ada, at: noon)
        // The later link replaces the earlier one.
        #expect(throws: AccountError.invitationNotValid) {
            try folder.authenticator.accept(early.token, password: goodPassword, from: nil, at: noon)
        }
        #expect(throws: AccountError.invitationNotValid) {
            try folder.authenticator.accept(link.token, password: goodPassword, from: nil, at: after(24 * 3600))
        }
        #expect(throws: AccountError.unfitPassword(.short)) {
            try folder.authenticator.accept(link.token, password: "short", from: nil, at: noon)
        }
        let id = try folder.authenticator.accept(link.token, password: goodPassword, from: home, at: noon)
        #expect(try folder.store.account(id)?.grants == everything)
        #expect(throws: AccountError.invitationNotValid) {
            try folder.authenticator.accept(link.token, password: goodPassword, from: nil, at: noon)
        }
        #expect(throws: AccountError.alreadyAdministered) {
            try folder.store.inviteFirstAdministrator(name("ben"), ada, at: noon)
        }
        #expect(try folder.kinds() == [.invitationAccepted, .invited, .invited])
    }

    @Test("the last administrator of all apps cannot be disabled, removed or demoted; the last but one can")
    func last() throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        let id = try #require(ada.account)
        let ofApp = try folder.account("ben", [RoleGrant(.administrator, .app("shop"))])
        for actor in [ada, .terminal] {
            #expect(throws: AccountError.lastAdministrator) { try folder.store.disable(id, by: actor, at: noon) }
            #expect(throws: AccountError.lastAdministrator) { try folder.store.remove(id, by: actor, at: noon) }
            for grants in [[], [RoleGrant(.editor, .allApps)], [RoleGrant(.administrator, .app("shop"))]]
                as [Set<RoleGrant>]
            {
                #expect(throws: AccountError.lastAdministrator) {
                    try folder.store.setGrants(grants, of: id, by: actor, at: noon)
                }
            }
        }
        let before = try folder.kinds().count
        #expect(try folder.store.account(id)?.state == .active && folder.store.account(id)?.grants == everything)
        let second = try #require(try folder.account("carl", everything).account)
        try folder.store.disable(second, by: ada, at: noon)
        // A disabled one does not count.
        #expect(throws: AccountError.lastAdministrator) { try folder.store.disable(id, by: ada, at: noon) }
        try folder.store.enable(second, by: ada, at: noon)
        try folder.store.remove(id, by: ada, at: noon)
        #expect(try folder.store.accounts().map(\.name.text) == ["ben", "carl"])
        #expect(throws: AccountError.notPermitted) { try folder.store.disable(second, by: ofApp, at: noon) }
        #expect(try folder.kinds().count == before + 5)
    }

    @Test("an administrator of one app neither rises nor takes over another's account")
    func escalation() throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        let shop = try folder.account("ben", [RoleGrant(.administrator, .app("shop"))])
        let viewer = try folder.account("vera", [RoleGrant(.viewer, .app("shop"))])
        let adaID = try #require(ada.account), shopID = try #require(shop.account),
            viewerID = try #require(viewer.account)
        let store = folder.store
        #expect(throws: AccountError.notPermitted) { try store.setGrants(everything, of: shopID, by: shop, at: noon) }
        #expect(throws: AccountError.notPermitted) { try store.offerNewPassword(of: adaID, by: shop, at: noon) }
        #expect(throws: AccountError.notPermitted) { try store.removeSecondFactor(of: adaID, by: shop, at: noon) }
        #expect(throws: AccountError.notPermitted) {
            try store.setDisplayName(DisplayName("x"), of: adaID, by: shop, at: noon)
        }
        #expect(throws: AccountError.notPermitted) {
            try store.invite(name("x"), DisplayName("x"), everything, by: shop, at: noon)
        }
        #expect(throws: AccountError.notPermitted) {
            try store.invite(name("x"), DisplayName("x"), [], by: viewer, at: noon)
        }
        #expect(throws: AccountError.notPermitted) { try store.disable(shopID, by: viewer, at: noon) }
        try store.setGrants([RoleGrant(.editor, .app("shop"))], of: viewerID, by: shop, at: noon)
        #expect(try store.account(viewerID)?.rights.allows(.edit, app: "shop") == true)
        // Nor may they replace a link that gives more with their own.
        let link = try store.invite(name("carl"), DisplayName("Carl"), everything, by: ada, at: noon)
        #expect(throws: AccountError.notPermitted) {
            try store.invite(name("carl"), DisplayName("Carl"), [], by: shop, at: noon)
        }
        #expect(throws: AccountError.notPermitted) {
            try store.withdrawInvitation(link.invitation.id, by: shop, at: noon)
        }
        // A disabled account decides nothing, even with a page that is still open.
        try store.disable(shopID, by: ada, at: noon)
        #expect(throws: AccountError.notPermitted) { try store.disable(viewerID, by: shop, at: noon) }
    }

    @Test("an invitation gives no more than whoever made it could give now")
    func lateInvitation() throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        let ben = try folder.account("ben", everything)
        let link = try folder.store.invite(name("mole"), DisplayName("Mole"), everything, by: ben, at: noon)
        #expect(try folder.store.invitation(link.token, at: noon)?.name.text == "mole")
        try folder.store.setGrants([RoleGrant(.viewer, .allApps)], of: #require(ben.account), by: ada, at: noon)
        #expect(try folder.store.invitation(link.token, at: noon) == nil)
        #expect(throws: AccountError.invitationNotValid) {
            try folder.authenticator.accept(link.token, password: goodPassword, from: nil, at: noon)
        }
    }

    @Test("links work for a week, can be withdrawn, and the name of an account is given once")
    func invitations() throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        let link = try folder.store.invite(
            name("Ben"), DisplayName("Ben"), [RoleGrant(.viewer, .allApps)], by: ada, at: noon)
        #expect(link.invitation.lapsesAt == after(7 * 24 * 3600))
        #expect(try folder.store.openInvitations(at: noon) == [link.invitation])
        #expect(try folder.store.openInvitations(at: after(7 * 24 * 3600)).isEmpty)
        try folder.store.withdrawInvitation(link.invitation.id, by: ada, at: noon)
        #expect(throws: AccountError.invitationNotValid) {
            try folder.store.withdrawInvitation(link.invitation.id, by: ada, at: noon)
        }
        #expect(throws: AccountError.invitationNotValid) {
            try folder.authenticator.accept(link.token, password: goodPassword, from: nil, at: noon)
        }
        #expect(throws: AccountError.nameTaken(try name("root.admin"))) {
            try folder.store.invite(name("ROOT.admin"), DisplayName("Ben"), [], by: ada, at: noon)
        }
    }

    @Test("another password is an invitation: the old one works until then, sessions end, the second factor stays")
    func reset() throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        let ben = try #require(try folder.account("ben", []).account)
        let session = try folder.token("ben")
        let link = try folder.store.offerNewPassword(of: ben, by: ada, at: noon)
        #expect(try folder.store.signedIn(session, at: noon) != nil)
        #expect(
            try folder.authenticator.accept(link.token, password: "another quiet harbour", from: nil, at: noon) == ben)
        #expect(try folder.store.signedIn(session, at: noon) == nil)
        #expect(try folder.signIn("ben") == .refused)
        guard case .signedIn = try folder.signIn("ben", password: "another quiet harbour") else {
            Issue.record("the new password does not work")
            return
        }
        let unused = try folder.store.offerNewPassword(of: ben, by: ada, at: noon)
        try folder.store.disable(ben, by: ada, at: noon)
        #expect(throws: AccountError.invitationNotValid) {
            try folder.authenticator.accept(unused.token, password: goodPassword, from: nil, at: noon)
        }
        #expect(throws: AccountError.disabled(try name("ben"))) {
            try folder.store.offerNewPassword(of: ben, by: ada, at: noon)
        }
        // Enabling does not bring the link back.
        try folder.store.enable(ben, by: ada, at: noon)
        #expect(throws: AccountError.invitationNotValid) {
            try folder.authenticator.accept(unused.token, password: goodPassword, from: nil, at: noon)
        }
    }

    @Test("a number of an account is never given again, and activities keep the name of who is gone")
    func removed() throws {
        let folder = try AccountFolder()
        let ada = try folder.administrator()
        let ben = try folder.account("ben", [RoleGrant(.viewer, .allApps)])
        let id = try #require(ben.account)
        try folder.store.note(.paused, app: "shop", subject: "run-1", by: ben, at: noon)
        try folder.store.remove(id, by: ada, at: noon)
        let again = try #require(try folder.account("ben", []).account)
        #expect(again.number > id.number)
        #expect(try folder.store.account(id) == nil)
        let paused = try #require(try folder.store.activities(ActivityFilter(kind: .paused)).activities.first)
        #expect(paused.person == Activity.Person(account: id, name: try name("ben")))
        for call in [folder.store.disable, folder.store.remove] as [(AccountID, Actor, Timestamp) throws -> Void] {
            #expect(throws: AccountError.noSuchAccount) { try call(id, ada, noon) }
        }
    }
}
