import Base
import Foundation
import Synchronization
import TestIdentityProvider
import TestServers
import Testing

@testable import OpenIDConnect

/// Volley at a provider of its own, over https.
private final class Bench: Sendable {
    let stub: TestIdentityProvider
    let provider: OpenIDProvider
    let attempts = OpenIDAttempts()
    static let redirect = "https://push.example.com/sign-in/oidc/return"

    init(secret: String? = "s3cret & +%", authority: Bool = true, proxy: ProxyAddress? = nil) throws {
        let stub = try TestIdentityProvider()
        self.stub = stub
        provider = OpenIDProvider(
            settings: {
                OpenIDSettings(
                    issuer: stub.issuer, clientID: TestIdentityProvider.clientID, clientSecret: secret,
                    scopes: ["profile", "groups"],
                    rolesClaim: "groups", nameClaim: "preferred_username",
                    certificateAuthorityFile: authority ? stub.authorityFile : nil)
            }, proxy: { host, port in host == "localhost" && stub.issuer.contains(":\(port)/") ? proxy : nil })
    }

    /// The whole way, once.
    func signIn(
        _ purpose: OpenIDAttempt.Purpose = .signIn, at now: Timestamp = .now(),
        changing: ([String: String]) -> [String: String] = { $0 }
    )
        throws -> OpenIDIdentity
    {
        let (begun, cookie) = attempts.begin(purpose, to: "/runs", at: now)
        let answer = changing(try stub.signIn(at: provider.address(for: begun, redirect: Self.redirect, at: now)))
        let attempt = try attempts.take(cookie, state: answer["state"] ?? "", at: now)
        return try provider.identity(for: attempt, answer, redirect: Self.redirect, at: now)
    }

    func problem(
        _ purpose: OpenIDAttempt.Purpose = .signIn, at now: Timestamp = .now(),
        changing: ([String: String]) -> [String: String] = { $0 }
    )
        -> OpenIDProblem?
    {
        do { _ = try signIn(purpose, at: now, changing: changing) } catch { return error as? OpenIDProblem }
        return nil
    }
}

