/// What an administrator may do to accounts. An administrator of some apps must not become one of others: not by giving roles, and not by
/// taking over an account that has them with a link that resets its password. Source: OWASP ASVS 4.0.3, 4.1.3 and 4.1.5 (least privilege).
struct Administration {
    /// The rights of whoever asks; nil for the terminal, which may do everything.
    let rights: Rights?

    /// Whether the roles of an account may be changed so: only those for apps that the person administers differ.
    func mayChange(_ before: Set<RoleGrant>, to after: Set<RoleGrant>) -> Bool {
        administersAll(of: before.symmetricDifference(after))
    }

    /// Whether the person may disable, enable, remove or rename an account, or reset its password or second factor: they administer all
    /// apps for which it has a role.
    func mayControl(_ grants: Set<RoleGrant>) -> Bool { administersAll(of: grants) }

    /// Whether the person administers all apps.
    var administersEverything: Bool { rights?.allows(.manageUsers, in: .allApps) ?? true }

    private func administersAll(of grants: Set<RoleGrant>) -> Bool {
        guard let rights else { return true }
        return rights.allowsSomewhere(.manageUsers) && grants.allSatisfy { rights.allows(.manageUsers, in: $0.scope) }
    }

    /// Whether the accounts that are left have an active administrator of all apps among them who signs in with a password.
    /// - Parameter accounts: all accounts, after the change.
    static func isKept(by accounts: [Account]) -> Bool { accounts.contains(where: \.administersEverything) }
}

extension Rights {
    /// Whether an administrator with these rights may disable, enable, remove or rename an account with such roles, or reset its password or
    /// second factor: what pages offer. `AccountStore` decides again when it is done.
    public func mayControl(_ grants: Set<RoleGrant>) -> Bool { Administration(rights: self).mayControl(grants) }
}
