import Base

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
            (.rejected, [("digest", .string(digest)), ("reason", .string(TextFormat.foreign(reason, maximumBytes: 1_000)))])
        case .sent: (.sent, [])
        case .paused: (.paused, [])
        case .resumed: (.resumed, [])
        case .cancelled: (.cancelled, [])
        case .retried: (.retried, [])
        case .timeSkipped(let time): (.timeSkipped, [("time", .string(time))])
        case .timeApproved(let time, let most, let digest):
            (.timeApproved, [("time", .string(time)), ("most_devices", .integer(Int64(most))), ("digest", .string(digest))])
        case .approvalWithdrawn(let time): (.approvalWithdrawn, [("time", .string(time))])
        case .tokensExported(let rows): (.tokensExported, [("rows", .integer(Int64(rows)))])
        case .suppressed(let devices): (.suppressed, [("devices", .integer(Int64(devices)))])
        case .suppressionLifted(let devices): (.suppressionLifted, [("devices", .integer(Int64(devices)))])
        }
    }

    /// The kind that was stored so; nil for anything else.
    init?(_ name: Name, values: JSONValue) {
        func text(_ key: String) -> String? { values[key]?.stringValue }
        func number(_ key: String) -> Int? { values[key]?.integerValue.flatMap { Int(exactly: $0) } }
        func grants(_ key: String) -> Set<RoleGrant>? { RoleGrant.grants(values[key]) }
        let kind: ActivityKind? =
            switch name {
            case .signedIn: .signedIn
            case .signInFailed: text("failure").flatMap(SignInFailure.init).map { .signInFailed($0) }
            case .signedOut: .signedOut
            case .sessionEnded: .sessionEnded
            case .recoveryCodeUsed: number("left").map { .recoveryCodeUsed(left: $0) }
            case .passwordChanged: .passwordChanged
            case .secondFactorSetUp: .secondFactorSetUp
            case .secondFactorRemoved: .secondFactorRemoved
            case .invited: grants("roles").map { .invited($0) }
            case .passwordResetOffered: .passwordResetOffered
            case .invitationAccepted: .invitationAccepted
            case .invitationWithdrawn: .invitationWithdrawn
            case .renamed: text("before").flatMap { before in text("after").map { .renamed(before: before, after: $0) } }
            case .disabled: .disabled
            case .enabled: .enabled
            case .confirmed: .confirmed
            case .removed: .removed
            case .rolesChanged: grants("before").flatMap { before in grants("after").map { .rolesChanged(before: before, after: $0) } }
            case .rolesClaimed: grants("before").flatMap { before in grants("after").map { .rolesClaimed(before: before, after: $0) } }
            case .campaignSaved: text("digest").map { .campaignSaved(digest: $0) }
            case .campaignArchived: .campaignArchived
            case .testSent: text("digest").map { .testSent(digest: $0) }
            case .approvalAsked: text("digest").map { .approvalAsked(digest: $0) }
            case .approved: text("digest").map { .approved(digest: $0) }
            case .rejected: text("digest").flatMap { digest in text("reason").map { .rejected(digest: digest, reason: $0) } }
            case .sent: .sent
            case .paused: .paused
            case .resumed: .resumed
            case .cancelled: .cancelled
            case .retried: .retried
            case .timeSkipped: text("time").map { .timeSkipped($0) }
            case .timeApproved:
                text("time").flatMap { time in
                    number("most_devices").flatMap { most in
                        text("digest").map { .timeApproved(time, mostDevices: most, digest: $0) }
                    }
                }
            case .approvalWithdrawn: text("time").map { .approvalWithdrawn($0) }
            case .tokensExported: number("rows").map { .tokensExported(rows: $0) }
            case .suppressed: number("devices").map { .suppressed(devices: $0) }
            case .suppressionLifted: number("devices").map { .suppressionLifted(devices: $0) }
            }
        guard let kind else { return nil }
        self = kind
    }
}
