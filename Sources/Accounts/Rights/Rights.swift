import Base

/// A role, and the apps that it is for.
public struct RoleGrant: Hashable, Sendable {
    /// The apps that a role is for.
    public enum Scope: Hashable, Sendable {
        /// All apps, also those that volley.yaml gets later.
        case allApps
        /// The app of this name in volley.yaml, spelled exactly so.
        case app(String)
    }

    /// The role.
    public var role: Role
    /// Its apps.
    public var scope: Scope

    /// A role for some apps.
    public init(_ role: Role, _ scope: Scope) { (self.role, self.scope) = (role, scope) }

    /// In the order of roles; within a role all apps first, then by name.
    static func isBefore(_ left: RoleGrant, _ right: RoleGrant) -> Bool {
        func key(_ grant: RoleGrant) -> (Int, Int, String) {
            let role = Role.allCases.firstIndex(of: grant.role) ?? 0
            return switch grant.scope {
            case .allApps: (role, 0, "")
            case .app(let name): (role, 1, name)
            }
        }
        return key(left) < key(right)
    }
}

/// What a person may do, app by app.
public struct Rights: Hashable, Sendable {
    /// What the rights follow from.
    public let grants: Set<RoleGrant>

    /// What roles give together.
    public init(_ grants: Set<RoleGrant>) { self.grants = grants }

    /// Whether the person may do something.
    /// - Parameter app: the app that it concerns; nil for actions on all apps, for which only a
    ///   role for all apps counts.
    public func allows(_ right: Right, app: String?) -> Bool {
        grants.contains { grant in
            guard grant.role.rights.contains(right) else { return false }
            return switch grant.scope {
            case .allApps: true
            case .app(let name): name == app
            }
        }
    }

    /// Whether the person may do something for any app: decides whether a page that lists apps is
    /// shown.
    public func allowsSomewhere(_ right: Right) -> Bool { grants.contains { $0.role.rights.contains(right) } }

    func allows(_ right: Right, in scope: RoleGrant.Scope) -> Bool {
        switch scope {
        case .allApps: allows(right, app: nil)
        case .app(let name): allows(right, app: name)
        }
    }
}

/// Roles as stored in invitations and activities:
/// `[{"role": "editor", "app": "shop"}, {"role": "viewer"}]`, without `app` for all apps.
extension RoleGrant {
    static func json(_ grants: Set<RoleGrant>) -> JSONValue {
        .array(
            grants.sorted(by: isBefore).map { grant in
                let role = ("role", JSONValue.string(grant.role.rawValue))
                return switch grant.scope {
                case .allApps: .object(pairs: [role])
                case .app(let name): .object(pairs: [role, ("app", .string(name))])
                }
            })
    }

    /// nil for anything that `json` does not make.
    static func grants(_ json: JSONValue?) -> Set<RoleGrant>? {
        guard case .array(let values) = json else { return nil }
        var grants: Set<RoleGrant> = []
        for value in values {
            guard let role = value["role"]?.stringValue.flatMap(Role.init) else { return nil }
            switch value["app"] {
            case nil: grants.insert(RoleGrant(role, .allApps))
            case .string(let name)?: grants.insert(RoleGrant(role, .app(name)))
            default: return nil
            }
        }
        return grants
    }
}

/// What an administrator may do to accounts. An administrator of some apps must not become one of
/// others: not by giving roles, and not by taking over an account that has them with a link that
/// resets its password. Source: OWASP ASVS 4.0.3, 4.1.3 and 4.1.5 (least privilege).
struct Administration {
    /// The rights of the caller; nil for the terminal, where everything is allowed.
    let rights: Rights?

    /// Whether the roles of an account may be changed to these: only roles for apps that the person
    /// administers may differ.
    func mayChange(_ before: Set<RoleGrant>, to after: Set<RoleGrant>) -> Bool {
        administersAll(of: before.symmetricDifference(after))
    }

    /// Whether the person may disable, enable, remove or rename an account, or reset its password
    /// or second factor: they administer all apps for which it has a role.
    func mayControl(_ grants: Set<RoleGrant>) -> Bool { administersAll(of: grants) }

    /// Whether the person administers all apps.
    var administersEverything: Bool { rights?.allows(.manageUsers, in: .allApps) ?? true }

    private func administersAll(of grants: Set<RoleGrant>) -> Bool {
        guard let rights else { return true }
        return rights.allowsSomewhere(.manageUsers) && grants.allSatisfy { rights.allows(.manageUsers, in: $0.scope) }
    }

    /// Whether the accounts that are left have an active administrator of all apps that signs in
    /// with a password.
    /// - Parameter accounts: all accounts, after the change.
    static func isKept(by accounts: [Account]) -> Bool { accounts.contains(where: \.administersEverything) }
}

extension Rights {
    /// Whether an administrator with these rights may disable, enable, remove or rename an account
    /// with such roles, or reset its password or second factor. Pages use it to choose what they
    /// offer; `AccountStore` decides again when the action is carried out.
    public func mayControl(_ grants: Set<RoleGrant>) -> Bool { Administration(rights: self).mayControl(grants) }
}

/// An action in the console that needs a right. Every page and every order needs exactly one right.
public enum Right: String, CaseIterable, Hashable, Sendable {
    /// Look at campaigns, calendars, runs and previews.
    case seeCampaigns = "see_campaigns"
    /// Write, copy and archive campaigns.
    case edit
    /// Send a campaign to the devices that are named for tests.
    case sendTests = "send_tests"
    /// Plan a campaign and ask for approval.
    case askForApproval = "ask_for_approval"
    /// Approve or reject a plan.
    case approve
    /// Send, pause, resume, cancel and retry runs, and skip scheduled times.
    case controlSending = "control_sending"
    /// Read reports, in which device tokens are cut.
    case readReports = "read_reports"
    /// Download whole device tokens, as CSV.
    case exportTokens = "export_tokens"
    /// See and change which devices are suppressed.
    case manageSuppression = "manage_suppression"
    /// Invite people, change their roles, disable their accounts, reset their passwords.
    case manageUsers = "manage_users"
    /// See the state of the machine, and the log of activities.
    case seeSystem = "see_system"

    /// Whether the person must have shown password and second factor within the last five minutes
    /// (`Session.isFresh`): the effect of this right cannot be undone. Source: OWASP ASVS 4.0.3,
    /// 3.7.1.
    public var needsFreshSignIn: Bool {
        switch self {
        case .exportTokens, .manageUsers: true
        case .seeCampaigns, .edit, .sendTests, .askForApproval, .approve, .controlSending, .readReports,
            .manageSuppression, .seeSystem:
            false
        }
    }
}

/// What a person is to an app. Roles add up: a person with both roles writes campaigns and approves
/// those of others. Roles do not decide that people cannot approve what they wrote or requested:
/// that rule holds for administrators, too.
public enum Role: String, CaseIterable, Hashable, Sendable {
    /// Looks, and changes nothing.
    case viewer
    /// Writes campaigns.
    case editor
    /// Approves campaigns and controls their sending.
    case approver
    /// May do everything.
    case administrator

    /// What this role may do: the only table of it.
    public var rights: Set<Right> {
        switch self {
        case .viewer: [.seeCampaigns, .readReports]
        case .editor: [.seeCampaigns, .readReports, .edit, .sendTests, .askForApproval]
        case .approver: [.seeCampaigns, .readReports, .sendTests, .approve, .controlSending]
        case .administrator: Set(Right.allCases)
        }
    }
}
