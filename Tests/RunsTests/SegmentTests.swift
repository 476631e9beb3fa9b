import Base
import PushServices
import Testing

@testable import Runs

@Suite("Segments in run files")
struct SegmentTests {
    private static func fcmToken(_ number: Int) -> String { String(repeating: "Q", count: 140) + String(number) }

    private static let both = settings {
        var second = ServiceSettings(environment: .named(FCM.production), topic: "shop-1a2b")
        second.serviceName = FCM().name
        second.credential = FrozenCredential(form: "service_account", values: ["file": "/keys/shop-fcm.json"])
        (second.pace, second.appPace) = (
            Pace(pushes: 8_000, intervalSeconds: 1), Pace(pushes: 600_000, intervalSeconds: 60)
        )
        $0.services.append(second)
    }

    private static func recipient(_ number: Int, service: Int) -> Recipient {
        var recipient = RunsTests.recipient(number)
        if service == 1 { recipient.token = Target(normalized: fcmToken(number)) }
        recipient.language = ["en", "de", ""][number % 3]
        return recipient
    }

    /// A run whose recipients came in this order, each with its wave and service.
    private func run(
        _ folder: TemporaryFolder, id: String = "run", _ places: [(wave: Int, service: Int)], dropping: [Int] = [],
        waves: Int = 1
    ) throws -> RunFile {
        let sorter = SegmentSorter(waves: waves, services: 2) {
            places[Int(String(decoding: $0.alias.dropFirst(4), as: UTF8.self)) ?? 0].wave
        }
        let writer = try RunWriter(folder: folder.path, id: id, sorter: sorter)
        // A slot may come twice, with another service.
        try writer.put(Self.recipient(0, service: 1 - places[0].service), at: 0, service: UInt8(1 - places[0].service))
        for (slot, place) in places.enumerated() {
            try writer.put(Self.recipient(slot, service: place.service), at: slot, service: UInt8(place.service))
        }
        var dropped = BitSet()
        for slot in dropping { dropped.insert(slot) }
        try writer.drop(dropped, of: places.count)
        let kept = places.indices.filter { !dropping.contains($0) }.map { places[$0] }
        var planned = plan(id, audience: kept.count)
        planned.settings = .success(Self.both)
        planned.serviceSegments = writer.segments
        if waves > 1 {
            for wave in 0..<waves {
                let first = planned.waves.last?.ids.upperBound ?? 0
                let count = kept.count { $0.wave == wave }
                if count > 0 { planned.waves.append(RunWave(ids: first..<first + count, zone: "Etc/UTC", due: noon)) }
            }
        }
        return try writer.finish(planned)
    }

    /// Six for the first service, and then four for the second.
    private func simple(_ folder: TemporaryFolder) throws -> RunFile {
        try run(folder, (0..<10).map { (0, $0 % 5 < 3 ? 0 : 1) })
    }

