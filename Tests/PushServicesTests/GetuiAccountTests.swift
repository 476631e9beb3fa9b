import Base
import Testing

@testable import PushServices

@Suite("The account of an app with Getui")
struct GetuiAccountTests {
    private func flaw(_ id: String) -> Mistake? { Getui().account.topic.flaw(id, "'\(id)'") }

    @Test(
        "ids of letters and digits are taken",
        arguments: ["Jz1kA9xW2pQ7vB4nL5sT8y", "12345678", String(repeating: "a", count: 64)])
    func appIDs(id: String) throws {
        #expect(flaw(id) == nil)
        guard case .name(let pattern) = Getui().account.topic.kind else { return #expect(Bool(false)) }
        #expect(id.wholeMatch(of: try Regex(pattern)) != nil)
    }

    @Test(
        "what people write in their place is named, with what to do",
        arguments: [
            ("com.example.shop", "an app's package or bundle id"), ("short", "8 to 64 letters and digits"),
            ("", "8 to 64 letters"),
            ("Jz1kA9xW2pQ7vB4nL5sT8y/../x", "8 to 64 letters and digits"),
            (String(repeating: "a", count: 65), "8 to 64 letters"),
        ])
    func flaws(id: String, words: String) throws {
        let mistake = try #require(flaw(id))
        #expect(mistake.message.contains(words), "\(mistake.message)")
        #expect(mistake.remedy?.contains("AppID") == true && mistake.remedy?.hasSuffix(".") == true)
    }

    @Test("the app key stands beside the master secret, which is in a file or a variable")
    func form() throws {
        let account = Getui().account
        #expect(account.keys == ["app_id", "environment", "app_key", "master_secret", "lists"])
        let secret = try #require(account.credential("master_secret"))
        #expect(
            secret.kind.isPlainSecret && secret.fieldsBeside.map(\.key) == ["app_key"]
                && secret.alternatives == ["file", "env"])
        #expect(account.environments.choices.map(\.host) == ["restapi.getui.com"])
        #expect(account.environments.choices[0].spareHosts == ["cncrestapi.getui.com", "nzrestapi.getui.com"])
        #expect(account.environments.remedies["sandbox"]?.contains("environment: production") == true)
    }

    // MARK: - Tokens

    private static let facts = {
        guard case .digest(let facts) = Getui.tokens.proof else {
            preconditionFailure("Getui's tokens are for a digest")
        }
        return facts
    }()

    @Test("tokens are asked for as Getui documents it, and go into a header of their own")
    func exchange() {
        let parts = DigestFacts.Parts(topic: "app", names: ["app_key": "key"], milliseconds: 1_700_000_000_123)
        #expect(Self.facts.path("app") == "/v2/app/auth")
        #expect(Self.facts.text(parts, "secret") == "key1700000000123secret")
        #expect(Self.facts.body(parts, "abc").text == #"{"sign":"abc","timestamp":"1700000000123","appkey":"key"}"#)
        #expect(Getui.tokens.header == "token" && Getui.tokens.prefix.isEmpty && Getui.tokens.renewEarlySeconds == 3600)
    }

    @Test(
        "an answer is a token, a refusal for good or for now, or nothing of Getui's",
        arguments: [
            (
                200, #"{"code":0,"msg":"","data":{"token":"t","expire_time":"1700000000123"}}"#,
                .token("t", until: 1_700_000_000_123)
            ),
            (200, #"{"code":0,"msg":"","data":{"token":"t"}}"#, .unreadable), (200, #"{"code":0}"#, .unreadable),
            (
                200, #"{"code":0,"data":{"token":"t","expire_time":1700000000123}}"#,
                .token("t", until: 1_700_000_000_123)
            ),
            (200, #"{"token":"t"}"#, .unreadable), (200, "[]", .unreadable),
            (400, #"{"code":20001,"msg":"sign is invalid"}"#, .refused("20001, sign is invalid", mayPass: false)),
            (401, #"{"code":10002,"msg":""}"#, .refused("10002", mayPass: false)),
            (
                401, #"{"code":10003,"msg":"auth is too frequent"}"#,
                .refused("10003, auth is too frequent", mayPass: true)
            ),
            (200, #"{"code":2,"msg":"service is starting"}"#, .refused("2, service is starting", mayPass: true)),
            (500, #"{"code":500,"msg":""}"#, .refused("500", mayPass: true)),
        ] as [(Int, String, DigestFacts.Reading)])
    func readings(status: Int, body: String, reading: DigestFacts.Reading) throws {
        #expect(Self.facts.read(status, try JSONValue(parsing: body)) == reading)
    }
}
