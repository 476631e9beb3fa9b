import Workspace
import Audience
import Base
import Content
import Delivery
import Glibc
import PushServices
import Runs
import Synchronization
import Testing

@testable import Sending

@Suite("reading pushes of a run")
struct PushReaderTests {
    private static let none = RequestPaces(.single)

    /// A planned run in a separate folder, which is removed with it.
    private final class PlannedRun {
        let folder: String
        let store: RunFile

        /// - Parameter messages: decide which variants recipients get.
        init(
            audience: Int, messages: MessageCatalog? = nil, languages: [String] = [""],
            cell: (Int) -> String = { "\"\($0)\"" }
        ) throws {
            var path = Array("/tmp/volley-reader-XXXXXX".utf8CString)
            guard mkdtemp(&path) != nil else { throw Diagnostic("no temporary folder") }
            folder = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let writer = try RunWriter(folder: folder, id: "run", variants: messages?.variantsOfDevices)
            for id in 0..<audience {
                let token = Target(normalized: PushReaderTests.token(id))
                try writer.put(
                    Recipient(token: token, language: languages[id % languages.count], fields: [cell(id)]), at: id)
            }
            store = try writer.finish(
                RunPlan(
                    id: "run", campaign: "c", app: "a", campaignFile: "c.yaml", campaignSource: "",
                    projectFile: "volley.yaml",
                    seed: RunSeed(high: 1, low: 2), fields: ["name"], plannedAt: .now(), planHash: "", rows: audience,
                    audience: audience,
                    skipped: [:], settings: .success(RunSettings(pushType: .alert)), preview: .object([])))
        }

        deinit {
            store.close()
            unlink(store.path)
            rmdir(folder)
        }
    }

    private static func token(_ id: Int) -> String { String(1_000_000_000 + id) }

    private func template(_ body: String) throws -> MessageCatalog {
        let place = SourcePosition(file: "c.yaml", line: 1, column: 1)
        var content = MessageContent(position: place)
        content.body = SourceText(body, at: place)
        return try MessageCatalog(content)
    }

    private func reader(_ run: PlannedRun, pace: Pace? = nil, body: String = "Hi {{ name }}") throws -> PushReader {
        var paces = RequestPaces(.single)
        paces.keep(pace, counting: .targets)
        return PushReader(run: run.store, messages: try template(body), paces: paces)
    }

