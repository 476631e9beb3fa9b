import Accounts
import Base
import HTTPTypes

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
