import Base
import Testing

@testable import PushServices

@Suite("The account of an app with JPush, and its targets")
struct JPushAccountTests {
    private let account = JPush().account

    private func flaw(_ key: String) -> Mistake? { account.topic.flaw(key, "'\(key)'") }

    @Test("an app key has 24 hex digits, and what people write in its place is named")
    func keys() throws {
        let key = "7d431e42dfa6a6d693ac2d04"
        guard case .name(let pattern) = account.topic.kind else { return #expect(Bool(false)) }
        #expect(flaw(key) == nil)
        #expect(key.wholeMatch(of: try Regex(pattern)) != nil)
        #expect(flaw("com.example.shop")?.message.contains("package or bundle id") == true)
        #expect(flaw(key.uppercased())?.remedy == "Write its letters in lower case.")
        for wrong in [
            "", "7d431e42dfa6a6d693ac2d0", "7d431e42dfa6a6d693ac2d04a", "zd431e42dfa6a6d693ac2d04",
            "7d431e42 dfa6a6d693ac2d0",
        ] {
            #expect(
                flaw(wrong)?.message.contains("24 digits") == true && flaw(wrong)?.remedy?.hasSuffix(".") == true,
                "\(wrong)")
        }
    }

    @Test("the keys, the servers of each region, and what leads to them")
    func environments() throws {
        #expect(account.keys == ["app_key", "environment", "region", "master_secret"])
        let form = account.environments
        #expect(
            form.choices.map(\.name) == ["production", "development"]
                && form.choices.map(\.reachesPeople) == [true, false])
        #expect(form.choices.allSatisfy { $0.host == "api.jpush.cn" })
        let beijing = try #require(form.region("beijing"))
        #expect(form.choices[0].at(beijing).host == "bjapi.push.jiguang.cn")
        #expect(form.remedies["sandbox"]?.contains("environment: development") == true)
        #expect(form.remedies["beijing"]?.contains("region: beijing") == true)
        let secret = try #require(account.credential("master_secret"))
        guard case .basic = secret.kind else { return #expect(Bool(false)) }
        #expect(
            secret.isComplete(["file"]) && secret.isComplete(["env"]) && !secret.isComplete(["file", "env"])
                && !secret.isComplete([]))
    }

    @Test("registration ids are taken as they are")
    func targets() {
        let form = JPush().target
        for id in ["1a0018970a8d0000001", "171976fa8aa7a8a9d4b", "13065ffa4e3", "0900e8d85ef0"] {
            #expect(form.target(id)?.text == id && form.flaw(of: id) == nil && form.shape(of: id) == nil)
        }
        for wrong in ["", "123456789", "1a0018970a8d-000001", String(repeating: "a", count: 31)] {
            #expect(form.target(wrong) == nil)
        }
        #expect(form.target(JPush().probe.target) != nil)
        // Ids look like other names.
        #expect(!form.recognizes("autumnfestival2026"))
    }

    @Test("what other services have is named")
    func shapes() {
        let form = JPush().target
        #expect(form.shape(of: String(repeating: "0f", count: 32)) == .hexDigits)
        #expect(form.clause(of: .hexDigits, length: 64).hasPrefix("it is a device token of APNs"))
        #expect(form.shape(of: "dPx3abcDEF_-0123456789:APA91b" + String(repeating: "x", count: 134)) == .fcm)
        #expect(form.shape(of: "0123abcd-0123-0123-0123-0123456789ab") == .uuid && form.shape(of: "n/a") == .word)
        #expect(form.shape(of: "abc") == .tooShort && form.shape(of: String(repeating: "z", count: 31)) == .tooLong)
    }
}
