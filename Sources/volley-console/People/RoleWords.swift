import Accounts
import Base

/// Roles and apps in words.
enum RoleWords {
    /// A role, as a heading and in a list.
    static func name(_ role: Role) -> String { TextFormat.capitalized(role.rawValue) }

    /// What a role is good for.
    static func meaning(_ role: Role) -> String {
        switch role {
        case .viewer: "looks at campaigns, runs and reports, and changes nothing"
        case .editor: "writes campaigns, sends tests, and asks for approval"
        case .approver: "approves what others wrote, and sends, pauses and cancels it"
        case .administrator: "may do everything: also download device tokens, invite people and change their roles"
        }
    }

    /// The apps of a role.
    static func apps(_ scope: RoleGrant.Scope) -> String {
        switch scope {
        case .allApps: "all apps"
        case .app(let name): name
        }
    }

    /// Roles as chips, those for all apps first, then app by app. Apps that the reader does not see have no name.
    static func chips(_ grants: Set<RoleGrant>, for visit: Visit) -> HTML {
        guard !grants.isEmpty else { return "<span class=\"note\">none</span>" }
        let seen = grants.filter { if case .app(let app) = $0.scope { visit.may(.seeCampaigns, app: app) } else { true } }
        let hidden = Set(grants.subtracting(seen).map(\.role))
        let own: [HTML] = sorted(seen).map {
            "<span class=\"chip\" dir=\"auto\">\(name($0.role)) of \(TextFormat.printable(apps($0.scope)))</span>"
        }
        let rest: [HTML] = Role.allCases.filter(hidden.contains).map {
            "<span class=\"chip\">\(name($0)) of other apps</span>"
        }
        return HTML(own + rest)
    }

    /// Roles in one line of text.
    static func line(_ grants: Set<RoleGrant>) -> String {
        grants.isEmpty ? "no role" : sorted(grants).map { "\($0.role.rawValue) of \(apps($0.scope))" }.joined(separator: ", ")
    }

    /// Always in one order.
    static func sorted(_ grants: Set<RoleGrant>) -> [RoleGrant] {
        func key(_ grant: RoleGrant) -> (Int, String, Int) {
            let role = Role.allCases.firstIndex(of: grant.role) ?? 0
            return switch grant.scope {
            case .allApps: (0, "", role)
            case .app(let name): (1, name, role)
            }
        }
        return grants.sorted { key($0) < key($1) }
    }
}
