import HTTPTypes

/// The headers of every answer, errors included: they keep a page from running, loading or showing
/// anything that is not the console's own, and from being shown inside another site.
enum SecurityHeaders {
    private static let all: [(HTTPField.Name, String)] = [
        (
            .contentSecurityPolicy,
            "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; "
                + "frame-ancestors 'none'; base-uri 'none'"
        ),
        (.xContentTypeOptions, "nosniff"),
        // With `no-referrer`, browsers send `Origin: null` with forms, also to the page's own
        // server (Fetch, "append a request Origin header"), and `CSRFProtection` refuses that.
        (name("Referrer-Policy"), "same-origin"),
        (name("Cross-Origin-Opener-Policy"), "same-origin"),
        (name("Cross-Origin-Resource-Policy"), "same-origin"),
        (name("X-Frame-Options"), "DENY"),
        (
            name("Permissions-Policy"),
            "camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-read=(), display-capture=(), publickey-credentials-get=()"
        ),
    ]

    /// Adds them. An answer without a rule for caches is not cached.
    /// - Parameter isSecure: whether people reach the console through https: their browsers then
    ///   never use http.
    static func add(to headers: inout HTTPFields, isSecure: Bool) {
        for (name, value) in all { headers[name] = value }
        if headers[.cacheControl] == nil { headers[.cacheControl] = "no-store" }
        if isSecure { headers[.strictTransportSecurity] = "max-age=31536000" }
    }

    private static func name(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("not the name of a header: \(text)") }
        return name
    }
}
