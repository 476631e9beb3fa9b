import Base
import Glibc
import Testing

@testable import PushServices

/// The table of answers compared with what Google documents, and answers that are in neither.
@Suite("Answers of FCM")
struct FCMAnswersTests {
    private struct Row {
        var status: Int
        var body: JSONValue
        var meaning: AnswerMeaning

        /// What FCM makes of its body.
        var reason: String { FCM().details(of: body).reason }
        var meaningOfAll: AnswerMeaning {
            let details = FCM().details(of: body)
            return FCM().meaning(
                of: ServiceAnswer(status: status, reason: details.reason, hasReceipt: !details.receipt.isEmpty))
        }
    }

    private static let meanings: [String: AnswerMeaning] = [
        "accepted": .accepted, "invalid": .invalidTarget(blamesSettings: false),
        "invalid or settings": .invalidTarget(blamesSettings: true), "rejected": .rejected, "stop": .stop,
        "stop if repeated": .stopIfRepeated,
        "rejected like all": .rejectedLikeAll, "quota": .retry(.quota),
        "new token": .retry(.credentialExpired), "service busy": .retry(.serviceBusy),
    ]

    /// An error as Google writes it.
    private static func body(status: Int, code: String, canonical: String, field: String = "", message: String = "")
        -> JSONValue
    {
        var details: [JSONValue] = []
        if !field.isEmpty {
            let violation = JSONValue.object(pairs: [
                ("field", .string(field)), ("description", .string("Invalid value")),
            ])
            details.append(
                .object(pairs: [
                    ("@type", .string("type.googleapis.com/google.rpc.BadRequest")),
                    ("fieldViolations", .array([violation])),
                ]))
        }
        if !code.isEmpty {
            let type = JSONValue.string("type.googleapis.com/google.firebase.fcm.v1.FcmError")
            details.append(.object(pairs: [("@type", type), ("errorCode", .string(code))]))
        }
        var error: [(String, JSONValue)] = [
            ("code", .integer(Int64(status))), ("message", .string(message)), ("status", .string(canonical)),
        ]
        if !details.isEmpty { error.append(("details", .array(details))) }
        return .object(pairs: [("error", .object(pairs: error))])
    }

