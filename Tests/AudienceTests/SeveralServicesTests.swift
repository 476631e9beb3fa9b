import Base
import PushServices
import TestSupport
import Testing

@testable import Audience

/// Exports for an app with several services. Every scan of these tests checks that the results are
/// the same in memory and on disk, with one thread and with several (`AudienceQuery.run`).
@Suite("Devices of several services") final class SeveralServicesTests {
    private let folder = TemporaryFolder()
    private let services: [any PushService] = [APNs(), FCM()]

    private func registration(_ number: Int) -> String {
        "dPx3c9Qk2Lm0aBcDeFgHiJ:APA91b" + String(repeating: "a", count: 100) + "\(number)"
    }

    private func query(
        _ text: String, _ name: String = "devices.csv", change: (inout ExportColumns) -> Void = { _ in }
    ) -> AudienceQuery {
        var columns = ExportColumns()
        change(&columns)
        return AudienceQuery(folder.file(name, text), columns: columns).with {
            $0.services = services
            $0.everyone = true
        }
    }

    private let byPlatform: (inout ExportColumns) -> Void = { columns in
        let map = [("ios", "apns"), ("Android", "fcm")].map { ServiceColumn.Entry(cell: place($0), service: place($1)) }
        columns.service = ServiceColumn(column: place("platform"), map: map)
    }

    @Test(
        "a column says which service reaches a device; capitals do not matter, and what stands for no service is counted with its cells"
    )
    func byColumn() throws {
        let rows = [
            "\(token(1)),iOS,a", "\(registration(2)),ANDROID,b", "\(token(3)),web,c", "\(token(4)),,d",
            "\(token(5)),android,e", ",ios,f",
        ]
        let (result, sink) = try query(
            "token,platform,alias\n" + rows.joined(separator: "\n") + "\n", change: byPlatform
        ).run()
        #expect(sink.recipients.map(\.alias) == ["a", "b"] && sink.services == [0, 1])
        #expect(result.skipped == [.noService: 2, .badToken: 1, .missingToken: 1])
        #expect(result.unreachedCells.map { "\($0.cell):\($0.rows)" } == [":1", "web:1"])
        #expect(result.badTokens.map(\.service) == [1] && result.isBalanced)
    }

    @Test("without a map the cells are names of services")
    func byName() throws {
        let (_, sink) = try query("token,service\n\(token(1)),apns\n\(registration(2)),fcm\n") {
            $0.service = ServiceColumn(column: place("service"))
        }.run()
        #expect(sink.services == [0, 1])
    }

    @Test("each service has a column of its own, and the order of preference decides where a row has targets of both")
    func ownColumns() throws {
        let text =
            "token,fcm_token,alias\n\(token(1)),,a\n,\(registration(2)),b\n\(token(3)),\(registration(3)),c\n,,d\nNULL,N/A,e\nzz,\(registration(6)),f\nzz,,g\n"
        let (result, sink) = try query(text).run()
        #expect(sink.recipients.map(\.alias) == ["a", "b", "c", "f"] && sink.services == [0, 1, 0, 1])
        #expect(result.skipped == [.noService: 2, .badToken: 1] && result.isBalanced)
        let preferring = try query(text, "b.csv") { $0.preference = [place("fcm")] }.run()
        #expect(preferring.sink.services == [0, 1, 1, 1])
    }

    @Test("a column that says the service, and columns of single services, together")
    func both() throws {
        let (_, sink) = try query("platform,apple,google\nios,\(token(1)),\nandroid,\(token(9)),\(registration(2))\n") {
            columns in
            byPlatform(&columns)
            columns.names[.token] = place("apple")
            columns.targets["fcm_token"] = place("google")
        }.run()
        #expect(sink.services == [0, 1])
    }

    @Test("a device's newest row decides which service reaches it, and that none does")
    func newestRow() throws {
        let rows = [
            "\(token(1)),ios,2026-11-01", "\(token(1)),web,2026-11-02", "\(token(2)),web,2026-11-01",
            "\(token(2)),ios,2026-11-02",
        ]
        for rules in [ExportColumns.Rows.newest, .merge] {
            let (result, sink) = try query(
                "token,platform,last_active\n" + rows.joined(separator: "\n") + "\n", "\(rules).csv"
            ) {
                byPlatform(&$0)
                $0.rows = rules
            }.run()
            #expect(sink.recipients.map(\.token.text) == [token(2)], "\(rules)")
            #expect(result.skipped == [.noService: 1, .duplicateToken: 2], "\(rules)")
        }
    }

