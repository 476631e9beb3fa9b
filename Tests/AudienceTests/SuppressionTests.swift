import Base
import Glibc
import TestSupport
import Testing

@testable import Audience

/// Devices with tokens that are known to be invalid.
@Suite struct SuppressionTests {
    private let folder = TemporaryFolder()

    private func export(_ rows: [String], registeredAt: String = "registered_at") -> AudienceQuery {
        let header = "registration_id,token,alias,tags,last_active,\(registeredAt)"
        return AudienceQuery(folder.file("devices.csv", ([header] + rows).joined(separator: "\n"))).with {
            $0.anyTags = ["t"]
        }
    }

    private func suppress(_ tokens: (Int, String)...) -> SuppressedDevices {
        SuppressedDevices(capacity: tokens.count) { insert in
            for (number, since) in tokens {
                Array(token(number).utf8).withUnsafeBufferPointer {
                    insert($0, Timestamp(since) ?? Timestamp(epochSeconds: 0))
                }
            }
        }
    }

    @Test("a suppressed device is skipped, unless it registered later than its token is known to be invalid")
    func laterRegistration() throws {
        let rows = [
            "r1,\(token(1)),,t,2026-01-01,", "r2,\(token(2).uppercased()),,t,2026-01-01,2026-05-01T09:00:00Z",
            "r3,\(token(3)),,t,2026-01-01,2026-05-01T09:00:00Z", "r4,\(token(4)),,t,2026-01-01,2026-05-01T09:00:01Z",
            "r5,\(token(5)),,t,2026-01-01,soon", "r6,\(token(6)),,t,2026-01-01,",
        ]
        let suppressed = suppress(
            (1, "2026-05-01T09:00:00Z"), (2, "2026-05-01T09:00:00.001Z"), (3, "2026-05-01T09:00:00Z"),
            (4, "2026-05-01T09:00:00.999Z"),
            (5, "2026-05-01"), (99, "2026-05-01"))
        let (result, sink) = try export(rows).with { $0.suppressed = suppressed }.run()
        #expect(sink.ids == ["r4", "r6"])
        #expect(result.skipped == [.suppressed: 4] && result.isBalanced)
    }

    @Test("a date alone of registration is all of its day")
    func dateOfRegistration() throws {
        let rows = ["r1,\(token(1)),,t,2026-01-01,2026-05-01", "r2,\(token(2)),,t,2026-01-01,2026-04-30"]
        let suppressed = suppress((1, "2026-05-01T23:59:59Z"), (2, "2026-05-01T00:00:00Z"))
        let (result, sink) = try export(rows).with { $0.suppressed = suppressed }.run()
        #expect(sink.ids == ["r1"] && result.skipped == [.suppressed: 1])
    }

    @Test(
        "devices that a sending reached are counted for the first such sending, by their newest row, and stay recipients"
    )
    func reached() throws {
        let rows =
            (0..<100).map { "r\($0),\(token($0)),u\($0),t,2026-01-01," }
            + ["r0,\(token(0)),u0,other,2026-02-01,", "r1,\(token(1)),u1,t,2026-02-01,"]
        for merges in [false, true] {
            let reached = CappedDevices(
                [FrequencyCap(pushes: 1, seconds: 3600), FrequencyCap(pushes: 1, seconds: 3600)], beside: nil
            ) {
                add in
                func push(_ number: Int, _ sending: Int) {
                    Array(token(number).utf8).withUnsafeBufferPointer { add($0) { $0 == sending } }
                }
                for number in 0..<10 { push(number, 0) }
                for number in 5..<30 { push(number, 1) }
                push(1000, 0)
            }
            var query = export(rows).with { $0.reached = reached }
            if merges { query.columns.rows = .merge }
            let (result, _) = try query.run()
            // The newest row of device 0 has another tag; united with the older one, it has both.
            #expect(result.reachedBySending == [0: merges ? 10 : 9, 1: 20])
            #expect(result.audience == (merges ? 100 : 99) && result.isBalanced)
        }
    }

