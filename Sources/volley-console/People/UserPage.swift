import Accounts
import Base
import HTTPTypes

/// One person's account, as an administrator sees it.
enum UserPage {
    static func show(_ visit: Visit, _ site: Site) throws -> Answer { .page(try page(visit, site)) }

    /// - Parameter message: what is wrong with a form of the page that was sent.
    static func page(_ visit: Visit, _ site: Site, message: HTML? = nil, status: HTTPResponse.Status = .ok) throws
        -> Page
    {
        let account = try account(visit, site)
        let isOwn = account.id == visit.person?.id
        let mayControl = visit.person?.rights.mayControl(account.grants) == true
        let own: HTML =
            isOwn
            ? "<p>This is your own account. Password and second factor are under <a href=\"/account\">your account</a>.</p>"
            : ""
        let foreign: HTML =
            mayControl
            ? ""
            : "<p class=\"lead\">This person has roles for apps that you do not administer, so you cannot change the account.</p>"
        let content: HTML = """
            \(Words.head("\(account.displayName.text)", "<p>Signs in as <code>\(account.name.text)</code></p>"))
            \(AccountWords.alert(message))
            \(own)\(foreign)
            \(Words.panel("Account", id: "about", facts(account, visit)))
            \(try TiesPanel.html(account, confirms: mayControl, visit, site))
            \(try roles(account, visit, site))
            \(mayControl ? Words.panel("What you can do", id: "actions", HTML(actions(account, isOwn: isOwn, visit))) : "")
            \(activity(account, visit))
            <p class="note"><a href="/users">Back to the users</a></p>
            """
        return Page(status: status, title: account.displayName.text, place: .users, content: content)
    }

    /// The account that the path names.
    static func account(_ visit: Visit, _ site: Site) throws -> Account {
        guard let number = Int64(visit.parameters["user"] ?? "") else { throw Refusal.notFound }
        // The list says what can be done about a damaged one.
        guard try !site.accounts.damagedAccounts().contains(where: { $0.id == AccountID(number) }),
            let account = try site.accounts.account(AccountID(number))
        else {
            throw Refusal.notFound
        }
        return account
    }

    private static func facts(_ account: Account, _ visit: Visit) -> HTML {
        """
        <dl class="facts"><dt>Roles</dt><dd>\(RoleWords.chips(account.grants, for: visit))</dd>
        <dt>State</dt><dd>\(UsersPage.state(account))</dd>
        <dt>Second factor</dt><dd>\(UsersPage.factor(account))</dd>
        <dt>Since</dt><dd>\(Words.moment(account.madeAt))</dd></dl>
        """
    }

    private static func activity(_ account: Account, _ visit: Visit) -> HTML {
        guard visit.maySomewhere(.seeSystem) else { return "" }
        return "<p><a href=\"\(ActivityPage.path(ofPerson: account.id))\">What this person did</a></p>"
    }

    private static func roles(_ account: Account, _ visit: Visit, _ site: Site) throws -> HTML {
        if let issuer = account.issuer { return Words.panel("Roles", id: "roles", ProviderPages.note(issuer)) }
        let form = RoleForm(visit, try site.project(), grants: account.grants)
        return Words.panel(
            "Roles", id: "roles",
            """
            <form class="stack" method="post" action="\(UsersPage.path(of: account.id))/roles">\(Form.token(visit))
            \(form.fields(ticked: account.grants, before: account.grants))
            <p class="note">The person is signed out everywhere when the roles change.</p>
            <p><button>Change the roles</button></p></form>
            """)
    }

