/// What a person did, with the values that belong to it. Which app, campaign, run or account it was done to stands beside it, in `Activity`.
/// No value is a secret or a device token.
public enum ActivityKind: Hashable, Sendable {
    /// Why signing in failed.
    public enum SignInFailure: String, Hashable, Sendable {
        case wrongPassword = "wrong_password"
        case wrongCode = "wrong_code"
        /// The password was right.
        case disabled
        /// The provider of identities gives no role.
        case noRole = "no_role"
    }

    // Signing in, and one's own account.
    case signedIn
    case signInFailed(SignInFailure)
    case signedOut
    /// The person ended another session of theirs.
    case sessionEnded
    case recoveryCodeUsed(left: Int)
    case passwordChanged
    case secondFactorSetUp
    case secondFactorRemoved

    // Accounts.
    case invited(Set<RoleGrant>)
    case passwordResetOffered
    case invitationAccepted
    case invitationWithdrawn
    case renamed(before: String, after: String)
    case disabled
    case enabled
    /// An administrator confirmed that only the person of the account holds it.
    case confirmed
    case removed
    case rolesChanged(before: Set<RoleGrant>, after: Set<RoleGrant>)
    /// The provider of identities gave the person other roles than at the sign-in before.
    case rolesClaimed(before: Set<RoleGrant>, after: Set<RoleGrant>)

    // Campaigns and runs. A digest is the one that the person was shown.
    case campaignSaved(digest: String)
    case campaignArchived
    // What is asked of `volley schedule`: what came of it stands with the orders.
    case testSent(digest: String)
    case approvalAsked(digest: String)
    case approved(digest: String)
    /// Of the reason, 1,000 bytes are kept, in one line.
    case rejected(digest: String, reason: String)
    case sent
    case paused
    case resumed
    case cancelled
    case retried
    /// The scheduled time, as in the calendar.
    case timeSkipped(String)
    /// A scheduled time was approved before it was planned.
    case timeApproved(String, mostDevices: Int, digest: String)
    case approvalWithdrawn(String)
    case tokensExported(rows: Int)
    case suppressed(devices: Int)
    case suppressionLifted(devices: Int)

    /// A kind without its values: what activities are filtered by, and how the kind is stored.
    public enum Name: String, CaseIterable, Hashable, Sendable {
        case signedIn = "signed_in"
        case signInFailed = "sign_in_failed"
        case signedOut = "signed_out"
        case sessionEnded = "session_ended"
        case recoveryCodeUsed = "recovery_code_used"
        case passwordChanged = "password_changed"
        case secondFactorSetUp = "second_factor_set_up"
        case secondFactorRemoved = "second_factor_removed"
        case invited
        case passwordResetOffered = "password_reset_offered"
        case invitationAccepted = "invitation_accepted"
        case invitationWithdrawn = "invitation_withdrawn"
        case renamed, disabled, enabled, confirmed, removed
        case rolesChanged = "roles_changed"
        case rolesClaimed = "roles_claimed"
        case campaignSaved = "campaign_saved"
        case campaignArchived = "campaign_archived"
        case testSent = "test_sent"
        case approvalAsked = "approval_asked"
        case approved, rejected, sent, paused, resumed, cancelled, retried
        case timeSkipped = "time_skipped"
        case timeApproved = "time_approved"
        case approvalWithdrawn = "approval_withdrawn"
        case tokensExported = "tokens_exported"
        case suppressed
        case suppressionLifted = "suppression_lifted"
    }
}