    @Test(
        "devices that got pushes today are counted by the highest cap that they reach, next to the sending that reached them"
    )
    func today() throws {
        let rows = (0..<100).map { "r\($0),\(token($0)),u\($0),t,2026-01-01," }
        func devices(_ caps: [Int], _ pushes: [(devices: Range<Int>, count: Int)], hash: KeyedHash) -> CappedDevices {
            CappedDevices(caps.map { FrequencyCap(pushes: $0, seconds: 3600) }, hash: hash) { add in
                for (devices, count) in pushes {
                    for device in devices {
                        for _ in 0..<count {
                            Array(token(device).utf8).withUnsafeBufferPointer { add($0) { _ in true } }
                        }
                    }
                }
            }
        }
        let hash = KeyedHash.random()
        let today = devices(
            [5, 2, 1], [(0..<10, 1), (10..<30, 2), (30..<35, 4), (35..<40, 9), (200..<300, 9)], hash: hash)
        let (result, sink) = try export(rows).with { $0.today = today }.run()
        #expect(
            result.reachedToday == [0: 5, 1: 25, 2: 10] && result.reachedBySending.isEmpty && sink.ids.count == 100)
        let both = try export(rows).with { query in
            query.today = today
            query.reached = devices([1], [(0..<50, 1)], hash: hash)
        }.run().0
        #expect(both.reachedToday == result.reachedToday && both.reachedBySending == [0: 50] && both.isBalanced)
    }

    @Test("whoever got as many pushes as any cap allows is skipped; each cap counts for itself")
    func capped() throws {
        let rows = (0..<300).map { "r\($0),\(token($0)),u\($0 / 2),t,2026-01-01," }
        let suppressed = suppress((1, "2026-05-01"))
        let caps = [FrequencyCap(pushes: 2, seconds: 86_400), FrequencyCap(pushes: 3, seconds: 604_800)]
        for suppressed in [nil, suppressed] {
            let capped = CappedDevices(caps, beside: suppressed) { add in
                func push(_ number: Int, _ times: Int, _ caps: Set<Int>) {
                    for _ in 0..<times { Array(token(number).utf8).withUnsafeBufferPointer { add($0, caps.contains) } }
                }
                for number in 0..<300 { push(number, 1, [0, 1]) }
                push(1, 1, [0, 1])
                push(2, 1, [0])
                push(3, 1, [1])
                push(4, 2, [1])
                push(5, 500, [])
                push(6, 500, [0])
            }
            let (result, sink) = try export(rows).with { ($0.suppressed, $0.capped) = (suppressed, capped) }.run()
            #expect(
                result.skipped == (suppressed == nil ? [.frequency: 4] : [.frequency: 3, .suppressed: 1])
                    && result.isBalanced)
            #expect(!sink.ids.contains { ["r1", "r2", "r4", "r6"].contains($0) } && sink.ids.count == 296)
        }
    }

    @Test("of several rows of a device the newest decides, whichever comes first")
    func newestRowDecides() throws {
        let rows = [
            // Registered again according to: the newest row; only an older row; a newer row that
            // nothing selects.
            "r1,\(token(1)),,t,2026-01-01,2025-01-01", "r2,\(token(1)),,t,2026-06-01,2026-05-05",
            "r3,\(token(2)),,t,2026-06-01,2025-01-01", "r4,\(token(2)),,t,2026-01-01,2026-05-05",
            "r5,\(token(3)),,t,2026-01-01,2025-01-01", "r6,\(token(3)),,x,2026-06-01,2026-05-05",
        ]
        let query = export(rows).with {
            $0.suppressed = suppress((1, "2026-03-01"), (2, "2026-03-01"), (3, "2026-03-01"))
        }
        for query in [query, export(rows.reversed()).with { $0.suppressed = query.suppressed }] {
            let (result, sink) = try query.run()
            #expect(sink.ids == ["r2"])
            #expect(result.skipped == [.suppressed: 1, .duplicateToken: 3, .notMatched: 1] && result.isBalanced)
        }
    }

    @Test("reasons apply in their order: excluded and bad tokens before, aliases and payloads after")
    func order() throws {
        let rows = [
            "r1,\(token(1)),u1,t,2026-04-01,", "r2,\(token(2)),u1,t,2026-05-01,", "r3,\(token(3)),u1,no,2026-06-01,",
            "r4,\(token(4)),u1,,2026-03-01,", "r5,\(token(5)),u1,,2026-02-01,", "r6,nothing,u1,,2026-02-01,",
            // An older row of a device that has a newer, excluded one.
            "r7,\(token(7)),u2,t,2026-01-01,", "r8,\(token(7)),u2,no,2026-02-01,",
        ]
        let query = export(rows).with {
            ($0.anyTags, $0.aliases, $0.aliasLimit, $0.excludedTags) = ([], ["u1", "u2"], 2, ["no"])
            $0.suppressed = suppress((2, "2026-10-01"), (3, "2026-10-01"), (7, "2026-10-01"))
        }
        let (result, sink) = try query.run { $0.registrationID == "r2" ? .payloadTooLarge : nil }
        // The suppressed device does not take a place in its alias.
        #expect(sink.ids == ["r1", "r4"])
        #expect(
            result.skipped == [.suppressed: 1, .excluded: 2, .badToken: 1, .duplicateToken: 1, .aliasLimit: 1]
                && result.isBalanced)
    }

    @Test("the plan's hash notices who is suppressed, and nothing else of the list")
    func digest() throws {
        let rows = (1...9).map { "r\($0),\(token($0)),,t,2026-01-01,2026-02-01" }
        func digest(_ suppressed: SuppressedDevices?) throws -> [UInt64] {
            try export(rows).with { $0.suppressed = suppressed }.run().result.digest
        }
        let free = try digest(nil)
        #expect(try digest(suppress((100, "2026-05-01"), (3, "2026-01-01"))) == free)
        let third = try digest(suppress((3, "2026-05-01")))
        #expect(try third != free && digest(suppress((4, "2026-05-01"))) != third)
        #expect(try digest(suppress((3, "2026-07-01"), (101, "2026-05-01"))) == third)
    }

    @Test("dates of `registered_at` that cannot be read are counted and shown, of devices that they decide about")
    func unreadRegistrations() throws {
        let rows = [
            "r1,\(token(1)),,t,,2026/11/22", "r2,\(token(2)),,t,,22.11.2026", "r3,\(token(3)),,t,,soon",
            "r4,\(token(4)),,t,,",
        ]
        let suppressed = SuppressedDevices(capacity: 3) { insert in
            for number in [1, 2, 4] { Array(token(number).utf8).withUnsafeBufferPointer { insert($0, noon) } }
        }
        let result = try export(rows).with { ($0.anyTags, $0.suppressed) = (["t"], suppressed) }.run().result
        #expect(result.skipped == [.suppressed: 3])
        #expect(
            result.warnings.map(\.message) == [
                "in 'registered_at' 2 rows hold something other than a date, so their devices stay suppressed: '2026/11/22', '22.11.2026'"
            ], "\(result.warnings)")
    }

    @Test("a registration more than a day ahead brings back no device that a person put on the list, and is warned of")
    func registrationAhead() throws {
        let dates = ["2099-01-01", "2026-11-22", "2026-11-21T12:00:01Z", "2026-11-21T11:59:59Z", "2026-11-20"]
        let rows = dates.enumerated().map { "r\($0.offset),\(token($0.offset)),,t,,\($0.element)" }
        for isByPerson in [false, true] {
            let suppressed = SuppressedDevices(capacity: dates.count) { insert in
                for number in dates.indices {
                    let since = noon.adding(seconds: -86_400)
                    Array(token(number).utf8).withUnsafeBufferPointer { insert($0, since, isByPerson: isByPerson) }
                }
            }
            let query = export(rows).with { $0.suppressed = suppressed }
            let (result, sink) = try query.run()
            guard isByPerson else {
                #expect(sink.ids == ["r0", "r1", "r2", "r3", "r4"] && result.warnings.isEmpty)
                continue
            }
            #expect(sink.ids == ["r3", "r4"] && result.skipped == [.suppressed: 3])
            #expect(
                result.warnings.map(\.message) == [
                    "in 'registered_at' 3 rows hold something other than a date in the past, so their devices stay suppressed: "
                        + "'2099-01-01', '2026-11-22', '2026-11-21T12:00:01Z'"
                ], "\(result.warnings)")
            let traced = try query.trace(TraceSubject(token(0))).rows
            #expect(traced.map(\.verdict) == [.suppressed])
        }
    }

    @Test("registered_at is looked for by the name that volley.yaml gives it, and only when devices are suppressed")
    func column() throws {
        let rows = ["r1,\(token(1)),,t,2026-01-01,2026-06-01"]
        let named = ExportColumns(names: [.registeredAt: place("first_seen")])
        func query(_ header: String, _ suppressed: SuppressedDevices?) -> AudienceQuery {
            export(rows, registeredAt: header).with { ($0.columns, $0.suppressed) = (named, suppressed) }
        }
        let suppressed = suppress((1, "2026-05-01"))
        #expect(try query("first_seen", suppressed).run().result.audience == 1)
        let (result, _) = try query("registered_at", suppressed).run()
        #expect(
            result.audience == 0
                && result.warnings.map(\.message).contains { $0.contains("has no column 'first_seen'") })
        #expect(try query("registered_at", nil).run().result.warnings.isEmpty)
        let json = folder.file(
            "devices.json",
            "[{\"token\": \"\(token(1))\", \"tags\": [\"t\"], \"registered_at\": \"2026-06-01T00:00:00Z\"}]")
        #expect(
            try AudienceQuery(json).with { ($0.anyTags, $0.suppressed) = (["t"], suppressed) }.run().result.audience
                == 1)
    }

    @Test(
        "a table knows exactly what was put into it, the later moment of a token that comes twice, and takes 24 bytes an entry"
    )
    func table() {
        var random = SeededRandom(5)
        for count in [0, 1, 7, 5000] {
            var expected: [String: Int64] = [:]
            let devices = SuppressedDevices(capacity: count) { insert in
                for number in 0..<count {
                    // A quarter of the tokens occur twice.
                    let (token, since) = (token(number * 4 / 5), Int64.random(in: -5...5, using: &random))
                    expected[token] = max(expected[token] ?? .min, since)
                    Array(token.utf8).withUnsafeBufferPointer { insert($0, Timestamp(epochMilliseconds: since)) }
                }
            }
            #expect(devices.count == expected.count)
            for number in 0..<count + 1000 {
                let found = Array(token(number).utf8).withUnsafeBufferPointer {
                    devices.invalidSince(devices.hash.token($0))
                }
                if found != expected[token(number)] { Issue.record("\(number) of \(count)") }
            }
            #expect(devices.bytes <= 24 * count + 144)
        }
    }
}

