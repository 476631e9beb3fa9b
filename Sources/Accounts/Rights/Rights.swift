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
    /// - Parameter app: the app that it concerns; nil for what concerns all apps, for which only a role for all apps counts.
    public func allows(_ right: Right, app: String?) -> Bool {
        grants.contains { grant in
            guard grant.role.rights.contains(right) else { return false }
            return switch grant.scope {
            case .allApps: true
            case .app(let name): name == app
            }
        }
    }

    /// Whether the person may do something for any app: whether a page that lists apps is shown at all.
    public func allowsSomewhere(_ right: Right) -> Bool { grants.contains { $0.role.rights.contains(right) } }

    func allows(_ right: Right, in scope: RoleGrant.Scope) -> Bool {
        switch scope {
        case .allApps: allows(right, app: nil)
        case .app(let name): allows(right, app: name)
        }
    }
}
