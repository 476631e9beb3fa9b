import Accounts
import Base
import HTTPTypes

/// The people that may use a route.
enum RouteRight: Hashable, Sendable {
    /// Everybody, signed in or not.
    case anyone
    /// All signed-in people.
    case signedIn
    /// People that have this right for the app of the route's subject; if the route has no single
    /// subject, for any app.
    case right(Right)
}

/// What a route is about: its app decides whether a person may use it.
enum Subject: Hashable, Sendable {
    /// Nothing single.
    case none
    /// The run that the path names as `:run`.
    case run
    /// The campaign file that the query names as `file`.
    case campaign
    /// The app that the query names as `app`.
    case app
}

/// A request that the console accepts, as a value: it declares all its protections, and `Gate`
/// enforces them.
struct Route: Sendable {
    enum Method: String, Sendable { case get = "GET", post = "POST" }

    let method: Method
    /// `/runs/:run`: a part that begins with a colon matches any part.
    let path: String
    let right: RouteRight
    var subject = Subject.none
    /// Whether it changes something: then it is a form, and is checked for forgery.
    var changes = false
    /// The most bytes of a form.
    var bodyLimit = Self.usualBodyLimit
    /// Whether it checks a password: these have threads of their own, as hashes are slow on
    /// purpose.
    var isSignIn = false
    /// Whether it sends requests to a provider of identities: such routes have threads of their
    /// own, as the provider may be slow.
    var asksProvider = false
    /// Whether the password must have been typed a moment ago, also where no right says so.
    var asksAgain = false
    /// May block.
    let answer: @Sendable (Visit, Site) throws -> Answer

    /// Whether `Gate` has the person type the password again first, unless that was a moment ago:
    /// for actions that cannot be undone.
    var needsFreshSignIn: Bool {
        if case .right(let right) = right, changes, right.needsFreshSignIn { return true }
        return asksAgain
    }

    static let usualBodyLimit = 64 << 10, campaignBodyLimit = 2 << 20, deviceListBodyLimit = 2_000_000

    /// Of any route.
    static let mostBodyBytes = campaignBodyLimit
}

/// A request that may be answered.
struct Visit: Sendable {
    /// nil if no person is signed in.
    var person: Person?
    /// The secret of the session's cookie, or of the sign-in form's; nil without either.
    var secret: String?
    /// Whether the browser has the cookie of a session that is over.
    var sessionEnded = false
    /// The variable parts of the path, by their names.
    var parameters: [String: String]
    /// The values after `?`; if a name occurs several times, the first.
    var query: [String: String]
    /// A form's fields.
    var form: [String: String] = [:]
    /// The browser's identification; blank without one.
    var agent = ""
    /// The cookie of a sign-in by a provider that is under way; nil without one.
    var attempt: String?
    /// The secret of the browser's own cookie; nil without one.
    var device: String?
    var requestOrigin: HostRules.RequestOrigin
    var now: Timestamp

    /// The names of the console's cookies in this visit.
    var cookies: ConsoleCookies { ConsoleCookies(isSecure: requestOrigin.isSecure) }

    /// The person or network that takes turns for the work of this visit; nil if neither is known.
    var turn: String? { person?.account ?? requestOrigin.turn }

    /// The token that this visit's forms carry; blank where there can be no form.
    var token: String { secret.map(CSRFProtection.token) ?? "" }

    /// Whether the person may do something to an app; nil for all of them.
    func may(_ right: Right, app: String?) -> Bool { person?.rights.allows(right, app: app) ?? false }

    /// Whether the person may do something to any app.
    func maySomewhere(_ right: Right) -> Bool { person?.rights.allowsSomewhere(right) ?? false }
}

/// Why a request gets no answer of its route.
struct Refusal: Error {
    var status: HTTPResponse.Status
    /// What happened, in a few words.
    var title: String
    /// What to do.
    var words: String
    var headers: HTTPFields = [:]
    /// What the person had written, which must not be lost; blank for nothing.
    var written = ""
    /// For the log, where there is more to say than the page should; without secrets.
    var note: String?
    /// What went wrong on the server, for people with a right to see the state of all apps, and for
    /// the log; nil if nothing did.
    var mistakes: Diagnostics?

    static let notFound = Refusal(
        status: .notFound, title: "There is no such page",
        words: "It may have been removed, or the address was typed wrong.")
    static let notAllowed = Refusal(
        status: .forbidden, title: "You may not see this",
        words: "Your account has no right to it. An administrator can give it to you.")
    static let forged = Refusal(
        status: .forbidden, title: "This form cannot be accepted",
        words:
            "It is too old, or did not come from this console. Go back, load the page again, and send it once more. Nothing was changed."
    )
    static let signedOut = Refusal(
        status: .unauthorized, title: "You were signed out meanwhile",
        words: "Sign in again in another window, and save it there.")

    static let busy = Refusal(
        status: .serviceUnavailable, title: "The console is busy",
        words: "Try again in a few seconds. Sending is not affected.",
        headers: [.retryAfter: "5"])
    static let tooLarge = Refusal(
        status: .contentTooLarge, title: "This is too much",
        words: "The form holds more than the console accepts. Nothing was changed.",
        headers: [.connection: "close"])
    static let wrongHost = Refusal(
        status: .init(code: 421, reasonPhrase: "Misdirected Request"),
        title: "The console does not answer under this name",
        words:
            "Use the address that `console: {public_url: …}` in volley.yaml names, or 127.0.0.1 on the machine itself.")
    static let wrongMethod = Refusal(
        status: .methodNotAllowed, title: "This page cannot be used like that",
        words: "Go back and load the page again.")
    static let unreadable = Refusal(
        status: .badRequest, title: "This request cannot be read",
        words: "Go back, load the page again, and try once more.")
}