/// Files that list tokens.
@Suite struct TokenListTests {
    private let folder = TemporaryFolder()

    private func read(_ path: String, columns: ExportColumns = ExportColumns()) throws -> [TokenList.Entry] {
        var entries: [TokenList.Entry] = []
        try TokenList.read(path, columns: columns) { entries.append($0) }
        return entries
    }

    private func mistakes(_ path: String, columns: ExportColumns = ExportColumns()) -> [String] {
        do {
            try TokenList.read(path, columns: columns, latest: noon, allowsExport: false) { _ in }
            return []
        } catch {
            return ((error as? Diagnostics)?.all ?? []).map { $0.description.replacing(folder.path + "/", with: "") }
        }
    }

    @Test("a plain list has a token a line, in any case, with comments and blank lines; called .csv it is one as well")
    func plain() throws {
        let text = "\u{FEFF}# complaints\r\n\r\n  \(token(1).uppercased())\n\(token(2))"
        #expect(try read(folder.file("list.txt", text)).map(\.token.text) == [token(1), token(2)])
        #expect(
            try read(folder.file("bare.csv", "\(token(1))\n\(token(2))\n")).map(\.token.text) == [token(1), token(2)])
    }

    @Test(
        "a table says reason and moment, under the names of the app's export or of Volley's own",
        arguments: ["device_token", "token", "push"])
    func table(name: String) throws {
        let path = folder.file(
            "list.csv",
            "note,reason,\(name),invalid_since\nx,\"a, b\",\(token(1)),2026-05-01T09:00:00.123Z\n,,\(token(2)),\n")
        let columns = name == "push" ? ExportColumns(names: [.token: place("push")]) : ExportColumns()
        let entries = try read(path, columns: columns)
        #expect(entries.map(\.token.text) == [token(1), token(2)] && entries.map(\.reason) == ["a, b", ""])
        #expect(entries.map { $0.invalidSince?.epochMilliseconds } == [1_777_626_000_123, nil])
        let short = folder.file("short.tsv", "invalid_since\ttoken\n2026-05-01\t\(token(3))\n")
        #expect(try read(short).map(\.invalidSince) == [Timestamp("2026-05-01")])
    }

    @Test("lines that cannot be read are named, the first ten and how many more, and no token whole")
    func badLines() {
        let lines = folder.file("list.txt", "\(token(1))\n\nabc\n\(token(2))0\n")
        #expect(
            mistakes(lines) == [
                "list.txt:3:1: '…' cannot be a device token: its 3 digits are too few. Copy the whole token; most have 64 digits.",
                "list.txt:4:1: '0000…0020' cannot be a device token: its 65 digits are no even number: it is cut off, or one is too many",
            ])
        let table = folder.file("list.csv", "token,invalid_since\n\(token(1)),\n,\n\(token(2))\n\(token(3)),soon\n")
        #expect(
            mistakes(table) == [
                "list.csv:3:1: there is no device token. Write it into its cell, or remove the row.",
                "list.csv:4:1: the row has 1 field instead of 2",
                "list.csv:5:1: 'soon' in invalid_since is not a date. Write it like 2026-11-30, or leave the cell blank.",
            ])
        let many = mistakes(folder.file("many.txt", String(repeating: "x\n", count: 25)))
        #expect(many.count == 11 && many.contains("15 more lines cannot be read"))
    }

    @Test("a table without tokens, a run's report and JSON are refused")
    func noList() {
        #expect(
            mistakes(folder.file("a.csv", "name,alias\nx,y\n")).first?.contains(
                "has no column 'token' or 'device_token'") == true)
        let report = folder.file("b.csv", "device_token,outcome,reason,apns_id\n\(token(1)),accepted,,x\n")
        #expect(mistakes(report).first?.hasPrefix("b.csv: this is a run's report") == true)
        let cut = folder.file("b.csv", "device_token,outcome\n\(token(1)),accepted\n")
        #expect(mistakes(cut).first?.hasPrefix("b.csv: this is a run's report") == true)
        #expect(
            mistakes(folder.file("c.jsonl", "{}")).first?.hasPrefix("c.jsonl: a list of tokens cannot be JSON") == true)
    }

    @Test("a list's mistakes name what a list needs, not what exports need, and what they say is accepted when written")
    func remedies() throws {
        let named = ExportColumns(names: [.token: place("push")])
        for columns in [ExportColumns(), named] {
            let other = mistakes(folder.file("a.csv", "Device Token,Grund\n\(token(1)),x\n"), columns: columns)
            #expect(
                other.count == 1
                    && other[0].hasSuffix(
                        "its columns are 'Device Token', 'Grund'. Name the column of its tokens token in its first line, as in "
                            + "token,reason,invalid_since; leave volley.yaml as it is."),
                "\(other)")
            let bare = mistakes(folder.file("b.csv", "\(token(1)),complaint\n"), columns: columns)
            #expect(
                bare == [
                    "b.csv: the list has no header row: its first line holds a device token. Its first line must name the columns: "
                        + "token,reason,invalid_since. A list without columns has one token a line."
                ])
            let mended = folder.file("c.csv", "token,reason,invalid_since\n\(token(1)),complaint,\n")
            #expect(try read(mended, columns: columns).map(\.reason) == ["complaint"])
        }
        let dates = folder.file("d.csv", "token,invalid_since\n\(token(1)),30.04.2026\n\(token(2)),31.04.2026\n")
        #expect(
            mistakes(dates) == [
                "d.csv:2:1: '30.04.2026' in invalid_since is not a date that Volley reads: the year comes first. Write 2026-04-30.",
                "d.csv:3:1: '31.04.2026' in invalid_since is not a day that exists. Write it like 2026-11-30.",
            ])
        #expect(mistakes(folder.file("e.csv", "token,invalid_since\n\(token(1)),2026-04-30\n")).isEmpty)
        let names = mistakes(folder.file("f.txt", "user-a\nuser-b\n"))
        #expect(
            names.count == 2
                && names[0].hasSuffix("Write one token a line, or a cell of its column, and nothing else there."),
            "\(names)")
        #expect(!names[1].contains("Write one token"), "said once")
    }

    @Test(
        "a table with other columns of the app's exports is refused, unless all of its devices are meant",
        arguments: [1, 3000])
    func export(devices: Int) throws {
        let columns = ExportColumns(names: [.token: place("push"), .alias: place("user_id")])
        let rows = (0..<devices).map { "\(token($0)),u\($0),2026-01-01\n" }.joined()
        for header in [
            "push,user_id,invalid_since", "push,tags,x", "push,registration_id,reason", "push,registered_at,x",
        ] {
            let path = folder.file("devices.csv", header + "\n" + rows)
            #expect(
                mistakes(path, columns: columns).first?.hasPrefix(
                    "devices.csv: this looks like an export: besides the tokens it has '")
                    == true, "\(header)")
        }
        let path = folder.file("devices.csv", "push,user_id,x\n" + rows)
        #expect(
            mistakes(path, columns: columns).first?.contains(
                "it has 'user_id'. Every device in it would be suppressed. Keep the columns push, invalid_since")
                == true)
        #expect(try read(path, columns: columns).count == devices)
        #expect(mistakes(folder.file("good.csv", "push,alias,invalid_since\n" + rows), columns: columns).isEmpty)
    }

    @Test("a moment in the future is refused with its line")
    func future() {
        let ahead = noon.adding(seconds: 1).epochMilliseconds
        let path = folder.file(
            "list.csv",
            "token,invalid_since\n\(token(1)),\(noon.epochMilliseconds)\n\(token(2)),\(ahead)\n\(token(3)),2099-01-01\n\(token(4)),99999999999999\n"
        )
        #expect(
            mistakes(path) == [
                "list.csv:3:1: invalid_since is in the future: '\(ahead)'. "
                    + "Write when the token became invalid, or leave the cell blank for the moment of the import.",
                "list.csv:4:1: invalid_since is in the future: '2099-01-01'",
                "list.csv:5:1: invalid_since is in the future: '99999999999999'",
            ])
    }

    @Test("what the receiver throws comes out, and ends it")
    func receiverThrows() {
        let path = folder.file("list.txt", "\(token(1))\n\(token(2))\nbad\n")
        var count = 0
        #expect(throws: CancellationError.self) {
            try TokenList.read(path, columns: ExportColumns()) { _ in
                count += 1
                throw CancellationError()
            }
        }
        #expect(count == 1)
    }
}
