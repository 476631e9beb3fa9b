import Base
import Glibc
import Testing

@testable import PushServices

/// The table of answers compared with what RongCloud documents, and answers that are in neither.
@Suite("Answers of RongCloud")
struct RongCloudAnswersTests {
    private struct Row {
        var status: Int, code: Int
        var meaning: AnswerMeaning

        var reason: String { RongCloud().details(of: body(code)).reason }
    }

    private static let meanings: [String: AnswerMeaning] = [
        "accepted": .accepted, "rejected": .rejected, "rejected like all": .rejectedLikeAll, "stop": .stop,
        "quota": .retry(.quota),
        "other server": .retry(.otherServer), "maybe taken": .maybeTaken,
    ]

    private static func body(_ code: Int) -> JSONValue {
        .object(pairs: [("code", .integer(Int64(code))), ("errorMessage", .string("userIds is required."))])
    }

    /// The description of RongCloud, as a file next to this one.
    private static func described() throws -> [Row] {
        let path = String(#filePath.dropLast("RongCloudAnswersTests.swift".count)) + "Answers/rongcloud.csv"
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let text = String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
        return try text.split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: ",").map(String.init)
            return Row(
                status: try #require(Int(cells[0])), code: try #require(Int(cells[1])),
                meaning: try #require(meanings[cells[2]]))
        }
    }

    @Test("each answer that is described means what the description says")
    func describedAnswers() throws {
        let rows = try Self.described()
        #expect(rows.count == 13)
        for row in rows {
            let meaning = RongCloud().meaning(of: ServiceAnswer(status: row.status, reason: row.reason))
            #expect(meaning == row.meaning, "\(row.status) \(row.code)")
        }
    }

    @Test("each row of the table is described")
    func rowsOfTheTable() throws {
        let described = try Self.described()
        for row in RongCloud.rows {
            let found = try #require(
                described.first { String($0.code) == row.reason && $0.status == row.status }, "\(row.reason)")
            #expect(found.meaning == row.meaning)
        }
        #expect(Set(described.map(\.code)).subtracting([200]) == Set(RongCloud.rows.compactMap { Int($0.reason) }))
    }

    @Test(
        "an answer that stops a run says what to check",
        arguments: RongCloud.rows.filter { [.stop, .rejectedLikeAll].contains($0.meaning) }.map(\.reason))
    func advice(reason: String) throws {
        let row = try #require(RongCloud.answers[reason])
        #expect(RongCloud().advice(status: row.status, reason: reason) == row.advice)
        #expect(row.advice?.hasSuffix(".") == true)
    }

    @Test("each code has words, and they speak of users, who are no devices")
    func words() {
        for row in RongCloud.rows {
            let text = [RongCloud().words(about: row.reason)?.explanation, row.advice].compactMap(\.self)
            #expect(
                text.allSatisfy { $0.hasSuffix(".") && !$0.contains("device") && !$0.contains("token") }
                    && !text.isEmpty)
        }
        #expect(RongCloud().words(about: "9999") == nil && RongCloud().words(about: "1004")?.mayBeClock == true)
    }

    @Test("no refusal says that a user is gone, so none is left out later")
    func neverSuppressed() {
        #expect(RongCloud().goneReasons.isEmpty && RongCloud().blamingReasons.isEmpty)
        for status in [200, 400, 401, 403, 404, 410, 430, 500] {
            for code in ["", "no code"] + RongCloud.rows.map(\.reason) {
                if case .invalidTarget = RongCloud().meaning(of: ServiceAnswer(status: status, reason: code)) {
                    Issue.record("\(status) \(code)")
                }
            }
        }
    }

    @Test("the code in the body counts, also behind the status 200, and an answer without one is not RongCloud's")
    func reasons() throws {
        func reason(_ text: String) throws -> String { RongCloud().details(of: try JSONValue(parsing: text)).reason }
        func meaning(_ status: Int, _ reason: String) -> AnswerMeaning {
            RongCloud().meaning(of: ServiceAnswer(status: status, reason: reason))
        }
        #expect(try reason(#"{"code":200,"id":"abc"}"#).isEmpty)
        #expect(try reason(#"{"url":"/push/user.json","code":1002,"errorMessage":"x"}"#) == "1002")
        for odd in ["{}", "[]", "7", #"{"code":"1002"}"#, #"{"code":null}"#] { #expect(try reason(odd) == "no code") }
        #expect(
            meaning(200, "1002") == .rejectedLikeAll && meaning(200, "1001") == .stop
                && meaning(200, "1008") == .retry(.quota))
        #expect(meaning(200, "1050") == .maybeTaken && meaning(200, "1234") == .rejectedLikeAll)
        #expect(meaning(200, "no code") == .notTheService)
        // With its own words, too.
        for row in RongCloud.rows {
            #expect(
                RongCloud().advice(status: 200, reason: row.reason)
                    == RongCloud().advice(status: row.status, reason: row.reason))
            #expect(RongCloud().probeMeaning(status: 200, reason: row.reason) == row.probe)
        }
    }

    @Test("answers that are not described are judged by their status")
    func undescribed() {
        func meaning(_ status: Int, _ reason: String = "") -> AnswerMeaning {
            RongCloud().meaning(of: ServiceAnswer(status: status, reason: reason))
        }
        #expect([401, 403, 404, 405, 430].allSatisfy { meaning($0, "1999") == .stop })
        #expect(meaning(429) == .retry(.quota) && meaning(400, "1999") == .rejectedLikeAll)
        // Without a code it is not from RongCloud.
        for status in [101, 204, 302, 400, 401, 403, 404, 405, 407, 418, 430] {
            #expect(meaning(status) == .notTheService && meaning(status, "no code") == .notTheService, "\(status)")
        }
        // A page of a proxy, which may have passed the push on.
        #expect([500, 502, 503, 504].allSatisfy { meaning($0) == .maybeTaken })
        // A code with another status than its own.
        #expect(meaning(400, "1001") == .rejectedLikeAll && meaning(502, "1000") == .maybeTaken)
        let cutOff = ServiceAnswer(status: 200, isCutOff: true)
        #expect(RongCloud().meaning(of: cutOff) == .maybeTaken)
    }

    @Test("doctor tells credentials, the app's rights and a busy service apart")
    func probe() {
        func meaning(_ status: Int, _ reason: String = "") -> ProbeMeaning {
            RongCloud().probeMeaning(status: status, reason: reason)
        }
        #expect(meaning(200) == .fine && meaning(400, "1002") == .fine)
        #expect(
            meaning(401, "1001") == .wrongCredentials && meaning(401, "1004") == .wrongCredentials
                && meaning(401) == .wrongCredentials)
        #expect(meaning(430, "1009") == .wrongTopic && meaning(401, "1007") == .wrongTopic)
        #expect(meaning(429, "1008") == .busy && meaning(502) == .busy)
        #expect(
            meaning(200, "no code") == .notTheService && meaning(404) == .notTheService
                && meaning(302) == .notTheService)
    }
}