    @Test("a list of excluded devices may hold targets of every service, and exports that list both in a row")
    func excluded() throws {
        let text =
            "token,platform\n\(token(1)),ios\n\(registration(2)),android\n\(token(3)),ios\n\(registration(4)),android\n"
        let list = folder.file("list.txt", "\(token(1).uppercased())\n\(registration(2))\n")
        let (result, sink) = try query(text, change: byPlatform).with { $0.excludedDevices = [list] }.run()
        #expect(sink.services == [0, 1] && result.skipped == [.excluded: 2])
        #expect(result.exclusions.map(\.unmatched) == [0])
        // An export may be the list: a device for each of its columns.
        let own = "apple,google\n\(token(1)),\n\(token(3)),\(registration(2))\n,\(registration(4))\n"
        let (_, left) = try query(own, "own.csv") { columns in
            columns.names[.token] = place("apple")
            columns.targets["fcm_token"] = place("google")
        }.with {
            $0.excludedDevices = [
                folder.file("list.csv", "apple,google,registration_id\n\(token(3)),\(registration(4)),x\n")
            ]
        }.run()
        #expect(left.recipients.map(\.token.text) == [token(1)])
    }

    @Test("a list leaves a device out by either of its targets, in columns of their usual names")
    func excludedByEither() throws {
        let text =
            "token,fcm_token,alias\n\(token(1)),\(registration(1)),a\n\(token(2)),\(registration(2)),b\n,\(registration(3)),c\n"
        let list = folder.file("either.csv", "token,fcm_token\n,\(registration(1))\n,\(registration(3))\n")
        let (result, sink) = try query(text).with { $0.excludedDevices = [list] }.run()
        #expect(sink.recipients.map(\.alias) == ["b"] && result.skipped == [.excluded: 2] && result.warnings.isEmpty)
    }

    @Test("a row with targets of two services decides for both")
    func decidesForBoth() throws {
        let rows = [",\(registration(1)),2026-11-01,old", "\(token(1)),\(registration(1)),2026-11-02,unsubscribed"]
        let (result, sink) = try query("token,fcm_token,last_active,tags\n" + rows.joined(separator: "\n") + "\n").with
        {
            $0.excludedTags = ["unsubscribed"]
        }.run()
        #expect(sink.recipients.isEmpty && result.skipped == [.excluded: 1, .duplicateToken: 1] && result.isBalanced)
    }

