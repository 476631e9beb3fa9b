import Base
import Cryptography
import Testing

@testable import Simulators

/// A change to a right assertion, and Google's answer.
struct AssertionFlaw: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let error: String
    let spoil: @Sendable (inout FCMAssertion) -> Void

    init(_ what: String, _ error: String, _ spoil: @escaping @Sendable (inout FCMAssertion) -> Void) {
        (testDescription, self.error, self.spoil) = (what, error, spoil)
    }
}

private let flaws = [
    AssertionFlaw("another grant type", "unsupported_grant_type") { $0.grantType = "password" },
    AssertionFlaw("no grant type", "invalid_request") { $0.grantType = nil },
    AssertionFlaw("another algorithm", "invalid_grant") { $0.algorithm = "HS256" },
    AssertionFlaw("an account that does not exist", "invalid_grant") {
        $0.issuer = "nobody@shop-1a2b.iam.gserviceaccount.com"
    },
    AssertionFlaw("no issuer", "invalid_grant") { $0.issuer = nil },
    AssertionFlaw("another key id", "invalid_grant") { $0.keyID = "0000" },
    AssertionFlaw("no key id", "invalid_grant") { $0.keyID = nil },
    AssertionFlaw("the signature of another key", "invalid_grant") { $0.signer = FCMFixture.other.key },
    AssertionFlaw("the audience of another port", "invalid_grant") { $0.audience = "https://localhost:2198/token" },
    AssertionFlaw("no audience", "invalid_grant") { $0.audience = nil },
    AssertionFlaw("another scope", "invalid_scope") { $0.scope = "https://www.googleapis.com/auth/datastore" },
    AssertionFlaw("no scope", "invalid_scope") { $0.scope = nil },
    AssertionFlaw("a clock 301 seconds ahead", "invalid_grant") {
        ($0.issuedAt, $0.end) = (noon.epochSeconds + 301, noon.epochSeconds + 3600)
    },
    AssertionFlaw("an end after 3,601 seconds", "invalid_grant") { $0.end = noon.epochSeconds + 3601 },
    AssertionFlaw("an end that has passed", "invalid_grant") {
        ($0.issuedAt, $0.end) = (noon.epochSeconds - 3600, noon.epochSeconds)
    },
    AssertionFlaw("an end before its beginning", "invalid_grant") {
        ($0.issuedAt, $0.end) = (noon.epochSeconds + 200, noon.epochSeconds + 100)
    },
    AssertionFlaw("a beginning long before and an end that never comes", "invalid_grant") {
        ($0.issuedAt, $0.end) = (.min, .max)
    },
    AssertionFlaw("no beginning", "invalid_grant") { $0.issuedAt = nil },
    AssertionFlaw("no end", "invalid_grant") { $0.end = nil },
]

@Suite("An assertion")
struct FCMTokenTests {
    @Test("that is right is exchanged for an access token") func exchanged() {
        let request = fcmRequest(path: "/token", type: fcmFormType, body: FCMAssertion().form)
        let answer = FCMFixture().decide(request)
        #expect(answer.status == 200)
        #expect(request.kind == .other)
        let body = json(answer)
        #expect(body?["access_token"]?.stringValue?.isEmpty == false)
        #expect(body?["expires_in"] == .integer(3600))
        #expect(body?["token_type"] == .string("Bearer"))
    }

    @Test("at every limit is exchanged") func limits() {
        var assertion = FCMAssertion()
        (assertion.issuedAt, assertion.end) = (noon.epochSeconds + 300, noon.epochSeconds + 3900)
        #expect(FCMFixture().accessToken(assertion) != nil)
        (assertion.issuedAt, assertion.end) = (noon.epochSeconds - 3599, noon.epochSeconds + 1)
        #expect(FCMFixture().accessToken(assertion) != nil)
        assertion.scope = "https://www.googleapis.com/auth/datastore https://www.googleapis.com/auth/firebase.messaging"
        #expect(FCMFixture().accessToken(assertion) != nil)
        assertion.scope = "https://www.googleapis.com/auth/cloud-platform"
        #expect(FCMFixture().accessToken(assertion) != nil)
        assertion.audience = "https://127.0.0.1:2197/token"
        #expect(FCMFixture().accessToken(assertion) != nil)
    }

    @Test(
        "for Google's own address is exchanged, as SDKs write it wherever they send it",
        arguments: [
            "https://oauth2.googleapis.com/token", "https://accounts.google.com/o/oauth2/token",
            "https://www.googleapis.com/oauth2/v4/token",
        ])
    func audiencesOfGoogle(_ audience: String) {
        var assertion = FCMAssertion()
        assertion.audience = audience
        #expect(FCMFixture().accessToken(assertion) != nil)
    }

    @Test("may have fractions of seconds") func fractions() {
        var assertion = FCMAssertion()
        assertion.fraction = 0.5
        #expect(FCMFixture().accessToken(assertion) != nil)
        (assertion.issuedAt, assertion.end) = (noon.epochSeconds + 301, noon.epochSeconds + 3600)
        #expect(FCMFixture().accessToken(assertion) == nil)
    }

