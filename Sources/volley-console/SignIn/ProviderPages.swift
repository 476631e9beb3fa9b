import Accounts
import Base
import Cryptography
import HTTPTypes
import OpenIDConnect

/// Signing in through a provider of identities: the way to it, and back.
enum ProviderPages {
    /// The path that browsers return to. It is registered with the provider, after the console's
    /// address.
    static let wayBack = "/sign-in/oidc/return"
    /// The page that people continue on after a fresh sign-in at the provider.
    static let proved = "/account/proof/proved"

    /// Leads to the provider.
    static func begin(_ visit: Visit, _ site: Site) throws -> Answer {
        try begin(.signIn, to: SignInPage.localPath(visit.query["to"] ?? ""), visit, site)
    }

    /// Redirects a signed-in person to the provider for a fresh sign-in.
    static func beginProof(_ visit: Visit, _ site: Site) throws -> Answer {
        try begin(.proof(session: session(visit)), to: "/", visit, site)
    }

    /// Signs in a person that returns from the provider. The link comes from elsewhere, so it
    /// counts once, and only with the cookie of the browser that began.
    static func comeBack(_ visit: Visit, _ site: Site) throws -> Answer {
        let provider = try provider(site)
        return try explained(provider) {
            let attempt = try attempt(visit, provider)
            if case .proof(let session) = attempt.purpose {
                guard visit.person != nil, self.session(visit) == session else { throw Refusal.sessionEnded }
            }
            let identity = try provider.braked(visit.requestOrigin.client, at: visit.now) {
                try provider.provider.identity(
                    for: attempt, visit.query, redirect: visit.requestOrigin.origin + wayBack, at: visit.now)
            }
            switch attempt.purpose {
            case .signIn: return try enter(identity, to: attempt.to, provider, visit, site)
            case .proof(let session): return try goOn(identity, session, provider, visit, site)
            }
        }
    }

    private static func attempt(_ visit: Visit, _ provider: ProviderSignIn) throws -> OpenIDAttempt {
        // Some providers leave the state out of a refusal, against RFC 6749 (section 4.1.2.1). Then
        // the attempt is not ended here, but the person is told what happened.
        if visit.attempt != nil, visit.query["state"] == nil, let error = visit.query["error"] {
            throw OpenIDProblem(ended: error, description: visit.query["error_description"])
        }
        return try provider.attempts.take(visit.attempt, state: visit.query["state"] ?? "", at: visit.now)
    }

    private static func begin(_ purpose: OpenIDAttempt.Purpose, to: String, _ visit: Visit, _ site: Site) throws
        -> Answer
    {
        let provider = try provider(site)
        return try explained(provider) {
            let (attempt, cookie) = provider.attempts.begin(purpose, to: to, at: visit.now)
            let address = try provider.provider.address(
                for: attempt, redirect: visit.requestOrigin.origin + wayBack, at: visit.now)
            return .redirect(address, cookies: [visit.cookies.setAttempt(cookie, seconds: OpenIDAttempts.seconds)])
        }
    }

    private static func enter(
        _ identity: OpenIDIdentity, to: String, _ provider: ProviderSignIn, _ visit: Visit, _ site: Site
    ) throws
        -> Answer
    {
        switch try site.accounts.enter(
            provider.person(identity), from: visit.requestOrigin.client, agent: visit.agent, at: visit.now)
        {
        case .signedIn(let token):
            // The new session has a new secret, even if there was a session before.
            if visit.person != nil, let old = visit.secret {
                try site.signIn.end(secret: old, from: visit.requestOrigin.client, at: visit.now)
            }
            return .redirect(
                SignInPage.localPath(to),
                cookies: [visit.cookies.setSession(token.text), visit.cookies.endForm, visit.cookies.endAttempt])
        case .noRole: throw Refusal.noRole(provider, values: identity.groups)
        case .disabled: throw Refusal.disabled
        }
    }

    private static func goOn(
        _ identity: OpenIDIdentity, _ session: String, _ provider: ProviderSignIn, _ visit: Visit, _ site: Site
    ) throws
        -> Answer
    {
        guard let secret = visit.secret, let token = SecretToken(secret) else { throw Refusal.sessionEnded }
        guard
            let new = try site.accounts.prove(token, issuer: identity.issuer, subject: identity.subject, at: visit.now)
        else {
            throw Refusal.otherPerson
        }
        // Not at this address, which has a code and does not work a second time.
        if let intent = provider.kept.find(of: session) { provider.kept.keep(intent, of: hash(new.text)) }
        return .redirect(proved, cookies: [visit.cookies.setSession(new.text), visit.cookies.endAttempt])
    }

    /// Leads on to what the person was about to do, as long as that is not too long ago.
    static func showWayOn(_ visit: Visit, _ site: Site) throws -> Answer {
        guard visit.person?.isFresh == true, let secret = visit.secret,
            let intent = try provider(site).kept.find(of: session(visit))
        else {
            return .redirect("/")
        }
        var page = ReauthenticationPage.goOn(visit, intent, secret)
        page.cookies = []
        return .page(page)
    }

    /// What is wrong, in words for a person that cannot fix it; the log has the details.
    private static func explained(_ provider: ProviderSignIn, _ body: () throws -> Answer) throws -> Answer {
        do { return try body() } catch let problem as OpenIDProblem {
            throw Refusal(problem, of: provider.name)
        } catch let mistake as Diagnostic {
            throw Refusal(
                status: .internalServerError, title: "Signing in is not possible now",
                words: "Something on the server is not as it should be. Tell the people who run Volley.",
                note: "\(provider.name): \(mistake)")
        }
    }

