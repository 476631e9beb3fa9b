import Base
import Testing

@testable import Simulators

@Suite("A token of Getui")
struct GetuiTokenTests {
    private func answer(_ proof: GetuiProof, at now: Timestamp = noon) -> GetuiAnswer {
        GetuiFixture().decide(getuiRequest(to: "auth", of: proof.app.app, body: proof.body), at: now)
    }

    @Test("is given out for a proof, with the millisecond of its end as a text")
    func givenOut() {
        let answer = answer(GetuiProof())
        #expect((answer.status, answer.code) == (200, 0))
        #expect(answer.request.kind == .other)
        #expect(answer.body?["data"]?["token"]?.stringValue?.utf8.count == 64)
        #expect(answer.body?["data"]?["expire_time"] == .string(String(noon.epochMilliseconds + 3_600_000)))
    }

    @Test("is refused for a proof that is wrong in any part")
    func wrongProofs() {
        var proofs: [(GetuiProof, String)] = []
        for (change, text) in [
            ({ $0.secret = "another" }, "sign is invalid"), ({ $0.appKey = "another" }, "appid or appkey is invalid"),
            ({ $0.sign = String(repeating: "0", count: 64) }, "sign is invalid"), ({ $0.sign = "0123" }, "sign: "),
            ({ $0.milliseconds = String(noon.epochSeconds) }, "timestamp: "),
            (
                { $0.app = TrustedSecret(app: "unknown", names: $0.app.names, secret: $0.app.secret) },
                "appid or appkey is invalid"
            ),
            ({ $0.appKey = GetuiFixture.other.names["app_key"] }, "appid or appkey is invalid"),
        ] as [((inout GetuiProof) -> Void, String)] {
            var proof = GetuiProof()
            change(&proof)
            proofs.append((proof, text))
        }
        for (proof, text) in proofs {
            let answer = answer(proof)
            #expect((answer.status, answer.code) == (400, 20001), "\(proof)")
            #expect(answer.message.hasPrefix(text), "\(answer.message)")
        }
    }

    @Test("needs a moment within ten minutes", arguments: [(-601, false), (-600, true), (600, true), (601, false)])
    func skew(seconds: Int64, isAccepted: Bool) {
        var proof = GetuiProof()
        proof.milliseconds = String(noon.epochMilliseconds + seconds * 1000)
        #expect(answer(proof).code == (isAccepted ? 0 : 20001))
    }

    @Test("is asked for with nothing but the three members, once each, as JSON")
    func members() {
        let body = GetuiProof().body
        let fixture = GetuiFixture()
        for wrong in [String(body.dropLast()) + #","more":1}"#, String(body.dropLast()) + #","appkey":"x"}"#, "{}"] {
            #expect(fixture.decide(getuiRequest(to: "auth", body: wrong)).code == 20001, "\(wrong)")
        }
        let sdk = body.replacing(
            "\"timestamp\":\"\(noon.epochMilliseconds)\"", with: "\"timestamp\":\(noon.epochMilliseconds)")
        #expect(
            sdk != body && fixture.decide(getuiRequest(to: "auth", body: sdk)).code == 0,
            "Getui's SDK for Java writes a number")
        let noJSON = fixture.decide(getuiRequest(to: "auth", body: "sign=1"))
        #expect((noJSON.status, noJSON.code) == (200, 1))
    }

    @Test("is asked for at most 100 times a minute, and refused with 401 and 10003 beyond that")
    func often() {
        let fixture = GetuiFixture()
        func code(at seconds: Double) -> GetuiAnswer {
            let proof = getuiRequest(to: "auth", body: GetuiProof().body)
            return fixture.decide(proof, at: noon.adding(seconds: seconds))
        }
        #expect((0..<100).allSatisfy { _ in code(at: 0).code == 0 })
        let refused = code(at: 59)
        #expect((refused.status, refused.code) == (401, 10003))
        #expect(code(at: 60).code == 0)
    }

    @Test("opens the calls of its own app until its end")
    func use() {
        let fixture = GetuiFixture { $0.issuer.tokenSeconds = 60 }
        let token = fixture.token()
        #expect(fixture.send(getuiBatchBody([getuiMessage(1)]), token: token).code == 0)
        let ended = fixture.send(getuiBatchBody([getuiMessage(2)]), token: token, at: noon.adding(seconds: 60))
        #expect((ended.status, ended.code) == (401, 10001))
        let foreign = fixture.decide(
            getuiRequest(
                to: getuiBatch, of: GetuiFixture.other.app, token: fixture.token(),
                body: getuiBatchBody([getuiMessage(3)])))
        #expect((foreign.status, foreign.code) == (401, 10001))
        for wrong in ["", "0123", nil] as [String?] {
            let answer = fixture.decide(
                getuiRequest(to: getuiBatch, token: wrong, body: getuiBatchBody([getuiMessage(4)])))
            #expect((answer.status, answer.code) == (401, 10001))
            #expect(answer.request.addressees.map(\.target) == [cid(4)], "the ledger names whom it was for")
        }
        #expect(fixture.rules.acceptedCredentials == 1)
    }

    @Test("is revoked after so many uses as are configured, and by its owner")
    func revoked() {
        let fixture = GetuiFixture { $0.issuer.messagesPerToken = 2 }
        let token = fixture.token() ?? ""
        #expect((1...3).map { fixture.send(getuiBatchBody([getuiMessage($0)]), token: token).code } == [0, 0, 10001])
        let second = fixture.token() ?? ""
        #expect(fixture.decide(getuiRequest(to: "auth/\(second)", method: "DELETE", body: "")).code == 0)
        #expect(fixture.send(getuiBatchBody([getuiMessage(4)]), token: second).code == 10001)
    }
}
