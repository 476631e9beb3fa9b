import Base
import Glibc
@testable import PushServices
import Testing

/// The table of answers compared with what Apple documents, and answers that are in neither.
struct APNsTests {
    private struct Row {
        var status: Int
        var reason: String
        var meaning: AnswerMeaning
    }

    private static let meanings: [String: AnswerMeaning] = [
        "accepted": .accepted, "invalid": .invalidTarget(blamesSettings: false),
        "invalid or settings": .invalidTarget(blamesSettings: true),
        "rejected": .rejected, "stop": .stop, "new connection": .retry(.connectionIdle),
        "new token": .retry(.credentialExpired),
        "device busy": .retry(.deviceBusy), "service busy": .retry(.serviceBusy),
        "service leaves": .retry(.serviceLeaves),
    ]

    /// The description of APNs, as a file next to this one.
    private static func described() throws -> [Row] {
        let path = String(#filePath.dropLast("APNsTests.swift".count)) + "Answers/apns.csv"
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let text = String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
        return try text.split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            return Row(status: try #require(Int(cells[0])), reason: cells[1], meaning: try #require(meanings[cells[2]]))
        }
    }

    @Test("each answer that is described means what the description says")
    func describedAnswers() throws {
        let rows = try Self.described()
        #expect(rows.count == 40)
        for row in rows {
            let answer = ServiceAnswer(status: row.status, reason: row.reason, id: .own)
            #expect(APNs().meaning(of: answer) == row.meaning, "\(row.status) \(row.reason)")
        }
    }

    @Test("each row of the table is described")
    func rowsOfTheTable() throws {
        let described = Dictionary(uniqueKeysWithValues: try Self.described().map { ($0.reason, $0) })
        for row in APNs.rows {
            let found = try #require(described[row.reason], "\(row.reason) is not described")
            #expect(row.statuses.contains(found.status) && row.meaning == found.meaning)
        }
        #expect(APNs.rows.count == described.count - 1)
    }

    @Test(
        "an answer that stops a run says what to check",
        arguments: APNs.rows.filter { $0.meaning == .stop }.map(\.reason))
    func advice(reason: String) throws {
        let row = try #require(APNs.answers[reason])
        #expect(APNs().advice(status: row.statuses.lowerBound, reason: reason) == row.advice)
        #expect(row.advice?.hasSuffix(".") == true && row.explanation.hasSuffix("."))
    }

    @Test("answers that are not described are judged by their status")
    func undescribed() {
        let apns = APNs()
        func meaning(_ status: Int, _ reason: String = "", _ id: ServiceAnswer.Identity = .own) -> AnswerMeaning {
            apns.meaning(of: ServiceAnswer(status: status, reason: reason, id: id))
        }
        #expect(meaning(403, "SomethingNew") == .stop)
        #expect(meaning(400, "SomethingNew") == .rejected)
        // A reason counts only with its status.
        #expect(meaning(400, "Unregistered") == .rejected)
        #expect(meaning(404) == .stop)
        #expect(meaning(404, "NotFound") == .stop)
        #expect(meaning(410, "SomethingNew") == .invalidTarget(blamesSettings: false))
        #expect(meaning(410, "SomethingNew", .missing) == .notTheService)
        #expect(meaning(410, "Unregistered", .missing) == .invalidTarget(blamesSettings: false))
        #expect(meaning(429, "SlowDown") == .retry(.deviceBusy))
        #expect(meaning(502, "") == .retry(.serviceBusy))
        #expect(meaning(502, "", .missing) == .maybeTaken)
        #expect(meaning(503, "ServiceUnavailable", .other) == .retry(.serviceBusy))
        // What has neither a reason nor the push's id is not from APNs, and a redirection never is.
        for status in [400, 401, 403, 404, 405, 418] { #expect(meaning(status, "", .missing) == .notTheService) }
        for status in [101, 204, 302, 407] { #expect(meaning(status) == .notTheService) }
        #expect(meaning(413, "", .missing) == .rejected && meaning(403, "SomethingNew", .missing) == .stop)
    }

    @Test("an answer that was cut off before its reason is in doubt, except where the status says it all")
    func cutOff() {
        func meaning(_ status: Int) -> AnswerMeaning {
            APNs().meaning(of: ServiceAnswer(status: status, id: .own, isCutOff: true))
        }
        #expect(meaning(200) == .accepted)
        #expect(meaning(410) == .invalidTarget(blamesSettings: false))
        for status in [400, 403, 404, 429, 500, 503] { #expect(meaning(status) == .maybeTaken) }
    }

    @Test("two reasons come for good tokens, too, when the settings are wrong")
    func blaming() { #expect(APNs().blamingReasons == ["BadDeviceToken", "DeviceTokenNotForTopic"]) }

    @Test("two reasons come for dead tokens alone, in the order of Apple's table")
    func gone() { #expect(APNs().goneReasons == ["Unregistered", "ExpiredToken"]) }

    @Test("the parts of an account have the names that volley.yaml gives them")
    func names() {
        let account = APNs().account
        #expect(
            account.names
                == CredentialNames(
                    signingKey: "key", keyID: "id", issuer: "team", certificate: "certificate",
                    all: ["key", "certificate"]))
        #expect(account.certificate?.passphraseVariable?.key == "passphrase_env" && account.certificate?.keyID == nil)
        #expect(account.names.none { "a \($0)" } == "neither a key nor a certificate")
        #expect(account.environments.choices.filter(\.reachesPeople).map(\.name) == ["production"])
    }

    @Test("a request of one push names the target in its path, or in the body that the service makes")
    func single() {
        let push = ProbePush(target: "00ff", payload: "{}").push(
            PushID(runSeed: RunSeed(high: 0, low: 0), recipient: 0))
        let plain = RequestTemplate(pathPrefix: "/3/device/", headers: [], idHeader: "id").single(push, at: 42)
        #expect(plain.path == "/3/device/00ff" && plain.body == Array("{}".utf8))
        let made = RequestTemplate(pathPrefix: "/send", headers: [], idHeader: "id") { pushes, now, bytes in
            for push in pushes { bytes += push.target + push.payload }
            bytes += "\(now)".utf8
        }.single(push, at: 42)
        #expect(made.path == "/send" && made.body == Array("00ff{}42".utf8))
    }

    @Test("what doctor learns from the answer to a push to a device that does not exist")
    func probe() {
        let apns = APNs()
        for (status, reason) in [
            (200, ""), (400, "BadDeviceToken"), (400, "PayloadEmpty"), (410, "Unregistered"), (410, "ExpiredToken"),
        ] { #expect(apns.probeMeaning(status: status, reason: reason) == .fine) }
        for reason in ["TopicDisallowed", "BadTopic", "MissingTopic", "DeviceTokenNotForTopic"] {
            #expect(apns.probeMeaning(status: 400, reason: reason) == .wrongTopic)
        }
        #expect(apns.probeMeaning(status: 403, reason: "") == .wrongCredentials)
        #expect(apns.probeMeaning(status: 429, reason: "") == .busy)
        #expect(apns.probeMeaning(status: 503, reason: "") == .busy)
        for (status, reason) in [(400, ""), (410, ""), (404, "BadPath"), (302, "")] {
            #expect(apns.probeMeaning(status: status, reason: reason) == .notTheService)
        }
    }

    @Test("push types know their topic suffix and their largest payload")
    func pushTypes() {
        let apns = APNs()
        #expect(apns.topicSuffix(of: .alert).isEmpty && apns.topicSuffix(of: .background).isEmpty)
        #expect(
            apns.topicSuffix(of: .voip) == ".voip" && apns.topicSuffix(of: .liveactivity) == ".push-type.liveactivity")
        #expect(apns.topic("com.example.shop", for: .voip) == "com.example.shop.voip")
        #expect(apns.topic("com.example.shop.voip", for: .voip) == "com.example.shop.voip")
        #expect(PushType.allCases.filter { apns.payloadLimit(of: $0) != 4096 } == [.voip, .liveactivity])
        #expect(
            apns.payloadLimit(of: .voip) == 5120 && apns.payloadLimit(of: .liveactivity) + ActivityStamp.bytes == 4096)
    }

    @Test("the services of the list have different names, and are found by them")
    func list() throws {
        #expect(Set(PushServices.all.map(\.name)).count == PushServices.all.count)
        for service in PushServices.all {
            #expect(PushServices.named(service.name)?.displayName == service.displayName)
        }
        #expect(PushServices.standard.name == "apns" && PushServices.named("none") == nil)
    }
}
