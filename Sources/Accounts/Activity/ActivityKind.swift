public import Base

/// What a person did, with the values that belong to it. `Activity` holds the app, campaign, run or
/// account that was changed. No value is a secret or a device token.
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
    // A request to `volley schedule`. Its result is recorded with the orders.
    case testSent(digest: String)
    case approvalAsked(digest: String)
    case approved(digest: String)
    /// Of the reason, 1,000 bytes are kept, in one line.
    case rejected(digest: String, reason: String)
    case withdrawn
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
    /// An author wants a scheduled time to be approved before it is planned.
    case timeApprovalAsked(String)
    case tokensExported(rows: Int)
    case suppressed(devices: Int)
    case suppressionLifted(devices: Int)

    /// A kind without its values: used to filter activities, and to store the kind.
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
        case approved, rejected, withdrawn, sent, paused, resumed, cancelled, retried
        case timeSkipped = "time_skipped"
        case timeApproved = "time_approved"
        case approvalWithdrawn = "approval_withdrawn"
        case timeApprovalAsked = "time_approval_asked"
        case tokensExported = "tokens_exported"
        case suppressed
        case suppressionLifted = "suppression_lifted"
    }
}

/// One thing that a person did: a line of an append-only list.
public struct Activity: Hashable, Sendable {
    /// The person that did it.
    public struct Person: Hashable, Sendable {
        /// The account, also if it was removed since; nil for a person at the terminal, and for
        /// signing in without an account.
        public let account: AccountID?
        /// The name it had then; nil for the terminal.
        public let name: AccountName?

        /// A person.
        public init(account: AccountID?, name: AccountName?) { (self.account, self.name) = (account, name) }
    }

    /// Its place in the list, from 1 on: later activities have larger ones, whatever the clock
    /// said.
    public let number: Int64
    /// When, by the clock of the machine.
    public let at: Timestamp
    /// The person.
    public let person: Person
    /// What.
    public let kind: ActivityKind
    /// The app that it concerns; nil for none, or for all.
    public let app: String?
    /// What it was done to: the file of a campaign, the id of a run, the name of an account; nil if
    /// the kind says it all.
    public let subject: String?
    /// From where; nil if that is unknown.
    public let address: IPAddress?
}

/// The activities to read. All given conditions must hold.
public struct ActivityFilter: Hashable, Sendable {
    /// Only those of this account.
    public var account: AccountID?
    /// Only those of this app.
    public var app: String?
    /// Only those of one of these apps, which leaves out activities without an app; nil for all.
    public var apps: Set<String>?
    /// Only those of this kind.
    public var kind: ActivityKind.Name?
    /// Only those about this campaign, run or account.
    public var subject: String?

    /// Reads everything, unless something is given.
    public init(
        account: AccountID? = nil, app: String? = nil, apps: Set<String>? = nil, kind: ActivityKind.Name? = nil,
        subject: String? = nil
    ) {
        self.account = account
        self.app = app
        self.apps = apps
        self.kind = kind
        self.subject = subject
    }
}

/// A page of activities.
public struct ActivityPage: Hashable, Sendable {
    /// The newest first.
    public let activities: [Activity]
    /// The numbers of lines of the page that cannot be read.
    public let damaged: [Int64]
    /// What to give as `before` for the next page, with older ones; nil on the last.
    public let next: Int64?
}

/// Kinds as stored: a name, and an object with the values.
extension ActivityKind {
    /// Its name.
    public var name: Name { stored.0 }

    /// `{"digest": "…", "reason": "…"}`; `{}` for a kind without values.
    var values: JSONValue { .object(pairs: stored.1) }

