import Accounts
import Base
import Campaigns
import Cryptography
import HTTPTypes
import Hummingbird
import NIOCore

/// Decides whether a request is answered, and with which rights. Everything that protects routes is
/// done here, in one order: session, right, form, forgery, right for the subject's app, a password
/// typed a moment ago.
struct Gate: Sendable {
    let site: Site
    let pages: WorkPool
    let signIns: WorkPool
    let knownSignIns: WorkPool
    let providers: WorkPool
    let forms: WorkPool

    /// Answers a request for a route, signed out or in.
    /// - Throws: `Refusal`.
    func answer(_ route: Route, _ request: Request, _ context: ConsoleContext) async throws -> Answer {
        guard let requestOrigin = context.requestOrigin else { throw Refusal.wrongHost }
        let cookies = ConsoleCookies(isSecure: requestOrigin.isSecure)
        guard let query = FormFields.parse(request.uri.query ?? "") else { throw Refusal.unreadable }
        var visit = Visit(
            person: nil, secret: nil,
            parameters: Dictionary(
                context.parameters.map { (String($0.key), FormFields.decode($0.value.utf8, plusIsBlank: false)) }
            ) {
                $1
            },
            query: query, agent: String((request.headers[.userAgent] ?? "").prefix(400)),
            attempt: ConsoleCookies.value(cookies.attempt, in: request),
            device: ConsoleCookies.secret(cookies.device, in: request),
            requestOrigin: requestOrigin, now: .now())
        let secret = ConsoleCookies.secret(cookies.session, in: request)
        let site = site
        if let secret, case let now = visit.now,
            let person = try await pages.run(
                for: requestOrigin.turn, { try site.signIn.person(secret: secret, at: now) })
        {
            (visit.person, visit.secret) = (person, secret)
            context.account.set(person.account)
        } else {
            visit.secret = ConsoleCookies.secret(cookies.form, in: request)
            visit.sessionEnded = secret != nil
        }
        if let redirect = try Self.check(route, visit, request) {
            // A person that wrote for half an hour finds the text again after the sign-in, or gets
            // it back at once.
            guard route.bodyLimit == Route.campaignBodyLimit, route.method == .post else { return redirect }
            var late = visit
            (late.secret, late.form) = (secret, try await form(of: request, route))
            guard !late.form.isEmpty else { return redirect }
            if Self.isFromPage(late, request), case let (late, hasToken) = (late, Self.isOwn(late, request)),
                let kept = try await pages.run(
                    for: requestOrigin.turn, { DraftPages.keepAfterEnd(route, late, hasToken: hasToken, site) })
            {
                return kept
            }
            throw Refusal.signedOut.holding(late.form)
        }
        if route.method == .post { visit.form = try await form(of: request, route) }
        if route.changes, !Self.isOwn(visit, request) { throw Refusal.forged.holding(visit.form) }
        let (settled, address) = (visit, request.uri.string)
        let (pool, turn) = place(of: route, visit)
        return try await pool.run(for: turn) {
            do {
                do { try Self.checkSubject(route, settled, site) } catch let refusal as Refusal {
                    throw refusal.holding(settled.form)
                }
                if route.needsFreshSignIn, settled.person?.isFresh != true {
                    return try ReauthenticationPage.ask(before: address, of: route, settled, site).laidOut(
                        for: settled, site)
                }
                return try route.answer(settled, site).laidOut(for: settled, site)
            } catch let error where route.changes && !(error is Refusal || error is AccountError || error is HTTPError)
            {
                let written = route.isSignIn ? "" : Refusal.unreadable.holding(settled.form).written
                throw Refusal.failed(error, written: written)
            }
        }
    }

    /// The threads that a route's work belongs to, and whose turn it takes there. An attempt to
    /// sign in that would be refused unchecked does not wait in the line for password checks: its
    /// page is made like any other. People at their usual addresses do not wait in line with
    /// strangers, whose number is unlimited: among them, each account has its turns.
    private func place(of route: Route, _ visit: Visit) -> (WorkPool, turn: String?) {
        if route.asksProvider { return (providers, visit.turn) }
        if route.bodyLimit == Route.campaignBodyLimit { return (forms, visit.turn) }
        guard route.isSignIn, visit.person != nil || visit.form["name"] != nil else {
            return (route.isSignIn ? signIns : pages, visit.turn)
        }
        let credentials = visit.credentials
        if site.signIn.mustWait(credentials, at: visit.now) { return (pages, visit.turn) }
        guard visit.person != nil || site.signIn.isKnown(credentials, at: visit.now) else {
            return (signIns, visit.turn)
        }
        return (knownSignIns, credentials.name.lowercased())
    }

