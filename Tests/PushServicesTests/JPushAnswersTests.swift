import Base
import Testing

@testable import PushServices

/// The table of answers compared with what JPush documents, and answers that are in neither.
@Suite("Answers of JPush")
struct JPushAnswersTests {
    /// What JPush documents: the status, the code, and what it means for many devices of a call.
    private static let described: [(status: Int, code: Int, meaning: AnswerMeaning)] = [
        (500, 1000, .maybeTaken), (405, 1001, .stop), (400, 1002, .stop), (400, 1003, .split),
        (401, 1004, .stop),
        (400, 1005, .rejected), (400, 1008, .stop), (400, 1009, .stop),
        (400, 1011, .invalidTarget(blamesSettings: true)),
        (400, 1012, .usedUp), (404, 1020, .stop), (503, 1030, .maybeTaken), (429, 2002, .retry(.quota)),
        (403, 2003, .stop),
        (403, 2004, .stop), (403, 2005, .usedUp), (403, 2006, .stop), (403, 2007, .stop), (403, 2008, .usedUp),
    ]

    private let jpush = JPush()

    private func meaning(_ status: Int, _ reason: String = "") -> AnswerMeaning {
        jpush.meaning(of: ServiceAnswer(status: status, reason: reason))
    }

    private func details(_ text: String) throws -> AnswerDetails { jpush.details(of: try JSONValue(parsing: text)) }

    @Test("each answer that is described means what the description says, and each row of the table is described")
    func table() throws {
        for (status, code, expected) in Self.described {
            let reason = try details(#"{"error":{"code":\#(code),"message":"some words"}}"#).reason
            #expect(meaning(status, reason) == expected, "\(code)")
        }
        #expect(JPush.rows.compactMap { Int($0.reason) }.sorted() == Self.described.map(\.code).sorted())
        #expect(JPush.rows.count == Self.described.count + 1)
        #expect(
            JPush.rows.allSatisfy { row in
                Self.described.contains { row.reason.hasPrefix(String($0.code)) && $0.status == row.status }
            })
    }

    @Test("an answer that stops a run says what to check, and each reason has words")
    func words() {
        for row in JPush.rows {
            #expect(![.stop, .usedUp].contains(row.meaning) || row.advice?.hasSuffix(".") == true, "\(row.reason)")
            #expect(jpush.advice(status: row.status, reason: row.reason).hasSuffix("."))
            #expect(jpush.words(about: row.reason)?.explanation.hasSuffix(".") == true)
        }
        #expect(jpush.words(about: "1035") == nil && jpush.words(about: "") == nil)
        #expect(jpush.blamingReasons == ["1003", "1011"])
    }

