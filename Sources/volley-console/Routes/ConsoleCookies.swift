import Accounts
import Hummingbird

/// The console's cookies. Behind https their names begin with `__Host-`: a browser then takes them from this host alone, for all of its paths,
/// and over https only (RFC 6265bis, section 4.1.3.2).
struct ConsoleCookies: Sendable {
    let isSecure: Bool

    /// Holds the secret of a session. Links from mails must lead to pages, so it also comes with those (`SameSite=Lax`).
    var session: String { isSecure ? "__Host-volley" : "volley" }

    /// Holds the secret of the sign-in form, before there is a session.
    var form: String { isSecure ? "__Host-volley-form" : "volley-form" }

    /// Holds a sign-in by a provider that is under way.
    var attempt: String { isSecure ? "__Host-volley-oidc" : "volley-oidc" }

    /// Tells a browser in which a person signed in before from others: wrong passwords typed elsewhere do not slow it down. It gives no right.
    var device: String { isSecure ? "__Host-volley-device" : "volley-device" }

    /// The secret in a request's cookie; nil for anything that the console did not give out.
    static func secret(_ name: String, in request: Request) -> String? { value(name, in: request).flatMap { Secrets.isOne($0) ? $0 : nil } }

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
    func setDevice(_ secret: String) -> String { line(device, secret, "SameSite=Strict; Max-Age=\(SignInBrake.memoryOfKnown)") }

    /// `Set-Cookie` for a sign-in by a provider. The way back is a link from there, with which it must come (`SameSite=Lax`).
    func setAttempt(_ sealed: String, seconds: Int64) -> String { line(attempt, sealed, "SameSite=Lax; Max-Age=\(seconds)") }

    /// `Set-Cookie` that takes that one back.
    var endAttempt: String { line(attempt, "", "SameSite=Lax; Max-Age=0") }

    /// `Set-Cookie` that takes the session's cookie back.
    var endSession: String { line(session, "", "SameSite=Lax; Max-Age=0") }

    /// `Set-Cookie` that takes the form's cookie back.
    var endForm: String { line(form, "", "SameSite=Strict; Max-Age=0") }

    private func line(_ name: String, _ value: String, _ rules: String) -> String {
        "\(name)=\(value); Path=/; HttpOnly; \(rules)" + (isSecure ? "; Secure" : "")
    }
}
