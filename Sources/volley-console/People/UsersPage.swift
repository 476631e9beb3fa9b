import Accounts
import Base

/// All users of the console, and all invitations.
enum UsersPage {
    static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let accounts = try site.accounts.accounts()
        let damaged = try site.accounts.damagedAccounts()
        let open = try site.accounts.openInvitations(at: visit.now)
        let damagedInvitations = try site.accounts.damagedInvitations()
        let content: HTML = """
            \(Words.head("Users", "<p>\(TextFormat.counted(accounts.count, one: "person", many: "people"))</p>"))
            <p><a class="button" href="/invite">Invite a person</a></p>
            \(table(accounts, visit))
            \(damagedRows(damaged, damagedInvitations, visit))
            \(open.isEmpty ? "" : Words.panel("Open invitations", id: "invitations", invitations(open, accounts, visit)))
            """
        return .page(Page(title: "Users", place: .users, content: content))
    }

    private static func table(_ accounts: [Account], _ visit: Visit) -> HTML {
        let lines: [HTML] = accounts.map { account in
            let you: HTML = account.id == visit.person?.id ? " <span class=\"note\">you</span>" : ""
            return """
                <tr><th scope="row"><a href="\(path(of: account.id))" dir="auto">\(account.displayName.text)</a>\(you)</th>
                <td data-name="Signs in as"><code>\(account.name.text)</code></td><td data-name="Roles">\(RoleWords.chips(account.grants, for: visit))</td>
                <td data-name="State">\(state(account))</td>
                <td data-name="Second factor">\(factor(account))</td></tr>
                """
        }
        return """
            <table class="rows"><thead><tr><th scope="col">Person</th><th scope="col">Signs in as</th><th scope="col">Roles</th>
            <th scope="col">State</th><th scope="col">Second factor</th></tr></thead><tbody>\(lines)</tbody></table>
            """
    }

    /// Accounts and invitations that cannot be read, and what can be done; blank without any.
    private static func damagedRows(_ accounts: [DamagedAccount], _ invitations: [Int64], _ visit: Visit) -> HTML {
        guard !accounts.isEmpty || !invitations.isEmpty else { return "" }
        let mayRemove = visit.may(.manageUsers, app: nil)
        func line(_ what: HTML, _ meaning: HTML, _ action: String, _ button: HTML) -> HTML {
            let form: HTML =
                mayRemove
                ? "<form method=\"post\" action=\"\(action)\">\(Form.token(visit))<button class=\"grave\">\(button)</button></form>"
                : ""
            return "<li><p class=\"stop\">\(what) cannot be read.</p><p class=\"note\">\(meaning)</p>\(form)</li>"
        }
        let lines: [HTML] =
            accounts.map { account in
                let name: HTML = account.name.map { ", which signs in as <code>\($0.text)</code>," } ?? ""
                return line(
                    "Account \(String(account.id.number))\(name)",
                    "The person cannot sign in, and has no rights. Remove the account and invite the person again, or restore the accounts from a backup.",
                    "\(path(of: account.id))/remove-damaged", "Remove the account")
            }
            + invitations.map {
                line(
                    "Invitation \(String($0))", "Its link does not work. Withdraw it, and invite the person again.",
                    "/invitations/\(String($0))/withdraw", "Withdraw")
            }
        let who: HTML = mayRemove ? "" : "<p>An administrator of all apps can remove them.</p>"
        return Words.panel("Damaged", id: "damaged", "\(who)<ul class=\"list\">\(lines)</ul>")
    }

    /// Whether the person may sign in, in a word.
    static func state(_ account: Account) -> HTML {
        switch account.state {
        case .active: "active"
        case .disabled: "<span class=\"chip\">disabled</span>"
        }
    }

    /// Whether signing in takes more than a password, in a word.
    static func factor(_ account: Account) -> HTML {
        account.issuer != nil ? "up to the provider" : account.hasSecondFactor ? "set up" : "none"
    }

    private static func invitations(_ open: [Invitation], _ accounts: [Account], _ visit: Visit) -> HTML {
        let lines: [HTML] = open.map { invitation in
            let about: HTML
            let grants: Set<RoleGrant>
            switch invitation.purpose {
            case .newAccount(let name, let displayName, let roles):
                grants = roles
                about =
                    "<b dir=\"auto\">\(displayName.text)</b> <code>\(name.text)</code>: \(RoleWords.chips(roles, for: visit))"
            case .newPassword(let id):
                let account = accounts.first { $0.id == id }
                grants = account?.grants ?? []
                about =
                    "A new password for <b dir=\"auto\">\(account?.displayName.text ?? "a person who was removed")</b>"
            }
            let withdraw: HTML =
                visit.person?.rights.mayControl(grants) == true
                ? """
                <form method="post" action="/invitations/\(String(invitation.id))/withdraw">\(Form.token(visit))<button>Withdraw</button></form>
                """ : ""
            return
                "<li><p>\(about)</p><p class=\"note\">The link works until \(Words.moment(invitation.lapsesAt)).</p>\(withdraw)</li>"
        }
        return "<ul class=\"list\">\(lines)</ul>"
    }

    /// The page of a person.
    static func path(of id: AccountID) -> String { "/users/\(id.number)" }
}

/// What can be asked about people.
enum PeopleRoutes {
    static var all: [Route] { ReauthenticationPage.routes + AccountForms.routes + InvitePage.routes + UserForms.routes }
}