    @Test("recipients come by wave, in each by service, and in each as they were found; the dropped are gone")
    func order() throws {
        let folder = try TemporaryFolder()
        let places = [(1, 0), (0, 1), (0, 0), (1, 1), (0, 1), (0, 0), (1, 0), (1, 1)]
        let run = try run(folder, places, dropping: [5, 7], waves: 2)
        #expect(try run.recipients(0..<6).map(\.alias) == [2, 1, 4, 0, 6, 3].map { "user\($0)" })
        let segments = [
            RunSegment(ids: 0..<1, service: 0), RunSegment(ids: 1..<3, service: 1), RunSegment(ids: 3..<5, service: 0),
            RunSegment(ids: 5..<6, service: 1),
        ]
        #expect(run.plan.segments == segments)
        let read = try RunFile(path: run.path)
        #expect(
            read.plan == run.plan
                && read.plan.waves.map { read.plan.segments(of: $0.ids) } == [
                    Array(segments[..<2]), Array(segments[2...]),
                ])
        try read.checkUnchanged()
        try read.checkIntegrity()
        #expect(folder.names == ["run.sqlite"])
    }

    @Test("recipients of a segment come bucket by bucket, in each as they were found, and are still one segment")
    func buckets() throws {
        let folder = try TemporaryFolder()
        let languages = ["en", "de", ""]
        func bucket(_ recipient: RecipientRecord) -> Int {
            languages.firstIndex(of: String(decoding: recipient.language, as: UTF8.self)) ?? 0
        }
        for services in [1, 2] {
            let sorter = SegmentSorter(services: services, buckets: 3, bucket: bucket)
            let writer = try RunWriter(folder: folder.path, id: "run\(services)", sorter: sorter)
            for slot in 0..<9 {
                let service = slot / 5 % services
                try writer.put(Self.recipient(slot, service: service), at: slot, service: UInt8(service))
            }
            var dropped = BitSet()
            dropped.insert(3)
            try writer.drop(dropped, of: 9)
            var planned = plan("run\(services)", audience: 8)
            if services == 2 { planned.settings = .success(Self.both) }
            planned.serviceSegments = writer.segments
            let run = try writer.finish(planned)
            let aliases = try run.recipients(0..<8).map { Int($0.alias.dropFirst(4)) }
            #expect(aliases == (services == 1 ? [0, 6, 1, 4, 7, 2, 5, 8] : [0, 1, 4, 2, 6, 7, 5, 8]))
            #expect(
                writer.segments
                    == (services == 1 ? [] : [RunSegment(ids: 0..<4, service: 0), RunSegment(ids: 4..<8, service: 1)]))
        }
    }

    @Test("thousands in hundreds of waves are those that a sort would give")
    func many() throws {
        let folder = try TemporaryFolder()
        var random = Seeded(state: 11)
        let places = (0..<21_000).map { _ in
            (wave: Int.random(in: 0..<200, using: &random), service: Int.random(in: 0..<2, using: &random))
        }
        let dropping = (0..<500).map { $0 * 41 }
        let run = try run(folder, places, dropping: dropping, waves: 200)
        let kept = places.indices.filter { !Set(dropping).contains($0) }
        let expected = kept.sorted {
            (places[$0].wave, places[$0].service, $0) < (places[$1].wave, places[$1].service, $1)
        }
        #expect(try run.recipients(0..<run.plan.audience).map(\.alias) == expected.map { "user\($0)" })
        #expect(expected.indices.allSatisfy { run.plan.service(of: $0) == places[expected[$0]].service })
        #expect(run.plan.segments.count == 400)
        try run.checkUnchanged()
    }

    @Test("a run of which one service gets nobody is one of several services")
    func onlyOne() throws {
        let folder = try TemporaryFolder()
        let run = try run(folder, [(0, 1), (0, 1)])
        #expect(run.plan.segments == [RunSegment(ids: 0..<2, service: 1)] && run.plan.serviceCount == 2)
        #expect(try RunFile(path: run.path).plan == run.plan)
        #expect(try run.figures().services.map { $0.outcomes[.unsent] } == [0, 2])
    }

    @Test(
        "a file of several services has a number of its own, so that an older Volley refuses it; one of one service looks as ever",
        .enabled(if: hasSQLiteTool, "sqlite3 is not installed"))
    func format() throws {
        let folder = try TemporaryFolder()
        let several = try simple(folder)
        several.close()
        #expect(query(several.path, "PRAGMA user_version") == "6")
        #expect(query(several.path, "SELECT * FROM leg") == "0|6|0\n6|4|1")
        let one = try makeRun(folder, id: "one", audience: 3)
        try one.append(.epochBegan("1-a", at: noon, from: [.planned]))
        try one.append(.claimed(0..<3, at: noon))
        try one.append(.settled([[settled(0)]]))
        try one.append(.epochBegan("2-b", at: noon, from: [.running]))
        one.close()
        #expect(query(one.path, "PRAGMA user_version") == "5")
        #expect(
            query(one.path, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'leg%' OR sql LIKE '%service%'") == "0")
        #expect(query(one.path, "SELECT * FROM life_answers") == "1|0|0|1")
    }

    @Test(
        "the digest of a plan of one service is that of older versions, so that approvals stay valid; segments are a further part of it",
        .enabled(if: hasSQLiteTool, "sqlite3 is not installed"))
    func digests() throws {
        let columns = [
            "id", "campaign", "app", "planned_at", "rows", "audience", "skipped", "seed", "plan_hash", "fields",
            "project_file",
            "campaign_file", "campaign_source", "settings", "preview", "retry_of", "preview_text", "is_test",
            "recipients_digest",
        ].map { "quote(\($0))" }.joined(separator: "||','||")
        func digest(_ run: RunFile, further: String) -> String {
            run.close()
            let text = "SELECT 'volley run 3' || char(10) || \(columns) || \(further) FROM run"
            return String(shell("sqlite3 '\(run.path)' \"\(text)\" | head -c -1 | sha256sum").prefix(64))
        }
        let folder = try TemporaryFolder()
        let (one, several) = (try makeRun(folder, id: "one", audience: 3), try simple(folder))
        #expect(digest(one, further: "''") == one.planDigest)
        #expect(
            digest(several, further: "char(10) || 'legs' || char(10) || '0,6,0' || char(10) || '6,4,1'")
                == several.planDigest)
    }

    @Test(
        "segments that do not cover the recipients, or do not fit settings or format, are damage",
        .enabled(if: hasSQLiteTool, "sqlite3 is not installed"),
        arguments: [
            "UPDATE leg SET count = 3 WHERE first_id = 6", "DELETE FROM leg WHERE first_id = 0",
            "UPDATE leg SET service = 2 WHERE first_id = 6",
            "UPDATE leg SET service = -1", "DROP TABLE leg", "PRAGMA user_version = 5",
            "UPDATE leg SET count = 0 WHERE first_id = 6",
        ])
    func damaged(change: String) throws {
        let folder = try TemporaryFolder()
        let run = try simple(folder)
        run.close()
        _ = query(run.path, change)
        #expect(
            diagnostic { _ = try RunFile(path: run.path) }?.message
                == "the run file is damaged: its plan cannot be read")
    }

    @Test(
        "a file of one service that claims to have segments is damaged",
        .enabled(if: hasSQLiteTool, "sqlite3 is not installed"))
    func segmentsOfOne() throws {
        let folder = try TemporaryFolder()
        let path = try makeRun(folder, audience: 3).path
        _ = query(path, "\(RunSchema.segmentTable); INSERT INTO leg VALUES (0, 3, 0); PRAGMA user_version = 6")
        #expect(diagnostic { _ = try RunFile(path: path) }?.message.contains("damaged") == true)
    }

    @Test(
        "a recipient who is moved to another service after planning is noticed, and the plan is no longer the one that was approved",
        .enabled(if: hasSQLiteTool, "sqlite3 is not installed"))
    func digest() throws {
        let folder = try TemporaryFolder()
        let run = try simple(folder)
        try run.checkUnchanged()
        try run.approve(RunApproval(name: "Anna", approvedAt: noon))
        #expect(try run.approval()?.name == "Anna")
        run.close()
        _ = query(
            run.path,
            "UPDATE leg SET count = 7 WHERE first_id = 0; UPDATE leg SET first_id = 7, count = 3 WHERE first_id = 6")
        let changed = try RunFile(path: run.path)
        #expect(changed.plan.service(of: 6) == 0)
        #expect(diagnostic { try changed.checkUnchanged() }?.message.contains("changed after it was planned") == true)
        // A target of the other service never goes into a request.
        #expect(
            diagnostic { try changed.forEachPush(in: 0..<10) { _ in } }?.message.contains(
                "recipient 6 has no device token") == true)
    }

    @Test("results and pushes know their service, and are checked by its form")
    func reading() throws {
        let folder = try TemporaryFolder()
        let run = try simple(folder)
        var results: [Int] = [], pushes: [Int] = [], reached: [Int] = []
        try run.forEachStoredResult { results.append($0.service) }
        try run.forEachPush(in: 3..<9) { pushes.append($0.service) }
        try run.append(.epochBegan("1-a", at: noon, from: [.planned]))
        try run.append(.claimed(4..<8, at: noon))
        try run.append(.settled([(4..<8).map { settled($0) }]))
        try run.forEachReached(closing: []) { _, moment, _, service in if moment != nil { reached.append(service) } }
        #expect(results == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1] && pushes == [0, 0, 0, 1, 1, 1] && reached == [0, 0, 1, 1])
        var tokens: [Int] = []
        try run.forEachDevice(withOutcome: .accepted, where: { _ in true }) { token, _ in tokens.append(token.count) }
        #expect(tokens == [64, 64, 141, 141])
    }

    @Test("figures, groups and kept figures are those of the whole and of each service")
    func figures() throws {
        let folder = try TemporaryFolder()
        let run = try simple(folder)
        try run.append(.epochBegan("1-a", at: noon, from: [.planned]))
        try run.append(.claimed(0..<8, at: noon))
        try run.append(
            .settled([
                [
                    settled(0, latency: 10), settled(5, .rejected, status: 400, reason: "BadTopic", latency: 20),
                    settled(6, latency: 300, at: noon.adding(seconds: 9)),
                    settled(7, .invalidToken, status: 404, reason: "UNREGISTERED", attempts: 3),
                ]
            ]))
        let counted = try run.figures(withGroups: true)
        let services = counted.services
        #expect(services.map { $0.outcomes[.unknown] } == [4, 0] && services.map { $0.outcomes[.unsent] } == [0, 2])
        #expect(services.map(\.reasons) == [["BadTopic": 1], ["UNREGISTERED": 1]])
        #expect(counted.reasons == ["BadTopic": 1, "UNREGISTERED": 1])
        #expect(
            services.map(\.attempts) == [2, 4] && counted.attempts == 6
                && services.map { $0.latency?.max } == [20, 300])
        #expect(services.map { $0.timeline?.start } == [noon, noon] && services[0].timeline?.steps.count == 1)
        for figures in services + [counted] {
            #expect(figures.groups?.reduce(0) { $0 + $1.audience } == figures.outcomes.values.reduce(0, +))
        }
        #expect(counted.groups?.count == 3 && services.map { $0.groups?.count } == [3, 3])
        // Parts that end in the middle of a segment add up to the same.
        let parts = [0..<4, 4..<7, 7..<10]
        #expect(try run.read(in: parts) { try run.countFigures($0, withGroups: true) } == counted)
        try run.append(.state(.stopped, cause: .interrupted, at: noon))
        #expect(try run.figures(withGroups: true) == counted)
        try run.closeIntoOneFile()
        try run.append(.segment(run.plan.segments[1], SegmentState(heldUntil: noon, cause: .interrupted)))
        try run.prune(at: noon)
        let pruned = try RunFile(path: run.path, readOnly: true)
        #expect(try pruned.figures(withGroups: true) == counted && pruned.plan.segments == run.plan.segments)
        #expect(try pruned.status().segments == [6: SegmentState(heldUntil: noon, cause: .interrupted)])
    }

    @Test(
        "figures that were kept without those of the services are counted again",
        .enabled(if: hasSQLiteTool, "sqlite3 is not installed"))
    func olderFigures() throws {
        let folder = try TemporaryFolder()
        let run = try simple(folder)
        try run.append(.state(.stopped, at: noon))
        var figures = try run.figures(withGroups: true)
        try run.closeIntoOneFile()
        figures.services = []
        _ = query(run.path, "UPDATE figures SET json = '\(figures.json.text.replacing("\"", with: "\\\""))'")
        #expect(try RunFile(path: run.path).figures(withGroups: true).services.count == 2)
    }

    @Test(
        "good answers of one service do not hide the wrong settings of another, and each list gets the devices of its service"
    )
    func suppression() throws {
        let folder = try TemporaryFolder()
        let run = try run(folder, (0..<60).map { (0, $0 < 50 ? 1 : 0) })
        try run.append(.epochBegan("1-a", at: noon, from: [.planned]))
        try run.append(.claimed(0..<60, at: noon))
        // Every token of the first service is also refused for what wrong settings cause.
        try run.append(.settled([(0..<10).map { settled($0, .invalidToken, status: 400, reason: "BadDeviceToken") }]))
        try run.append(.settled([(10..<58).map { settled($0) }]))
        try run.append(.settled([(58..<60).map { settled($0, .invalidToken, status: 410, reason: "UNREGISTERED") }]))
        try run.append(.state(.finished, at: noon))
        #expect(try run.evidence(ofService: 0).settingsEvidence?.ambiguous == 10)
        #expect(try run.evidence(ofService: 1).settingsEvidence == nil)
        let lists = try run.plan.settings.get().services.map {
            run.catalog.suppression(app: "shop", service: $0.service, environment: $0.listName)
        }
        #expect(lists.map(\.environment) == ["sandbox", "fcm:production"])
        let changes = try lists.enumerated().map { try $1.suppressGone(of: run, service: $0) }
        #expect(changes.map(\.added) == [0, 2] && changes.map(\.notSuppressed) == [10, 0])
        #expect(try lists[1].newest(9).map(\.token.text) == [48, 49].map(Self.fcmToken))
        try run.append(.rested)
        #expect(try run.evidence(ofService: 1) == RunEvidence(run.figures().tokenEvidence(ofService: 1, in: run.plan)))
    }

    @Test("what services had answered at a rest is kept by service, once there is enough of it")
    func rests() throws {
        let folder = try TemporaryFolder()
        let run = try run(folder, (0..<60).map { (0, $0 < 30 ? 0 : 1) })
        try run.append(.epochBegan("1-a", at: noon, from: [.planned]))
        try run.append(.claimed(0..<60, at: noon))
        try run.append(.settled([(0..<25).map { settled($0) } + [settled(30)]]))
        try run.append(.rested)
        try run.append(.settled([(25..<30).map { settled($0, .invalidToken, status: 400, reason: "BadDeviceToken") }]))
        // Five refusals of five answers since the rest: no evidence that the tokens are dead,
        // although 25 others were accepted before.
        #expect(try !run.evidence(ofService: 0).pointsAtTokens)
        try run.append(.settled([(31..<60).map { settled($0) }]))
        #expect(try run.evidence(ofService: 1).pointsAtTokens)
    }

    @Test("a retry finds what the run that it retries says of its service, whichever number that has there")
    func retried() throws {
        let folder = try TemporaryFolder()
        let run = try simple(folder)
        try run.append(.epochBegan("1-a", at: noon, from: [.planned]))
        try run.append(.claimed(0..<10, at: noon))
        try run.append(.settled([(0..<6).map { settled($0) } + (6..<10).map { settled($0, .failed, status: 503) }]))
        try run.append(.state(.finished, at: noon))
        run.close()
        let writer = try RunWriter(folder: folder.path, id: "retry")
        for number in 0..<4 { try writer.put(Self.recipient(number, service: 1), at: number) }
        var planned = plan("retry", audience: 4)
        planned.retryOf = "run"
        planned.settings = .success(settings { $0.services = [Self.both.services[1]] })
        let retry = try writer.finish(planned)
        let retried = try retry.answers(ofService: 0).ofRetried
        #expect(retried.answers == 4 && retried.accepted == 0)
    }
}