    @Test("with a flaw is refused with Google's word", arguments: flaws) func refused(_ flaw: AssertionFlaw) {
        var assertion = FCMAssertion()
        flaw.spoil(&assertion)
        let answer = FCMFixture().decide(fcmRequest(path: "/token", type: fcmFormType, body: assertion.form))
        #expect(answer.status == 400)
        #expect(json(answer)?["error"] == .string(flaw.error))
        #expect(json(answer)?["error_description"]?.stringValue?.isEmpty == false)
    }

    @Test("with one changed byte anywhere is not exchanged") func tampered() {
        let fixture = FCMFixture()
        let jwt = Array(FCMAssertion().jwt.utf8)
        for place in stride(from: 0, to: jwt.count, by: 37) {
            var changed = jwt
            changed[place] = changed[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let form =
                "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion="
                + String(decoding: changed, as: UTF8.self)
            #expect(
                json(fixture.decide(fcmRequest(path: "/token", type: fcmFormType, body: form)))?["error"]
                    == .string("invalid_grant"))
        }
    }

    @Test(
        "outside a form is refused",
        arguments: [
            ("application/json", #"{"grant_type":"x"}"#), (fcmFormType, ""), (fcmFormType, "grant_type"),
            (fcmFormType, "a=%zz"),
            (fcmFormType, "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer"),
            (fcmFormType, "grant_type=a&grant_type=a"),
        ])
    func noForm(_ type: String, _ body: String) {
        let answer = FCMFixture().decide(fcmRequest(path: "/token", type: type, body: body))
        #expect(answer.status == 400)
        #expect(json(answer)?["error"] == .string("invalid_request"))
    }
}

@Suite("An access token")
struct FCMBearerTests {
    @Test("is good until it ends") func lifetime() {
        let fixture = FCMFixture { $0.issuer.tokenSeconds = 60 }
        let bearer = "Bearer \(fixture.accessToken() ?? "")"
        #expect(fixture.send(fcmMessage(), authorization: bearer).answer.status == 200)
        #expect(fixture.send(fcmMessage(), authorization: bearer, at: noon.adding(seconds: 59.9)).answer.status == 200)
        let late = fixture.send(fcmMessage(), authorization: bearer, at: noon.adding(seconds: 60))
        #expect(late.answer.status == 401)
        #expect(late.answer.reason == "UNAUTHENTICATED")
        #expect(tokenReason(late.answer) == "ACCESS_TOKEN_EXPIRED", "SDKs fetch another token then")
        #expect(fixture.rules.acceptedCredentials == 1)
    }

    @Test("is revoked after so many messages, and another one is good") func revoked() {
        let fixture = FCMFixture { $0.issuer.messagesPerToken = 2 }
        let bearer = "Bearer \(fixture.accessToken() ?? "")"
        let statuses = (0..<4).map { _ in fixture.send(fcmMessage(), authorization: bearer).answer.status }
        #expect(statuses == [200, 200, 401, 401])
        #expect(fixture.send(fcmMessage()).answer.status == 200)
    }

    @Test(
        "that was not given out is UNAUTHENTICATED",
        arguments: [
            ("", "CREDENTIALS_MISSING"), ("Bearer", "CREDENTIALS_MISSING"), ("Bearer ", "CREDENTIALS_MISSING"),
            ("Bearer x", "ACCESS_TOKEN_TYPE_UNSUPPORTED"), ("bearer ya29.x", "ACCESS_TOKEN_TYPE_UNSUPPORTED"),
            ("Basic YTpi", "CREDENTIALS_MISSING"),
        ])
    func foreign(_ header: String, _ reason: String) {
        let fixture = FCMFixture()
        #expect(fixture.accessToken() != nil)
        let (answer, request) = fixture.send(fcmMessage(), authorization: header)
        #expect(answer.status == 401)
        #expect(json(answer)?["error"]?["status"] == .string("UNAUTHENTICATED"))
        #expect(tokenReason(answer) == reason)
        #expect(request.addressee?.target == fcmToken)
    }

    /// The reason in Google's details about an access token.
    private func tokenReason(_ answer: FCMReply) -> String? {
        guard case .array(let details)? = json(answer)?["error"]?["details"], details.count == 1,
            details[0]["@type"] == .string("type.googleapis.com/google.rpc.ErrorInfo")
        else { return nil }
        return details[0]["reason"]?.stringValue
    }

    @Test(
        "of another project's account is PERMISSION_DENIED, and a project that does not exist NOT_FOUND, both without a word of FCM"
    )
    func projects() {
        let fixture = FCMFixture()
        let denied = fixture.send(fcmMessage(), path: "/v1/projects/news-3c4d/messages:send").answer
        #expect((denied.status, denied.reason) == (403, "PERMISSION_DENIED"))
        let unknown = fixture.send(fcmMessage(), path: "/v1/projects/nothing/messages:send").answer
        #expect((unknown.status, unknown.reason) == (404, "NOT_FOUND"))
        for answer in [denied, unknown] { #expect(json(answer)?["error"]?["details"] == nil) }
    }
}
