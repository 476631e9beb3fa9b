public import Base
import Cryptography
import Foundation
import Glibc
import Synchronization
import TestServers

/// A provider of identities on loopback: OpenID Connect with the authorization code flow over
/// https, with keys of its own. It is strict about what a client must do, and does whatever a test
/// tells it to do wrong. It ends with this value.
public final class TestIdentityProvider: Sendable {
    /// What a token is signed with.
    public enum Algorithm: String, Sendable {
        case rs256 = "RS256"
        case es256 = "ES256"
        /// Nothing.
        case none
        /// HS256 with the PEM of the public key as the secret.
        case hs256 = "HS256"
        /// The header says RS256, and the signature is of an unknown key.
        case foreignRS256
    }

    /// A whole answer instead of the usual one.
    public struct Answer: Sendable {
        var status: String
        var headers: [String]
        var body: [UInt8]
        var seconds: Double

        /// - Parameter seconds: to wait before it.
        public init(_ status: String = "200 OK", headers: [String] = [], body: String = "{}", seconds: Double = 0) {
            (self.status, self.headers, self.body, self.seconds) = (status, headers, Array(body.utf8), seconds)
        }
    }

    /// What it does; tests change it.
    public struct Behaviour: Sendable {
        /// That signs ID tokens.
        public var algorithm = Algorithm.rs256
        /// Of the header of ID tokens; a value of nil takes a member away. The same for the others.
        public var header: [String: JSONValue?] = [:]
        /// Of ID tokens.
        public var claims: [String: JSONValue?] = [:]
        /// Of the discovery document.
        public var description: [String: JSONValue?] = [:]
        /// Of the answer of the token endpoint.
        public var tokens: [String: JSONValue?] = [:]
        /// What the userinfo endpoint says other than `sub`.
        public var userinfo: [String: JSONValue] = [:]
        /// By path.
        public var answers: [String: Answer] = [:]
        /// Of the key that signs.
        public var keyID = "first"
        /// Which keys the JWKS shows; nil for those that sign.
        public var publishedKeyIDs: [String]?
        /// nil for a public client.
        public var clientSecret: String? = "s3cret & +%"
        /// What comes back to the browser other than `code` and `state`.
        public var way: [String: String] = [:]
        /// A provider that does everything as it should.
        public init() {}
    }

    /// A request.
    public struct Request: Sendable {
        /// `POST /token HTTP/1.1`
        public var line: String
        /// By their names in small letters.
        public var headers: [String: String]
        /// Its form.
        public var body: String
    }

    private struct Grant {
        var nonce: String
        var challenge: String
        var redirect: String
        var hasLogin: Bool
    }

    // One for all tests: making them takes a while.
    private static let rsa: [String: RSASigningKey] = ["first": .generate(), "second": .generate()]
    private static let foreign = RSASigningKey.generate()
    private static let curve = SigningKey.generate()

    private final class State: Sendable {
        let isStopped = Atomic(false)
        let behaviour = Mutex(Behaviour())
        let requests = Mutex<[Request]>([])
        let grants = Mutex<[String: Grant]>([:])
        let port: Int
        let issuer: String
        init(port: Int) {
            self.port = port
            issuer = "https://localhost:\(port)/realms/shop"
        }
    }

    /// The registered client.
    public static let clientID = "volley"
    /// The user that signs in, by the provider's own name.
    public static let subject = "24400320"
    /// The user that signs in, unless a test sets another.
    public static let claims: [String: JSONValue] = [
        "sub": .string(subject), "preferred_username": .string("jane"), "name": .string("Jane Doe"),
        "groups": .array([.string("marketing")]),
    ]

    private let state: State
    private let folder: URL
    /// Its address.
    public var issuer: String { state.issuer }
    /// The authority that its certificate is of.
    public let authorityFile: String

    /// Listens from now on.
    public init() throws {
        let (listener, port) = try Sockets.listen()
        let state = State(port: port)
        self.state = state
        let authority = CertificateAuthority(commonName: "test")
        let certificate = authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1"])
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-provider-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        authorityFile = folder.appendingPathComponent("ca.pem").path
        try Data(authority.certificatePEM.utf8).write(to: URL(fileURLWithPath: authorityFile))
        let context = try TLSServerContext(certificate: certificate, applicationProtocols: ["http/1.1"])
        startThread {
            while !state.isStopped.load(ordering: .relaxed) {
                var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
                guard poll(&waiting, 1, 200) > 0 else { continue }
                let client = accept(listener, nil, nil)
                if client >= 0 { startThread { withPipeSignalBlocked { Self.serve(client, context, state) } } }
            }
            close(listener)
        }
    }

    deinit {
        state.isStopped.store(true, ordering: .relaxed)
        try? FileManager.default.removeItem(at: folder)
    }

    /// Changes what it does.
    public func change(_ body: @Sendable (inout Behaviour) -> Void) { state.behaviour.withLock { body(&$0) } }

