import Accounts
import Base
import HTTPTypes

/// How a person sets up a second factor, step by step, and removes it.
enum SecondFactorPage {
    /// What an authenticator app shows next to the codes.
    private static let issuer = "Volley"

    /// Makes a secret, and shows it only now.
    static func begin(_ visit: Visit, _ site: Site) throws -> Answer {
        let account = try AccountPage.account(visit, site)
        let secret = try site.accounts.beginSecondFactor(of: account.id)
        let uri = secret.uri(for: account.name, issuer: issuer)
        let letters = stride(from: 0, to: secret.base32.count, by: 4).map { String(secret.base32.dropFirst($0).prefix(4)) }
        return .page(
            Page(
                title: "Set up a second factor",
                content: """
                    \(Words.head("Set up a second factor"))
                    <section class="panel" aria-labelledby="secret"><h2 id="secret">1. Tell your authenticator app</h2>
                    <p>Add an account there by typing this key. It is shown this once: keep it to yourself.</p>
                    <p class="secret"><code>\(letters.joined(separator: " "))</code></p>
                    <p>On the phone itself you can <a href="\(uri)">open the app with it</a>. Some apps take it as an address:</p>
                    <p class="secret"><code>\(uri)</code></p></section>
                    <section class="panel" aria-labelledby="confirm"><h2 id="confirm">2. Show that it works</h2>\(confirmForm(visit))</section>
                    """))
    }

    /// Sets it up once the app shows the right code, and shows the recovery codes only now.
    static func confirm(_ visit: Visit, _ site: Site) throws -> Answer {
        guard let token = visit.secret.flatMap({ SecretToken($0) }), let found = try site.accounts.signedIn(token, at: visit.now) else {
            throw AccountError.notSignedIn
        }
        let codes: [RecoveryCode]
        do {
            codes = try site.accounts.confirmSecondFactor(
                visit.form["code"] ?? "", in: found.session, from: visit.requestOrigin.client, at: visit.now)
        } catch AccountError.wrongCode { return .page(wrongCode(visit)) }
        let items: [HTML] = codes.map { "<li><code>\($0.text)</code></li>" }
        return .page(
            Page(
                title: "Your recovery codes",
                content: """
                    \(Words.head("Your recovery codes"))
                    <p class="lead">The second factor is set up, and you are signed out everywhere else. If you lose your phone, each of these \
                    codes signs you in once, in place of the six digits. They are shown this once: print them, or keep them where you keep \
                    your passwords.</p>
                    <ol class="panel codes">\(items)</ol>
                    <p><a href="/account">I have kept them</a></p>
                    """))
    }

    /// Removes one's own.
    static func remove(_ visit: Visit, _ site: Site) throws -> Answer {
        let actor = try visit.actor()
        do {
            try site.accounts.removeSecondFactor(of: visit.signedIn().id, by: actor, at: visit.now)
        } catch AccountError.secondFactor(isOn: false) {
            // A second click.
        }
        return .redirect("/account?done=factor")
    }

    /// The key stays with the app: it is not shown again.
    private static func wrongCode(_ visit: Visit) -> Page {
        Page(
            status: .unprocessableContent, title: "Set up a second factor",
            content: """
                \(Words.head("Set up a second factor"))
                <section class="panel" aria-labelledby="confirm"><h2 id="confirm">Show that it works</h2>
                \(AccountWords.alert("\(AccountError.wrongCode.sentences)"))\(confirmForm(visit))</section>
                <p><a href="/account">Begin anew with another key</a></p>
                """)
    }

    private static func confirmForm(_ visit: Visit) -> HTML {
        """
        <form class="sign-in" method="post" action="/account/factor/confirm">\(Form.token(visit))
        \(AccountWords.codeField("The six digits that the app shows now"))
        <p><button class="main">Set it up</button></p></form>
        """
    }
}
