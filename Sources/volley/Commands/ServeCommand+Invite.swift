import Accounts
import Base
import Campaigns
import Planning
import Runs
import Workspace

/// `volley serve --invite`: whoever may run commands here may let people into the console.
extension ServeCommand {
    /// Prints a link with which a person chooses the password of a new account, or a new password of an account that there is.
    /// - Parameters:
    ///   - name: what the person signs in with.
    ///   - roles: `ROLE`, or `ROLE:APP`; none for an administrator of all apps.
    public static func invite(
        _ name: String, roles: [String], settings: Settings, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        let project = try Project.read(file: projectFile(settings.folder, options)).0
        let grants = try roles.isEmpty ? [RoleGrant(.administrator, .allApps)] : Set(roles.map { try grant($0, project) })
        let store = try AccountStore(beside: project.catalog(options.project).place)
        defer { store.close() }
        let (accountName, now) = (try AccountName(name), Timestamp.now())
        let link: InvitationLink
        if let account = try store.account(named: accountName) {
            guard roles.isEmpty else {
                throw Diagnostic("\(name) has an account already, and its roles stay", remedy: "Omit --role for a link to a new password.")
            }
            link = try store.offerNewPassword(of: account.id, by: .terminal, at: now)
        } else {
            link = try store.invite(accountName, DisplayName(name), grants, by: .terminal, at: now)
        }
        let origin = project.console?.publicURL?.value ?? "http://\(settings.listen ?? usualAddress)"
        let address = (origin.hasSuffix("/") ? String(origin.dropLast()) : origin) + "/invitation?link=\(link.token.text)"
        console.say(
            "\(name) chooses a password with this link, once, until \(link.invitation.lapsesAt.minuteText). Pass it on where nobody else reads it:"
        )
        try console.out(address)
        return .done
    }

    /// `volley serve --confirm`: ends the ties by which approvals count an account as one person with others (`AccountTies`).
    public static func confirm(_ name: String, folder: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        let project = try Project.read(file: projectFile(folder, options)).0
        let store = try AccountStore(beside: project.catalog(options.project).place)
        defer { store.close() }
        let now = Timestamp.now()
        guard let account = try store.account(named: AccountName(name)) else {
            throw Diagnostic(
                "there is no account '\(TextFormat.inLine(name))'", remedy: "Accounts are listed under Users in the console.")
        }
        let wasTied = try store.ties(at: now).all.contains { $0.account == account.name }
        try store.confirm(account.id, by: .terminal, at: now)
        console.say(
            wasTied
                ? "\(account.name) is confirmed, and counts as a person of its own." : "\(account.name) was not tied to another account.")
        return .done
    }

    private static func grant(_ text: String, _ project: Project) throws(Diagnostic) -> RoleGrant {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let role = Role(rawValue: parts[0]) else {
            throw Diagnostic(
                "there is no role '\(TextFormat.inLine(parts[0]))'",
                remedy: "Roles are \(Role.allCases.map(\.rawValue).joined(separator: ", ")), for an app as editor:shop.")
        }
        guard parts.count > 1 else { return RoleGrant(role, .allApps) }
        guard project.app(named: parts[1]) != nil else {
            throw Diagnostic(
                "volley.yaml has no app '\(TextFormat.inLine(parts[1]))'",
                remedy: "It has \(project.apps.map(\.name.value).joined(separator: ", ")).")
        }
        return RoleGrant(role, .app(parts[1]))
    }
}