    /// The rights that need no look at the subject.
    /// - Returns: where to go instead; nil to continue.
    private static func check(_ route: Route, _ visit: Visit, _ request: Request) throws(Refusal) -> Answer? {
        let needed: Right?
        switch route.right {
        case .anyone: return nil
        case .signedIn: needed = nil
        case .right(let right): needed = right
        }
        guard visit.person != nil else {
            // What a form held is gone; a page can be shown after the sign-in.
            let to = route.method == .get && request.uri.path != "/" ? request.uri.string : ""
            return .redirect("/sign-in" + FormFields.query([("to", to)]))
        }
        if let needed, !visit.maySomewhere(needed) { throw .notAllowed }
        return nil
    }

    /// The right for the app of what the route is about.
    private static func checkSubject(_ route: Route, _ visit: Visit, _ site: Site) throws {
        guard case .right(let right) = route.right else { return }
        let app: String?
        switch route.subject {
        case .none: return
        case .run: app = try appOfRun(right, visit, site)
        case .campaign:
            let file = visit.query["file"] ?? ""
            guard
                let item = try site.campaigns.items(project: site.project(), now: visit.now).first(where: {
                    $0.file == file
                })
            else {
                throw CampaignArchiving.refusal(of: file, visit, site)
            }
            // A campaign whose app cannot be read is shown only to people that may see all apps.
            guard let named = item.app else {
                guard visit.may(right, app: nil) else { throw Refusal.notAllowed }
                return
            }
            app = named
        case .app: app = try site.project().app(named: visit.query["app"] ?? "")?.name.value
        }
        guard let app else { throw Refusal.notFound }
        guard visit.may(right, app: app) else { throw Refusal.notAllowed }
    }

    /// The app of a run; nil for an unknown run. Also nil if it cannot be read and the person may
    /// not see all apps: then not even its existence is shown.
    private static func appOfRun(_ right: Right, _ visit: Visit, _ site: Site) throws -> String? {
        // It reveals nothing about a run that the folder cannot be listed.
        _ = try site.archive.listing()
        do { return try site.archive.summary(of: visit.parameters["run"] ?? "")?.app } catch {
            guard visit.may(right, app: nil) else { return nil }
            throw error
        }
    }

    private func form(of request: Request, _ route: Route) async throws -> [String: String] {
        let type = request.headers[.contentType] ?? ""
        guard type.lowercased().hasPrefix("application/x-www-form-urlencoded") else { throw Refusal.unreadable }
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > route.bodyLimit {
            throw Refusal.tooLarge
        }
        let bytes: ByteBuffer
        do { bytes = try await request.body.collect(upTo: route.bodyLimit) } catch is NIOTooManyBytesError {
            throw Refusal.tooLarge
        } catch {
            // A chunk without a size, or a body that ends too early: what follows on the connection
            // is no request.
            var refusal = Refusal.unreadable
            refusal.headers[.connection] = "close"
            throw refusal
        }
        let most = route.bodyLimit == Route.campaignBodyLimit ? FormFields.mostOfCampaign : FormFields.most
        guard let fields = FormFields.parse(String(buffer: bytes), most: most) else { throw Refusal.tooLarge }
        return fields
    }

    private static func isOwn(_ visit: Visit, _ request: Request) -> Bool {
        guard let secret = visit.secret, let token = visit.form[CSRFProtection.field],
            CSRFProtection.accepts(token, of: secret)
        else {
            return false
        }
        return isFromPage(visit, request)
    }

    private static func isFromPage(_ visit: Visit, _ request: Request) -> Bool {
        CSRFProtection.isOwn(
            origin: request.headers[.origin], site: request.headers[.secFetchSite], own: [visit.requestOrigin.origin])
    }
}

extension HTTPField.Name {
    /// Where a browser says that a request comes from (Fetch Metadata, section 2.4).
    static let secFetchSite: HTTPField.Name = {
        guard let name = HTTPField.Name("Sec-Fetch-Site") else { preconditionFailure("not the name of a header") }
        return name
    }()
}

