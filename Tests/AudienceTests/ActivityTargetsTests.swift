import Base
import PushServices
import TestSupport
import Testing

@testable import Audience

/// A push to a Live Activity goes to the activity's token, and the newest row of its device decides
/// whether it does, and to which.
@Suite("Tokens of Live Activities as targets")
struct ActivityTargetsTests {
    private let folder = TemporaryFolder()

    private func query(_ rows: [String], header: String = "registration_id,token,activity_token,tags") -> AudienceQuery
    {
        AudienceQuery(folder.file("devices.csv", ([header] + rows).joined(separator: "\n"))).with {
            $0.anyTags = ["t"]
            $0.columns = $0.columns.reading(.running)
        }
    }

    @Test("the newest row of a device decides which activity gets the push, and a device without one gets none")
    func running() throws {
        let rows = [
            "r1,\(token(1)),\(token(101)),t", "r1,\(token(1)),\(token(102)),t", "r2,\(token(2)),,t",
            "r3,,\(token(103)),t",
            "r4,\(token(4)),\(token(104)),other",
        ]
        let (result, sink) = try query(rows).run()
        #expect(sink.ids == ["r1", "r3"] && sink.recipients.map(\.token.text) == [token(102), token(103)])
        #expect(result.skipped == [.duplicateToken: 1, .missingToken: 1, .notMatched: 1] && result.isBalanced)
    }

