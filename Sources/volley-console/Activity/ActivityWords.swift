import Accounts
import Base
import Runs

/// What people did, in words. Orders to `volley schedule` are described as they were placed: the
/// linked page has their results.
enum ActivityWords {
    /// A line of the list, after the name of the person.
    static func sentence(_ activity: Activity) -> HTML {
        let who: HTML = "<b dir=\"auto\">\(shown(activity.subject ?? "an account"))</b>"
        let run = run(activity), file = file(activity)
        return switch activity.kind {
        case .signedIn: "signed in"
        case .signInFailed(.wrongPassword): "typed a wrong password"
        case .signInFailed(.wrongCode): "typed a wrong code of the second factor"
        case .signInFailed(.disabled): "tried to sign in, but the account is disabled"
        case .signInFailed(.noRole): "tried to sign in, but has no role at the provider of identities any more"
        case .signedOut: "signed out"
        case .sessionEnded: "signed out in another browser"
        case .recoveryCodeUsed(let left): "used a recovery code (\(TextFormat.count(left)) left)"
        case .passwordChanged: "changed their password"
        case .secondFactorSetUp: "set up a second factor"
        case .secondFactorRemoved:
            activity.subject == activity.person.name?.text
                ? "removed their second factor" : "removed the second factor of \(who)"
        case .invited(let grants): "invited \(who) as \(roles(grants))"
        case .passwordResetOffered: "offered \(who) a new password"
        case .invitationAccepted: "used a link, and chose a password"
        case .invitationWithdrawn: "withdrew the invitation of \(who)"
        case .renamed(let before, let after):
            "renamed \(who) from <span dir=\"auto\">\(shown(before))</span> to <span dir=\"auto\">\(shown(after))</span>"
        case .disabled: "disabled \(who)"
        case .enabled: "enabled \(who)"
        case .confirmed: "confirmed that only its person holds the account \(who)"
        case .removed: "removed \(who)"
        case .rolesChanged(let before, let after):
            "changed the roles of \(who) from \(roles(before)) to \(roles(after))"
        case .rolesClaimed(let before, let after):
            "came from the provider of identities with other roles: \(roles(before)) before, \(roles(after)) now"
        case .campaignSaved: "saved \(file)"
        case .campaignArchived: "archived \(file)"
        case .testSent: "asked for a test of \(file)"
        case .approvalAsked: "asked for a plan of \(file)"
        case .rejected(_, let reason) where !reason.isEmpty:
            "asked to reject \(run): <q dir=\"auto\">\(shown(reason))</q>"
        case .timeSkipped(let time): "asked to leave out \(self.time(time, activity))"
        case .timeApproved(let time, let most, _):
            "asked to approve \(self.time(time, activity)) for at most \(TextFormat.devices(most))"
        case .approvalWithdrawn(let time): "asked to withdraw the approval of \(self.time(time, activity))"
        case .timeApprovalAsked(let time): "asked for the approval of \(self.time(time, activity))"
        case .tokensExported(let rows): "downloaded the device tokens of \(run), \(TextFormat.devices(rows))"
        case .suppressed(let devices): "suppressed \(TextFormat.devices(devices))\(list(activity))"
        case .suppressionLifted(let devices):
            "took \(TextFormat.devices(devices)) off the suppression list\(list(activity))"
        // All others are orders for a run.
        default: "asked to \(RunAction(activity.kind.name)?.rawValue ?? "change") \(run)"
        }
    }

    /// A kind in the choice of kinds.
    static func name(_ kind: ActivityKind.Name) -> String {
        switch kind {
        case .signedIn: "Sign-in"
        case .signInFailed: "Sign-in that failed"
        case .signedOut: "Sign-out"
        case .sessionEnded: "Sign-out in another browser"
        case .recoveryCodeUsed: "Recovery code used"
        case .passwordChanged: "Password changed"
        case .secondFactorSetUp: "Second factor set up"
        case .secondFactorRemoved: "Second factor removed"
        case .invited: "Invitation"
        case .passwordResetOffered: "New password offered"
        case .invitationAccepted: "Link used"
        case .invitationWithdrawn: "Invitation withdrawn"
        case .renamed: "Person renamed"
        case .disabled: "Account disabled"
        case .enabled: "Account enabled"
        case .confirmed: "Account confirmed"
        case .removed: "Account removed"
        case .rolesChanged: "Roles changed"
        case .rolesClaimed: "Roles from the provider"
        case .campaignSaved: "Campaign saved"
        case .campaignArchived: "Campaign archived"
        case .testSent: "Test asked for"
        case .approvalAsked: "Plan asked for"
        case .timeSkipped: "Time left out"
        case .timeApproved: "Approval ahead"
        case .approvalWithdrawn: "Approval withdrawn"
        case .timeApprovalAsked: "Approval ahead asked for"
        case .tokensExported: "Device tokens downloaded"
        case .suppressed: "Devices suppressed"
        case .suppressionLifted: "Suppression lifted"
        default: RunAction(kind)?.requested ?? kind.rawValue
        }
    }

    private static func run(_ activity: Activity) -> HTML {
        activity.subject.map { "<a href=\"\(Words.path(of: $0))\" dir=\"auto\">\(shown($0))</a>" } ?? "a run"
    }

    private static func file(_ activity: Activity) -> HTML {
        activity.subject.map { "<a href=\"\(Words.path(ofCampaign: $0))\" dir=\"auto\">\(shown($0))</a>" }
            ?? "a campaign"
    }

    private static func time(_ time: String, _ activity: Activity) -> HTML {
        "<b dir=\"auto\">\(shown(activity.subject ?? "a campaign"))</b> at \(shown(time.replacing("T", with: " ")))"
    }

    private static func list(_ activity: Activity) -> HTML {
        activity.subject.map { " (<span dir=\"auto\">\(shown($0))</span>)" } ?? ""
    }

    private static func roles(_ grants: Set<RoleGrant>) -> HTML {
        "<span dir=\"auto\">\(shown(RoleWords.line(grants)))</span>"
    }

    private static func shown(_ text: String) -> String { TextFormat.printable(text) }
}
