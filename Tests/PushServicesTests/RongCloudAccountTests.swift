import Base
import Testing

@testable import PushServices

@Suite("The account of an app with RongCloud")
struct RongCloudAccountTests {
    private func flaw(_ key: String) -> Mistake? { RongCloud().account.topic.flaw(key, "'\(key)'") }

    @Test("an App Key is taken", arguments: ["e0x9wycfx7flq", "bmdehs6pbg8hs", "uwd1c0sxdlx2", "volleysimulator"])
    func appKeys(key: String) throws {
        #expect(flaw(key) == nil)
        guard case .name(let pattern) = RongCloud().account.topic.kind else { return #expect(Bool(false)) }
        #expect(key.wholeMatch(of: try Regex(pattern)) != nil)
    }

    @Test(
        "what is none is refused, with what to do",
        arguments: ["", "6gs1PwtMDVkU8v", "com.example.shop", "shop", "e0x9 wycfx7flq", "e0x9wycfx7flqe0x9wycfx7flq"])
    func flaws(key: String) throws {
        let mistake = try #require(flaw(key))
        #expect(mistake.message.contains("is not an App Key of RongCloud") && mistake.remedy?.hasSuffix(".") == true)
    }

    @Test("each region has a server and a spare one, and Beijing is meant where none is named")
    func regions() {
        let form = RongCloud().account.environments
        #expect(form.regions.map(\.name) == ["beijing", "singapore", "singapore-b", "north-america", "saudi-arabia"])
        #expect(
            form.regions.map(\.host) == [
                "api.rong-api.com", "api.sg-light-api.com", "api.sg-b-light-api.com", "api.us-light-api.com",
                "api.sau-light-api.com",
            ])
        #expect(
            form.regions.allSatisfy { $0.spareHosts == [$0.host.replacing("api.", with: "api-b.", maxReplacements: 1)] }
        )
        #expect(
            form.choices.map(\.name) == ["production", "development"]
                && form.choices.map(\.reachesPeople) == [true, false])
        #expect(form.choices.allSatisfy { $0.host == "api.rong-api.com" && $0.spareHosts == ["api-b.rong-api.com"] })
        #expect(form.choices[0].at(form.regions[3]).host == "api.us-light-api.com")
        #expect(form.remedies["sandbox"]?.contains("environment: development") == true)
        #expect(form.remedies["singapore"]?.contains("region:") == true)
    }

    @Test("the secret signs each request, and stands in a file or a variable")
    func secret() throws {
        let account = RongCloud().account
        #expect(account.keys == ["app_key", "environment", "region", "app_secret"])
        let form = try #require(account.credential("app_secret"))
        guard case .signedRequest(let signature) = form.kind else { return #expect(Bool(false)) }
        #expect(form.kind.isPlainSecret && form.alternatives == ["file", "env"])
        #expect(
            form.isComplete(["file"]) && form.isComplete(["env"]) && !form.isComplete(["file", "env"])
                && !form.isComplete([String]()))
        #expect((1...18).contains(signature.nonceDigits))
        let headers = [signature.account, signature.nonce, signature.timestamp, signature.signature]
        #expect(headers == ["app-key", "nonce", "timestamp", "signature"])
    }
}

@Suite("Targets of RongCloud")
struct RongCloudTargetTests {
    private let form = RongCloud().target

    @Test(
        "user IDs are taken as they are",
        arguments: [
            "1", "10234", "Anna", "user_0815", "a+b=c-d", String(repeating: "p", count: 64),
            String(repeating: "0f", count: 32),
        ])
    func reads(user: String) {
        #expect(form.target(user)?.text == user && form.flaw(of: user) == nil && form.shape(of: user) == nil)
        #expect(Array(user.utf8).withUnsafeBufferPointer(form.kept.contains))
    }

    @Test(
        "what is none is refused, with its shape",
        arguments: [
            (String(repeating: "a", count: 65), TargetShape.tooLong), ("anna@example.com", .email), ("n/a", .word),
            ("an na", .other),
            ("安娜", .other), ("dPx3abcDEF_-0123456789:APA91b" + String(repeating: "x", count: 120), .fcm),
        ])
    func refuses(text: String, shape: TargetShape) {
        #expect(form.target(text) == nil && form.shape(of: text) == shape)
        #expect(!Array(text.utf8).withUnsafeBufferPointer(form.kept.contains))
        #expect(form.flaw(of: text) != nil && !form.clause(of: shape, length: text.utf8.count).isEmpty)
    }

    @Test("they look like names, so none is taken for one where something else should stand")
    func names() {
        for text in ["10234", "spring-sale", String(repeating: "0f", count: 30)] {
            #expect(!form.recognizes(text) && !form.isCertain(text) && !form.resembles(text))
        }
        #expect(form.fewestHidden == nil && form.aNoun == "a user ID" && form.nouns == "user IDs")
        #expect(RongCloud().rules.contentKeys.isDisjoint(with: [.subtitle, .sound, .silent, .payload]))
    }

    @Test("a request carries up to a hundred of them, and the pace counts them")
    func batching() {
        let rongcloud = RongCloud()
        #expect(rongcloud.batching == Batching(largestTargets: 100, hasOwnTexts: false, paceUnit: .targets))
        #expect(
            rongcloud.usualPace == ServicePace(Pace(pushes: 100, intervalSeconds: 1), rampSeconds: 0, isLimit: true))
        func largest(at pace: Pace?) -> Int {
            var paces = RequestPaces(rongcloud.batching)
            paces.keep(pace, counting: .targets)
            return paces.largestRequest
        }
        #expect(largest(at: rongcloud.usualPace?.pace) == 5)
        #expect(largest(at: Pace(pushes: 10_000, intervalSeconds: 1)) == 100)
    }
}