    @Test("everybody gets the text of their variant and language, also after a resumption")
    func messages() throws {
        let place = SourcePosition(file: "c.yaml", line: 1, column: 1)
        func content(_ body: String, german: String) -> MessageContent {
            var (content, translation) = (MessageContent(position: place), MessageContent(position: place))
            content.body = SourceText(body, at: place)
            translation.body = SourceText(german, at: place)
            content.languages = [Translation(language: SourceText("de", at: place), content: translation)]
            return content
        }
        let variants = [
            MessageVariant(
                name: SourceText("a", at: place), share: 5000, content: content("short", german: "kurz {{ name }}")),
            MessageVariant(name: SourceText("b", at: place), share: 5000),
        ]
        let catalog = try MessageCatalog(content("long {{ name }}", german: "lang"), variants: variants, campaign: "c")
        let run = try PlannedRun(audience: 3000, messages: catalog, languages: ["de", "fr"])
        let names = try run.store.recipients(0..<3000).map(\.variant)
        #expect(names.count { $0 == "a" } > 1000 && names.count { $0 == "b" } > 1000)
        for _ in 0..<2 {
            let batches = BoundedQueue<PushBatch>(capacity: 20)
            let reader = PushReader(run: run.store, messages: catalog, paces: Self.none)
            #expect(try reader.read(into: batches).isEmpty)
            var seen = 0
            while let batch = batches.takeIfReady() {
                for push in batch.pushes {
                    let id = push.recipient
                    let body =
                        switch (names[id], id % 2) {
                        case ("a", 0): "kurz \\\"\(id)\\\""
                        case ("a", _): "short"
                        case ("b", 0): "lang"
                        default: "long \\\"\(id)\\\""
                        }
                    let payload = String(decoding: batch.bytes[push.payloadStart..<push.end], as: UTF8.self)
                    if payload != #"{"aps":{"alert":{"body":"\#(body)"}}}"# {
                        Issue.record("\(id) in \(names[id]): \(payload)")
                    }
                    seen += 1
                }
            }
            #expect(seen == 3000)
        }
    }

    /// Reads on a separate thread; nil if that fails.
    private func thread(_ reader: PushReader, _ batches: BoundedQueue<PushBatch>) throws -> WorkerThread<[Int]?> {
        try WorkerThread("read") {
            // The consumer must not wait for a reader that failed.
            defer { batches.close() }
            return try? reader.read(into: batches)
        }
    }

    @Test("renders in the language of each device, first and after an interrupt")
    func languages() throws {
        let expected = ["1,234.5", "1.234,5", "1\u{202F}234,5"]
        for isClaimed in [false, true] {
            let run = try PlannedRun(audience: 6, languages: ["en", "de-AT", "fr"]) { _ in "1234.5" }
            if isClaimed { try run.store.append(.claimed(0..<6, at: .now())) }
            let batches = BoundedQueue<PushBatch>(capacity: 20)
            #expect(try reader(run, body: "{{ name | number }}").read(into: batches).isEmpty)
            let batch = try #require(batches.takeIfReady())
            #expect(batch.pushes.count == 6)
            for (id, push) in batch.pushes.enumerated() {
                let bytes = String(decoding: batch.bytes[push.start..<push.end], as: UTF8.self)
                #expect(bytes == Self.token(id) + #"{"aps":{"alert":{"body":"\#(expected[id % 3])"}}}"#)
            }
        }
    }

    @Test("a tracked push has its own id, before and after an interrupt", arguments: [false, true])
    func tracked(isClaimed: Bool) throws {
        let place = SourcePosition(file: "c.yaml", line: 1, column: 1)
        var content = MessageContent(position: place)
        content.body = SourceText("Hi {{ name }}", at: place)
        let messages = try MessageCatalog(
            content, campaign: "c",
            tracking: PushTracking(run: "run", campaign: "c", includesSilent: false, place: place))
        let run = try PlannedRun(audience: 3)
        if isClaimed { try run.store.append(.claimed(0..<3, at: .now())) }
        let batches = BoundedQueue<PushBatch>(capacity: 20)
        #expect(try PushReader(run: run.store, messages: messages, paces: Self.none).read(into: batches).isEmpty)
        let batch = try #require(batches.takeIfReady())
        #expect(batch.pushes.count == 3)
        for push in batch.pushes {
            let payload = try JSONValue(parsing: Array(batch.bytes[push.payloadStart..<push.end]))
            let id = PushID(runSeed: run.store.plan.seed, recipient: push.recipient)
            #expect(payload["volley"]?.text == #"{"run":"run","campaign":"c","id":"\#(id)"}"#)
        }
    }

    @Test("capitals are those of the device's language too")
    func capitals() throws {
        let run = try PlannedRun(audience: 2, languages: ["tr", "en"]) { _ in "izmir" }
        let batches = BoundedQueue<PushBatch>(capacity: 20)
        #expect(try reader(run, body: "{{ name | upcase }}").read(into: batches).isEmpty)
        let batch = try #require(batches.takeIfReady())
        let payloads = batch.pushes.map { String(decoding: batch.bytes[$0.payloadStart..<$0.end], as: UTF8.self) }
        #expect(payloads == [#"{"aps":{"alert":{"body":"İZMİR"}}}"#, #"{"aps":{"alert":{"body":"IZMIR"}}}"#])
    }

    @Test("hands everybody over once, in order, with token and payload, in batches of a thousand")
    func everybody() throws {
        let run = try PlannedRun(audience: 9500)
        let batches = BoundedQueue<PushBatch>(capacity: 20)
        #expect(try reader(run).read(into: batches).isEmpty)
        #expect(try run.store.claims().claimed == ClaimSet([0..<9500]))
        var next = 0
        var sizes: [Int] = []
        while let batch = batches.takeIfReady() {
            sizes.append(batch.pushes.count)
            for push in batch.pushes {
                let bytes = String(decoding: batch.bytes[push.start..<push.end], as: UTF8.self)
                if bytes != Self.token(next) + #"{"aps":{"alert":{"body":"Hi \"\#(next)\""}}}"#
                    || push.recipient != next
                {
                    Issue.record("push \(next) is \(push.recipient): \(bytes)")
                    return
                }
                #expect(push.payloadStart - push.start == 10)
                next += 1
            }
        }
        #expect(next == 9500)
        #expect(sizes == [1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 500])
    }

    @Test("claims before it hands over, and no more than four thousand ahead")
    func claimsFirst() throws {
        let run = try PlannedRun(audience: 9500)
        let batches = BoundedQueue<PushBatch>(capacity: 1)
        let reader = try reader(run)
        let thread = try thread(reader, batches)
        defer {
            batches.close()
            _ = thread.join()
        }
        for _ in 0..<10 {
            let batch = try #require(batches.take())
            let last = try #require(batch.pushes.last).recipient
            let claimed = try run.store.claims().claimed.count
            #expect(claimed > last)
            // One batch waits in the queue, the reader may have claimed for the one after it.
            #expect(claimed <= last + 1 + 2000 + 4000)
        }
    }

    @Test("a queue that closes leaves those who were claimed and not handed over", arguments: [0, 1, 3, 4, 6])
    func leftover(taken: Int) throws {
        let run = try PlannedRun(audience: 9500)
        let batches = BoundedQueue<PushBatch>(capacity: 1)
        let reader = try reader(run)
        let thread = try thread(reader, batches)
        var handedOver = 0
        for _ in 0..<taken { handedOver += batches.take()?.pushes.count ?? 0 }
        batches.close()
        let leftover = try #require(thread.join())
        while let batch = batches.takeIfReady() { handedOver += batch.pushes.count }
        let claimed = try run.store.claims().claimed.count
        #expect(leftover == Array(handedOver..<claimed))
        #expect(claimed <= handedOver + 4000)
    }

    @Test("with a slow pace claims and batches are a twentieth of a second")
    func slowPace() throws {
        let run = try PlannedRun(audience: 50)
        let batches = BoundedQueue<PushBatch>(capacity: 20)
        _ = try reader(run, pace: Pace(pushes: 100, intervalSeconds: 1)).read(into: batches)
        var sizes: [Int] = []
        while let batch = batches.takeIfReady() { sizes.append(batch.pushes.count) }
        #expect(sizes == [Int](repeating: 5, count: 10))
    }

    @Test("goes on with who was claimed and is not settled, then behind what is claimed", arguments: [true, false])
    func resumed(resendsUnknown: Bool) throws {
        let run = try PlannedRun(audience: 20)
        try run.store.append(.claimed(0..<7, at: .now()))
        try run.store.append(
            .settled([
                [(0, Outcome.accepted), (1, .unsent), (2, .unknown), (3, .invalidToken), (4, .failed)].map {
                    id, outcome in
                    Settlement(recipient: id, outcome: outcome, attempts: 2, settledAt: .now())
                }
            ]))
        let batches = BoundedQueue<PushBatch>(capacity: 20)
        let noted = Mutex<[Int: Int]>([:]), inDoubt = Mutex<[Int]>([])
        let reader = PushReader(
            run: run.store, messages: try template("Hi {{ name }}"), paces: Self.none, resendsUnknown: resendsUnknown,
            onEarlierAttempts: { attempts in noted.withLock { $0.merge(attempts) { $1 } } },
            onInDoubt: { recipients in inDoubt.withLock { $0 += recipients } })
        #expect(try reader.read(into: batches).isEmpty)
        #expect(batches.takeIfReady()?.pushes.map(\.recipient) == (resendsUnknown ? [1, 2, 5, 6] : [1, 5, 6]))
        #expect(batches.takeIfReady()?.pushes.map(\.recipient) == Array(7..<20))
        #expect(noted.withLock { $0 } == (resendsUnknown ? [1: 2, 2: 2] : [1: 2]))
        #expect(inDoubt.withLock { $0 } == (resendsUnknown ? [2, 5, 6] : [5, 6]))
        // Only claimed: a crash now leaves them unknown.
        #expect(
            try run.store.claimedWithoutOutcome().flatMap(Array.init) == (resendsUnknown ? [1, 2] : [1]) + Array(5..<20)
        )
    }

    @Test("claims, those of recipients who are sent to again as well, are counted on as the run file counts them")
    func countedOn() throws {
        let run = try PlannedRun(audience: 9500)
        try run.store.append(.claimed(0..<1500, at: .now()))
        try run.store.append(
            .settled([(0..<1200).map { Settlement(recipient: $0, outcome: .unsent, settledAt: .now()) }]))
        let counts = Mutex<[[Int]]>([])
        var reader = try reader(run)
        reader.onClaimed = { [store = run.store] count in
            counts.withLock { $0.append([count, (try? store.claims().made) ?? 0]) }
            return true
        }
        #expect(try reader.read(into: BoundedQueue<PushBatch>(capacity: 20)).isEmpty)
        #expect(
            counts.withLock { $0 }.allSatisfy { $0[0] == $0[1] } && counts.withLock { $0 }.last == [11_000, 11_000])
    }

    @Test("nobody is claimed whose payload cannot be rendered", arguments: ["Hi {{ name }} {{ other }}", "Hi"])
    func changedFile(body: String) throws {
        let run = try PlannedRun(audience: 20)
        let batches = BoundedQueue<PushBatch>(capacity: 20)
        #expect(throws: Diagnostic.self) { _ = try reader(run, body: body).read(into: batches) }
        #expect(try run.store.claims().claimed.isEmpty)
        #expect(batches.takeIfReady() == nil)
    }

    private func capped(_ ids: some Sequence<Int>) -> CappedRecipients {
        CappedRecipients(
            devices: CappedDevices([FrequencyCap(pushes: 1, seconds: 3600)], beside: nil) { add in
                for id in ids { Array(Self.token(id).utf8).withUnsafeBufferPointer { add($0) { _ in true } } }
            })
    }

    /// As workers of a run know them.
    private func cappedByID(_ ids: some Sequence<Int>) -> CappedRecipients {
        var capped = CappedRecipients()
        for id in ids { capped.ids.insert(id) }
        return capped
    }

    @Test("who may get no more is recorded as unsent with the claim, and handed to nobody", arguments: [false, true])
    func leftOut(byID: Bool) throws {
        let run = try PlannedRun(audience: 9500)
        let batches = BoundedQueue<PushBatch>(capacity: 20)
        let noted = Mutex(0)
        let reader = PushReader(
            run: run.store, messages: try template("Hi {{ name }}"), paces: Self.none,
            capped: byID ? cappedByID(stride(from: 0, to: 9500, by: 2)) : capped(stride(from: 0, to: 9500, by: 2)),
            onCapped: { unsent in noted.withLock { $0 += unsent.count } })
        #expect(try reader.read(into: batches).isEmpty)
        var handedOver: [Int] = []
        while let batch = batches.takeIfReady() { handedOver += batch.pushes.map(\.recipient) }
        #expect(handedOver == Array(stride(from: 1, to: 9500, by: 2)))
        #expect(noted.withLock { $0 } == 4750)
        #expect(try run.store.figures().reasons["FrequencyCap"] == 4750)
        #expect(try run.store.claimedWithoutOutcome().count == 4750)
    }

    @Test("when nobody is sent to any more, those who may get nothing are not gone through either")
    func leftOutWhenOver() throws {
        let run = try PlannedRun(audience: 9500)
        let batches = BoundedQueue<PushBatch>(capacity: 1)
        batches.close()
        let reader = PushReader(
            run: run.store, messages: try template("Hi {{ name }}"), paces: Self.none, capped: capped(0..<9500))
        #expect(try reader.read(into: batches).isEmpty)
        #expect(try run.store.claims().claimed.isEmpty)
    }

    @Test("of those who were claimed before, who was never sent to is left out, with the attempts that are on record")
    func leftOutWhenResumed() throws {
        let run = try PlannedRun(audience: 6)
        try run.store.append(.claimed(0..<6, at: .now()))
        try run.store.append(
            .settled([
                [(0, Outcome.unsent), (1, .unknown), (2, .accepted), (4, .unsent)].map { id, outcome in
                    Settlement(recipient: id, outcome: outcome, reason: "Stopped", attempts: 2, settledAt: .now())
                }
            ]))
        let batches = BoundedQueue<PushBatch>(capacity: 1)
        let reader = PushReader(
            run: run.store, messages: try template("Hi {{ name }}"), paces: Self.none, capped: capped(0..<5))
        #expect(try reader.read(into: batches).isEmpty)
        #expect(batches.takeIfReady()?.pushes.map(\.recipient) == [1, 3, 5])
        var left: [Int: Int] = [:]
        try run.store.forEachResult { id, _, settlement, _ in
            if settlement?.reason == "FrequencyCap" { left[id] = settlement?.attempts }
        }
        #expect(left == [0: 2, 4: 2])
        // They have been left out, and stay out when others are no longer reached.
        let later = BoundedQueue<PushBatch>(capacity: 1)
        #expect(
            try PushReader(run: run.store, messages: try template("Hi {{ name }}"), paces: Self.none).read(into: later)
                .isEmpty)
        #expect(later.takeIfReady()?.pushes.map(\.recipient) == [1, 3, 5])
    }

    @Test(
        "what lies between claims is claimed in its turn, also of those who were passed over; who is settled stays so")
    func gaps() throws {
        let run = try PlannedRun(audience: 9500)
        try run.store.append(.claimed(100..<200, at: .now()))
        try run.store.append(.claimed(5000..<9000, at: .now()))
        try run.store.append(
            .settled([
                (5000..<8990).map { Settlement(recipient: $0, outcome: .accepted, status: 200, settledAt: .now()) }
            ]))
        #expect(try run.store.append(.deferred(0..<100, .quietHours, isTooLate: false, at: .now())).count == 100)
        let batches = BoundedQueue<PushBatch>(capacity: 30)
        #expect(try reader(run).read(50..<9500, into: batches).isEmpty)
        var handedOver: [Int] = []
        while let batch = batches.takeIfReady() { handedOver += batch.pushes.map(\.recipient) }
        // Those that were claimed before come first.
        #expect(
            handedOver == Array(100..<200) + Array(8990..<9000) + Array(50..<100) + Array(200..<5000)
                + Array(9000..<9500))
        #expect(try run.store.claims().claimed == ClaimSet([50..<9500]))
        #expect(try run.store.figures().reasons == ["QuietHours": 50])
        #expect(try run.store.claimedWithoutOutcome() == [50..<5000, 8990..<9500])
        try run.store.checkIntegrity()
    }

    @Test("several threads render what one claims, and all comes in order", arguments: [2, 3, 7])
    func renderers(count: Int) throws {
        let run = try PlannedRun(audience: 30_500)
        run.store.expectReaders(count)
        let batches = BoundedQueue<PushBatch>(capacity: 40)
        var reader = PushReader(
            run: run.store, messages: try template("Hi {{ name }}"), paces: Self.none,
            capped: capped(stride(from: 0, to: 30_500, by: 7)))
        reader.furtherMessages = try (1..<count).map { _ in try template("Hi {{ name }}") }
        #expect(try reader.read(into: batches).isEmpty)
        var expected = (0..<30_500).lazy.filter { $0 % 7 != 0 }.makeIterator()
        while let batch = batches.takeIfReady() {
            for push in batch.pushes {
                let bytes = String(decoding: batch.bytes[push.start..<push.end], as: UTF8.self)
                let next = expected.next()
                let id = try #require(next)
                try #require(
                    push.recipient == id && bytes == Self.token(id) + #"{"aps":{"alert":{"body":"Hi \"\#(id)\""}}}"#)
            }
        }
        let next = expected.next()
        #expect(next == nil)
        #expect(try run.store.figures().reasons["FrequencyCap"] == 4358)
    }

    @Test("nobody of a claim is claimed when one of several threads cannot render its part")
    func rendererFails() throws {
        let run = try PlannedRun(audience: 9500)
        let batches = BoundedQueue<PushBatch>(capacity: 40)
        var reader = try reader(run)
        reader.furtherMessages = try [template("Hi {{ name }} {{ other }}")]
        #expect(throws: Diagnostic.self) { _ = try reader.read(into: batches) }
        #expect(try run.store.claims().claimed.isEmpty)
        #expect(batches.takeIfReady() == nil)
    }
}