    private var stored: (Name, [(String, JSONValue)]) {
        switch self {
        case .signedIn: (.signedIn, [])
        case .signInFailed(let failure): (.signInFailed, [("failure", .string(failure.rawValue))])
        case .signedOut: (.signedOut, [])
        case .sessionEnded: (.sessionEnded, [])
        case .recoveryCodeUsed(let left): (.recoveryCodeUsed, [("left", .integer(Int64(left)))])
        case .passwordChanged: (.passwordChanged, [])
        case .secondFactorSetUp: (.secondFactorSetUp, [])
        case .secondFactorRemoved: (.secondFactorRemoved, [])
        case .invited(let grants): (.invited, [("roles", RoleGrant.json(grants))])
        case .passwordResetOffered: (.passwordResetOffered, [])
        case .invitationAccepted: (.invitationAccepted, [])
        case .invitationWithdrawn: (.invitationWithdrawn, [])
        case .renamed(let before, let after): (.renamed, [("before", .string(before)), ("after", .string(after))])
        case .disabled: (.disabled, [])
        case .enabled: (.enabled, [])
        case .confirmed: (.confirmed, [])
        case .removed: (.removed, [])
        case .rolesChanged(let before, let after):
            (.rolesChanged, [("before", RoleGrant.json(before)), ("after", RoleGrant.json(after))])
        case .rolesClaimed(let before, let after):
            (.rolesClaimed, [("before", RoleGrant.json(before)), ("after", RoleGrant.json(after))])
        case .campaignSaved(let digest): (.campaignSaved, [("digest", .string(digest))])
        case .campaignArchived: (.campaignArchived, [])
        case .testSent(let digest): (.testSent, [("digest", .string(digest))])
        case .approvalAsked(let digest): (.approvalAsked, [("digest", .string(digest))])
        case .approved(let digest): (.approved, [("digest", .string(digest))])
        case .rejected(let digest, let reason):
            (
                .rejected,
                [("digest", .string(digest)), ("reason", .string(TextFormat.foreign(reason, maximumBytes: 1_000)))]
            )
        case .withdrawn: (.withdrawn, [])
        case .sent: (.sent, [])
        case .paused: (.paused, [])
        case .resumed: (.resumed, [])
        case .cancelled: (.cancelled, [])
        case .retried: (.retried, [])
        case .timeSkipped(let time): (.timeSkipped, [("time", .string(time))])
        case .timeApproved(let time, let most, let digest):
            (
                .timeApproved,
                [("time", .string(time)), ("most_devices", .integer(Int64(most))), ("digest", .string(digest))]
            )
        case .approvalWithdrawn(let time): (.approvalWithdrawn, [("time", .string(time))])
        case .timeApprovalAsked(let time): (.timeApprovalAsked, [("time", .string(time))])
        case .tokensExported(let rows): (.tokensExported, [("rows", .integer(Int64(rows)))])
        case .suppressed(let devices): (.suppressed, [("devices", .integer(Int64(devices)))])
        case .suppressionLifted(let devices): (.suppressionLifted, [("devices", .integer(Int64(devices)))])
        }
    }

    /// The kinds without values.
    private static let plain: [ActivityKind] = [
        .signedIn, .signedOut, .sessionEnded, .passwordChanged, .secondFactorSetUp, .secondFactorRemoved,
        .passwordResetOffered, .invitationAccepted, .invitationWithdrawn, .disabled, .enabled, .confirmed,
        .removed, .campaignArchived, .withdrawn, .sent, .paused, .resumed, .cancelled, .retried,
    ]

    /// The kind that was stored like this; nil for anything else.
    init?(_ name: Name, values: JSONValue) {
        func text(_ key: String) -> String? { values[key]?.stringValue }
        func number(_ key: String) -> Int? { values[key]?.integerValue.flatMap { Int(exactly: $0) } }
        func grants(_ key: String) -> Set<RoleGrant>? { RoleGrant.grants(values[key]) }
        let kind: ActivityKind? =
            switch name {
            case .signInFailed: text("failure").flatMap(SignInFailure.init).map { .signInFailed($0) }
            case .recoveryCodeUsed: number("left").map { .recoveryCodeUsed(left: $0) }
            case .invited: grants("roles").map { .invited($0) }
            case .renamed:
                text("before").flatMap { before in text("after").map { .renamed(before: before, after: $0) } }
            case .rolesChanged:
                grants("before").flatMap { before in grants("after").map { .rolesChanged(before: before, after: $0) } }
            case .rolesClaimed:
                grants("before").flatMap { before in grants("after").map { .rolesClaimed(before: before, after: $0) } }
            case .campaignSaved: text("digest").map { .campaignSaved(digest: $0) }
            case .testSent: text("digest").map { .testSent(digest: $0) }
            case .approvalAsked: text("digest").map { .approvalAsked(digest: $0) }
            case .approved: text("digest").map { .approved(digest: $0) }
            case .rejected:
                text("digest").flatMap { digest in text("reason").map { .rejected(digest: digest, reason: $0) } }
            case .timeSkipped: text("time").map { .timeSkipped($0) }
            case .timeApproved:
                text("time").flatMap { time in
                    number("most_devices").flatMap { most in
                        text("digest").map { .timeApproved(time, mostDevices: most, digest: $0) }
                    }
                }
            case .approvalWithdrawn: text("time").map { .approvalWithdrawn($0) }
            case .timeApprovalAsked: text("time").map { .timeApprovalAsked($0) }
            case .tokensExported: number("rows").map { .tokensExported(rows: $0) }
            case .suppressed: number("devices").map { .suppressed(devices: $0) }
            case .suppressionLifted: number("devices").map { .suppressionLifted(devices: $0) }
            default: Self.plain.first { $0.name == name }
            }
        guard let kind else { return nil }
        self = kind
    }
}
