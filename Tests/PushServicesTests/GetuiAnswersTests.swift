import Base
import Glibc
import Testing

@testable import PushServices

/// The table of codes compared with what Getui documents, and answers that are in neither.
@Suite("Answers of Getui")
struct GetuiAnswersTests {
    private struct Row {
        var status: Int
        var body: JSONValue
        var single: AnswerMeaning, several: AnswerMeaning

        /// What Getui makes of its body.
        var reason: String { Getui().details(of: body).reason }
    }

    private static let words: [String: AnswerMeaning] = [
        "invalid or settings": .invalidTarget(blamesSettings: true), "rejected": .rejected,
        "rejected like all": .rejectedLikeAll,
        "stop": .stop, "quota": .retry(.quota), "new token": .retry(.credentialExpired),
        "service busy": .retry(.serviceBusy),
        "other server": .retry(.otherServer), "split": .split, "used up": .usedUp,
    ]

    private static func body(code: Int64, message: String) -> JSONValue {
        .object(pairs: [("code", .integer(code)), ("msg", .string(message))])
    }

    /// What an answer means for each push of a request.
    private static func meanings(status: Int, reason: String, of targets: [String]) -> [AnswerMeaning] {
        let answer = ServiceAnswer(status: status, reason: reason)
        return Getui().meanings(of: answer, targets: targets) ?? targets.map { _ in Getui().meaning(of: answer) }
    }

    /// The description of Getui, as a file next to this one.
    private static func described() throws -> [Row] {
        let path = String(#filePath.dropLast("GetuiAnswersTests.swift".count)) + "Answers/getui.csv"
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let text = String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
        return try text.split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            return Row(
                status: try #require(Int(cells[0])), body: body(code: try #require(Int64(cells[1])), message: cells[2]),
                single: try #require(words[cells[3]]), several: try #require(words[cells[4]]))
        }
    }

    @Test("each code that is described means what the description says, for a request with one target and with several")
    func describedAnswers() throws {
        let rows = try Self.described()
        #expect(rows.count == 37)
        for row in rows {
            #expect(Self.meanings(status: row.status, reason: row.reason, of: [""]) == [row.single], "\(row.reason)")
            #expect(
                Self.meanings(status: row.status, reason: row.reason, of: ["", ""]) == [row.several, row.several],
                "\(row.reason)")
        }
    }