    @Test("answers that are not described are judged by their status")
    func undescribed() {
        #expect(meaning(200) == .maybeTaken)
        #expect(meaning(400, "1035") == .rejectedLikeAll && meaning(413) == .rejected)
        // A code counts only with its status.
        #expect(meaning(400, "1000") == .rejectedLikeAll && meaning(500, "1011") == .maybeTaken)
        for status in [401, 403, 404, 405] { #expect(meaning(status, "9999") == .stop) }
        #expect(meaning(429) == .retry(.quota))
        // Without a code it is not from JPush.
        for status in [101, 204, 302, 400, 401, 403, 404, 405, 407] { #expect(meaning(status) == .notTheService) }
        for status in [500, 502, 503, 504] { #expect(meaning(status) == .maybeTaken) }
    }

    @Test(
        "a push is accepted with its number alone: 200 without one is not JPush's, or not whole, and leaves it in doubt"
    )
    func numbers() throws {
        #expect(jpush.meaning(of: ServiceAnswer(status: 200, hasReceipt: true)) == .accepted)
        #expect(jpush.meaning(of: ServiceAnswer(status: 200)) == .maybeTaken)
        #expect(jpush.meaning(of: ServiceAnswer(status: 200, reason: "1011")) == .maybeTaken)
        for odd in [
            "{}", "[]", "7", #"{"msg_id":""}"#, #"{"msg_id":"1a"}"#, #"{"msg_id":-1}"#, #"{"msg_id":1,"error":{}}"#,
        ] {
            #expect(try details(odd).receipt.isEmpty, "\(odd)")
        }
    }

    @Test("an answer that was cut off before its code is in doubt")
    func cutOff() {
        #expect(jpush.meaning(of: ServiceAnswer(status: 200, isCutOff: true, hasReceipt: true)) == .maybeTaken)
        for status in [400, 401, 429, 500] {
            #expect(jpush.meaning(of: ServiceAnswer(status: status, isCutOff: true)) == .maybeTaken)
        }
        #expect(jpush.meanings(of: ServiceAnswer(status: 400, reason: "1003", isCutOff: true), targets: [""]) == nil)
    }

    @Test("registration ids that are wrong are named in the error or next to it")
    func illegalIDs() throws {
        #expect(
            try details(#"{"error":{"code":1003,"message":"m","illegal_rids":["a","b"]}}"#).targets == [
                "a": "1003", "b": "1003",
            ])
        #expect(try details(#"{"error":{"code":1003,"message":"m"},"illegal_rids":["a"]}"#).targets == ["a": "1003"])
        #expect(try details(#"{"error":{"code":1003,"message":"m"}}"#).targets.isEmpty)
        // The text may name one, too, and is a part of the reason either way.
        let named = try details(
            #"{"error":{"code":1003,"message":"registration_id 1a0018970a91c8d8f1b is not valid"}}"#)
        #expect(
            named.targets["1a0018970a91c8d8f1b"] == "1003"
                && named.reason == "1003 (registration_id 1a00…8f1b is not valid)")
        #expect(
            try details(#"{"error":{"code":1003,"message":"override_msg_id not exist"}}"#).reason
                == "1003 (override_msg_id not exist)")
        #expect(try details(#"{"error":{"code":1011,"message":"m","illegal_rids":["a"]}}"#).targets.isEmpty)
        for odd in [
            "{}", "[]", "7", #"{"error":7}"#, #"{"error":{"code":"1003"}}"#,
            #"{"error":{"code":1003,"illegal_rids":7}}"#,
        ] {
            #expect(try details(odd).targets.isEmpty)
        }
    }

    @Test("the number of a push is kept, as text or as number")
    func receipts() throws {
        #expect(try details(#"{"sendno":"0","msg_id":"1828256757"}"#).receipt == "1828256757")
        #expect(try details(#"{"sendno":0,"msg_id":1828256757}"#).receipt == "1828256757")
        #expect(try details(#"{"error":{"code":1011,"message":"m"},"msg_id":7}"#).receipt.isEmpty)
    }

    @Test("those that are named are refused and the rest goes out again; if none is named, no device is refused for it")
    func parts() {
        let answer = ServiceAnswer(status: 400, reason: "1003 (some words)"),
            refused = AnswerMeaning.invalidTarget(blamesSettings: true)
        #expect(jpush.meanings(of: answer, targets: ["", "1003", ""]) == [.split, refused, .split])
        #expect(jpush.meanings(of: answer, targets: [""]) == nil)
        #expect(jpush.meanings(of: answer, targets: ["", ""]) == nil && jpush.meaning(of: answer) == .split)
        #expect(jpush.blamesMessage(status: 400, reason: answer.reason))
        #expect(jpush.words(about: answer.reason) != jpush.words(about: "1003"))
        #expect(jpush.meanings(of: ServiceAnswer(status: 200), targets: ["", ""]) == nil)
        #expect(jpush.meanings(of: ServiceAnswer(status: 400, reason: "1011"), targets: [""]) == nil)
    }

    @Test("what doctor learns from the answer to a push to a device that does not exist")
    func probe() {
        for (status, reason) in [(200, ""), (400, "1011"), (400, "1003")] {
            #expect(jpush.probeMeaning(status: status, reason: reason) == .fine)
        }
        #expect(jpush.probeMeaning(status: 401, reason: "1004") == .wrongCredentials)
        #expect(jpush.probeMeaning(status: 400, reason: "1008") == .wrongCredentials)
        #expect(jpush.probeMeaning(status: 403, reason: "2004") == .wrongTopic)
        #expect(
            jpush.probeMeaning(status: 429, reason: "2002") == .busy
                && jpush.probeMeaning(status: 502, reason: "") == .busy)
        for status in [302, 400, 404] { #expect(jpush.probeMeaning(status: status, reason: "") == .notTheService) }
    }
}