    @Test("an export needs one column of targets at least; one that volley.yaml names is warned of where it is missing")
    func columns() throws {
        #expect(
            query("alias,platform\nx,ios\n").mistakes().map(\.message).first?.hasPrefix(
                "the export has no column of device tokens or registration tokens, 'token' (APNs) or 'fcm_token' (FCM): its columns are "
                    + "'alias', 'platform'") == true)
        let (result, sink) = try query("token\n\(token(1))\n", "one.csv") { $0.targets["fcm_token"] = place("google") }
            .run()
        #expect(
            sink.services == [0]
                && result.warnings.contains { $0.name == .columnNotFound && $0.message.contains("'google'") })
        #expect(
            query("token,alias\n\(token(1)),x\n", "two.csv", change: byPlatform).mistakes().map(\.message).contains {
                $0.contains("platform")
            })
    }

    @Test("keys of JSON may come late")
    func json() throws {
        let (_, sink) = try query(
            "{\"token\": \"\(token(1))\"}\n{\"fcm_token\": \"\(registration(2))\"}\n", "devices.jsonl"
        ).run()
        #expect(sink.services == [0, 1])
    }

    @Test("the plan's checksum knows the service")
    func digest() throws {
        let digit = String(repeating: "a", count: 22)
        func digest(_ platform: String, _ name: String) throws -> [UInt64] {
            try query("token,platform\n\(digit),\(platform)\n", name, change: byPlatform).run().result.digest
        }
        #expect(try digest("ios", "a.csv") != digest("android", "b.csv"))
    }

    // MARK: - Lists of suppressed devices and caps

    /// Lists with targets; `byPerson` are those of an import.
    private func suppress(_ gone: [String], byPerson: [String] = [], since: String = "2026-05-01T00:00:00Z") throws
        -> SuppressedDevices
    {
        let moment = try #require(Timestamp(since))
        return SuppressedDevices(capacity: gone.count + byPerson.count) { insert in
            for target in gone { Array(target.utf8).withUnsafeBufferPointer { insert($0, moment) } }
            for target in byPerson {
                Array(target.utf8).withUnsafeBufferPointer { insert($0, moment, isByPerson: true) }
            }
        }
    }

    @Test(
        "a target that its service called gone makes way for the row's next one, unless the row registered later; where all are gone, the device is suppressed",
        arguments: ExportColumns.Rows.allCases)
    func gone(rules: ExportColumns.Rows) throws {
        let rows = [
            "\(token(1)),\(registration(1)),a,", "\(token(2)),\(registration(2)),b,2026-06-01",
            "\(token(3)),\(registration(3)),c,",
            "\(token(4)),,d,", "\(token(5)),\(registration(5)),e,",
        ]
        let suppressed = try suppress([token(1), token(2), token(3), registration(3), token(4), registration(5)])
        let query = query("token,fcm_token,alias,registered_at\n" + rows.joined(separator: "\n") + "\n") {
            $0.rows = rules
        }.with {
            $0.suppressed = suppressed
        }
        let (result, sink) = try query.run()
        #expect(sink.recipients.map(\.alias) == ["a", "b", "e"] && sink.services == [1, 0, 0])
        #expect(sink.recipients.first?.token.text == registration(1))
        #expect(result.skipped == [.suppressed: 2] && result.isBalanced)
        let trace = try query.trace(TraceSubject("a", services.map(\.target)))
        #expect(trace.rows.map(\.service) == [1] && trace.rows.allSatisfy { $0.suppressedSince == nil })
        let other = try query.trace(TraceSubject("c", services.map(\.target)))
        #expect(other.rows.map(\.service) == [0] && other.rows.allSatisfy { $0.suppressedSince != nil })
    }

    @Test(
        "what a person put on a list of one service holds for the whole row, unless it registered later",
        arguments: ExportColumns.Rows.allCases)
    func complaints(rules: ExportColumns.Rows) throws {
        let rows = [
            "\(token(1)),\(registration(1)),a,", "\(token(2)),\(registration(2)),b,2026-06-01",
            "\(token(3)),\(registration(3)),c,",
            "\(token(4)),\(registration(4)),d,",
        ]
        let suppressed = try suppress([], byPerson: [registration(1), registration(2), token(3)])
        let query = query("token,fcm_token,alias,registered_at\n" + rows.joined(separator: "\n") + "\n") {
            $0.rows = rules
        }.with {
            $0.suppressed = suppressed
        }
        let (result, sink) = try query.run()
        #expect(sink.recipients.map(\.alias) == ["b", "d"] && sink.services == [0, 0])
        #expect(result.skipped == [.suppressed: 2] && result.isBalanced)
        let trace = try query.trace(TraceSubject("a", services.map(\.target)))
        #expect(
            trace.rows.count == 1 && trace.rows.allSatisfy { $0.suppressedSince == Timestamp("2026-05-01T00:00:00Z") })
    }

    @Test(
        "pushes that a phone got through one service count when another reaches it",
        arguments: ExportColumns.Rows.allCases)
    func capped(rules: ExportColumns.Rows) throws {
        let text =
            "token,fcm_token,alias\n\(token(1)),\(registration(1)),a\n\(token(2)),\(registration(2)),b\n\(token(3)),\(registration(3)),c\n"
        let capped = CappedDevices([FrequencyCap(pushes: 1, seconds: 86_400)], beside: nil) { add in
            for target in [registration(1), token(2)] {
                Array(target.utf8).withUnsafeBufferPointer { add($0) { _ in true } }
            }
        }
        let query = query(text) { $0.rows = rules }.with { $0.capped = capped }
        let (result, sink) = try query.run()
        #expect(sink.recipients.map(\.alias) == ["c"] && result.skipped == [.frequency: 2] && result.isBalanced)
        #expect(try query.trace(TraceSubject("a", services.map(\.target))).rows.map(\.isCapped) == [true])
    }

    @Test(
        "a service whose targets no export has a column for is warned of once; exports for one service each, and JSON, are not"
    )
    func unfoundTargets() throws {
        let (result, sink) = try query("token,fcmToken\n\(token(1)),\(registration(1))\n").run()
        let warnings = result.warnings.filter { $0.name == .columnNotFound }
        #expect(
            warnings.map(\.message) == [
                "the export has no column 'fcm_token', so FCM reaches no device: its columns are 'token', 'fcmToken'"
            ])
        #expect(warnings.map(\.remedy) == ["Name the column in volley.yaml: `columns: {fcm_token: fcmToken}`."])
        #expect(sink.services == [0] && result.servicesWithoutColumn == [1])
        let apple = folder.file("apple.csv", "token,alias\n\(token(1)),a\n")
        let apart = try query("fcm_token,alias\n\(registration(2)),b\n", "google.csv").with { $0.files.append(apple) }
            .run().result
        #expect(apart.audience == 2 && apart.warnings.isEmpty && apart.servicesWithoutColumn.isEmpty)
        let json = try query("{\"token\": \"\(token(1))\"}\n", "some.jsonl").run().result
        #expect(json.warnings.isEmpty && json.servicesWithoutColumn.isEmpty)
        #expect(
            try query("token,platform\n\(token(1)),ios\n", "by.csv", change: byPlatform).run().result.warnings.isEmpty)
    }

    /// The rules of `columns: {service: …}` and of columns of single services a second time, slow
    /// and obvious.
    @Test("of random rows, planning and `--why` say what the rules say", arguments: 0..<40)
    func oracle(seed: Int) throws {
        var random = SeededRandom(UInt64(seed) + 500)
        let isByColumn = seed % 2 == 0
        func cell() -> String {
            [
                token(Int.random(in: 1...20, using: &random)), registration(Int.random(in: 1...20, using: &random)), "",
                "zz", "NULL",
            ]
            .randomElement(
                using: &random) ?? ""
        }
        var rows: [(first: String, second: String, platform: String, day: Int)] = []
        for _ in 0..<120 {
            rows.append(
                (
                    cell(), cell(), ["ios", "android", "web", ""].randomElement(using: &random) ?? "",
                    Int.random(in: 1...28, using: &random)
                ))
        }
        func reads(_ cell: String, _ service: Int) -> Bool { services[service].target.target(cell) != nil }
        var newest: [String: (day: Int, service: Int?, isOther: Bool)] = [:]
        var (withDevice, real, phantoms) = (0, Set<String>(), Set<String>())
        var withoutDevice: [SkipReason: Int] = [:]
        for row in rows {
            let cells = isByColumn ? [row.first, row.first] : [row.first, row.second]
            let named = isByColumn ? ["ios": 0, "android": 1][row.platform] : nil
            let candidates = named.map { [$0] } ?? [0, 1].filter { !["", "NULL"].contains(cells[$0]) }
            guard let service = candidates.first(where: { reads(cells[$0], $0) }) else {
                let isUnreached = isByColumn ? named == nil : candidates.isEmpty
                let reason: SkipReason =
                    isUnreached ? .noService : named.map { cells[$0].isEmpty } == true ? .missingToken : .badToken
                withoutDevice[reason, default: 0] += 1
                continue
            }
            let key = cells[service]
            let isReached = !isByColumn || named != nil
            withDevice += 1
            if row.day >= newest[key]?.day ?? 0 { newest[key] = (row.day, isReached ? service : nil, false) }
            // The row decides for its other target, too.
            for other in [0, 1] where !isByColumn && other != service && reads(cells[other], other) {
                if row.day >= newest[cells[other]]?.day ?? 0 { newest[cells[other]] = (row.day, nil, true) }
                if !real.contains(cells[other]) { phantoms.insert(cells[other]) }
            }
            real.insert(key)
            phantoms.remove(key)
        }
        let text = rows.map { "\($0.first),\($0.second),\($0.platform),2026-10-\($0.day < 10 ? "0" : "")\($0.day)" }
        let query = query("token,fcm_token,platform,last_active\n" + text.joined(separator: "\n") + "\n") {
            if isByColumn { byPlatform(&$0) }
        }
        let (result, sink) = try query.run()
        let expected = newest.compactMap { token, row in row.service.map { "\(token) \($0)" } }.sorted()
        #expect(zip(sink.recipients, sink.services).map { "\($0.token.text) \($1)" }.sorted() == expected)
        var skipped = withoutDevice
        skipped[.noService, default: 0] += newest.values.count { $0.service == nil && !$0.isOther }
        skipped[.duplicateToken] = withDevice - newest.values.count { !$0.isOther }
        #expect(result.skipped == skipped.filter { $0.value > 0 })
        for (token, row) in newest where !phantoms.contains(token) {
            let trace = try query.trace(TraceSubject(token, services.map(\.target)))
            let deciding = trace.rows.first { $0.token?.text == token && $0.verdict != .duplicateToken }
            #expect((deciding == nil) == row.isOther, "\(token)")
            if !row.isOther { #expect(deciding?.verdict == (row.service == nil ? .noService : nil), "\(token)") }
            if let service = row.service { #expect(deciding?.service == service) }
        }
    }
}