    @Test("each row of the table is described, with its HTTP status")
    func rowsOfTheTable() throws {
        let described = try Self.described()
        let statuses: Set = ["successed_ignore", Getui.success]
        for row in Getui.rows where !statuses.contains(row.reason) {
            let found = try #require(
                described.first { $0.reason == row.reason && $0.status == row.status }, "\(row.reason)")
            #expect(found.single == row.meaning)
        }
        #expect(
            Set(described.compactMap { Getui.row(of: $0.reason)?.reason }).union(statuses)
                == Set(Getui.rows.map(\.reason)))
    }

    @Test("the code decides, whatever the HTTP status: some refusals come with 200")
    func statuses() throws {
        for row in try Self.described() {
            for status in [200, 400, 403, 500] {
                #expect(
                    Self.meanings(status: status, reason: row.reason, of: [""]) == [row.single],
                    "\(row.reason) with \(status)")
            }
        }
    }

    @Test(
        "a good answer has a status for each target, in whichever task; others are refused, and of a target without one nothing is known"
    )
    func targets() throws {
        let body = try JSONValue(
            parsing: #"""
                {"code":0,"msg":"","data":{"RASS_1":{"a":"successed_online"},"RASS_2":{"b":"successed_offline","c":"successed_ignore"},
                "RASS_3":{"d":"failed_somehow"}}}
                """#)
        let details = Getui().details(of: body), targets = ["a", "b", "c", "d", "e"].map { details.targets[$0] ?? "" }
        #expect(
            details.reason == "0"
                && targets == ["successed_online", "successed_offline", "successed_ignore", "failed_somehow", ""])
        #expect(
            Self.meanings(status: 200, reason: details.reason, of: targets) == [
                .accepted, .accepted, .rejected, .rejected, .untold,
            ])
    }

    @Test("an answer that is cut off, or not Getui's, leaves a request in doubt")
    func doubtful() {
        for answer in [
            ServiceAnswer(status: 200, reason: "0", isCutOff: true), ServiceAnswer(status: 200),
            ServiceAnswer(status: 502),
            ServiceAnswer(status: 500, reason: "500"), ServiceAnswer(status: 400, reason: "20001", isCutOff: true),
        ] {
            #expect(Getui().meanings(of: answer, targets: ["", ""]) == nil)
            #expect(Getui().meaning(of: answer) == .maybeTaken, "\(answer)")
        }
    }

    @Test("codes that Getui does not document are judged by their status")
    func undescribed() {
        func meaning(_ status: Int, _ reason: String = "") -> AnswerMeaning {
            Getui().meaning(of: ServiceAnswer(status: status, reason: reason))
        }
        for status in [401, 403, 404, 405] { #expect(meaning(status, "39999") == .stop) }
        #expect(meaning(429) == .retry(.quota) && meaning(400, "29999") == .rejectedLikeAll)
        // Without a code it is not from Getui.
        for status in [101, 204, 302, 400, 401, 403, 404, 405, 407] { #expect(meaning(status) == .notTheService) }
        #expect(meaning(200, "29999 (something new)") == .rejectedLikeAll)
    }

    @Test("a bad parameter is named in the reason, without the targets that it may hold")
    func reasons() {
        func reason(_ code: Int64, _ message: String) -> String {
            Getui().details(of: Self.body(code: code, message: message)).reason
        }
        #expect(reason(20001, "request_id length error") == "20001 (request_id length error)")
        #expect(
            reason(20001, "target user is invalid: 0123456789abcdef0123456789abcdef")
                == "20001 (target user is invalid)")
        #expect(reason(20001, "bad cid 0123456789abcdef0123456789abcdef") == "20001 (bad cid 0123…cdef)")
        #expect(reason(10001, "token is invalid") == "10001")
        #expect(reason(29999, "something new") == "29999 (something new)")
        #expect(Getui().words(about: "20001 (request_id length error)") == Getui().words(about: "20001"))
        #expect(Getui().words(about: "29999 (something new)") == nil)
    }

    @Test("an answer that sends elsewhere names one of Getui's servers, and no other is believed")
    func otherServer() throws {
        func server(_ data: String, code: Int = 301) throws -> String? {
            Getui().details(of: try JSONValue(parsing: #"{"code":\#(code),"msg":"","data":\#(data)}"#)).server
        }
        let sdk = #"{"domainHash":"x","hostList":[{"domainList":["https://bjrestapi.getui.com"],"priorityGap":30}]}"#
        #expect(try server(sdk) == "bjrestapi.getui.com" && server(sdk, code: 2) == nil)
        let other =
            #"{"host_list":[{"domain_list":[]},{"domain_list":["https://a.example","https://b.getui.com/v2"]}]}"#
        #expect(try server(other) == "b.getui.com")
        for address in [
            "http://a.getui.com", "https://getui.com.example", "https://evilgetui.com", "https://a.getui.com:99",
            "https://x@a.getui.com",
            "https://A.GETUI.COM", "https://a.example/.getui.com", "",
        ] { #expect(try server(#"{"hostList":[{"domainList":["\#(address)"]}]}"#) == nil, "\(address)") }
        for data in [
            "null", "7", "{}", "[]", #"{"hostList":7}"#, #"{"hostList":[7,{"domainList":"https://a.getui.com"}]}"#,
        ] {
            #expect(try server(data) == nil)
        }
    }

    @Test(
        "bodies that are not Getui's say nothing",
        arguments: ["{}", "[]", "7", #"{"code":"0"}"#, #"{"msg":"x"}"#, #"{"code":1.5}"#])
    func foreign(text: String) throws {
        let details = Getui().details(of: try JSONValue(parsing: text))
        #expect(details.reason.isEmpty && details.targets.isEmpty)
    }

    @Test("each row has words, and each that stops a run says what to check")
    func words() {
        for row in Getui.rows {
            #expect(Getui().words(about: row.reason)?.explanation.hasSuffix(".") == true)
            if [.stop, .usedUp, .rejectedLikeAll, .retry(.credentialExpired)].contains(row.meaning) {
                #expect(row.advice?.hasSuffix(".") == true, "\(row.reason)")
            }
        }
        for (status, reason) in [(429, ""), (404, ""), (200, "29999"), (401, "")] {
            #expect(Getui().advice(status: status, reason: reason).hasSuffix("."))
        }
    }

    @Test("what doctor learns from the answer to a push that reaches no device")
    func probe() {
        let getui = Getui()
        #expect(getui.probeMeaning(status: 400, reason: Getui.badTarget) == .fine)
        #expect(getui.probeMeaning(status: 200, reason: "0") == .fine)
        #expect(getui.probeMeaning(status: 401, reason: "10001") == .wrongCredentials)
        #expect(getui.probeMeaning(status: 401, reason: "10004") == .wrongTopic)
        #expect(
            getui.probeMeaning(status: 200, reason: "2") == .busy
                && getui.probeMeaning(status: 401, reason: "10005") == .busy)
        #expect(getui.probeMeaning(status: 502, reason: "") == .busy)
        #expect(getui.probeMeaning(status: 400, reason: "20001 (request_id length error)") == .notTheService)
        for status in [200, 302, 400, 404] { #expect(getui.probeMeaning(status: status, reason: "") == .notTheService) }
    }

    @Test("statistics are asked by the run's label, and read from the total of its group")
    func statistics() throws {
        let facts = try #require(Getui().statistics)
        #expect(
            facts.subject == .label
                && facts.question("app", ["run-1"], nil) == .init(path: "/v2/app/report/push/task_group/run-1"))
        let total = #"{"msg_num":9,"target_num":7,"receive_num":5,"display_num":3,"click_num":1}"#
        let answer = try JSONValue(parsing: #"{"code":0,"msg":"","data":{"run-1":{"total":\#(total),"gt":\#(total)}}}"#)
        let counts = try #require(facts.read(answer, ["run-1"])?["run-1"])
        #expect(facts.counts.map { counts[$0.key] } == [7, 5, 3, 1])
        #expect(try facts.read(JSONValue(parsing: #"{"code":0,"data":{}}"#), ["run-1"]) == [:])
        #expect(facts.read(answer, ["run-2"]) == [:], "that group is another run's")
        let negative = #"{"code":0,"data":{"run-1":{"total":{"target_num":-1}}}}"#
        #expect(try facts.read(JSONValue(parsing: negative), ["run-1"]) == nil)
        for other in [#"{"code":10001,"msg":"token is invalid"}"#, "[]", #"{"data":{}}"#] {
            #expect(try facts.read(JSONValue(parsing: other), ["run-1"]) == nil)
        }
    }
}