    @Test(
        "an older row never reaches the activity of a device: neither with another token, nor where the newest has none or something else",
        arguments: [
            ("\(token(102)),other", SkipReason.notMatched), (",t", .missingToken), ("NULL,t", .missingToken),
            ("xyz,t", .badToken),
        ])
    func newest(cells: String, reason: SkipReason) throws {
        let rows = ["r1,\(token(1)),\(token(101)),t", "r1,\(token(1)),\(cells)", "r2,,\(token(201)),t", "r2,,\(cells)"]
        let (result, sink) = try query(rows).run()
        #expect(sink.ids.isEmpty)
        #expect(result.skipped == [.duplicateToken: 2, reason: 2] && result.isBalanced)
        #expect(
            result.badTokens.map(\.rows) == (reason == .badToken ? [2] : [])
                && result.badTokens.allSatisfy(\.isOfActivity))
    }

    @Test(
        "where the rows of a device are united, its newest row decides which activity gets the push",
        arguments: [(token(102), nil as SkipReason?), ("", .missingToken), ("xyz", .badToken)])
    func united(cell: String, reason: SkipReason?) throws {
        let (result, sink) = try query(["r1,\(token(1)),\(token(101)),t", "r1,\(token(1)),\(cell),other"]).with {
            $0.columns.rows = .merge
        }.run()
        #expect(sink.recipients.map(\.token.text) == (reason == nil ? [cell] : []))
        #expect(
            result.skipped == [.duplicateToken: 1].merging(reason.map { [$0: 1] } ?? [:]) { $1 } && result.isBalanced)
    }

    /// Two rows of one phone: `T1` and `T2` stand for tokens of devices, `A1` and `A2` for those of
    /// activities.
    private static let pairs: [(older: String, newer: String, reached: [String], reason: SkipReason?)] = [
        ("r,,A1,t", "r,T1,A1,t", ["A1"], nil), ("r,,A1,t", "r,T1,A1,other", [], .notMatched),
        ("r,,A1,t", "r,T1,A2,t", ["A2"], nil),
        (",,A1,t", "r,T1,A1,t", ["A1"], nil), ("r,,A1,t", "r,T1,,t", [], .missingToken),
        ("r,T1,A1,t", "r,T2,A1,t", ["A1"], nil), ("r,T1,A1,t", "r,T2,A1,other", [], .notMatched),
        ("r,T1,A1,t", "r,,A1,t", ["A1"], nil), ("r,T1,A1,t", "r,,A2,t", ["A2"], nil),
        ("r,T1,A1,t", "r,,,t", [], .missingToken),
        ("r,T1,A1,t", ",,A1,t", ["A1"], nil), ("r,T1,A1,t", ",,A1,other", [], .notMatched),
    ]

    @Test(
        "an activity gets one push, from the newest row of its device, however its rows name the device",
        arguments: ActivityTargetsTests.pairs,
        [ExportColumns.Rows.newest, .merge])
    func once(pair: (older: String, newer: String, reached: [String], reason: SkipReason?), united: ExportColumns.Rows)
        throws
    {
        func row(_ cells: String, _ number: Int, _ date: String) -> String {
            let tokens = [("T1", 1000), ("T2", 2000), ("A1", 3000), ("A2", 4000)]
            let row = tokens.reduce(cells) { $0.replacing($1.0, with: token($1.1 + number)) }
            return (row.hasPrefix("r") ? "r\(number)" + row.dropFirst() : row) + date
        }
        let header = "registration_id,token,activity_token,tags,last_active"
        let phones = 0..<60
        let read = phones.map { row(pair.older, $0, ",") } + phones.map { row(pair.newer, $0, ",") }
        let dated =
            phones.map { row(pair.newer, $0, ",2026-11-18") } + phones.map { row(pair.older, $0, ",2026-11-17") }
        let place = ["A1": 3000, "A2": 4000]
        for (rows, verdicts) in [(read, [.duplicateToken, pair.reason]), (dated, [pair.reason, .duplicateToken])] {
            let query = query(rows, header: header).with { $0.columns.rows = united }
            for chunkSize in [256 << 10, 4096] {
                let (result, sink) = try query.run(chunkSize: chunkSize)
                let reached = pair.reached.flatMap { name in phones.map { token((place[name] ?? 0) + $0) } }
                #expect(sink.recipients.map(\.token.text).sorted() == reached.sorted())
                #expect(
                    result.skipped == [.duplicateToken: 60].merging(pair.reason.map { [$0: 60] } ?? [:]) { $1 }
                        && result.isBalanced)
                #expect(result.skippedGroups[.duplicateToken]?.keys.contains(AudienceResult.groupOfUsers) != true)
            }
            let trace = try query.trace(TraceSubject("r7"))
            #expect(trace.rows.map(\.verdict) == verdicts)
            #expect(trace.rows.map(\.decidesWithoutTags) == verdicts.map { $0 == .duplicateToken })
            #expect(trace.rows.compactMap(\.decidedBy?.line) == [verdicts[0] == .duplicateToken ? 69 : 9])
        }
    }

    @Test("devices that have only a registration id in common each get the push")
    func sharedID() throws {
        let query = query(["r1,\(token(1)),\(token(101)),t", "r1,\(token(2)),\(token(102)),t"])
        let (result, sink) = try query.run()
        #expect(sink.recipients.map(\.token.text) == [token(101), token(102)] && result.isBalanced)
        #expect(try query.trace(TraceSubject("r1")).rows.map(\.verdict) == [nil, nil])
    }

    @Test("a rotated token neither escapes 'where' nor takes a second place among the devices of an alias")
    func rotated() throws {
        let header = "registration_id,token,activity_token,alias,language,last_active"
        let rows = [
            "r1,\(token(1)),\(token(101)),anna,en,2026-11-18", "r1,\(token(1)),\(token(102)),anna,de,2026-11-19",
            "r2,\(token(2)),\(token(103)),anna,en,2026-11-19", "r2,\(token(2)),\(token(104)),anna,en,2026-11-17",
            "r3,\(token(3)),\(token(105)),anna,en,2026-11-16",
        ]
        let ofAlias = query(rows, header: header).with {
            $0.anyTags = []
            $0.aliases = ["anna"]
            $0.aliasLimit = 2
        }
        let (result, sink) = try ofAlias.run()
        #expect(sink.recipients.map(\.token.text) == [token(102), token(103)])
        #expect(result.skipped == [.duplicateToken: 2, .aliasLimit: 1] && result.isBalanced)
        let filtered = try ofAlias.with { $0.conditions = [condition("language", .oneOf(["en"]))] }.run()
        #expect(filtered.sink.recipients.map(\.token.text) == [token(103), token(105)])
    }

    @Test("a device is found by its own token and by its activity's, and all its rows belong to it")
    func traced() throws {
        let query = query(["r1,\(token(1)),\(token(101)),t", "r1,\(token(1)),xyz,t", "r2,\(token(2)),\(token(102)),t"])
        for number in [1, 101] {
            let trace = try query.trace(TraceSubject(token(number)))
            #expect(trace.rows.map(\.verdict) == [.duplicateToken, .badToken])
            #expect(
                Set(trace.rows.map(\.device?.text)) == [token(1)] && trace.rows.map(\.token?.text) == [token(101), nil])
        }
        #expect(try query.trace(TraceSubject(token(2))).rows.map(\.verdict) == [nil])
    }

    @Test("over FCM a row without the activity's token gets nothing either, nor one with something else in its place")
    func inPayload() throws {
        let rows = [
            "r1,\(registration),\(token(101)),t", "r2,\(registration)2,,t", "r3,\(registration)3,xyz,t",
            "r4,\(registration)4,<\(token(4))>,t",
            "r5,\(registration)5,\(token(105)),t", "r5,\(registration)5,,t", "r6,,\(token(106)),t",
        ]
        let (result, sink) = try query(rows).with { $0.services = [FCM()] }.run()
        #expect(sink.recipients.map(\.token.text) == [registration])
        #expect(result.skipped == [.missingToken: 3, .badToken: 2, .duplicateToken: 1] && result.isBalanced)
        #expect(result.badTokens.map(\.rows) == [1, 1] && result.badTokens.contains { $0.shape == .surrounded })
    }

    @Test(
        "what a person said of a device, and lists of devices, hold for its activities; what the service called gone does not"
    )
    func devices() throws {
        let suppressed = SuppressedDevices(capacity: 2) { insert in
            for (number, isByPerson) in [(1, true), (2, false)] {
                Array(token(number).utf8).withUnsafeBufferPointer {
                    insert($0, Timestamp(epochSeconds: 1), isByPerson: isByPerson)
                }
            }
        }
        let list = folder.file("left-out.csv", "token\n\(token(3))\n")
        let rows = (1...4).map { "r\($0),\(token($0)),\(token(100 + $0)),t" }
        let (result, sink) = try query(rows).with {
            $0.suppressed = suppressed
            $0.excludedDevices = [list]
        }.run()
        #expect(sink.ids.sorted() == ["r2", "r4"])
        #expect(result.skipped == [.suppressed: 1, .excluded: 1] && result.isBalanced)
    }

    private let registration = "dPx3c9Qk2Lm0aBcDeFgHiJ:APA91b" + String(repeating: "a", count: 110)

    @Test("of several services, those that want the activity's token get it, and the others the device's")
    func several() throws {
        let suppressed = SuppressedDevices(capacity: 1) { insert in
            Array(token(4).utf8).withUnsafeBufferPointer { insert($0, Timestamp(epochSeconds: 1), isByPerson: true) }
        }
        let rows = [
            "r1,\(token(1)),,\(token(101)),t", "r2,,\(registration),\(token(102)),t", "r3,\(token(3)),,,t",
            "r4,\(token(4)),,\(token(104)),t",
        ]
        let query = query(rows, header: "registration_id,token,fcm_token,activity_token,tags").with {
            $0.services = [APNs(), FCM()]
            $0.columns.preference = [SourceText("fcm", at: SourcePosition(file: "volley.yaml", line: 1, column: 1))]
            $0.suppressed = suppressed
        }
        let (result, sink) = try query.run()
        #expect(sink.ids.sorted() == ["r1", "r2"])
        #expect(Set(sink.recipients.map(\.token.text)) == [token(101), registration])
        #expect(result.skipped == [.noService: 1, .suppressed: 1] && result.isBalanced)
    }

    @Test("a row that names its service goes through it, by the activity's token or not at all")
    func named() throws {
        let rows = [
            "r1,\(token(1)),apns,\(token(101)),t", "r2,\(registration),fcm,\(token(102)),t", "r3,\(token(3)),apns,,t",
        ]
        let query = query(rows, header: "registration_id,token,service,activity_token,tags").with {
            $0.services = [APNs(), FCM()]
            $0.columns.service = ServiceColumn(
                column: SourceText("service", at: SourcePosition(file: "volley.yaml", line: 1, column: 1)), map: [])
        }
        let (result, sink) = try query.run()
        #expect(
            sink.ids.sorted() == ["r1", "r2"] && Set(sink.recipients.map(\.token.text)) == [token(101), registration])
        #expect(result.skipped == [.missingToken: 1] && result.isBalanced)
    }

    @Test("an export without the column is refused with the name that volley.yaml may give it")
    func missing() throws {
        let query = query(["r1,\(token(1)),t"], header: "registration_id,token,tags")
        do {
            _ = try query.checkColumns()
            Issue.record("accepted")
        } catch {
            #expect(error.all.count == 1)
            let words = error.all.first.map { "\($0.message). \($0.remedy ?? "")" } ?? ""
            #expect(
                words.contains("has no column 'activity_token' of the tokens that running activities have"), "\(words)")
            #expect(words.contains("columns: {activity_token: NAME}"), "\(words)")
        }
    }
}