    /// Does again what it should.
    public func reset() { state.behaviour.withLock { $0 = Behaviour() } }

    /// All requests so far.
    public var requests: [Request] { state.requests.withLock(\.self) }

    /// How often a path was requested.
    public func count(_ path: String) -> Int { requests.count { $0.line.split(separator: " ")[1] == path } }

    /// What a browser and a person do there.
    /// - Parameter address: the address of the authorization endpoint, with the client's query.
    /// - Returns: the query with which the browser goes back.
    public func signIn(at address: String) throws -> [String: String] {
        let query = Self.fields(String(address.split(separator: "?", maxSplits: 1).last ?? ""))
        guard address.hasPrefix("\(state.issuer)/authorize?"), query["response_type"] == "code",
            query["client_id"] == Self.clientID,
            let stateText = query["state"], let nonce = query["nonce"], stateText.count >= 32, nonce.count >= 32,
            query["scope"]?.split(separator: " ").contains("openid") == true, query["code_challenge_method"] == "S256",
            let challenge = query["code_challenge"], let redirect = query["redirect_uri"]
        else { throw Diagnostic("a client must not ask like this: \(address)") }
        let code = UUID().uuidString
        state.grants.withLock {
            $0[code] = Grant(
                nonce: nonce, challenge: challenge, redirect: redirect,
                hasLogin: query["prompt"] == "login" && query["max_age"] == "0")
        }
        return ["code": code, "state": stateText].merging(state.behaviour.withLock(\.way)) { $1 }
    }