@Suite("settings of several services")
struct SeveralServicesTests {
    private static let both = settings {
        var second = ServiceSettings(
            environment: .server(host: "localhost", port: 8443, certificateAuthority: "/ca.pem"), topic: "shop-1a2b")
        second.serviceName = FCM().name
        second.credential = FrozenCredential(form: "service_account", values: ["env": "SHOP_FCM"])
        second.pace = Pace(pushes: 8_000, intervalSeconds: 1)
        $0.services.append(second)
    }

    @Test("have what belongs to the first where every version has it, and list the others")
    func notation() throws {
        let one = settings().json.text
        let text = Self.both.json.text
        #expect(text.hasPrefix(one.dropLast()))
        #expect(
            text.dropFirst(one.count - 1)
                == #","services":[{"service":"fcm","environment":{"host":"localhost","port":8443,"ca":"/ca.pem"},"topic":"shop-1a2b","#
                + #""service_account":{"file":null,"env":"SHOP_FCM"},"pace":{"pushes":8000,"seconds":1},"app_pace":null}]}"#
        )
        #expect(try RunSettings(json: Self.both.json, runFile: "x.sqlite") == Self.both)
    }

    @Test(
        "keep the paces of devices of all services; plans of older versions have none, and their services keep the parts they had"
    )
    func devicePaces() throws {
        var settings = Self.both
        (settings.devicePace, settings.appDevicePace) = (
            Pace(pushes: 500, intervalSeconds: 1), Pace(pushes: 9_000, intervalSeconds: 60)
        )
        let text = settings.json.text
        #expect(
            text.contains(
                #""device_pace":{"pushes":500,"seconds":1},"app_device_pace":{"pushes":9000,"seconds":60},"services""#))
        #expect(try RunSettings(json: settings.json, runFile: "x.sqlite") == settings)
        #expect(settings.ofService(1).paces.targets == Pace(pushes: 9_000, intervalSeconds: 60))
        let old = try RunSettings(json: Self.both.json, runFile: "x.sqlite")
        #expect(old.devicePace == nil && old.ofService(0).paces.isEmpty)
        #expect(old.ofService(1).paces.targets == Pace(pushes: 8_000, intervalSeconds: 1))
    }

    @Test(
        "that cannot be read name the run file",
        arguments: [
            (#""service":"fcm""#, #""service":"nobody""#), (#""service":"fcm""#, #""service":"apns""#),
            (#""topic":"shop-1a2b""#, #""topic":5"#), (#""services":["#, #""services":[7,"#),
            (#""port":8443"#, #""port":null"#),
        ])
    func damaged(part: String, change: String) throws {
        let text = Self.both.json.text
        #expect(text.contains(part))
        #expect {
            _ = try RunSettings(json: try JSONValue(parsing: text.replacing(part, with: change)), runFile: "x.sqlite")
        } throws: { ($0 as? Diagnostic)?.file == "x.sqlite" }
    }

    @Test("name a list for each service, and the place of a run by all of them")
    func lists() {
        #expect(
            Self.both.lists == ["sandbox", "fcm:localhost:8443"] && Self.both.listName == "sandbox+fcm:localhost:8443")
        var other = Self.both.services[1]
        other.environment = .server(host: "fcm.googleapis.com", port: 443, certificateAuthority: nil)
        #expect(other.listName == "fcm:production")
        other.environment = .simulator
        #expect(other.listName == "fcm:simulator" && !Self.both.isRehearsal)
        #expect(settings { $0.services = [other, other] }.isRehearsal)
    }

    @Test("share devices with every run that went to the place of one of them")
    func sharing() {
        for name in ["sandbox", "fcm:localhost:8443", "production+fcm:localhost:8443", Self.both.listName] {
            #expect(Self.both.sharesList(with: name), "\(name)")
        }
        for name in ["production", "fcm:production", "production+fcm:production", "fcm:sandbox", ""] {
            #expect(!Self.both.sharesList(with: name), "\(name)")
        }
        #expect(settings().sharesList(with: "sandbox") && !settings().sharesList(with: "production"))
    }
}
