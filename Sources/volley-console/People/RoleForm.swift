import Accounts
import Base
import Campaigns
import Cryptography

/// The part of a form in which roles are ticked, app by app.
struct RoleForm {
    /// What the names of its fields begin with: `role.editor` is for all apps, `role.editor.shop`
    /// for one.
    private static let prefix = "role."
    private static let before = "before"

    /// The apps that the person that fills in the form administers; roles for all apps come first.
    let scopes: [RoleGrant.Scope]
    /// Apps that volley.yaml has.
    private let known: Set<String>

    /// - Parameter grants: existing roles: they may be for apps that volley.yaml no longer has.
    init(_ visit: Visit, _ project: Project, grants: Set<RoleGrant> = []) {
        let known = project.apps.map(\.name.value)
        let others = Set(grants.compactMap { if case .app(let name) = $0.scope { name } else { nil } }).subtracting(
            known
        ).sorted()
        let all = [RoleGrant.Scope.allApps] + (known + others).map { .app($0) }
        scopes = all.filter { visit.mayManageUsers(of: $0) }
        self.known = Set(known)
    }

    /// The boxes.
    /// - Parameters:
    ///   - ticked: the roles whose boxes are ticked.
    ///   - before: the roles that the account has, if there is one.
    func fields(ticked: Set<RoleGrant>, before: Set<RoleGrant>? = nil) -> HTML {
        let heads: [HTML] = Role.allCases.map { "<th scope=\"col\">\(RoleWords.name($0))</th>" }
        let lines: [HTML] = scopes.map { scope in
            let boxes: [HTML] = Role.allCases.map { role in
                let grant = RoleGrant(role, scope)
                let isTicked: HTML = ticked.contains(grant) ? " checked" : ""
                let label = "\(RoleWords.name(role)) of \(TextFormat.printable(RoleWords.apps(scope)))"
                return """
                    <td data-name="\(RoleWords.name(role))"><input type="checkbox" name="\(Self.name(grant))" value="yes" aria-label="\(label)"\(isTicked)></td>
                    """
            }
            return
                "<tr><th scope=\"row\" dir=\"auto\">\(scope == .allApps ? "All apps" : TextFormat.printable(RoleWords.apps(scope)))\(note(scope))</th>\(boxes)</tr>"
        }
        let meanings: [HTML] = Role.allCases.map { "<dt>\(RoleWords.name($0))</dt><dd>\(RoleWords.meaning($0))</dd>" }
        let state: HTML =
            before.map { "<input type=\"hidden\" name=\"\(Self.before)\" value=\"\(Self.mark(of: $0))\">" } ?? ""
        return """
            \(state)<table class="rows"><thead><tr><th scope="col">App</th>\(heads)</tr></thead><tbody>\(lines)</tbody></table>
            <dl class="facts">\(meanings)</dl>
            """
    }

    private func note(_ scope: RoleGrant.Scope) -> HTML {
        guard case .app(let name) = scope, !known.contains(name) else { return "" }
        return " <span class=\"note\">not in volley.yaml any more</span>"
    }

    /// The roles that were ticked, with those that the person may not give or take away as they
    /// were.
    func ticked(in form: [String: String], keeping before: Set<RoleGrant> = []) -> Set<RoleGrant> {
        let ticked = form.keys.filter { $0.hasPrefix(Self.prefix) }.compactMap { Self.grant($0) }
        // Roles for other apps were not offered by any page of the console: the accounts refuse
        // them.
        return Set(ticked).union(before.filter { !scopes.contains($0.scope) })
    }

    /// Whether another person has changed the roles since the page was shown.
    static func isOutdated(_ form: [String: String], _ grants: Set<RoleGrant>) -> Bool {
        form[before] != mark(of: grants)
    }

    private static func mark(of grants: Set<RoleGrant>) -> String {
        SHA256.hex(SHA256.digest(of: Array(RoleWords.sorted(grants).map { name($0) }.joined(separator: "\n").utf8)))
    }

    private static func name(_ grant: RoleGrant) -> String {
        switch grant.scope {
        case .allApps: prefix + grant.role.rawValue
        case .app(let app): prefix + grant.role.rawValue + "." + app
        }
    }

    private static func grant(_ name: String) -> RoleGrant? {
        let parts = name.dropFirst(prefix.count).split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            .map(String.init)
        guard let role = Role(rawValue: parts[0]) else { return nil }
        return RoleGrant(role, parts.count > 1 ? .app(parts[1]) : .allApps)
    }
}

extension Visit {
    /// Whether the person administers an app, or all of them.
    func mayManageUsers(of scope: RoleGrant.Scope) -> Bool {
        switch scope {
        case .allApps: may(.manageUsers, app: nil)
        case .app(let name): may(.manageUsers, app: name)
        }
    }
}

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

    /// Roles as chips, those for all apps first, then app by app. Apps that the reader does not see
    /// have no name.
    static func chips(_ grants: Set<RoleGrant>, for visit: Visit) -> HTML {
        guard !grants.isEmpty else { return "<span class=\"note\">none</span>" }
        let seen = grants.filter {
            if case .app(let app) = $0.scope { visit.may(.seeCampaigns, app: app) } else { true }
        }
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
        grants.isEmpty
            ? "no role" : sorted(grants).map { "\($0.role.rawValue) of \(apps($0.scope))" }.joined(separator: ", ")
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
