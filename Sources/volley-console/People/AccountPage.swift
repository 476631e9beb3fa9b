import Accounts
import Base
import HTTPTypes
import Reports

/// A person's own account: password, second factor, and where they are signed in.
enum AccountPage {
    static func show(_ visit: Visit, _ site: Site) throws -> Answer { .page(try page(visit, site)) }

    /// The parts of the page that have a form, by the ids of their headings.
    enum Part: String {
        case password = "own-password"
        case factor, sessions
    }

    /// What was done a moment ago, as the address says after a form.
    private enum Done: String {
        case password, factor, session

        var words: String {
            switch self {
            case .password: "Your password was changed. You are signed out everywhere else."
            case .factor: "Your second factor was removed."
            case .session: "That session was ended."
            }
        }
    }

    /// - Parameter typed: what is wrong with a form that was sent.
    static func page(
        _ visit: Visit, _ site: Site, status: HTTPResponse.Status = .ok, typed: (part: Part, message: HTML)? = nil
    ) throws -> Page {
        let account = try account(visit, site)
        func message(_ part: Part) -> HTML { AccountWords.alert(typed?.part == part ? typed?.message : nil) }
        let done: HTML =
            Done(rawValue: visit.query["done"] ?? "").map { "<p class=\"done\" role=\"status\">\($0.words)</p>" } ?? ""
        let content: HTML = """
            \(Words.head("Your account", "<p><b dir=\"auto\">\(account.displayName.text)</b>, signing in as <code>\(account.name.text)</code></p>"))
            \(done)
            \(Words.panel("What you may do", id: "roles", "<p>\(RoleWords.chips(account.grants, for: visit))</p>"))
            \(try TiesPanel.html(account, confirms: false, visit, site))
            \(account.issuer == nil ? Words.panel("Password", id: Part.password.rawValue, "\(message(.password))\(passwordForm(account, visit))") : "")
            \(account.issuer == nil ? Words.panel("Second factor", id: Part.factor.rawValue, "\(message(.factor))\(try factor(account, visit, site))") : "")
            \(account.issuer.map { Words.panel("How you sign in", id: "provider", ProviderPages.note($0)) } ?? "")
            \(Words.panel("Where you are signed in", id: Part.sessions.rawValue, "\(message(.sessions))\(try sessions(account, visit, site))"))
            """
        return Page(status: status, title: "Your account", content: content, help: .oneHand)
    }

    /// The account of the signed-in person.
    static func account(_ visit: Visit, _ site: Site) throws -> Account {
        guard let account = try site.accounts.account(visit.signedIn().id) else { throw AccountError.noSuchAccount }
        return account
    }

    private static func passwordForm(_ account: Account, _ visit: Visit) -> HTML {
        """
        <form class="sign-in" method="post" action="/account/password">
        \(Form.token(visit))
        <input type="hidden" name="name" value="\(account.name.text)" autocomplete="username">
        \(AccountWords.passwordField("The one you have now", name: "password"))
        \(AccountWords.passwordField("The new one", name: "new", isNew: true))
        \(AccountWords.passwordField("The new one again", name: "again", isNew: true))
        <p class="note">At least \(PasswordRules.leastCharacters) characters. Afterwards you are signed out everywhere else.</p>
        <p><button>Change password</button></p>
        </form>
        """
    }

    private static func factor(_ account: Account, _ visit: Visit, _ site: Site) throws -> HTML {
        guard account.hasSecondFactor else {
            return """
                <p>Without one, a person who learns your password can sign in as you. With one, signing in also takes a code of six digits that an \
                authenticator app on your phone shows.</p>
                <form class="stack" method="post" action="/account/factor">\(Form.token(visit))<p><button>Set up a second factor</button></p></form>
                """
        }
        let left = try site.accounts.recoveryCodesLeft(of: account.id)
        return """
            <p>It is set up. You have \(TextFormat.counted(left, one: "recovery code")) left, for the case that you lose your phone.\
            \(left < 3 ? " To get new ones, remove the second factor and set it up again." : "" as HTML)</p>
            <form class="stack" method="post" action="/account/factor/remove">\(Form.token(visit))
            <p><button class="grave">Remove the second factor</button></p></form>
            """
    }

    private static func sessions(_ account: Account, _ visit: Visit, _ site: Site) throws -> HTML {
        let own = try visit.secret.flatMap { SecretToken($0) }.flatMap {
            try site.accounts.signedIn($0, at: visit.now)?.session.id
        }
        let lines: [HTML] = try site.accounts.sessions(of: account.id, at: visit.now).map { session in
            let end: HTML =
                session.id == own
                ? "<span class=\"note\">this one</span>"
                : """
                <form method="post" action="/account/sessions/\(String(session.id.number))/end">\(Form.token(visit))\
                <button>Sign out there</button></form>
                """
            return """
                <tr><th scope="row" dir="auto">\(BrowserName.words(session.agent))</th>
                <td data-name="Since">\(Words.moment(session.startedAt))</td><td data-name="Last used">\(Words.moment(session.usedAt))</td>
                <td data-name="Address">\(session.address.map(\.description) ?? "not known")</td><td data-name="Session">\(end)</td></tr>
                """
        }
        return """
            <table class="rows"><thead><tr><th scope="col">Browser</th><th scope="col">Since</th><th scope="col">Last used</th>
            <th scope="col">Address</th><th scope="col">Session</th></tr></thead><tbody>\(lines)</tbody></table>
            """
    }
}

