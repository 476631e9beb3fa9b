import Base
import Testing

@testable import Simulators

@Suite("The ledger")
struct LedgerTests {
    @Test("tells first pushes from repeats as a dictionary would") func tokenTable() {
        var random = Seeded(state: 7)
        var table = TokenTable(capacity: 8)
        var firstIDs: [TokenHash: UInt64] = [:]
        var flags: [TokenHash: Set<Bool>] = [:]
        for _ in 0..<20_000 {
            let number = UInt64.random(in: 0..<8_000, using: &random)
            let token = TokenHash(hexDigits: "\(number)\(number)")
            let id = TokenHash(high: UInt64.random(in: 1...3, using: &random) << 8, low: 0)
            let expected: TokenTable.Repeat
            if let first = firstIDs[token] {
                let isSame = first == id.high
                expected = flags[token, default: []].insert(isSame).inserted ? (isSame ? .sameID : .newID) : .known
            } else {
                firstIDs[token] = id.high
                expected = .none
            }
            #expect(table.insert(token, id: id) == expected)
        }
        #expect(table.count == firstIDs.count)
    }

    @Test("takes a token in upper case for the same token") func caseInsensitive() {
        #expect(TokenHash(hexDigits: "ABCDEF0123456789ab") == TokenHash(hexDigits: "abcdef0123456789AB"))
        #expect(TokenHash(hexDigits: "abcdef01") != TokenHash(hexDigits: "abcdef02"))
        #expect(TokenHash(hexDigits: "0000000000") != TokenHash(hexDigits: "00000000"))
    }

    @Test("counts requests, refusals by reason, repeats and the busiest second") func counting() {
        var ledger = Ledger(file: nil)
        let rules = APNsRules(SimulatorConfiguration())
        func count(_ token: String, _ id: String, _ answer: Answer = .accepted, seconds: Double) {
            var push = Push(authorization: nil, token: token)
            push[.id] = id
            let request = push.request
            request.answer = answer
            ledger.count(request, by: rules, now: noon.adding(seconds: seconds))
        }
        count("aaaaaaaa", "1", seconds: 0)
        count("bbbbbbbb", "2", seconds: 0.9)
        count("aaaaaaaa", "1", seconds: 1)
        count("aaaaaaaa", "3", seconds: 1)
        count("aaaaaaaa", "4", seconds: 1)
        count("cccccccc", "5", .badRequest("BadTopic"), seconds: 1)
        let summary = ledger.takeChangedSummary()
        #expect(summary?.requests == 6)
        #expect(summary?.accepted == 5)
        #expect(summary?.acceptedTokens == 2)
        #expect(summary?.repeatedIDs == 1)
        #expect(summary?.repeatedTokens == 1)
        #expect(summary?.reasons == ["BadTopic": 1])
        #expect(summary?.peakPerSecond == 3)
        #expect(ledger.takeChangedSummary() == nil)
    }

    @Test("writes a line of JSON per request, whatever the sender wrote") func lines() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/ledger.jsonl"
        let file = try LedgerFile(path: path, recordsPayloads: true)
        var push = Push(authorization: nil)
        push[.collapseID] = "a\"\\\u{1}ü"
        push[.expiration] = nil
        let request = push.request
        request.answer = .badRequest("MissingProviderToken")
        file.append(
            request, describedBy: APNsRules(SimulatorConfiguration()), connection: 3, isAnswered: true, now: noon)
        file.flush()
        let lines = run("cat \(path)").output.split(separator: "\n")
        #expect(lines.count == 1)
        let line = try JSONValue(parsing: String(lines.first ?? ""))
        #expect(line["time_ms"]?.integerValue == noon.epochMilliseconds)
        #expect(line["connection"]?.integerValue == 3)
        #expect(line["stream"]?.integerValue == 1)
        #expect(line["token"]?.stringValue == someToken)
        #expect(line["status"]?.integerValue == 400)
        #expect(line["reason"]?.stringValue == "MissingProviderToken")
        #expect(line["topic"]?.stringValue == "com.example.shop")
        #expect(line["collapse_id"]?.stringValue == push[.collapseID])
        #expect(line["expiration"] == .null)
        #expect(line["payload"]?.stringValue == push.payload)
        #expect(line["payload_bytes"]?.integerValue == Int64(push.payload.utf8.count))
        #expect(line["answered"] == .bool(true))
    }

    /// A request that carries three pushes: two have what the answer says of the request, and one
    /// has an answer of its own.
    private static var call: PushRequest {
        let request = fcmRequest(path: fcmPath, type: "application/json", body: "{}")
        request.addressees = ["one", "two", "three"].map {
            PushRequest.Addressee(kind: "token", target: $0, id: "call-7")
        }
        request.addressees[1].answer = Answer(status: 404, reason: "UNREGISTERED")
        request.answer = .accepted
        return request
    }

    @Test("counts each push of a request, and the request once") func countingCalls() {
        var ledger = Ledger(file: nil)
        let rules = FCMFixture().rules
        ledger.count(Self.call, by: rules, now: noon)
        ledger.count(Self.call, by: rules, now: noon)
        let summary = ledger.takeChangedSummary()
        #expect((summary?.requests, summary?.accepted, summary?.acceptedTokens, summary?.repeatedIDs) == (2, 4, 2, 2))
        #expect(summary?.reasons == ["UNREGISTERED": 2])
        #expect(summary?.peakPerSecond == 4)
    }

    @Test("writes a line for each push of a request, each with its target and its answer, and the payload once")
    func linesOfCalls() throws {
        let folder = TemporaryFolder(), path = folder.path + "/ledger.jsonl"
        let file = try LedgerFile(path: path, recordsPayloads: true)
        file.append(Self.call, describedBy: FCMFixture().rules, connection: 3, isAnswered: false, now: noon)
        file.flush()
        let lines = try run("cat \(path)").output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(lines.map { $0["target"]?.stringValue } == ["one", "two", "three"])
        #expect(lines.map { $0["status"]?.integerValue } == [200, 404, 200])
        #expect(lines.map { $0["error_code"] } == [.null, .string("UNREGISTERED"), .null])
        #expect(lines.map { $0["name"] } == [.string("call-7"), .null, .string("call-7")])
        #expect(lines.map { $0["payload"]?.stringValue } == ["{}", nil, nil])
        #expect(
            lines.allSatisfy {
                $0["connection"] == .integer(3) && $0["stream"] == .integer(1) && $0["answered"] == .bool(false)
            })
    }
}