    private static func provider(_ site: Site) throws -> ProviderSignIn {
        guard let provider = site.provider else { throw Refusal.notFound }
        return provider
    }

    /// The hash of the session's secret.
    private static func session(_ visit: Visit) -> String { hash(visit.secret ?? "") }

    private static func hash(_ secret: String) -> String { SHA256.hex(SHA256.digest(of: Array(secret.utf8))) }
}

/// What other pages show of it.
extension ProviderPages {
    /// The way in, on the sign-in page.
    static func link(_ provider: ProviderSignIn, to: String) -> HTML {
        let address = "/sign-in/oidc" + FormFields.query([("to", to == "/" ? "" : to)])
        return """
            <div class="panel sign-in"><p><a class="button main" href="\(address)">Sign in with <span dir="auto">\(provider.name)</span></a></p></div>
            """
    }

    /// The place that keeps the password, second factor and roles of an account.
    static func note(_ issuer: String) -> HTML {
        "<p>This account signs in by <b>\(TextFormat.inLine(issuer))</b>. Password, second factor and roles are kept there.</p>"
    }

    /// Instead of the page with the password field.
    static func proof(
        _ visit: Visit, _ site: Site, _ issuer: String, _ intent: ReauthenticationPage.Intent,
        status: HTTPResponse.Status
    )
        -> Page
    {
        guard let provider = site.provider, provider.issuer == issuer else {
            return Page(
                status: .forbidden, title: "Sign in again",
                content: """
                    \(Words.head("Sign in again"))
                    <p class="lead">The console does not know the provider any more by which you signed in. Sign out, and in again.</p>
                    """)
        }
        provider.kept.keep(intent, of: session(visit))
        return Page(
            status: status, title: "Sign in again",
            content: """
                \(Words.head("Sign in again"))
                <div class="panel sign-in">
                <p>Before what comes next, the console makes sure that it is still you.\(intent.fields == nil ? "" : " What you filled in is kept." as HTML)</p>
                <p><a class="button main" href="/account/proof/oidc">Sign in again with <span dir="auto">\(provider.name)</span></a></p>
                </div>
                """)
    }
}

extension Refusal {
    /// A sign-in through a provider failed.
    init(_ problem: OpenIDProblem, of provider: String) {
        let note = "\(provider): \(problem.sentence)"
        switch problem {
        case .denied:
            self.init(
                status: .forbidden, title: "You are not signed in",
                words: "\(provider) ended the sign-in. You may begin again.", note: note
            )
        case .notProvedAgain:
            self.init(
                status: .forbidden, title: "You were not asked again",
                words: "\(provider) did not have you sign in anew. Sign out there, and begin again.", note: note)
        case .noProofTime:
            self.init(
                status: .forbidden, title: "This cannot be done with your account",
                words: """
                    \(provider) does not tell the console when you signed in, so the console cannot make sure that it is you. Tell the \
                    people who run Volley.
                    """,
                note: note)
        case .unreachable:
            self.init(
                status: .badGateway, title: "Signing in is not possible now",
                words: """
                    The console cannot reach \(provider). Try again in a minute, and if it stays so, tell the people who run Volley: the \
                    console's log says more.
                    """,
                note: note)
        case .failed:
            self.init(
                status: .badGateway, title: "Signing in is not possible now",
                words:
                    "\(provider) ended the sign-in with an error. Tell the people who run Volley: the console's log says more.",
                note: note)
        case _ where problem.isOfThisAttempt:
            self.init(
                status: .badRequest, title: "This sign-in cannot be completed",
                words: "It is too old, was used already, or was begun in another browser or another tab. Begin again.",
                note: note)
        default:
            self.init(
                status: .badGateway, title: "Signing in is not possible now",
                words:
                    "What \(provider) answered cannot be used. Try again, and if it stays so, tell the people who run Volley: the console's log says more.",
                note: note)
        }
    }

    fileprivate static let sessionEnded = Refusal(
        status: .unauthorized, title: "You are not signed in any more",
        words: "Your session ended meanwhile. Sign in again.")
    fileprivate static let otherPerson = Refusal(
        status: .forbidden, title: "You signed in there as another person",
        words: "The person who signed in at the provider is not the one who is signed in here. Nothing was changed.")
    fileprivate static let disabled = Refusal(
        status: .forbidden, title: "Your account is disabled", words: "An administrator of the console can enable it.")

    /// Too many answers of a provider were invented.
    static func slowedDown(_ seconds: Int64) -> Refusal {
        Refusal(
            status: .tooManyRequests, title: "Wait a moment",
            words: "Too many attempts failed. Wait \(TextFormat.span(seconds: seconds)), and begin again.",
            headers: [.retryAfter: "\(seconds)"])
    }

    /// - Parameter values: of the claim, for the log, where operators see what `map` must name:
    ///   providers write `shop` as `/shop`, or as a number. With none, the provider does not send
    ///   the claim at all.
    static func noRole(_ provider: ProviderSignIn, values: [String]) -> Refusal {
        let named = values.prefix(5).map { "'\(TextFormat.foreign($0, maximumBytes: 60))'" }.joined(separator: ", ")
        let held =
            values.isEmpty
            ? "came without the claim"
            : "came with \(named)\(values.count > 5 ? " and others" : ""), which volley.yaml does not map, in the claim"
        return Refusal(
            status: .forbidden, title: "You have no role here",
            words: """
                \(provider.name) knows you, but gives you no role in the console. Ask the people who run Volley for one, and sign in again. \
                If you have another account at \(provider.name), sign out there first.
                """,
            note: "\(provider.name): a person without a role \(held) \(provider.rolesClaim)")
    }
}