    private static func actions(_ account: Account, isOwn: Bool, _ visit: Visit) -> [HTML] {
        func form(_ action: String, _ title: HTML, _ meaning: HTML, fields: HTML = "", isGrave: Bool = false) -> HTML {
            """
            <form class="action" method="post" action="\(UsersPage.path(of: account.id))/\(action)"><h3>\(title)</h3><p>\(meaning)</p>
            \(Form.token(visit))\(fields)<p><button\(isGrave ? " class=\"grave\"" : "" as HTML)>\(title)</button></p></form>
            """
        }
        var forms: [HTML] = []
        if account.state == .active, !isOwn, account.issuer == nil {
            forms.append(
                form(
                    "password", "Offer a new password",
                    "You get a link with which the person chooses another password. The old one works until then; the second factor stays."
                )
            )
        }
        if account.hasSecondFactor, !isOwn {
            forms.append(
                form(
                    "factor/remove", "Remove the second factor",
                    "For a person who lost phone and recovery codes. Make sure that it is really them who ask. They are signed out everywhere.",
                    isGrave: true))
        }
        switch account.state {
        case .active:
            forms.append(
                form(
                    "disable", "Disable the account",
                    "The person is signed out and cannot sign in. Nothing else is lost.", isGrave: true))
        case .disabled:
            forms.append(form("enable", "Enable the account", "The person may sign in again, as before."))
        }
        let typed = Form.text(
            "To go on, type the name to sign in with: \(account.name.text)", name: "name", value: "",
            attributes: " autocomplete=\"off\" autocapitalize=\"none\" spellcheck=\"false\" required")
        forms.append(
            form(
                "remove", "Remove the account", "It is gone for good. What the person did stays under Activity.",
                fields: typed,
                isGrave: true)
        )
        return forms
    }
}

/// What an administrator does to another account. The accounts decide whether it is allowed.
enum UserForms {
    static var routes: [Route] {
        let right = RouteRight.right(.manageUsers)
        let forms = [
            ("roles", changeRoles), ("disable", disable), ("enable", enable), ("confirm", confirm), ("remove", remove),
            ("password", offerPassword),
            ("factor/remove", removeSecondFactor),
        ]
        return [
            Route(method: .get, path: "/users", right: right, answer: UsersPage.show),
            Route(method: .get, path: "/users/:user", right: right, answer: UserPage.show),
            Route(
                method: .post, path: "/users/:user/remove-damaged", right: right, changes: true, answer: removeDamaged),
        ]
            + forms.map { name, change in
                Route(method: .post, path: "/users/:user/\(name)", right: right, changes: true) { visit, site in
                    let account = try UserPage.account(visit, site)
                    do { return try change(account, visit, site) } catch let error as AccountError {
                        return .page(
                            try UserPage.page(
                                visit, site, message: "\(error.sentences) Nothing was changed.", status: error.status))
                    }
                }
            }
    }

    private static func removeDamaged(_ visit: Visit, _ site: Site) throws -> Answer {
        guard visit.may(.manageUsers, app: nil), let number = Int64(visit.parameters["user"] ?? "") else {
            throw Refusal.notFound
        }
        do { try site.accounts.removeDamaged(AccountID(number), by: visit.actor(), at: visit.now) } catch AccountError
            .noSuchAccount
        {
            // A second click.
        }
        return .redirect("/users")
    }

    private typealias Change = @Sendable (Account, Visit, Site) throws -> Answer

    private static let changeRoles: Change = { account, visit, site in
        guard !RoleForm.isOutdated(visit.form, account.grants) else {
            return .page(
                try UserPage.page(
                    visit, site,
                    message:
                        "Another person has changed the roles since you opened the page. They are shown as they are now; nothing was changed.",
                    status: .conflict))
        }
        let form = RoleForm(visit, try site.project(), grants: account.grants)
        try site.accounts.setGrants(
            form.ticked(in: visit.form, keeping: account.grants), of: account.id, by: visit.actor(), at: visit.now)
        return .redirect(UsersPage.path(of: account.id))
    }

    private static let disable: Change = { account, visit, site in
        try site.accounts.disable(account.id, by: visit.actor(), at: visit.now)
        return .redirect(UsersPage.path(of: account.id))
    }