/// Protects forms from being sent by other sites: each carries a token that follows from a cookie
/// which those pages cannot read (OWASP, Cross-Site Request Forgery Prevention). It does not reveal
/// the cookie, and ends with it.
enum CSRFProtection {
    /// The name of the form's field.
    static let field = "token"

    /// The token of a cookie with at least 128 random bits.
    static func token(of secret: String) -> String {
        SHA256.hex(HMACSHA256.code(of: Array("volley console form".utf8), key: Array(secret.utf8)))
    }

    /// Whether a form has the token of a cookie. Takes as long for any wrong one.
    static func accepts(_ token: String, of secret: String) -> Bool {
        ConstantTime.areEqual(Array(token.utf8), Array(Self.token(of: secret).utf8))
    }

    /// Whether a browser says that a request comes from a page of the console itself. One of the
    /// two headers must be there: every browser of the last years sends them with a form.
    /// - Parameters:
    ///   - origin: `Origin`.
    ///   - site: `Sec-Fetch-Site`.
    ///   - own: the console's own origins.
    static func isOwn(origin: String?, site: String?, own: Set<String>) -> Bool {
        if let site, site != "same-origin" { return false }
        guard let origin else { return site != nil }
        return own.contains(origin.lowercased())
    }
}

/// The console's cookies. Behind https their names begin with `__Host-`: a browser then accepts
/// them only from this host, for all of its paths, and only over https (RFC 6265bis, section
/// 4.1.3.2).
struct ConsoleCookies: Sendable {
    let isSecure: Bool

    /// Holds the secret of a session. Links from mails must lead to pages, so it also comes with
    /// those (`SameSite=Lax`).
    var session: String { isSecure ? "__Host-volley" : "volley" }

    /// Holds the secret of the sign-in form, before there is a session.
    var form: String { isSecure ? "__Host-volley-form" : "volley-form" }

    /// Holds a sign-in by a provider that is under way.
    var attempt: String { isSecure ? "__Host-volley-oidc" : "volley-oidc" }

    /// Marks a browser in which a person signed in before: wrong passwords from other places do not
    /// slow it down. It gives no right.
    var device: String { isSecure ? "__Host-volley-device" : "volley-device" }

    /// The secret in a request's cookie; nil for anything that the console did not give out.
    static func secret(_ name: String, in request: Request) -> String? {
        value(name, in: request).flatMap { Secrets.isOne($0) ? $0 : nil }
    }

    /// The value of a request's cookie; the first of a name counts.
    static func value(_ name: String, in request: Request) -> String? {
        for header in request.headers[values: .cookie] {
            for pair in header.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let key = parts[0].drop { $0 == " " }
                if parts.count == 2, key == name { return String(parts[1]) }
            }
        }
        return nil
    }

    /// `Set-Cookie` for the session; it ends with the browser, and long before that on the server.
    func setSession(_ secret: String) -> String { line(session, secret, "SameSite=Lax") }

    /// `Set-Cookie` for the sign-in form.
    func setForm(_ secret: String) -> String { line(form, secret, "SameSite=Strict") }

    /// `Set-Cookie` for the browser itself, for as long as the brake remembers it.
    func setDevice(_ secret: String) -> String {
        line(device, secret, "SameSite=Strict; Max-Age=\(SignInThrottle.memoryOfKnown)")
    }

    /// `Set-Cookie` for a sign-in by a provider. The way back is a link from there, with which it
    /// must come (`SameSite=Lax`).
    func setAttempt(_ sealed: String, seconds: Int64) -> String {
        line(attempt, sealed, "SameSite=Lax; Max-Age=\(seconds)")
    }

    /// `Set-Cookie` that takes that one back.
    var endAttempt: String { line(attempt, "", "SameSite=Lax; Max-Age=0") }

    /// `Set-Cookie` that deletes the session's cookie.
    var endSession: String { line(session, "", "SameSite=Lax; Max-Age=0") }

    /// `Set-Cookie` that deletes the form's cookie.
    var endForm: String { line(form, "", "SameSite=Strict; Max-Age=0") }

    private func line(_ name: String, _ value: String, _ rules: String) -> String {
        "\(name)=\(value); Path=/; HttpOnly; \(rules)" + (isSecure ? "; Secure" : "")
    }
}
