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
        func count(_ token: String, _ id: String, _ answer: Answer = .accepted, seconds: Double) {
            var push = Push(authorization: nil, token: token)
            push[.id] = id
            let request = push.request
            request.answer = answer
            ledger.count(request, now: noon.adding(seconds: seconds))
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
        file.append(request, connection: 3, isAnswered: true, now: noon)
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
}