/// A short name for a browser with a long identification. It is a guess that helps people to
/// recognize their own sessions, and decides nothing.
enum BrowserName {
    /// The first match counts: browsers list the ones that they are compatible with after their own
    /// name.
    private static let browsers = [
        ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"), ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("CriOS/", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
    ]
    private static let systems = [
        ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("CrOS", "ChromeOS"),
        ("Mac OS X", "Mac"),
        ("Linux", "Linux"),
    ]

    /// `Firefox on Windows`; of an unknown program its first 60 characters.
    static func words(_ agent: String) -> String {
        guard !agent.isEmpty else { return "not known" }
        guard let browser = browsers.first(where: { agent.contains($0.0) })?.1 else {
            return TextFormat.printable(String(agent.prefix(60)))
        }
        return systems.first { agent.contains($0.0) }.map { "\(browser) on \($0.1)" } ?? browser
    }
}

/// What several pages say of accounts.
enum AccountWords {
    /// After too many wrong passwords or codes.
    static func slowDown(_ seconds: Int) -> HTML {
        "Too many attempts failed. Wait \(TextFormat.span(seconds: Int64(seconds))), and try again."
    }

    /// A message above a form, also for users of a screen reader.
    static func alert(_ message: HTML?) -> HTML { message.map { "<p class=\"stop\" role=\"alert\">\($0)</p>" } ?? "" }

    /// The field of a password. No page ever fills it in.
    static func passwordField(_ label: HTML, name: String, isNew: Bool = false) -> HTML {
        let kind: HTML = isNew ? "new-password" : "current-password"
        return Form.text(
            label, name: name, value: "", attributes: " type=\"password\" autocomplete=\"\(kind)\" required")
    }

    /// The field of a code of a second factor.
    static func codeField(_ label: HTML) -> HTML {
        Form.text(
            label, name: "code", value: "", attributes: " inputmode=\"numeric\" autocomplete=\"one-time-code\" required"
        )
    }
}

extension AccountError {
    /// What happened and what to do, as sentences.
    var sentences: String {
        diagnostics.flatMap {
            ["\(TextFormat.capitalized($0.message(for: .console)))."] + ($0.remedy(for: .console).map { [$0] } ?? [])
        }
        .joined(separator: " ")
    }

    /// The answer of a page with this text.
    var status: HTTPResponse.Status {
        switch self {
        case .notPermitted, .ofProvider, .tied: .forbidden
        case .noSuchAccount: .notFound
        case .invitationNotValid: .gone
        case .notSignedIn: .unauthorized
        case .busy: .serviceUnavailable
        case .badName, .badDisplayName, .nameTaken, .unfitPassword, .disabled, .lastAdministrator, .alreadyAdministered,
            .secondFactor,
            .wrongCode, .tooManyDrafts:
            .unprocessableContent
        }
    }
}

extension Refusal {
    /// The accounts refuse it.
    init(_ error: AccountError) {
        let headers: HTTPFields = error == .busy ? [.retryAfter: "5"] : [:]
        self.init(
            status: error.status, title: "This cannot be done", words: "\(error.sentences) Nothing was changed.",
            headers: headers)
    }
}

extension Visit {
    /// The person that changes accounts in this visit.
    func actor() throws -> Actor { try Actor(signedIn().id, address: requestOrigin.client) }

    /// The person; `Gate` stops everyone else.
    func signedIn() throws -> Person {
        guard let person else { throw AccountError.notSignedIn }
        return person
    }
}

/// What the forms of a person's own account do.
enum AccountForms {
    static var routes: [Route] {
        [
            Route(method: .get, path: "/account", right: .signedIn, answer: AccountPage.show),
            Route(
                method: .post, path: "/account/password", right: .signedIn, changes: true, isSignIn: true,
                answer: changePassword),
            Route(
                method: .post, path: "/account/factor", right: .signedIn, changes: true, asksAgain: true,
                answer: SecondFactorPage.begin),
            Route(
                method: .post, path: "/account/factor/confirm", right: .signedIn, changes: true,
                answer: SecondFactorPage.confirm),
            Route(
                method: .post, path: "/account/factor/remove", right: .signedIn, changes: true, asksAgain: true,
                answer: SecondFactorPage.remove),
            Route(
                method: .post, path: "/account/sessions/:session/end", right: .signedIn, changes: true,
                answer: endSession),
        ]
    }

    private static func changePassword(_ visit: Visit, _ site: Site) throws -> Answer {
        func again(_ message: HTML, _ status: HTTPResponse.Status) throws -> Answer {
            .page(try AccountPage.page(visit, site, status: status, typed: (.password, message)))
        }
        let new = visit.form["new"] ?? ""
        guard new == visit.form["again"] else {
            return try again("The two new passwords differ. Type the same one twice.", .unprocessableContent)
        }
        let answer: SignInAnswer
        do {
            answer = try site.signIn.changePassword(
                visit.credentials, to: new, secret: visit.secret ?? "", at: visit.now)
        } catch let error as AccountError {
            return try again("\(error.sentences)", error.status)
        }
        switch answer {
        case .begun(let secret): return .redirect("/account?done=password", cookies: [visit.cookies.setSession(secret)])
        case .needsCode, .refused:
            return try again(
                "The password that you have now is another one. Nothing was changed.", .unprocessableContent)
        case .slowedDown(let seconds): return try again(AccountWords.slowDown(seconds), .tooManyRequests)
        }
    }

    private static func endSession(_ visit: Visit, _ site: Site) throws -> Answer {
        guard let number = Int64(visit.parameters["session"] ?? "") else { throw Refusal.notFound }
        try site.accounts.endSession(
            SessionID(number), of: visit.signedIn().id, from: visit.requestOrigin.client, at: visit.now)
        return .redirect("/account?done=session")
    }
}