    /// The description of FCM, as a file next to this one.
    private static func described() throws -> [Row] {
        let path = String(#filePath.dropLast("FCMAnswersTests.swift".count)) + "Answers/fcm.csv"
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let text = String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
        return try text.split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            let status = try #require(Int(cells[0]))
            let taken = JSONValue.object(pairs: [("name", .string(names[0]))])
            let body =
                status == 200
                ? taken
                : Self.body(status: status, code: cells[1], canonical: cells[2], field: cells[3], message: cells[4])
            return Row(status: status, body: body, meaning: try #require(meanings[cells[5]]))
        }
    }

    @Test("each answer that is described means what the description says")
    func describedAnswers() throws {
        let rows = try Self.described()
        #expect(rows.count == 19)
        for row in rows {
            #expect(row.meaningOfAll == row.meaning, "\(row.status) \(row.reason)")
        }
    }

    @Test("each row of the table is described")
    func rowsOfTheTable() throws {
        let described = try Self.described()
        for row in FCM.rows {
            let found = try #require(
                described.first { $0.reason == row.reason && $0.status == row.status }, "\(row.reason)")
            #expect(found.meaning == row.meaning)
        }
        #expect(
            Set(described.dropFirst().compactMap { FCM.row($0.status, $0.reason)?.reason })
                == Set(FCM.rows.map(\.reason)))
    }

    @Test(
        "an answer that stops a run says what to check",
        arguments: FCM.rows.filter { [.stop, .stopIfRepeated, .rejectedLikeAll].contains($0.meaning) }.map(\.reason))
    func advice(reason: String) throws {
        let row = try #require(FCM.answers[reason])
        #expect(FCM().advice(status: row.status, reason: reason) == row.advice)
        #expect(row.advice?.hasSuffix(".") == true)
    }

    @Test("each reason has words, and reasons of a bad request with another field have its")
    func words() {
        for row in FCM.rows { #expect(FCM().words(about: row.reason)?.explanation.hasSuffix(".") == true) }
        #expect(FCM().words(about: "INVALID_ARGUMENT (message.android.ttl)") == FCM().words(about: "INVALID_ARGUMENT"))
        #expect(FCM().words(about: "INVALID_ARGUMENT (message.token)") != FCM().words(about: "INVALID_ARGUMENT"))
        #expect(FCM().words(about: "SOMETHING_NEW") == nil)
        #expect(FCM().words(about: "UNAUTHENTICATED")?.mayBeClock == true)
    }

    @Test("the code of FCM goes before the status, and a bad request names its field")
    func reasons() throws {
        let fcm = FCM()
        func reason(_ text: String) throws -> String { fcm.details(of: try JSONValue(parsing: text)).reason }
        #expect(
            fcm.details(of: Self.body(status: 404, code: "UNREGISTERED", canonical: "NOT_FOUND")).reason
                == "UNREGISTERED")
        #expect(fcm.details(of: Self.body(status: 404, code: "", canonical: "NOT_FOUND")).reason == "NOT_FOUND")
        #expect(
            fcm.details(
                of: Self.body(
                    status: 400, code: "INVALID_ARGUMENT", canonical: "INVALID_ARGUMENT", field: "message.data[0].value"
                )
            )
            .reason == "INVALID_ARGUMENT (message.data[0].value)")
        // A field that could be any text is left out.
        #expect(
            fcm.details(of: Self.body(status: 400, code: "", canonical: "INVALID_ARGUMENT", field: "a b")).reason
                == "INVALID_ARGUMENT")
        #expect(try reason(#"[{"error":{"status":"UNAVAILABLE"}}]"#) == "UNAVAILABLE")
        for odd in ["{}", "[]", "[1]", "7", #"{"error":"x"}"#, #"{"error":{"details":7,"status":8}}"#] {
            #expect(try reason(odd).isEmpty)
        }
    }

    @Test("answers that are not described are judged by their status")
    func undescribed() {
        func meaning(_ status: Int, _ reason: String = "") -> AnswerMeaning {
            FCM().meaning(of: ServiceAnswer(status: status, reason: reason))
        }
        for status in [401, 403, 404, 405] { #expect(meaning(status, "SOMETHING_NEW") == .stop) }
        #expect(meaning(400, "SOMETHING_NEW") == .rejectedLikeAll)
        // A reason counts only with its status.
        #expect(meaning(400, "UNREGISTERED") == .rejectedLikeAll)
        #expect(meaning(429) == .retry(.quota))
        // Without a reason it is not from FCM.
        for status in [101, 204, 302, 400, 401, 403, 404, 405, 407] { #expect(meaning(status) == .notTheService) }
        // HTML, or nothing that FCM says: it may have been taken.
        for status in [500, 502, 503, 504] { #expect(meaning(status) == .maybeTaken) }
        #expect(meaning(502, "UNAVAILABLE") == .maybeTaken)
    }

    @Test("an answer that was cut off before its reason, or before the name of the message, is in doubt")
    func cutOff() {
        func meaning(_ status: Int) -> AnswerMeaning {
            FCM().meaning(of: ServiceAnswer(status: status, isCutOff: true))
        }
        for status in [200, 400, 401, 403, 404, 429, 500, 503] { #expect(meaning(status) == .maybeTaken) }
        #expect(FCM().meaning(of: ServiceAnswer(status: 200, isCutOff: true, hasReceipt: true)) == .accepted)
    }

    /// Names of messages, as Google's pages and SDKs have them.
    private static let names = [
        "projects/shop-1a2b/messages/0:1500415314455276%31bd1c9631bd1c96", "projects/p/messages/fake_message_id",
    ]

    @Test("an answer is the name of the message, however it is written")
    func accepted() throws {
        for name in Self.names {
            for text in [#"{"name":"\#(name)"}"#, "{\n  \"name\": \"\(name)\"\n}\n", "\r\t{ \"name\" :\"\(name)\" } "] {
                #expect(FCM().plainlyAccepts(Array(text.utf8)), "\(text)")
                #expect(FCM().details(of: try JSONValue(parsing: text)).receipt == name)
            }
            // Not plain, but a name all the same.
            let escaped = name.replacing("/", with: "\\/")
            for text in [#"{"name":"\#(escaped)"}"#, #"{"a":1,"name":"\#(name)"}"#, #"{"name":"\#(name)","a":[]}"#] {
                #expect(!FCM().plainlyAccepts(Array(text.utf8)), "\(text)")
                #expect(FCM().details(of: try JSONValue(parsing: text)).receipt == name)
            }
        }
    }

    @Test("what only looks like the name of a message is none")
    func otherNames() throws {
        let others = [
            "{}", "[]", "7", #"{"name":7}"#, #"{"name":""}"#, #"{"name":"projects/p/messages/"}"#,
            #"{"name":"projects//messages/1"}"#,
            #"{"name":"projects/p/topics/1"}"#, #"{"name":"projects/p/messages/1/2"}"#,
            #"{"name":"xprojects/p/messages/1"}"#,
            #"{"names":"projects/p/messages/1"}"#, #"{"name":"projects/p/messages/1","error":{}}"#,
            #"{"error":"projects/p/messages/1"}"#,
        ]
        for text in others {
            #expect(!FCM().plainlyAccepts(Array(text.utf8)), "\(text)")
            #expect(FCM().details(of: try JSONValue(parsing: text)).receipt.isEmpty, "\(text)")
        }
        let whole = #"{"name":"\#(Self.names[0])"}"#
        for length in 0..<whole.utf8.count { #expect(!FCM().plainlyAccepts(Array(whole.utf8.prefix(length)))) }
        for end in ["}", "{", "x", "\0", whole] { #expect(!FCM().plainlyAccepts(Array((whole + end).utf8))) }
    }

    @Test("reasons of dead targets, and reasons that wrong settings cause as well")
    func blame() {
        #expect(FCM().goneReasons == ["UNREGISTERED"])
        #expect(
            FCM().blamingReasons == [
                "SENDER_ID_MISMATCH", "INVALID_ARGUMENT (message.token)", "INVALID_ARGUMENT (message.fid)",
            ])
    }

    @Test("what doctor learns from the answer to a push to a device that does not exist")
    func probe() {
        let fcm = FCM()
        for (status, reason) in [
            (200, ""), (400, "INVALID_ARGUMENT (message.token)"), (400, "INVALID_ARGUMENT"), (404, "UNREGISTERED"),
            (403, "SENDER_ID_MISMATCH"),
        ] { #expect(fcm.probeMeaning(status: status, reason: reason) == .fine) }
        #expect(fcm.probeMeaning(status: 404, reason: "NOT_FOUND") == .wrongTopic)
        #expect(fcm.probeMeaning(status: 403, reason: "PERMISSION_DENIED") == .wrongTopic)
        #expect(fcm.probeMeaning(status: 401, reason: "UNAUTHENTICATED") == .wrongCredentials)
        #expect(
            fcm.probeMeaning(status: 503, reason: "UNAVAILABLE") == .busy
                && fcm.probeMeaning(status: 429, reason: "") == .busy)
        for status in [400, 404, 302] { #expect(fcm.probeMeaning(status: status, reason: "") == .notTheService) }
    }
}