@Suite("Sign-in by a provider of identities")
struct OpenIDConnectTests {
    @Test(
        "who signed in, with RS256 and ES256, with both ways to show a secret and without one",
        arguments: ["RS256", "ES256", "post", "public"])
    func whole(kind: String) throws {
        let bench = try Bench(secret: kind == "public" ? nil : "s3cret & +%")
        bench.stub.change {
            if kind == "ES256" { $0.algorithm = .es256 }
            if kind == "post" {
                $0.description["token_endpoint_auth_methods_supported"] = .array([.string("client_secret_post")])
            }
            if kind == "public" { $0.clientSecret = nil }
        }
        let now = Timestamp.now()
        let identity = try bench.signIn(at: now)
        #expect(identity.issuer == bench.stub.issuer && identity.subject == TestIdentityProvider.subject)
        #expect(identity.name == "jane" && identity.displayName == "Jane Doe" && identity.groups == ["marketing"])
        #expect(try #require(identity.authenticatedAt) < now.adding(seconds: -3000))
        #expect(bench.stub.count("/realms/shop/userinfo") == 0)
        // A second one fetches only the tokens.
        _ = try bench.signIn()
        #expect(
            bench.stub.count("/realms/shop/.well-known/openid-configuration") == 1
                && bench.stub.count("/realms/shop/keys") == 1)
    }

    @Test("what the ID token leaves out comes from the userinfo endpoint, about the same person alone")
    func userinfo() throws {
        let bench = try Bench()
        bench.stub.change {
            $0.claims["groups"] = .some(nil)
            $0.userinfo = ["groups": .array([.string("admins"), .integer(7)])]
        }
        #expect(try bench.signIn().groups == ["admins"])
        bench.stub.change { $0.userinfo["sub"] = .string("another") }
        #expect(bench.problem() == .otherPerson)
        bench.stub.change { $0.tokens["access_token"] = .string("a\r\nX-Evil: 1") }
        #expect(try bench.signIn().groups.isEmpty)
        #expect(bench.stub.requests.allSatisfy { $0.headers["x-evil"] == nil })
    }

    typealias Change = @Sendable (inout TestIdentityProvider.Behaviour) -> Void
    static let now = Timestamp.now().epochSeconds
    /// Kinds of tokens, and why they are refused.
    static let attacks: [(name: String, flaw: OpenIDProblem.TokenFlaw, change: Change)] = [
        ("no signature", .algorithm, { $0.algorithm = .none }),
        ("no signature, in other letters", .algorithm, { ($0.algorithm, $0.header["alg"]) = (.none, .string("nOnE")) }),
        ("no signature, with an algorithm", .form, { ($0.algorithm, $0.header["alg"]) = (.none, .string("RS256")) }),
        ("HMAC with the public key", .algorithm, { $0.algorithm = .hs256 }),
        (
            "HMAC with the public key that claims to be RSA", .signature,
            { ($0.algorithm, $0.header["alg"]) = (.hs256, .string("RS256")) }
        ),
        ("a key of somebody else under the right name", .signature, { $0.algorithm = .foreignRS256 }),
        (
            "a key that comes with the token", .unknownKey,
            { ($0.algorithm, $0.header["kid"], $0.header["jwk"]) = (.foreignRS256, .string("x"), .object([])) }
        ),
        ("an RSA key for ES256", .unknownKey, { $0.header["alg"] = .string("ES256") }),
        ("an EC key for RS256", .unknownKey, { ($0.algorithm, $0.header["alg"]) = (.es256, .string("RS256")) }),
        (
            "a signature of another curve's length", .signature,
            { ($0.algorithm, $0.header["alg"], $0.header["kid"]) = (.rs256, .string("ES256"), .string("ec")) }
        ),
        ("a demand of the header", .criticalHeader, { $0.header["crit"] = .array([.string("exp")]) }),
        ("another issuer", .issuer, { $0.claims["iss"] = .string("https://evil.example") }),
        ("no issuer", .issuer, { $0.claims["iss"] = .some(nil) }),
        ("for another client", .audience, { $0.claims["aud"] = .string("other") }),
        ("for nobody", .audience, { $0.claims["aud"] = .some(nil) }),
        (
            "for several, issued to nobody", .authorizedParty,
            { $0.claims["aud"] = .array([.string("volley"), .string("other")]) }
        ),
        ("issued to another client", .authorizedParty, { $0.claims["azp"] = .string("other") }),
        ("expired", .expired, { $0.claims["exp"] = .integer(now - 100) }),
        ("without an end", .expired, { $0.claims["exp"] = .string("never") }),
        ("an hour old", .issuedAt, { $0.claims["iat"] = .integer(now - 3600) }),
        ("of tomorrow", .issuedAt, { $0.claims["iat"] = .integer(now + 86_400) }),
        ("not valid yet", .issuedAt, { $0.claims["nbf"] = .integer(now + 86_400) }),
        ("of another sign-in", .nonce, { $0.claims["nonce"] = .string(String(repeating: "0", count: 64)) }),
        ("of no sign-in", .nonce, { $0.claims["nonce"] = .some(nil) }),
        ("about nobody", .subject, { $0.claims["sub"] = .string("") }),
        ("about a number", .subject, { $0.claims["sub"] = .integer(7) }),
        ("about somebody endless", .subject, { $0.claims["sub"] = .string(String(repeating: "s", count: 256)) }),
        ("with another access token", .accessToken, { $0.claims["at_hash"] = .string("AAAAAAAAAAAAAAAAAAAAAA") }),
        ("encrypted", .form, { $0.tokens["id_token"] = .string("a.b.c.d.e") }),
        ("no token", .form, { $0.tokens["id_token"] = .string("") }),
        ("padded", .form, { $0.tokens["id_token"] = .string("eyJhbGciOiJSUzI1NiJ9=.e30.AA") }),
        (
            "claims twice", .claims,
            { $0.tokens["id_token"] = .string("eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJhIiwiaXNzIjoiYiJ9.AA") }
        ),
    ]

    @Test("a token that is not as it should be is refused", arguments: attacks.indices)
    func refused(index: Int) throws {
        let bench = try Bench(), attack = Self.attacks[index]
        bench.stub.change(attack.change)
        #expect(bench.problem() == .token(attack.flaw), "\(attack.name)")
        bench.stub.reset()
        #expect(try bench.signIn().subject == TestIdentityProvider.subject)
    }

    @Test("several audiences are fine for the party that the token names, and clocks may differ a little")
    func lenient() throws {
        let bench = try Bench()
        bench.stub.change {
            $0.claims["aud"] = .array([.string("volley"), .string("other")])
            $0.claims["azp"] = .string("volley")
            $0.claims["iat"] = .integer(Timestamp.now().epochSeconds + 30)
            $0.claims["exp"] = .double(Double(Timestamp.now().epochSeconds - 30))
        }
        #expect(try bench.signIn().name == "jane")
    }

    @Test("a new key is found, but not asked for again and again; one that is gone counts no longer than an hour")
    func rotation() throws {
        let bench = try Bench(), now = Timestamp.now()
        _ = try bench.signIn(at: now)
        bench.stub.change { $0.keyID = "second" }
        #expect(bench.problem(at: now.adding(seconds: 10)) == .token(.unknownKey))
        #expect(bench.stub.count("/realms/shop/keys") == 1)
        _ = try bench.signIn(at: now.adding(seconds: 31))
        bench.stub.change { ($0.header["kid"], $0.publishedKeyIDs) = (.string("third"), ["second"]) }
        for _ in 0..<5 { #expect(bench.problem(at: now.adding(seconds: 40)) == .token(.unknownKey)) }
        #expect(bench.stub.count("/realms/shop/keys") == 2)
        // The provider no longer publishes the key that it still signs with.
        bench.stub.change { ($0.header, $0.publishedKeyIDs) = ([:], ["first"]) }
        _ = try bench.signIn(at: now.adding(seconds: 50))
        bench.stub.change {
            $0.claims = ["iat": .integer(Self.now + 3700), "exp": .integer(Self.now + 4000)]
        }
        #expect(bench.problem(at: now.adding(seconds: 3700)) == .token(.unknownKey))
    }

    @Test("a token that names no key is checked with the only one of its algorithm, if there is one")
    func unnamed() throws {
        let bench = try Bench()
        bench.stub.change { $0.header["kid"] = .some(nil) }
        #expect(try bench.signIn().name == "jane")
        let other = try Bench()
        other.stub.change { ($0.header["kid"], $0.publishedKeyIDs) = (.some(nil), ["first", "second"]) }
        #expect(other.problem() == .token(.unknownKey))
    }

    @Test(
        "an answer that comes from another provider, or does not say from which where it must, is refused before its code is used"
    )
    func mixUp() throws {
        let bench = try Bench()
        bench.stub.change { $0.way["iss"] = "https://evil.example" }
        #expect(bench.problem() == .mixedUp)
        bench.stub.reset()
        let strict = try Bench()
        strict.stub.change { $0.description["authorization_response_iss_parameter_supported"] = .bool(true) }
        #expect(strict.problem() == .mixedUp)
        let issuer = strict.stub.issuer
        strict.stub.change { $0.way["iss"] = issuer }
        #expect(try strict.signIn().name == "jane")
        #expect(bench.stub.count("/realms/shop/token") == 0 && strict.stub.count("/realms/shop/token") == 1)
    }

    @Test("an error of the provider, and an answer without a code, are said as such")
    func denied() throws {
        let bench = try Bench()
        func ended(_ code: String, _ description: String? = nil) -> OpenIDProblem? {
            bench.problem { answer in
                ["state": answer["state"] ?? "", "error": code].merging(
                    description.map { ["error_description": $0] } ?? [:]
                ) { $1 }
            }
        }
        #expect(ended("access_denied") == .denied(code: "access_denied"))
        #expect(ended("login_required", "Not now") == .denied(code: "login_required (Not now)"))
        #expect(
            ended("invalid_scope", "No such\nscope: groups") == .failed(code: "invalid_scope (No such scope: groups)"))
        #expect(
            ended("server_error", String(repeating: "é", count: 200))
                == .failed(code: "server_error (\(String(repeating: "é", count: 100)))"))
        #expect(bench.problem { ["state": $0["state"] ?? ""] } == .noCode)
        #expect(bench.problem { ["state": $0["state"] ?? "", "code": String(repeating: "c", count: 5000)] } == .noCode)
        #expect(
            bench.problem { ["state": $0["state"] ?? "", "code": "stolen"] }
                == .refused(.token, status: 400, code: "invalid_grant"))
    }

    @Test("what a provider says of a refused request is for the log, unless it repeats a secret")
    func description() throws {
        let bench = try Bench()
        func code(_ description: String) -> OpenIDProblem? {
            bench.stub.change {
                $0.answers["/token"] = .init(
                    "401 Unauthorized", body: "{\"error\":\"invalid_client\",\"error_description\":\"\(description)\"}")
            }
            return bench.problem()
        }
        #expect(
            code("The secret has expired")
                == .refused(.token, status: 401, code: "invalid_client (The secret has expired)"))
        #expect(code("s3cret & +% is wrong") == .refused(.token, status: 401, code: "invalid_client"))
    }

    @Test(
        "where a secret would have to be encoded, it goes into the form if the provider takes it there, as not all decode it"
    )
    func eitherWay() throws {
        for (secret, isInForm) in [("s3cret & +%", true), ("s3cret-._~", false)] {
            let bench = try Bench(secret: secret)
            bench.stub.change {
                $0.clientSecret = secret
                $0.description["token_endpoint_auth_methods_supported"] =
                    .array([.string("client_secret_basic"), .string("client_secret_post")])
            }
            _ = try bench.signIn()
            let request = try #require(bench.stub.requests.first { $0.line.hasPrefix("POST /realms/shop/token ") })
            #expect(request.body.contains("client_secret=") == isInForm)
            #expect((request.headers["authorization"] == nil) == isInForm)
        }
    }

    @Test("a sign-in comes back once, within its time, to the browser that began it, and to this process")
    func attempts() throws {
        let attempts = OpenIDAttempts(), now = Timestamp.now()
        func problem(_ cookie: String?, _ state: String, at time: Timestamp = now, _ attempts: OpenIDAttempts)
            -> OpenIDProblem?
        {
            do throws(OpenIDProblem) { _ = try attempts.take(cookie, state: state, at: time) } catch { return error }
            return nil
        }
        let (begun, cookie) = attempts.begin(.proof(session: "5e55"), to: "/runs?a=ü", at: now)
        let (other, _) = attempts.begin(.signIn, to: "/", at: now)
        #expect(Set([begun.state, begun.nonce, begun.verifier, other.state, other.nonce, other.verifier]).count == 6)
        for secret in [begun.state, begun.nonce, begun.verifier] { #expect(!cookie.contains(secret)) }
        #expect(problem(nil, begun.state, attempts) == .notBegun)
        #expect(problem(cookie, other.state, attempts) == .notBegun)
        #expect(problem(cookie, "", attempts) == .notBegun)
        #expect(problem(cookie.replacing("5e55", with: "5e56"), begun.state, attempts) == .notBegun)
        #expect(problem(cookie + "0", begun.state, attempts) == .notBegun)
        #expect(problem(String(repeating: ".", count: 4), begun.state, attempts) == .notBegun)
        #expect(problem(cookie, begun.state, OpenIDAttempts()) == .notBegun)
        #expect(problem(cookie, begun.state, at: now.adding(seconds: 600), attempts) == .lapsed)
        #expect(problem(cookie, begun.state, at: now.adding(seconds: -3600), attempts) == .lapsed)
        let taken = try attempts.take(cookie, state: begun.state, at: now.adding(seconds: 599))
        #expect(taken == begun && taken.to == "/runs?a=ü")
        #expect(problem(cookie, begun.state, attempts) == .used)
        #expect(attempts.begin(.signIn, to: "/" + String(repeating: "a", count: 2000), at: now).attempt.to == "")
        #expect(
            attempts.begin(.signIn, to: "/" + String(repeating: "a", count: 1999), at: now).cookie.utf8.count < 4000)
    }

    @Test("showing once more who one is asks the provider to ask anew, and takes nothing else for it")
    func proof() throws {
        let bench = try Bench()
        #expect(try bench.signIn(.proof(session: "1")).authenticatedAt != nil)
        bench.stub.change { $0.claims["auth_time"] = .integer(Timestamp.now().epochSeconds - 300) }
        #expect(bench.problem(.proof(session: "1")) == .notProvedAgain)
        bench.stub.change { $0.claims["auth_time"] = .some(nil) }
        #expect(bench.problem(.proof(session: "1")) == .noProofTime)
        bench.stub.change { $0.claims["auth_time"] = .integer(Timestamp.now().epochSeconds + 86_400) }
        #expect(bench.problem(.proof(session: "1")) == .noProofTime)
    }

    @Test(
        "answers that are too large, too late, redirected, errors or no JSON end the sign-in",
        arguments: ["/token", "/keys", "/userinfo"])
    func badAnswers(path: String) throws {
        let endpoint: OpenIDProblem.Endpoint =
            ["/token": .token, "/keys": .keys, "/userinfo": .userinfo][path] ?? .discovery
        let bench = try Bench()
        func problem(_ answer: TestIdentityProvider.Answer) -> OpenIDProblem? {
            bench.stub.change {
                $0.claims["groups"] = .some(nil)
                $0.answers = [path: answer]
            }
            return bench.problem()
        }
        #expect(
            problem(.init(body: "{\"a\":\"" + String(repeating: "a", count: 300_000) + "\"}")) == .tooLarge(endpoint))
        let moved = problem(.init("302 Found", headers: ["Location: \(bench.stub.issuer)/elsewhere"]))
        #expect(moved == .refused(endpoint, status: 302, code: ""))
        #expect(bench.stub.count("/realms/shop/elsewhere") == 0)
        #expect(
            problem(.init("400 Bad Request", body: "{\"error\":\"invalid_grant\"}"))
                == .refused(endpoint, status: 400, code: "invalid_grant"))
        #expect(problem(.init(body: "<html>")) == .unreadable(endpoint, "it is no JSON object"))
        #expect(problem(.init(body: "[]")) == .unreadable(endpoint, "it is no JSON object"))
        #expect(
            problem(.init(body: String(repeating: "[", count: 100_000)))
                == .unreadable(endpoint, "it is no JSON object"))
    }

    @Test("a provider that does not answer keeps nobody longer than ten seconds, and is then left alone for a moment")
    func slow() throws {
        let bench = try Bench(), now = Timestamp.now()
        bench.stub.change { $0.answers["/.well-known/openid-configuration"] = .init(seconds: 15) }
        let begin = ContinuousClock.now
        guard case .unreachable(.discovery, let reason)? = bench.problem(at: now) else {
            return #expect(Bool(false), "it was waited for")
        }
        #expect(reason.contains("timed out"))
        #expect(ContinuousClock.now - begin < .seconds(14))
        let again = ContinuousClock.now
        #expect(bench.problem(at: now.adding(seconds: 1)) != nil)
        #expect(ContinuousClock.now - again < .seconds(1))
        bench.stub.reset()
        #expect(try bench.signIn(at: now.adding(seconds: 6)).name == "jane")
    }

    @Test("the provider is asked through the proxy, whose password no problem shows")
    func proxied() throws {
        var behaviour = TestProxy.Behaviour()
        (behaviour.user, behaviour.password) = ("volley", "hunter2")
        let proxy = try TestProxy(.http, behaviour)
        let right = try Bench(proxy: ProxyAddress("http://volley:hunter2@127.0.0.1:\(proxy.port)"))
        #expect(try right.signIn().name == "jane")
        #expect(proxy.tunnels == 3 && proxy.requests.allSatisfy { right.stub.issuer.contains("//\($0.target)/") })
        let wrong = try Bench(proxy: ProxyAddress("http://volley:hunter3@127.0.0.1:\(proxy.port)"))
        guard case .unreachable(.discovery, let reason)? = wrong.problem() else {
            return #expect(Bool(false), "the proxy let it pass")
        }
        #expect(!reason.contains("hunter3"))
    }

    @Test("a provider whose certificate nobody vouches for is not believed")
    func untrusted() throws {
        guard case .unreachable(.discovery, _)? = try Bench(authority: false).problem() else {
            return #expect(Bool(false), "it was believed")
        }
    }

    @Test(
        "a description that leads astray is not followed",
        arguments: [
            (
                "issuer", JSONValue.string("https://evil.example"),
                "it calls itself 'https://evil.example', and volley.yaml must name the issuer exactly so"
            ),
            ("token_endpoint", .string("http://localhost/token"), "token_endpoint is no https address"),
            (
                "authorization_endpoint", .string("https://a/\r\nSet-Cookie: x"),
                "authorization_endpoint is no https address"
            ),
            ("jwks_uri", .string("file:///etc/passwd"), "jwks_uri is no https address"),
            ("jwks_uri", .string("https://user@host/"), "jwks_uri is no https address"),
            ("userinfo_endpoint", .integer(1), "userinfo_endpoint is no https address"),
            ("token_endpoint", .null, "token_endpoint is no https address"),
        ])
    func astray(key: String, value: JSONValue, reason: String) throws {
        let bench = try Bench()
        bench.stub.change { $0.description[key] = value }
        #expect(bench.problem() == .unreadable(.discovery, reason))
    }

    @Test("a claim may be a part of another, and a name with dots is a name first")
    func nested() {
        let claims = JSONValue.object(pairs: [
            ("realm_access", .object(pairs: [("roles", .array([.string("a")]))])), ("https://x.y/groups", .string("b")),
        ])
        #expect(Claim.texts(Claim.value("realm_access.roles", in: claims)) == ["a"])
        #expect(Claim.texts(Claim.value("https://x.y/groups", in: claims)) == ["b"])
        #expect(Claim.value("realm_access.none", in: claims) == nil && Claim.value("groups", in: claims) == nil)
    }
}
