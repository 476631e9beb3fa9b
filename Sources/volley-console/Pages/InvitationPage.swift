import Accounts
import Base
import Hummingbird

/// Where an invitation leads: a person chooses the password of an account, once.
enum InvitationPage {
    /// The form, or a note that the link does not work.
    static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let link = visit.query["link"] ?? ""
        guard let name = try site.signIn.invited(by: link, at: visit.now) else { return .page(useless) }
        return .page(page(visit, link, name, message: "", .ok))
    }

    /// Takes the password, and leads to the sign-in.
    static func accept(_ visit: Visit, _ site: Site) throws -> Answer {
        let link = visit.form["link"] ?? "", password = visit.form["password"] ?? ""
        guard let name = try site.signIn.invited(by: link, at: visit.now) else { return .page(useless) }
        func again(_ message: HTML) -> Answer {
            .page(page(visit, link, name, message: message, .unprocessableContent))
        }
        guard password == visit.form["again"] else {
            return again("The two passwords differ. Type the same one twice.")
        }
        do {
            try site.signIn.accept(link, password: password, from: visit.requestOrigin.client, at: visit.now)
        } catch let error
            as AccountError
        {
            if error == .invitationNotValid { return .page(useless) }
            return again("\(error.sentences)")
        }
        return .redirect("/sign-in" + FormFields.query([("name", name)]), cookies: [visit.cookies.endForm])
    }

    private static var useless: Page {
        let words = AccountError.invitationNotValid.sentences
        return Page(
            status: .gone, title: "Invitation", place: nil,
            content: "\(Words.head("Invitation"))<p class=\"lead\">\(words)</p>")
    }

    private static func page(
        _ visit: Visit, _ link: String, _ name: String, message: HTML, _ status: HTTPResponse.Status
    ) -> Page {
        let (visit, cookies) = visit.withFormCookie()
        let error: HTML = message.markup.isEmpty ? "" : "<p class=\"stop\" role=\"alert\">\(message)</p>"
        let kind: HTML = " type=\"password\" autocomplete=\"new-password\" required"
        return Page(
            status: status, title: "Choose a password", place: nil,
            content: """
                \(Words.head("Choose a password"))
                <form class="panel sign-in" method="post" action="/invitation">
                \(error)
                \(Form.token(visit))<input type="hidden" name="link" value="\(link)">
                \(Form.text("Name", name: "name", value: name, attributes: " autocomplete=\"username\" readonly"))
                \(Form.text("Password", name: "password", value: "", attributes: kind))
                \(Form.text("The same again", name: "again", value: "", attributes: kind))
                <p class="note">At least \(PasswordRules.leastCharacters) characters; four or five words that have nothing to do with one another \
                make a good one. You sign in with it afterwards.</p>
                <p><button class="main">Use this password</button></p>
                </form>
                """, cookies: cookies)
    }
}
