import Accounts
import Base
import Campaigns
import HTTPTypes

/// Inviting a person: the form, the link that it makes, and taking an invitation back.
enum InvitePage {
    static var routes: [Route] {
        [
            Route(method: .get, path: "/invite", right: .right(.manageUsers), answer: show),
            Route(method: .post, path: "/invite", right: .right(.manageUsers), changes: true, answer: invite),
            Route(
                method: .post, path: "/invitations/:invitation/withdraw", right: .right(.manageUsers), changes: true,
                answer: withdraw),
        ]
    }

    private static func show(_ visit: Visit, _ site: Site) throws -> Answer { try page(visit, site) }

    private static func invite(_ visit: Visit, _ site: Site) throws -> Answer {
        func again(_ message: String, _ status: HTTPResponse.Status) throws -> Answer {
            try page(visit, site, message: "\(message)", status: status)
        }
        let grants = try RoleForm(visit, site.project()).ticked(in: visit.form)
        do {
            let name = try AccountName(visit.form["name"] ?? "")
            let displayName = try DisplayName(visit.form["display"] ?? "")
            guard !grants.isEmpty else {
                return try again(
                    "Tick at least one role: without any, the person would see nothing.", .unprocessableContent)
            }
            let link = try site.accounts.invite(name, displayName, grants, by: visit.actor(), at: visit.now)
            return .page(linkPage(link, for: displayName, visit, site))
        } catch let error as AccountError { return try again(error.sentences, error.status) }
    }

    private static func withdraw(_ visit: Visit, _ site: Site) throws -> Answer {
        guard let number = Int64(visit.parameters["invitation"] ?? "") else { throw Refusal.notFound }
        do { try site.accounts.withdrawInvitation(number, by: visit.actor(), at: visit.now) } catch AccountError
            .invitationNotValid
        {
            // It was used or withdrawn a moment ago, as the list shows.
        }
        return .redirect("/users")
    }

    private static func page(_ visit: Visit, _ site: Site, message: HTML? = nil, status: HTTPResponse.Status = .ok)
        throws -> Answer
    {
        let roles = RoleForm(visit, try site.project())
        let content: HTML = """
            \(Words.head("Invite a person", "<p>You get a link to pass on. With it, the person chooses a password.</p>"))
            <form class="panel stack" method="post" action="/invite">
            \(AccountWords.alert(message))
            \(Form.token(visit))
            \(Form.text("Name to sign in with, for example the email address", name: "name", value: visit.form["name"] ?? "",
                attributes: " autocomplete=\"off\" autocapitalize=\"none\" spellcheck=\"false\" required"))
            \(Form.text("Name that others see", name: "display", value: visit.form["display"] ?? "", attributes: " dir=\"auto\" autocomplete=\"off\" required"))
            <h2>Roles</h2>
            \(roles.fields(ticked: roles.ticked(in: visit.form)))
            <p><button class="main">Make the link</button></p>
            </form>
            """
        return .page(Page(status: status, title: "Invite a person", place: .users, content: content))
    }

    /// A link that is shown only once: it cannot be looked up later.
    static func linkPage(_ link: InvitationLink, for person: DisplayName, _ visit: Visit, _ site: Site) -> Page {
        let isNew = if case .newAccount = link.invitation.purpose { true } else { false }
        let address = "\(origin(visit, site))/invitation?link=\(link.token.text)"
        let content: HTML = """
            \(Words.head("A link for \(person.text)"))
            <section class="panel" aria-labelledby="link"><h2 id="link">Pass this link on</h2>
            <p>With it, <b dir="auto">\(person.text)</b> chooses \(isNew ? "a password" : "a new password" as HTML), once, until \
            \(Words.moment(link.invitation.lapsesAt)).</p>
            <p class="secret"><code>\(address)</code></p>
            <p><b>It is shown this once.</b> The first person who opens the link owns the account: hand it over in person, in a call, or in a chat that \
            nobody else reads, and not in a group or a ticket. If it went astray, withdraw it under Users, and make another one.</p></section>
            <p><a href="/users">To the users</a></p>
            """
        return Page(title: "A link for \(person.text)", place: .users, content: content)
    }

    /// The console as others reach it. If volley.yaml does not name it, the link works where this
    /// page was opened.
    private static func origin(_ visit: Visit, _ site: Site) -> String {
        guard let address = try? site.project().console?.publicURL?.value else { return visit.requestOrigin.origin }
        return address.hasSuffix("/") ? String(address.dropLast()) : address
    }
}