    private static let enable: Change = { account, visit, site in
        try site.accounts.enable(account.id, by: visit.actor(), at: visit.now)
        return .redirect(UsersPage.path(of: account.id))
    }

    private static let confirm: Change = { account, visit, site in
        try site.accounts.confirm(account.id, by: visit.actor(), at: visit.now)
        return .redirect(UsersPage.path(of: account.id))
    }

    private static let remove: Change = { account, visit, site in
        guard (try? AccountName(visit.form["name"] ?? "")) == account.name else {
            return .page(
                try UserPage.page(
                    visit, site,
                    message:
                        "That is not the name \(account.name.text). Nothing was removed; type the name if you mean it.",
                    status: .unprocessableContent))
        }
        try site.accounts.remove(account.id, by: visit.actor(), at: visit.now)
        return .redirect("/users")
    }

    private static let offerPassword: Change = { account, visit, site in
        let link = try site.accounts.offerNewPassword(of: account.id, by: visit.actor(), at: visit.now)
        return .page(InvitePage.linkPage(link, for: account.displayName, visit, site))
    }

    private static let removeSecondFactor: Change = { account, visit, site in
        do {
            try site.accounts.removeSecondFactor(of: account.id, by: visit.actor(), at: visit.now)
        } catch AccountError.secondFactor(
            isOn: false)
        {
            // A second click.
        }
        return .redirect(UsersPage.path(of: account.id))
    }
}

/// Accounts that may belong to the same person as another: what that person and administrators see,
/// and how the tie ends.
enum TiesPanel {
    static let id = "ties"

    /// The panel about an account; blank without ties to it.
    /// - Parameter confirms: whether the reader may confirm it, as far as rights go.
    static func html(_ account: Account, confirms: Bool, _ visit: Visit, _ site: Site) throws -> HTML {
        let ties = try site.accounts.ties(at: visit.now)
        let own = ties.all.filter { $0.account == account.name }
        guard let last = own.map(\.endsAt).max() else { return "" }
        let deeds: [HTML] = own.map { tie in
            "<li><b>\(tie.holder.text)</b> \(tie.deed.words) <b>\(tie.account.text)</b>, \(Words.moment(tie.at))</li>"
        }
        let others = ties.hands(on: account.name).subtracting([account.name]).map(\.text).sorted().joined(
            separator: ", ")
        return Words.panel(
            "Counts as one person with others", id: Self.id,
            """
            <p>Until \(Words.moment(last)), approvals count this account as one person with <b>\(others)</b>: it cannot approve what they wrote or \
            asked for, and they cannot approve what it wrote or asked for.</p>
            <ul class="list">\(deeds)</ul>
            \(try end(account, ties, confirms: confirms, visit, site))
            """)
    }

    private static func end(_ account: Account, _ ties: AccountTies, confirms: Bool, _ visit: Visit, _ site: Site)
        throws -> HTML
    {
        let mine = try AccountName(visit.signedIn().account)
        if confirms, !ties.haveOneHand(mine, account.name) {
            return """
                <form class="action" method="post" action="\(UsersPage.path(of: account.id))/confirm"><h3>Confirm the account</h3>
                <p>Make sure that the person has the account, and that no other person can sign in to it. Then it may approve again.</p>
                \(Form.token(visit))<p><button>Confirm the account</button></p></form>
                """
        }
        let who = try site.accounts.accounts().filter { other in
            other.rights.mayControl(account.grants) && !ties.haveOneHand(other.name, account.name)
        }.map(\.name.text)
        return who.isEmpty
            ? """
            <p class="note">No administrator is without such a tie. The people who run Volley can confirm the account on the machine: \
            <code>volley serve … --confirm \(account.name.text)</code>.</p>
            """
            : "<p class=\"note\">It ends earlier when one of these administrators confirms the account: <b>\(who.joined(separator: ", "))</b>.</p>"
    }
}