    private static func serve(_ client: Int32, _ context: TLSServerContext, _ state: State) {
        defer { close(client) }
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        guard let connection = try? TLSConnection(context, socket: client), case .done = connection.handshake() else {
            return
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        func more() -> Bool {
            guard case .done(let count) = chunk.withUnsafeMutableBytes({ connection.read(into: $0) }), count > 0 else {
                return false
            }
            bytes += chunk[..<count]
            return true
        }
        var text: String { String(decoding: bytes, as: UTF8.self) }
        while !text.contains("\r\n\r\n") { guard more() else { return } }
        let head = text.components(separatedBy: "\r\n\r\n")[0]
        var lines = head.components(separatedBy: "\r\n")
        let line = lines.removeFirst()
        let headers = Dictionary(
            lines.compactMap { line -> (String, String)? in
                guard let colon = line.firstIndex(of: ":") else { return nil }
                return (
                    line[..<colon].lowercased(), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                )
            }
        ) { $1 }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        while bytes.count < head.utf8.count + 4 + length { guard more() else { return } }
        let request = Request(
            line: line, headers: headers, body: String(decoding: bytes.dropFirst(head.utf8.count + 4), as: UTF8.self))
        state.requests.withLock { $0.append(request) }
        let answer = answer(request, state)
        if answer.seconds > 0 { usleep(UInt32(answer.seconds * 1e6)) }
        let lead =
            ["HTTP/1.1 \(answer.status)", "Content-Length: \(answer.body.count)", "Connection: close"] + answer.headers
        var left = Array((lead.joined(separator: "\r\n") + "\r\n\r\n").utf8) + answer.body
        while !left.isEmpty {
            guard case .done(let count) = left.withUnsafeBytes({ connection.write($0) }) else { return }
            left.removeFirst(count)
        }
        connection.shutdown()
    }

    private static func answer(_ request: Request, _ state: State) -> Answer {
        let behaviour = state.behaviour.withLock(\.self)
        let path = String(request.line.split(separator: " ")[1]).replacing("/realms/shop", with: "")
        if let answer = behaviour.answers[path] { return answer }
        switch path {
        case "/.well-known/openid-configuration":
            return json(
                [
                    "issuer": .string(state.issuer), "authorization_endpoint": .string("\(state.issuer)/authorize"),
                    "token_endpoint": .string("\(state.issuer)/token"), "jwks_uri": .string("\(state.issuer)/keys"),
                    "userinfo_endpoint": .string("\(state.issuer)/userinfo"),
                ], behaviour.description)
        case "/keys": return json(["keys": .array(keys(behaviour))], [:])
        case "/token": return token(request, behaviour, state)
        case "/userinfo":
            guard request.headers["authorization"] == "Bearer access-\(subject)" else {
                return Answer("401 Unauthorized")
            }
            return json(["sub": .string(subject)].merging(behaviour.userinfo) { $1 }, [:])
        default: return Answer("404 Not Found")
        }
    }

    private static func token(_ request: Request, _ behaviour: Behaviour, _ state: State) -> Answer {
        let form = fields(request.body)
        func refuse(_ code: String) -> Answer { Answer("400 Bad Request", body: "{\"error\":\"\(code)\"}") }
        let post = JSONValue.string("client_secret_post"), basic = JSONValue.string("client_secret_basic")
        let methods = behaviour.description["token_endpoint_auth_methods_supported"]
        let isPost =
            methods == .array([post]) || methods == .array([basic, post]) && request.headers["authorization"] == nil
        if let secret = behaviour.clientSecret, !isPost {
            let pair = "\(clientID):\(encoded(secret))"
            guard request.headers["authorization"] == "Basic \(Data(pair.utf8).base64EncodedString())" else {
                return refuse("invalid_client")
            }
        } else {
            guard form["client_id"] == clientID, form["client_secret"] == behaviour.clientSecret,
                request.headers["authorization"] == nil
            else { return refuse("invalid_client") }
        }
        guard form["grant_type"] == "authorization_code",
            let grant = state.grants.withLock({ $0.removeValue(forKey: form["code"] ?? "") }),
            grant.redirect == form["redirect_uri"], let verifier = form["code_verifier"],
            (43...128).contains(verifier.count),
            grant.challenge == base64URL(SHA256.digest(of: Array(verifier.utf8)))
        else { return refuse("invalid_grant") }
        let now = Timestamp.now().epochSeconds
        var usual: [String: JSONValue] = claims.merging([
            "iss": .string(state.issuer), "aud": .string(clientID), "iat": .integer(now), "exp": .integer(now + 300),
            "nonce": .string(grant.nonce),
        ]) { $1 }
        usual["auth_time"] = .integer(grant.hasLogin ? now : now - 3600)
        let payload = object(usual, behaviour.claims)
        return json(
            [
                "access_token": .string("access-\(subject)"), "token_type": .string("Bearer"),
                "id_token": .string(sign(payload, behaviour)),
            ], behaviour.tokens)
    }

    private static func sign(_ payload: JSONValue, _ behaviour: Behaviour) -> String {
        let name = behaviour.algorithm == .foreignRS256 ? "RS256" : behaviour.algorithm.rawValue
        let isEC = behaviour.algorithm == .es256
        let header = object(["alg": .string(name), "kid": .string(isEC ? "ec" : behaviour.keyID)], behaviour.header)
        let signed = "\(base64URL(Array(header.text.utf8))).\(base64URL(Array(payload.text.utf8)))"
        let bytes = Array(signed.utf8)
        let signature: [UInt8] =
            switch behaviour.algorithm {
            case .rs256: rsa[behaviour.keyID]?.sign(bytes) ?? []
            case .es256: curve.sign(bytes)
            case .foreignRS256: foreign.sign(bytes)
            case .none: []
            case .hs256: HMACSHA256.code(of: bytes, key: Array((rsa["first"]?.verificationKey.pem ?? "").utf8))
            }
        return "\(signed).\(base64URL(signature))"
    }

    private static func keys(_ behaviour: Behaviour) -> [JSONValue] {
        let ids = behaviour.publishedKeyIDs ?? [behaviour.keyID]
        let published = ids.compactMap { id in
            rsa[id].map { key -> JSONValue in
                // PKCS #1 in a SubjectPublicKeyInfo: a key of 2048 bits has its modulus and
                // exponent at fixed places.
                let der = Array(
                    Data(base64Encoded: key.verificationKey.pem.split(separator: "\n").dropFirst().dropLast().joined())
                        ?? Data())
                return .object(pairs: [
                    ("kty", .string("RSA")), ("use", .string("sig")), ("kid", .string(id)),
                    ("n", .string(base64URL(Array(der[33..<289])))),
                    ("e", .string(base64URL(Array(der[291...])))),
                ])
            }
        }
        let der = Array(
            Data(base64Encoded: curve.verificationKey.pem.split(separator: "\n").dropFirst().dropLast().joined())
                ?? Data())
        let ec = JSONValue.object(pairs: [
            ("kty", .string("EC")), ("crv", .string("P-256")), ("kid", .string("ec")), ("alg", .string("ES256")),
            ("x", .string(base64URL(Array(der.suffix(64).prefix(32))))),
            ("y", .string(base64URL(Array(der.suffix(32))))),
        ])
        let other = JSONValue.object(pairs: [
            ("kty", .string("OKP")), ("crv", .string("Ed25519")), ("kid", .string("first")),
        ])
        return [other] + published + [ec]
    }

    private static func object(_ usual: [String: JSONValue], _ changes: [String: JSONValue?]) -> JSONValue {
        var members = usual
        for (name, value) in changes { members[name] = value }
        return .object(pairs: members.sorted { $0.key < $1.key })
    }

    private static func json(_ usual: [String: JSONValue], _ changes: [String: JSONValue?]) -> Answer {
        Answer(headers: ["Content-Type: application/json"], body: object(usual, changes).text)
    }

    private static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "-._~"))) ?? ""
    }

    private static func fields(_ text: String) -> [String: String] {
        Dictionary(
            text.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                return (
                    parts[0].removingPercentEncoding ?? "",
                    (parts.count > 1 ? parts[1] : "").removingPercentEncoding ?? ""
                )
            }
        ) { first, _ in first }
    }
}
