import Accounts
import Base
import CQRencode
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
        let letters = stride(from: 0, to: secret.base32.count, by: 4).map {
            String(secret.base32.dropFirst($0).prefix(4))
        }
        return .page(
            Page(
                title: "Set up a second factor",
                content: """
                    \(Words.head("Set up a second factor"))
                    <section class="panel" aria-labelledby="secret"><h2 id="secret">1. Tell your authenticator app</h2>
                    <p>Add an account there: scan this picture with the phone that has the app, or type the key below it. Both are shown this \
                    once: keep them to yourself.</p>
                    \(QRCode(uri)?.html(label: "The key, for the camera of an authenticator app") ?? "")
                    <p class="secret"><code>\(letters.joined(separator: " "))</code></p>
                    <p>On the phone itself you can <a href="\(uri)">open the app with it</a>. Some apps take it as an address:</p>
                    <p class="secret"><code>\(uri)</code></p></section>
                    <section class="panel" aria-labelledby="confirm"><h2 id="confirm">2. Show that it works</h2>\(confirmForm(visit))</section>
                    """))
    }

    /// Sets it up once the app shows the right code, and shows the recovery codes only now.
    static func confirm(_ visit: Visit, _ site: Site) throws -> Answer {
        guard let token = visit.secret.flatMap({ SecretToken($0) }),
            let found = try site.accounts.signedIn(token, at: visit.now)
        else {
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

/// A text as a picture for cameras (ISO/IEC 18004), drawn on the server: a secret in it goes to no
/// other site, and the page needs no script.
struct QRCode {
    /// The rows from the top, with true for a dark module.
    let rows: [[Bool]]

    /// The blank modules on each side that readers need (ISO/IEC 18004, 9.1).
    private static let margin = 4

    /// Medium error correction, so that a scratched screen is no matter. nil for a text of more
    /// than 2,331 bytes, which no picture holds.
    init?(_ text: String) {
        guard let made = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return nil }
        defer { QRcode_free(made) }
        let width = Int(made.pointee.width),
            modules = UnsafeBufferPointer(start: made.pointee.data, count: width * width)
        // The lowest bit of a module is its colour; the others say what it is for.
        rows = (0..<width).map { row in modules[row * width..<(row + 1) * width].map { $0 & 1 == 1 } }
    }

    /// Dark on light whatever the page's colours are: few readers take it the other way round.
    func html(label: String) -> HTML {
        let size = rows.count + 2 * Self.margin
        let path = rows.enumerated().flatMap { y, row in
            row.enumerated().filter(\.element).map { x, _ in "M\(x + Self.margin) \(y + Self.margin)h1v1h-1z" }
        }.joined()
        return """
            <svg class="qr" viewBox="0 0 \(size) \(size)" role="img" aria-label="\(label)" shape-rendering="crispEdges">\
            <rect width="\(size)" height="\(size)" fill="#fff"/><path d="\(path)" fill="#000"/></svg>
            """
    }
}
