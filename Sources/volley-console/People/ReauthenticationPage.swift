import Accounts
import Base
import HTTPTypes

/// Has a person type the password again before an action that cannot be undone, and then continues
/// with it. What the person had filled in before is kept in the page, and nowhere else.
enum ReauthenticationPage {
    static var routes: [Route] {
        [
            Route(method: .get, path: path, right: .signedIn, answer: show),
            Route(method: .post, path: path, right: .signedIn, changes: true, isSignIn: true, answer: prove),
        ]
    }

    private static let path = "/account/proof"
    /// What the names of kept fields begin with.
    private static let kept = "kept."

    /// What the person was about to do.
    struct Intent: Sendable {
        /// A path of the console.
        var to: String
        /// The fields of the form that was sent there; nil for a page or a file.
        var fields: [(name: String, value: String)]?

        init(to: String, fields: [(name: String, value: String)]?) {
            (self.to, self.fields) = (SignInPage.localPath(to), fields)
        }

        /// As the form of this page carries it.
        fileprivate init(carriedBy form: [String: String]) {
            let fields = form.filter { $0.key.hasPrefix(kept) }.map {
                (name: String($0.key.dropFirst(kept.count)), value: $0.value)
            }
            self.init(to: form["to"] ?? "", fields: form["form"] == nil ? nil : fields.sorted { $0.name < $1.name })
        }

        fileprivate var carried: HTML {
            let mark: HTML = fields == nil ? "" : "<input type=\"hidden\" name=\"form\" value=\"yes\">"
            return "<input type=\"hidden\" name=\"to\" value=\"\(to)\">\(mark)\(hidden(prefix: kept))"
        }

        fileprivate func hidden(prefix: String) -> HTML {
            HTML(
                joined: (fields ?? []).map {
                    "<input type=\"hidden\" name=\"\(prefix)\($0.name)\" value=\"\($0.value)\">"
                })
        }
    }

    /// What `Gate` answers instead of a route.
    static func ask(before address: String, of route: Route, _ visit: Visit, _ site: Site) throws -> Answer {
        guard route.changes else { return .redirect(path + FormFields.query([("to", address)])) }
        let fields = visit.form.filter { $0.key != CSRFProtection.field }.map { (name: $0.key, value: $0.value) }.sorted
        {
            $0.name < $1.name
        }
        return .page(try page(visit, site, Intent(to: address, fields: fields), status: .forbidden))
    }

    private static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        .page(try page(visit, site, Intent(to: visit.query["to"] ?? "", fields: nil)))
    }

    private static func prove(_ visit: Visit, _ site: Site) throws -> Answer {
        let intent = Intent(carriedBy: visit.form)
        func again(_ message: HTML, _ status: HTTPResponse.Status) throws -> Answer {
            .page(try page(visit, site, intent, message: message, status: status))
        }
        switch try site.signIn.prove(visit.credentials, secret: visit.secret ?? "", at: visit.now) {
        case .begun(let secret): return .page(goOn(visit, intent, secret))
        case .needsCode, .refused:
            return try again("Password or code are wrong. Check them, and try again.", .unauthorized)
        case .slowedDown(let seconds): return try again(AccountWords.slowDown(seconds), .tooManyRequests)
        }
    }

    /// The session continues with another secret, so the filled-in form also needs another token.
    static func goOn(_ visit: Visit, _ intent: Intent, _ secret: String) -> Page {
        var visit = visit
        visit.secret = secret
        let way: HTML =
            intent.fields == nil
            ? "<p><a href=\"\(intent.to)\">Go on</a></p>"
            : """
            <form method="post" action="\(intent.to)">\(Form.token(visit))\(intent.hidden(prefix: ""))
            <p><button class="main">Go on</button></p></form>
            """
        return Page(
            title: "Go on",
            content: """
                \(Words.head("Thank you"))
                <p class="lead">For five minutes you are not asked again.\(intent.fields == nil ? "" : " What you filled in is still there." as HTML)</p>
                \(way)
                """, cookies: [visit.cookies.setSession(secret)], visit: visit)
    }

    private static func page(
        _ visit: Visit, _ site: Site, _ intent: Intent, message: HTML? = nil, status: HTTPResponse.Status = .ok
    ) throws -> Page {
        let person = try visit.signedIn()
        let account = try site.accounts.account(person.id)
        if let issuer = account?.issuer { return ProviderPages.proof(visit, site, issuer, intent, status: status) }
        let hasSecondFactor = account?.hasSecondFactor ?? false
        return Page(
            status: status, title: "Type your password again",
            content: """
                \(Words.head("Type your password again"))
                <form class="panel sign-in" method="post" action="\(path)">
                \(AccountWords.alert(message))
                <p>Before what comes next, the console makes sure that it is still you.</p>
                \(Form.token(visit))\(intent.carried)
                <input type="hidden" name="name" value="\(person.account)" autocomplete="username">
                \(AccountWords.passwordField("Password", name: "password"))
                \(hasSecondFactor ? AccountWords.codeField("Code of your second factor") : "")
                <p><button class="main">Go on</button></p>
                </form>
                """)
    }
}