extension Refusal {
    /// A form that could not be carried out for a reason outside the person's control: a full disk,
    /// for example. Whatever it changes is changed as a whole or not at all.
    static func failed(_ error: any Error, written: String) -> Refusal {
        Refusal(
            status: .internalServerError, title: "This could not be done",
            words: "The server could not do what you asked for. Nothing was saved, and nothing was ordered.",
            written: written,
            mistakes: Diagnostics(explaining: error))
    }

    /// The same, with the typed contents of a form: a source, the values of a campaign's form, a
    /// name, a reason. No device token is shown again, and no password.
    func holding(_ form: [String: String]) -> Refusal {
        var refusal = self
        let texts = [CampaignForm.written(in: form), form["display"] ?? "", form[OrderForm.reason] ?? ""]
        refusal.written = form["text"] ?? texts.filter { !$0.isEmpty }.joined(separator: "\n")
        return refusal
    }

    /// A campaign was archived, and not all of its plans could be cancelled.
    /// - Parameter plans: ids of those that were not.
    static func stillWaiting(_ plans: [String], _ error: any Error) -> Refusal {
        Refusal(
            status: .internalServerError, title: "The campaign was archived, and plans of it still wait",
            words: """
                The campaign was archived. These plans still wait: \(plans.joined(separator: ", ")); their pages have the button Withdraw.
                """,
            mistakes: Diagnostics(explaining: error))
    }

    /// The request was carried out, but could not be noted under Activity.
    static func notNoted(_ error: any Error) -> Refusal {
        Refusal(
            status: .internalServerError, title: "This was done, but not noted",
            words: """
                What you asked for was done: do not send it again. Only the line about it under Activity could not be written. Tell the people who \
                run Volley.
                """,
            note: "An activity could not be noted: \(Diagnostics(explaining: error))")
    }
}

/// All requests that the console accepts.
enum RouteTable {
    static let all: [Route] =
        [
            Route(method: .get, path: "/sign-in", right: .anyone, answer: SignInPage.show),
            Route(
                method: .post, path: "/sign-in", right: .anyone, changes: true, isSignIn: true, answer: SignInPage.enter
            ),
            Route(method: .get, path: "/sign-in/oidc", right: .anyone, asksProvider: true, answer: ProviderPages.begin),
            Route(
                method: .get, path: ProviderPages.wayBack, right: .anyone, asksProvider: true,
                answer: ProviderPages.comeBack),
            Route(
                method: .get, path: "/account/proof/oidc", right: .signedIn, asksProvider: true,
                answer: ProviderPages.beginProof),
            Route(method: .get, path: ProviderPages.proved, right: .signedIn, answer: ProviderPages.showWayOn),
            Route(method: .get, path: "/invitation", right: .anyone, answer: InvitationPage.show),
            Route(
                method: .post, path: "/invitation", right: .anyone, changes: true, isSignIn: true,
                answer: InvitationPage.accept),
            Route(method: .post, path: "/sign-out", right: .signedIn, changes: true, answer: SignInPage.leave),
            Route(method: .get, path: Asset.style.path, right: .anyone) { _, _ in .asset(.style) },
            Route(method: .get, path: Asset.script.path, right: .anyone) { _, _ in .asset(.script) },
            Route(method: .get, path: "/", right: .right(.seeCampaigns), answer: TodayPage.show),
            Route(method: .get, path: "/campaigns", right: .right(.seeCampaigns), answer: CampaignsPage.show),
            Route(
                method: .get, path: "/campaign", right: .right(.seeCampaigns), subject: .campaign,
                answer: CampaignPage.show),
            Route(method: .get, path: "/calendar", right: .right(.seeCampaigns), answer: CalendarPage.show),
            Route(method: .get, path: "/runs", right: .right(.readReports), answer: RunsPage.show),
            Route(method: .get, path: "/runs/:run", right: .right(.readReports), subject: .run, answer: RunPage.show),
            Route(
                method: .get, path: "/runs/:run/live.json", right: .right(.readReports), subject: .run,
                answer: RunPage.live),
            Route(
                method: .get, path: "/runs/:run/report", right: .right(.readReports), subject: .run,
                answer: RunPage.report),
            Route(
                method: .get, path: "/runs/:run/results.csv", right: .right(.exportTokens), subject: .run,
                asksAgain: true,
                answer: RunPage.results),
            Route(
                method: .get, path: "/runs/:run/devices.csv", right: .right(.edit), subject: .run,
                answer: RunPage.shortened),
            Route(method: .get, path: "/comparison", right: .right(.readReports), answer: RunsPage.compare),
            Route(method: .get, path: "/orders/:nonce", right: .signedIn, answer: OrderPage.show),
            Route(method: .get, path: "/orders/:nonce/live.json", right: .signedIn, answer: OrderPage.live),
            Route(method: .get, path: HelpPage.path, right: .signedIn, answer: HelpPage.show),
            Route(method: .get, path: "/system", right: .right(.seeSystem), answer: SystemPage.show),
        ] + RunOrders.routes + CampaignOrders.routes + TimeApproval.routes + campaigns + PeopleRoutes.all
        + ActivityPage.routes
        + SuppressionForms.routes

    private static let campaigns =
        CampaignEditor.routes + CampaignForm.routes + CampaignPreview.routes + DeviceExplanation.routes
        + CampaignHistory.routes
        + NewCampaign.routes
        + CampaignArchiving.routes + DraftPages.routes
}
