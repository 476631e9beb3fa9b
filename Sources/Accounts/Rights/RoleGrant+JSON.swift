import Base

/// Roles as stored in invitations and activities: `[{"role": "editor", "app": "shop"}, {"role": "viewer"}]`, without `app` for all apps.
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
