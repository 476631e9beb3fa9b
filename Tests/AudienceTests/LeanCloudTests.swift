import Base
import Glibc
import PushServices
import TestSupport
import Testing

@testable import Audience

/// LeanCloud's exports of `_Installation`, read as they are.
@Suite("LeanCloud's exports") struct LeanCloudTests {
    private let folder = TemporaryFolder()

    private static let firstLine = #"#filetype:JSON-streaming {"type":"Class","class":"_Installation"}"#

    /// A row as LeanCloud writes one, with further members.
    private static func row(
        _ number: Int, _ members: String..., updated: String = "2026-11-01T08:00:00.000Z", target: String? = nil
    ) -> String {
        let own = [
            #""deviceType":"ios""#, #""deviceToken":"\#(target ?? token(number))""#, #""installationId":"i\#(number)""#,
            #""objectId":"o\#(number)""#, #""createdAt":"2025-03-01T08:00:00.000Z""#, #""updatedAt":"\#(updated)""#,
        ]
        return "{" + (own + members).joined(separator: ",") + "}"
    }

    private static let rows = [
        row(
            1,
            #""channels":["","news","折扣"],"timeZone":"Asia/Shanghai","valid":true,"city":"上海 \u0041","ACL":{"*":{"read":true}}"#
        ),
        row(2, #""channels":["news"],"timeZone":"Europe/Berlin","valid":false,"city":"Köln""#),
        #"{"deviceType":"android","installationId":"i3","objectId":"o3","channels":["news"],"vendor":"mi","registrationId":"x","valid":true}"#,
        row(4, #""channels":[],"city":"Lyon""#),
        row(
            5,
            #""channels":["news",null,"  "],"deviceProfile":{"a":[{"b":null}]},"bornAt":{"__type":"Date","iso":"1990-05-01T16:00:00.000Z"}"#
        ),
        row(6, #""channels":["news"]"#, target: "gone"),
        row(7, #""channels":["news"],"city":5"#, updated: "2026-11-02T08:00:00.000Z"),
        row(7, #""channels":["news"],"valid":false"#, updated: "2026-11-01T08:00:00.000Z"),
        row(8, #""channels":["news"],"valid":true"#, updated: "2026-11-01T08:00:00.000Z"),
        row(8, #""channels":["news"],"valid":false"#, updated: "2026-11-02T08:00:00.000Z"),
        #"{"deviceType":"ios","#,
    ]

    private var lines: String { ([Self.firstLine] + Self.rows).joined(separator: "\n") + "\n" }

    private func query(_ path: String) -> AudienceQuery {
        AudienceQuery(path).with {
            ($0.anyTags, $0.fields, $0.carriesTimezone) = (
                ["news"], [place("city"), place("tags"), place("last_active")], true
            )
        }
    }

    /// What every form of the export must give; without the line that is cut off, which an array
    /// cannot have.
    private func expectGolden(_ query: AudienceQuery, badRows: Int, chunkSize: Int = 256 << 10) throws {
        let (result, sink) = try query.run(chunkSize: chunkSize)
        #expect(
            sink.recipients.map { [$0.registrationID] + $0.fields } == [
                ["o1", "上海 A", "news;折扣", "2026-11-01T08:00:00.000Z", "Asia/Shanghai"],
                ["o5", "", "news", "2026-11-01T08:00:00.000Z", ""],
                ["o7", "5", "news", "2026-11-02T08:00:00.000Z", ""],
            ])
        #expect(
            result.skipped
                == [.suppressed: 2, .missingToken: 1, .notMatched: 1, .badToken: 1, .duplicateToken: 2].merging(
                    badRows > 0 ? [.badRow: badRows] : [:]
                ) { $1 })
        #expect(result.skippedGroups[.suppressed] == [AudienceResult.groupOfInvalid: 2])
        #expect(result.isBalanced && result.rows == 10 + badRows && result.warnings.isEmpty, "\(result.warnings)")
    }

    @Test("JSON Lines are recognised by their keys, with channels as tags and LeanCloud's names for everything else")
    func jsonLines() throws {
        let file = folder.file("_Installation.0.jsonl", lines)
        for chunkSize in [1, 7, 100, 256 << 10] { try expectGolden(query(file), badRows: 1, chunkSize: chunkSize) }
        try expectGolden(query(file).with { $0.columns.format = .leanCloud }, badRows: 1)
        let packed = folder.file("_Installation.1.jsonl.gz", StoredGzip.member(Array(lines.utf8)))
        try expectGolden(query(packed), badRows: 1)
    }

    @Test("an array, and what a query of the REST API answers, give the same")
    func arrays() throws {
        let list = "[" + Self.rows.dropLast().joined(separator: ",\n") + "]"
        try expectGolden(query(folder.file("a.json", list)), badRows: 0, chunkSize: 100)
        for (number, text) in [
            "{\"results\":\(list)}", " { \"results\" : \(list) , \"cursor\":\"a\\\"b\", \"count\": {\"a\":[1]} } \n",
            "{\"results\":\(list),\"n\":1}",
        ].enumerated() {
            let file = folder.file("\(number).json", text)
            for chunkSize in [1, 13, 256 << 10] { try expectGolden(query(file), badRows: 0, chunkSize: chunkSize) }
        }
    }

    @Test("an answer that is cut off, or goes on after its end, is an error with its place")
    func brokenAnswers() throws {
        let row = Self.row(1)
        for (text, message) in [
            ("{\"results\":[\(row)]", "not closed"), ("{\"results\":[\(row)],\"a\":", "ends within"),
            ("{\"results\":[\(row)],}", "a name in quotes"),
            ("{\"results\":[\(row)]]", "expected ',' or '}'"), ("{\"results\":[\(row)]} {", "something follows"),
            ("{\"results\":[\(row)", "not closed"), ("{\"results\"", "not a JSON array"),
            ("{\"result\":[\(row)]}", "below \"result\""),
            ("\(Self.firstLine)\n\(row)", "not a JSON array"),
        ] {
            let file = folder.file("broken.json", text)
            for chunkSize in [3, 256 << 10] {
                let error = #expect(throws: Diagnostics.self) {
                    try query(file).with { $0.anyTags = ["a"] }.run(chunkSize: chunkSize)
                }
                // What lies below another name is only seen with the whole line in memory.
                if chunkSize > 3 {
                    #expect(error?.all.first?.message.contains(message) == true, "\(text): \(error?.description ?? "")")
                }
            }
        }
        #expect(query(folder.file("broken.json", Self.firstLine)).mistakes().first?.remedy?.contains(".jsonl") == true)
    }

    @Test("dates in objects are their ISO text, references their id, other objects their JSON")
    func typedValues() throws {
        let values = [
            #"{"__type":"Date","iso":"2026-11-19T09:00:00.000Z"}"#,
            #"{ "iso" : "2026-11-19T09:00:00.000\u005a" , "__type" : "Date" }"#,
            #"{"__type":"Pointer","className":"_User","objectId":"u1"}"#,
            #"{"__type":"GeoPoint","latitude":39.9,"longitude":116.4}"#,
            #"{"__type":"Date"}"#, "{}", #"{"a":{"__type":"Date","iso":"x"},"b":["\"}"]}"#, #""plain""#, "null",
        ]
        let rows = values.enumerated().map { Self.row($0.offset, "\"own\":\($0.element)") }
        let query = AudienceQuery(folder.file("a.jsonl", rows.joined(separator: "\n"))).with {
            ($0.everyone, $0.fields) = (true, [place("own")])
        }
        #expect(
            try query.run().sink.recipients.map { $0.fields[0] } == [
                "2026-11-19T09:00:00.000Z", "2026-11-19T09:00:00.000Z", "u1", values[3], values[4], "", values[6],
                "plain", "",
            ])
        let recent = query.with { $0.conditions = [condition("own", .within(seconds: 2 * 86_400))] }
        #expect(try recent.run().sink.ids == ["o0", "o1"])
        // A list is not a text, and an object with a mistake is not JSON.
        for value in ["[1]", #"{"a" 1}"#, #"{"a":1,}"#, #"{1:2}"#, #"{"a":1 "b":2}"#, #"{"a":"\ud800"}"#] {
            let bad = AudienceQuery(folder.file("b.jsonl", Self.row(1, "\"own\":\(value)"))).with {
                ($0.everyone, $0.fields) = (true, [place("own")])
            }
            #expect(bad.mistakes().contains { $0.position?.file.hasSuffix("b.jsonl") == true }, "\(value)")
        }
    }

    @Test("updatedAt may be an object, too, and says which row of a device is the newest")
    func dates() throws {
        let typed = #"{"__type":"Date","iso":"2026-11-19T09:00:00.000Z"}"#
        let rows = [
            Self.row(1, #""city":"new""#).replacing(#""2026-11-01T08:00:00.000Z""#, with: typed),
            Self.row(1, #""city":"old""#),
        ]
        let query = AudienceQuery(folder.file("a.jsonl", rows.joined(separator: "\n"))).with {
            ($0.everyone, $0.fields) = (true, [place("city")])
        }
        #expect(try query.run().sink.recipients.map(\.fields) == [["new"]])
    }

    @Test("names that volley.yaml gives win, and other exports are read as before")
    func names() throws {
        let file = folder.file(
            "a.jsonl", Self.row(1, #""channels":["news"],"labels":"vip","tags":["plain"],"userId":"u1""#))
        let named = AudienceQuery(
            file, columns: ExportColumns(names: [.tags: place("labels"), .alias: place("userId")]))
        let sink = try named.with { $0.anyTags = ["vip"] }.run().sink
        #expect(sink.ids == ["o1"] && sink.recipients.map(\.alias) == ["u1"])
        #expect(try AudienceQuery(file).with { $0.anyTags = ["plain"] }.run().result.audience == 0)
        // Without the marks, deviceToken and channels are columns like any other, and an object is
        // not a text.
        let other = folder.file(
            "b.jsonl",
            #"{"token":"\#(token(1))","channels":["a","",""],"valid":false,"own":{"__type":"Date","iso":"x"}}"#)
        #expect(try AudienceQuery(other).with { $0.everyone = true }.run().result.audience == 1)
        let fields = AudienceQuery(other).with { ($0.everyone, $0.fields) = (true, [place("own")]) }
        #expect(fields.mistakes().contains { $0.message == "there is an object where a text is needed" })
    }

    @Test("a mixed audience reads each file as what it is; a column that is missing is called as there")
    func files() throws {
        let leanCloud = folder.file("a.jsonl", Self.row(1, #""channels":["news"]"#))
        let csv = folder.file("b.csv", "token,tags,registration_id\n\(token(2)),news,r2\n")
        #expect(try AudienceQuery(leanCloud, csv).with { $0.anyTags = ["news"] }.run().sink.ids == ["o1", "r2"])
        let without = AudienceQuery(folder.file("c.jsonl", Self.row(1))).with { $0.anyTags = ["news"] }
        #expect(
            without.mistakes().first?.message.contains("has no column 'channels', which the audience needs") == true)
    }

    @Test("a key that only late objects have is found, and parts that were put together have a first line each")
    func late() throws {
        let early = (100..<1400).map { Self.row($0, #""channels":["a"]"#) }
        let late = [
            Self.firstLine, Self.row(1, #""channels":["a"],"valid":false,"timeZone":"Asia/Tokyo""#),
            Self.row(2, #""timeZone":"Asia/Tokyo""#),
        ]
        let file = folder.file("a.jsonl", ([Self.firstLine] + early + late).joined(separator: "\n"))
        let (result, sink) = try AudienceQuery(file).with { ($0.everyone, $0.carriesTimezone) = (true, true) }.run(
            chunkSize: 4096)
        #expect(
            result.skipped == [.suppressed: 1] && sink.recipients.last?.fields == ["Asia/Tokyo"] && result.rows == 1302)
        // Any other line that begins like a comment is no row.
        let comments = folder.file("b.jsonl", "#filetype:JSON\n\(Self.row(1))\n \(Self.firstLine)\n")
        #expect(try AudienceQuery(comments).with { $0.everyone = true }.run().result.skipped == [.badRow: 2])
    }

    @Test(
        "a format that volley.yaml names and the export does not have is an error",
        arguments: ["a.csv", "a.jsonl", "a.json"])
    func wrongFormat(name: String) {
        let text = name == "a.csv" ? "token,tags\n\(token(1)),a\n" : "{\"token\":\"\(token(1))\",\"tags\":[\"a\"]}"
        let query = AudienceQuery(folder.file(name, name == "a.json" ? "[\(text)]" : text)).with {
            ($0.columns.format, $0.everyone) = (.leanCloud, true)
        }
        let mistake = query.mistakes().first
        #expect(
            mistake?.message
                == "this is no export of LeanCloud's _Installation, though volley.yaml says so: it has no 'installationId', its columns are 'token', 'tags'"
        )
        #expect(mistake?.remedy?.contains("remove `format: leancloud`") == true)
    }

    @Test("a backup in BSON and an archive are refused with what to do")
    func otherFiles() throws {
        // {_id: "ab"}, as mongodump writes it.
        let document: [UInt8] = [0x12, 0, 0, 0, 2, 0x5F, 0x69, 0x64, 0, 3, 0, 0, 0, 0x61, 0x62, 0, 0]
        for (name, bytes) in [
            ("a.bson", document), ("a.jsonl", document), ("a.json", document), ("a.csv", document),
            ("a.jsonl.gz", StoredGzip.member(document)),
        ] {
            for chunkSize in [1, 4096] {
                let query = AudienceQuery(folder.file(name, bytes)).with { $0.everyone = true }
                let error = #expect(throws: Diagnostics.self) { try query.run(chunkSize: chunkSize) }
                #expect(error?.all.first?.message == "this is a backup of a database, in BSON", "\(name)")
                #expect(error?.all.first?.remedy?.contains("Export JSON Lines") == true)
            }
        }
        for name in ["export.tar.gz", "export.tgz", "export.tar"] {
            let mistake = AudienceQuery(folder.file(name, "x")).with { $0.everyone = true }.mistakes().first
            #expect(mistake?.message == "this is an archive of files" && mistake?.remedy?.contains("tar -xf") == true)
        }
    }

    @Test("what decides about one device is told, also that LeanCloud calls it invalid")
    func trace() throws {
        let query = query(folder.file("a.jsonl", lines))
        func verdicts(_ who: String) throws -> [SkipReason?] { try query.trace(TraceSubject(who)).rows.map(\.verdict) }
        #expect(try verdicts("o1") == [nil] && verdicts("o2") == [.suppressed] && verdicts("o3") == [.missingToken])
        #expect(try verdicts("o7") == [nil, .duplicateToken] && verdicts("o8") == [.duplicateToken, .suppressed])
        let row = try #require(query.trace(TraceSubject("o2")).rows.first)
        #expect(row.isInvalid && row.suppressedSince == nil && row.position.line == 3 && row.tags == "news")
        #expect(try query.trace(TraceSubject("o1")).rows.map(\.tags) == ["news;折扣"])
        let answer = folder.file("a.json", "{\"results\":[\n\(Self.rows[0]),\n\(Self.rows[1])]}")
        #expect(try self.query(answer).trace(TraceSubject("o2")).rows.map(\.position.line) == [3])
    }

    @Test(
        "a device is invalid however its export writes false, in JSON and in a CSV of the class, whatever volley.yaml names"
    )
    func validity() throws {
        let (no, yes) = (["false", "False", "FALSE", "0", "no", "f", "off"], ["true", "TRUE", "1", "yes", "", "NULL"])
        for value in no + yes {
            let expected: [SkipReason: Int] = no.contains(value) ? [.suppressed: 1] : [:]
            let rows = [Self.row(1, #""channels":["news"],"valid":"\#(value)""#), Self.row(2, #""channels":["news"]"#)]
            let json = AudienceQuery(folder.file("a.jsonl", rows.joined(separator: "\n")))
            let csv = folder.file(
                "a.csv",
                "objectId,installationId,deviceType,deviceToken,channels,valid,updatedAt\n"
                    + "o1,i1,ios,\(token(1)),\"[\"\"news\"\"]\",\(value),2026-11-01T08:00:00.000Z\no2,i2,ios,\(token(2)),\"[\"\"news\"\"]\",true,\n"
            )
            let named = ExportColumns(names: [.token: place("deviceToken"), .tags: place("channels")])
            for query in [json, AudienceQuery(csv), AudienceQuery(csv, columns: named)] {
                let result = try query.with { $0.anyTags = ["news"] }.run().result
                #expect(
                    result.skipped == expected && result.audience == 2 - expected.count, "\(value): \(result.skipped)")
            }
            let traced = try AudienceQuery(csv).with { $0.anyTags = ["news"] }.trace(TraceSubject("o1")).rows
            #expect(traced.map(\.verdict) == [no.contains(value) ? .suppressed : nil])
            // Such a file is also a list of devices to exclude.
            let list = AudienceQuery(folder.file("b.csv", "token\n\(token(2))\n\(token(3))\n")).with {
                ($0.everyone, $0.excludedDevices) = (true, [csv])
            }
            #expect(try list.run().result.skipped == [.excluded: 1])
        }
        for number in ["0", "1"] {
            let query = AudienceQuery(folder.file("n.jsonl", Self.row(1, #""valid":\#(number)"#))).with {
                $0.everyone = true
            }
            #expect(try query.run().result.audience == (number == "1" ? 1 : 0))
        }
    }

    @Test("a word in 'valid' that is neither true nor false stops the plan")
    func unknownValidity() {
        let rows = [Self.row(1, #""valid":"nein""#), Self.row(2, #""valid":false"#), Self.row(3, #""valid":2"#)]
        let query = AudienceQuery(folder.file("a.jsonl", rows.joined(separator: "\n"))).with { $0.everyone = true }
        #expect(
            query.mistakes().map { $0.description.replacing(folder.path + "/", with: "") } == [
                "a.jsonl: in 'valid' 2 rows hold something other than true or false: 'nein', '2'. Write true in the export for devices "
                    + "that may get pushes, and false for all others."
            ])
    }

    @Test("a device that a service refused comes back with a later createdAt, unless LeanCloud calls it invalid")
    func suppressed() throws {
        let suppressed = SuppressedDevices(capacity: 3) { insert in
            for (number, since) in [(1, "2025-02-01"), (2, "2025-05-01"), (3, "2025-02-01")] {
                Array(token(number).utf8).withUnsafeBufferPointer { insert($0, Timestamp(since) ?? noon) }
            }
        }
        let rows = [
            Self.row(1), Self.row(2, #""valid":false"#), Self.row(3, #""valid":false"#),
            Self.row(4, #""valid":"false""#),
        ]
        let query = AudienceQuery(folder.file("a.jsonl", rows.joined(separator: "\n"))).with {
            ($0.everyone, $0.suppressed) = (true, suppressed)
        }
        let (result, sink) = try query.run()
        #expect(sink.ids == ["o1"] && result.skipped == [.suppressed: 3])
        #expect(result.skippedGroups[.suppressed] == [0: 1, AudienceResult.groupOfInvalid: 2])
    }

    @Test("an export is also a list of devices to exclude")
    func exclusionList() throws {
        let list = folder.file("old.jsonl", "\(Self.firstLine)\n\(Self.row(1))\n")
        let csv = folder.file("a.csv", "token,registration_id\n\(token(1)),\n\(token(2)),r2\n\(token(3)),o1\n")
        let query = AudienceQuery(csv).with { ($0.everyone, $0.excludedDevices) = (true, [list]) }
        #expect(try query.run().sink.ids == ["r2"])
    }

    @Test("with several services, deviceToken is Apple's target, and volley.yaml names the columns of others")
    func services() throws {
        let fcm = try #require(PushServices.named("fcm"))
        let target = String(repeating: "a", count: 152)
        let rows = [
            Self.row(1),
            #"{"deviceType":"android","installationId":"i2","objectId":"o2","vendor":"fcm","registrationId":"\#(target)"}"#,
            #"{"deviceType":"android","installationId":"i3","objectId":"o3"}"#,
        ]
        var columns = ExportColumns()
        columns.targets[fcm.target.column] = place("registrationId")
        let query = AudienceQuery(folder.file("a.jsonl", rows.joined(separator: "\n")), columns: columns).with {
            ($0.everyone, $0.services) = (true, [PushServices.standard, fcm])
        }
        let (result, sink) = try query.run()
        #expect(sink.ids == ["o1", "o2"] && result.skipped == [.noService: 1])
    }
}
