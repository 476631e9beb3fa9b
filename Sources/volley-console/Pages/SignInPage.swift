import Base
import Cryptography
import Hummingbird

/// The page to sign in, and what its form does.
enum SignInPage {
    /// The form.
    static func show(_ visit: Visit, _ site: Site) -> Answer {
        let to = localPath(visit.query["to"] ?? "")
        if visit.person != nil { return .redirect(to) }
        let name = visit.query["name"] ?? ""
        return .page(
            page(
                visit, site,
                Attempt(to: to, name: name, asksForPassword: !name.isEmpty || visit.query["with"] == "password")))
    }

    /// Signs in.
    static func enter(_ visit: Visit, _ site: Site) throws -> Answer {
        let name = visit.form["name"] ?? ""
        let to = localPath(visit.form["to"] ?? "")
        var credentials = visit.credentials
        let device = credentials.device ?? Secrets.make()
        credentials.device = device
        func again(_ message: HTML, _ status: HTTPResponse.Status) -> Answer {
            .page(page(visit, site, Attempt(to: to, name: name, message: message, status: status)))
        }
        switch try site.signIn.begin(credentials, at: visit.now) {
        case .begun(let secret):
            // The new session has a new secret, even if there was a session before.
            if visit.person != nil, let old = visit.secret {
                try site.signIn.end(secret: old, from: visit.requestOrigin.client, at: visit.now)
            }
            return .redirect(
                to, cookies: [visit.cookies.setSession(secret), visit.cookies.endForm, visit.cookies.setDevice(device)])
        case .needsCode: return again("This account has a second factor: type its code, too.", .unauthorized)
        case .refused: return again("Name, password or code are wrong. Check them, and try again.", .unauthorized)
        case .slowedDown(let seconds):
            return again(AccountWords.slowDown(seconds), .tooManyRequests)
        }
    }

    /// Signs out.
    static func leave(_ visit: Visit, _ site: Site) throws -> Answer {
        if visit.person != nil, let secret = visit.secret {
            do { try site.signIn.end(secret: secret, from: visit.requestOrigin.client, at: visit.now) } catch {
                throw Refusal(
                    status: .internalServerError, title: "You are signed out",
                    words: """
                        The server could not write that down. If it is started again before it can, a copy of this session’s cookie works for up \
                        to 30 minutes more. Tell the people who run Volley.
                        """,
                    headers: [.setCookie: visit.cookies.endSession],
                    note: "A session that was ended could not be removed: \(Diagnostics(explaining: error))")
            }
        }
        return .redirect("/sign-in", cookies: [visit.cookies.endSession])
    }

    /// A path of the console itself; anything else leads to the first page, as a link from another
    /// site could otherwise redirect people to a fake page after they signed in.
    static func localPath(_ path: String) -> String {
        let isLocal =
            path.utf8.first == UInt8(ascii: "/") && path.utf8.count <= 2000
            && path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
        return isLocal && !path.hasPrefix("//") ? path : "/"
    }

    /// What a person tried before, so that it need not be typed again.
    private struct Attempt {
        var to: String
        var name = ""
        var message: HTML = ""
        var status = HTTPResponse.Status.ok
        /// Whether the form for a password is shown even if a provider should be the only way in.
        var asksForPassword = true
    }

    private static func page(_ visit: Visit, _ site: Site, _ attempt: Attempt) -> Page {
        let (visit, cookies) = visit.withFormCookie()
        let error: HTML =
            attempt.message.markup.isEmpty ? "" : "<p class=\"stop\" role=\"alert\">\(attempt.message)</p>"
        let isKept = attempt.to.hasPrefix(DraftPages.path + "?")
        let ended: HTML =
            (visit.sessionEnded || isKept) && attempt.message.markup.isEmpty
            ? """
            <p class="lead" role="status">Your session has ended. Each ends after 30 minutes without a click, and after 12 hours. \
            \(isKept
                ? "What you had written is kept as a draft: when you have signed in, you go on with it."
                : "When you have signed in, you are back where you wanted to go." as HTML)</p>
            """ : ""
        let way = site.provider.map { ProviderPages.link($0, to: attempt.to) } ?? ""
        let hidesForm = site.provider.map { $0.isOnly && !attempt.asksForPassword || !site.signIn.hasAccounts } ?? false
        let content: HTML =
            site.signIn.hasAccounts
            ? """
            <form class="panel sign-in" method="post" action="/sign-in">
            \(error)
            \(Form.token(visit))<input type="hidden" name="to" value="\(attempt.to)">
            \(Form.text("Name", name: "name", value: attempt.name, attributes: " autocomplete=\"username\" autocapitalize=\"none\" spellcheck=\"false\" required"))
            \(Form.text("Password", name: "password", value: "", attributes: " type=\"password\" autocomplete=\"current-password\" required"))
            \(Form.text("Code <span class=\"note\">if your account has a second factor</span>", name: "code", value: "", attributes: " inputmode=\"numeric\" autocomplete=\"one-time-code\""))
            <p><button class="main">Sign in</button></p>
            </form>
            """
            : "<p class=\"lead\">There are no accounts yet, so nobody can sign in. The people who run Volley invite the first person: <code>volley serve --invite NAME</code> prints a link.</p>"
        return Page(
            status: attempt.status, title: "Sign in", place: nil,
            content: "\(Words.head("Sign in"))\(ended)\(way)\(hidesForm ? "" : content)",
            cookies: cookies)
    }
}

extension Visit {
    /// The credentials in a form of this visit: the name is that of the session, if there is one.
    var credentials: Credentials {
        Credentials(
            name: person?.account ?? form["name"] ?? "", password: form["password"] ?? "", code: form["code"] ?? "",
            address: requestOrigin.client, device: device, agent: agent)
    }

    /// A form for people that are not signed in needs a cookie, from which its token follows.
    /// - Returns: the visit with its secret, and `Set-Cookie` for it if it is new.
    func withFormCookie() -> (visit: Visit, cookies: [String]) {
        guard secret == nil else { return (self, []) }
        var visit = self
        let secret = Secrets.make()
        visit.secret = secret
        return (visit, [cookies.setForm(secret)])
    }
}

/// Secrets for cookies.
enum Secrets {
    /// 256 random bits, as hex digits.
    static func make() -> String { SHA256.hex(RandomBytes.make(32)) }

    /// Whether a text could be a secret: 64 hex digits. Nothing else is looked up, and a blank one
    /// has no token.
    static func isOne(_ text: some StringProtocol) -> Bool { text.utf8.count == 64 && text.utf8.allSatisfy(isHexDigit) }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}
