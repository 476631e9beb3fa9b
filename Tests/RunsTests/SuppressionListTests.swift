import Base
import GRDB
import Glibc
import PushServices
@testable import Runs
import Testing

private func list(_ folder: TemporaryFolder, app: String = "shop", environment: String = "production")
    -> SuppressionList
{
    SuppressionList(app: app, environment: environment, folder: folder.path)
}

private func moment(_ milliseconds: Int64) -> Timestamp { Timestamp(epochMilliseconds: milliseconds) }

extension SuppressionList {
    @discardableResult
    fileprivate func add(_ entries: (number: Int, reason: String, since: Int64)..., at now: Timestamp = noon) throws
        -> Change
    {
        try add(at: now) { list in
            for entry in entries {
                try list.add(
                    Target(normalized: token(entry.number)), reason: entry.reason, invalidSince: moment(entry.since))
            }
        }
    }

    fileprivate var all: [SuppressedDevice] {
        get throws {
            var all: [SuppressedDevice] = []
            try forEach { all.append($0) }
            return all
        }
    }

    /// `number reason since`
    fileprivate var summary: [String] {
        get throws {
            try all.map {
                "\(Int($0.token.text.suffix(8), radix: 16) ?? -1) \($0.reason) \($0.invalidSince.epochMilliseconds)"
            }
        }
    }
}

@Suite struct SuppressionListTests {
    @Test("a list that is not there is empty, and looking does not make it")
    func missing() throws {
        let folder = try TemporaryFolder()
        let list = list(folder)
        #expect(try list.count() == 0 && list.all.isEmpty && list.reasons().isEmpty && list.newest(5).isEmpty)
        #expect(try list.removeAll() == 0)
        let lent: Int? = try list.withTokens { count, _ in count }
        #expect(lent == nil && folder.names.isEmpty)
    }

    @Test("a list that was emptied is damaged, not empty: its devices would get pushes again")
    func emptied() throws {
        let folder = try TemporaryFolder()
        let list = list(folder)
        #expect(try list.add((1, "Unregistered", 500)).added == 1)
        let path = try #require(folder.names.first.map { folder.path + "/" + $0 })
        #expect(truncate(path, 0) == 0)
        let refusal = #expect(throws: Diagnostic.self) { try list.count() }
        #expect(refusal?.message == "the suppression list is damaged: it is empty")
        #expect(refusal?.remedy?.contains("Restore the list from a backup") == true)
        #expect(diagnostic { try list.add((2, "Unregistered", 500)) } == refusal)
        var known = KnownObstacles()
        #expect(RunsFolder(folder.path).obstacles(&known) == [refusal].compactMap(\.self))
    }

    @Test(
        "looking for obstacles reads a list once and leaves it in the mode in which it is; an emptied or replaced one is named without waiting"
    )
    func obstacles() throws {
        let folder = try TemporaryFolder(), other = try TemporaryFolder()
        #expect(try list(folder).add((1, "Unregistered", 500)).added == 1)
        let name = try #require(folder.names.first), path = folder.path + "/" + name
        // As a killed process leaves it.
        let writer = try DatabaseQueue(path: path)
        try writer.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL")
            try db.execute(sql: "UPDATE suppressed SET reason = 'x'")
        }
        for suffix in ["", "-wal"] { _ = shell("cp '\(path)\(suffix)' '\(other.path)/\(name)\(suffix)'") }
        try writer.close()
        let copy = other.path + "/" + name, runs = RunsFolder(other.path)
        var known = KnownObstacles()
        for _ in 0..<2 { #expect(runs.obstacles(&known).isEmpty) }
        // Source: "The Database Header" in SQLite's file format, offset 18: 2 for WAL.
        #expect(try FilePaths.read(copy)[18] == 2 && FilePaths.exists(copy + "-wal"))
        _ = shell("rm '\(copy)-wal'; : > '\(copy)'; touch -d '1 minute ago' '\(copy)'")
        let began = ContinuousClock.now
        #expect(runs.obstacles(&known).map(\.message) == ["the suppression list is damaged: it is empty"])
        #expect(ContinuousClock.now - began < .seconds(1))
        _ = shell("printf 'This is a letter, and no list at all.' > '\(copy).new' && mv '\(copy).new' '\(copy)'")
        #expect(runs.obstacles(&known).map(\.message) == ["this is not a suppression list, but is in its place"])
    }

    @Test("a token stands in the list once; what is known most recently wins, whatever comes first")
    func newestWins() throws {
        let folder = try TemporaryFolder()
        let list = list(folder)
        #expect(try list.add((1, "Unregistered", 500), (2, "ExpiredToken", 500), (1, "BadDeviceToken", 900)).added == 2)
        #expect(try list.summary == ["1 BadDeviceToken 900", "2 ExpiredToken 500"])
        let later = noon.adding(seconds: 60)
        let change = try list.add((1, "Unregistered", 900), (2, "Unregistered", 501), (3, "Unregistered", 1), at: later)
        #expect(change.added == 1 && change.renewed == 1)
        #expect(try list.summary == ["1 BadDeviceToken 900", "2 Unregistered 501", "3 Unregistered 1"])
        #expect(try list.all.map(\.addedAt) == [noon, later, later], "what changes nothing leaves the row alone")
    }

    @Test("the file is its owner's alone, and nothing stays beside it")
    func file() throws {
        let folder = try TemporaryFolder()
        let list = list(folder)
        try list.add((1, "x", 1))
        #expect(folder.names == ["suppressed-shop.sqlite"])
        var status = stat()
        #expect(stat(list.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        // Write and read version in the header: 1 is a rollback journal, 2 is WAL ("Database File
        // Format", 1.3).
        #expect(readBytes(list.path)[18...19] == [1, 1])
        #expect(throws: CancellationError.self) { try list.add { _ in throw CancellationError() } }
        #expect(folder.names == ["suppressed-shop.sqlite"] && readBytes(list.path)[18...19] == [1, 1])
    }

    @Test("environments and apps have lists of their own, whatever their names hold")
    func apart() throws {
        let folder = try TemporaryFolder()
        let apps = ["shop", "Shop", "../shop", "shop/2", "商店", "50%"]
        for (number, app) in apps.enumerated() { try list(folder, app: app).add((number, app, 1)) }
        for (number, app) in apps.enumerated() { #expect(try list(folder, app: app).summary == ["\(number) \(app) 1"]) }
        #expect(folder.names.contains("suppressed-..%2Fshop.sqlite") && folder.names.count == apps.count)
        let rehearsal = list(folder, environment: "simulator")
        #expect(try rehearsal.count() == 0)
        try rehearsal.add((7, "Unregistered", 1), (0, "Unregistered", 5))
        #expect(try list(folder).summary == ["0 shop 1"] && rehearsal.reasons().map(\.devices) == [2])
        let lent = try list(folder).withTokens { _, forEach in
            var lent: [String] = []
            try forEach { token, _, _ in lent.append(String(decoding: token, as: UTF8.self)) }
            return lent
        }
        #expect(lent == [token(0)])
        #expect(try rehearsal.removeAll() == 2 && list(folder).count() == 1)
    }

    @Test("whoever reads slowly keeps nobody from writing")
    func slowReader() throws {
        let folder = try TemporaryFolder()
        let list = list(folder)
        _ = try list.add { entries in
            for number in 0..<25_000 {
                try entries.add(Target(normalized: token(number)), reason: "x", invalidSince: noon)
            }
        }
        var seen: [String] = []
        try list.forEach { device in
            if seen.isEmpty { try list.add((30_000, "y", 1)) }
            seen.append(device.token.text)
        }
        #expect(seen == ((0..<25_000) + [30_000]).map(token))
    }

    @Test("what a killed process left beside the list is tidied up by the next one that reads")
    func tidied() throws {
        let folder = try TemporaryFolder()
        let list = list(folder)
        try list.add((1, "x", 1))
        var bytes = readBytes(list.path)
        // In WAL mode, as while another process writes.
        bytes[18...19] = [2, 2]
        writeBytes(bytes, list.path)
        #expect(try list.summary == ["1 x 1"])
        #expect(folder.names == ["suppressed-shop.sqlite"] && readBytes(list.path)[18...19] == [1, 1])
    }

    @Test("what planning asks is the list at one moment, with its size first")
    func tokens() throws {
        let folder = try TemporaryFolder()
        let list = list(folder)
        try list.add((1, "x", 10), (2, "y", 20))
        var seen: [String] = []
        let count = try list.withTokens { count, forEach in
            try forEach { seen.append("\(String(decoding: $0, as: UTF8.self)) \($1.epochMilliseconds) \($2)") }
            return count
        }
        #expect(
            count == 2 && seen == ["\(token(1)) 10 true", "\(token(2)) 20 true"], "what no run found out was imported")
    }

    @Test(
        "reasons are counted, the most frequent first, and the newest entries come first; a reason has no control characters"
    )
    func reasons() throws {
        let folder = try TemporaryFolder()
        let list = list(folder)
        try list.add(
            (1, "Unregistered", 1), (2, "Unregistered", 2),
            (3, "by\u{1B}[31mhand\n" + String(repeating: "x", count: 500), 3))
        try list.add((9, "ExpiredToken", 3), at: noon.adding(seconds: 1))
        #expect(try list.reasons().map(\.devices) == [2, 1, 1])
        let newest = try list.newest(2)
        #expect(newest.map(\.reason).first == "ExpiredToken")
        #expect(newest.last?.reason.hasPrefix("by [31mhand x") == true && newest.last?.reason.utf8.count == 200)
    }

    @Test("one device is found by its whole token, in its environment alone")
    func entry() throws {
        let folder = try TemporaryFolder()
        let list = list(folder)
        #expect(try list.entry(of: Target(normalized: token(1))) == nil)
        try list.add((1, "Unregistered", 5), (2, "BadDeviceToken", 6))
        #expect(try list.entry(of: Target(normalized: token(2)))?.reason == "BadDeviceToken")
        #expect(try list.entry(of: Target(normalized: token(3))) == nil)
        #expect(try self.other(folder).entry(of: Target(normalized: token(2))) == nil)
    }

    private func other(_ folder: TemporaryFolder) -> SuppressionList { list(folder, environment: "sandbox") }

    @Test("removing says how many were named and how many were there")
    func remove() throws {
        let folder = try TemporaryFolder()
        let list = list(folder)
        try list.add((1, "x", 1), (2, "x", 1), (3, "x", 1))
        let (named, removed) = try list.remove { remove in
            for number in [3, 1, 8, 3] { try remove(Target(normalized: token(number))) }
        }
        #expect(named == 3 && removed == 2)
        #expect(try list.summary == ["2 x 1"])
        #expect(throws: CancellationError.self) {
            try list.remove { remove in
                try remove(Target(normalized: token(2)))
                throw CancellationError()
            }
        }
        #expect(try list.count() == 1)
    }

    @Test("an import that fails changes nothing")
    func failedImport() throws {
        let folder = try TemporaryFolder()
        let list = list(folder)
        try list.add((1, "x", 1))
        #expect(throws: CancellationError.self) {
            try list.add { entries in
                for number in 2..<5000 {
                    try entries.add(Target(normalized: token(number)), reason: "y", invalidSince: noon)
                }
                throw CancellationError()
            }
        }
        #expect(try list.summary == ["1 x 1"])
    }

    @Test("a list is no run: no command lists it or takes it for one")
    func noRun() throws {
        let folder = try TemporaryFolder()
        _ = try makeRun(folder, id: "20261201-090000-a-1111", audience: 1)
        try list(folder).add((1, "x", 1))
        let found = try RunsFolder(folder.path).list()
        let (runs, broken) = (found.runs, found.broken)
        #expect(runs.count == 1 && broken.isEmpty)
        #expect(try RunsFolder(folder.path).file(named: "last").hasSuffix("a-1111.sqlite"))
        let mistake = diagnostic { _ = try RunFile(path: RunsFolder(folder.path).file(named: "suppressed-shop")) }
        #expect(mistake?.message == "this is a list of suppressed devices, not a run")
    }

    @Test("threads and connections that add at once lose nothing")
    func together() throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        let threads = try (0..<4).map { thread in
            try WorkerThread("add") { () -> String? in
                let list = SuppressionList(app: "shop", environment: "production", folder: path)
                do {
                    for round in 0..<8 {
                        try list.add((thread * 100 + round, "x", 1), (1000, "thread \(thread)", Int64(round)))
                        _ = try list.count()
                    }
                    return nil
                } catch { return "\(error)" }
            }
        }
        #expect(threads.compactMap { $0.join() } == [])
        #expect(try list(folder).count() == 33)
        #expect(folder.names == ["suppressed-shop.sqlite"])
    }
}

/// What a run adds to the list.
@Suite struct SuppressionOfRunsTests {
    /// - Parameter accepted: of the 38 devices that are not gone. APNs calls the tokens of two of
    ///   these bad.
    private func endedRun(
        _ folder: TemporaryFolder, _ state: RunState = .finished, reason: String = "", accepted: Int = 31
    ) throws -> RunFile {
        let run = try makeRun(folder, audience: 40)
        try run.append(.state(.running, at: noon))
        try run.append(.claimed(0..<40, at: noon))
        var gone = settled(1, .invalidToken, status: 410, reason: "Unregistered")
        gone.invalidSince = moment(123_456)
        try run.append(
            .settled([
                [
                    settled(0), gone, settled(2, .invalidToken, status: 410, reason: "ExpiredToken"),
                    settled(3, .invalidToken, status: 400, reason: "BadDeviceToken"),
                    settled(4, .invalidToken, status: 400, reason: "DeviceTokenNotForTopic"),
                    settled(5, .rejected, status: 413, reason: "PayloadTooLarge"),
                    settled(6, .failed, status: 503, reason: "ServiceUnavailable"),
                    settled(8, .unsent, status: 0, reason: "Stopped", attempts: 0),
                ]
            ]))
        try run.append(.settled([(9..<9 + accepted - 1).map { settled($0) }]))
        try run.append(.state(state, cause: reason.isEmpty ? nil : .described(reason), at: noon))
        try run.closeIntoOneFile()
        return run
    }

    private let known = ["1 Unregistered 123456", "2 ExpiredToken \(noon.epochMilliseconds)"]
    private let settingsEvidence = [
        "3 BadDeviceToken \(noon.epochMilliseconds)", "4 DeviceTokenNotForTopic \(noon.epochMilliseconds)",
    ]

    @Test(
        "invalid tokens of a run that has finished come into the list, with APNs' moment or else that of the answer; again changes nothing"
    )
    func suppressGone() throws {
        let folder = try TemporaryFolder()
        let run = try endedRun(folder)
        let list = run.catalog.suppression(app: run.plan.app, service: APNs(), environment: "production")
        #expect(try list.suppressGone(of: run).added == 4)
        #expect(try list.summary == known + settingsEvidence)
        let before = try list.all
        #expect(before.allSatisfy { $0.run == "run" })
        #expect(try list.suppressGone(of: run) == SuppressionList.Change())
        #expect(try list.all == before)
        #expect(folder.names == ["run.sqlite", "suppressed-shop.sqlite"])
    }

    @Test(
        "a run that has not finished says nothing against tokens that wrong settings would have refused as well, whatever ended it",
        arguments: [
            (RunState.stopped, "interrupted"), (.stopped, "20 % of the answers"), (.cancelled, ""), (.paused, ""),
            (.running, ""),
        ])
    func notFinished(state: RunState, reason: String) throws {
        let folder = try TemporaryFolder()
        let run = try endedRun(folder, state, reason: reason)
        let list = run.catalog.suppression(app: run.plan.app, service: APNs(), environment: "production")
        let change = try list.suppressGone(of: run)
        #expect(change.added == 2 && change.notSuppressed == 2)
        #expect(try list.summary == known)
        // Once it has been resumed to its end, it does.
        try run.append(.state(.finished, at: noon))
        #expect(try list.suppressGone(of: run).added == 2)
        #expect(try list.summary == known + settingsEvidence)
    }

    @Test(
        "nor does one that finished, when too few others were accepted, or nothing is known of too many",
        arguments: [1, 2, 8, 30])
    func tooFewAccepted(accepted: Int) throws {
        let folder = try TemporaryFolder()
        let run = try endedRun(folder, accepted: accepted)
        let list = run.catalog.suppression(app: run.plan.app, service: APNs(), environment: "production")
        #expect(try list.suppressGone(of: run).notSuppressed == 2)
        #expect(try list.summary == known)
    }

    @Test(
        "a retry is judged together with the run that it retries, and by itself",
        arguments: [
            (before: 0, itself: 4, suppressed: 0), (before: 15, itself: 4, suppressed: 1),
            (before: 15, itself: 3, suppressed: 0),
        ])
    func retry(accepted: (before: Int, itself: Int, suppressed: Int)) throws {
        let folder = try TemporaryFolder()
        let first = try makeRun(folder, audience: 20)
        try first.append(.state(.running, at: noon))
        try first.append(.claimed(0..<20, at: noon))
        try first.append(
            .settled([
                (0..<20).map {
                    $0 < accepted.before ? settled($0) : settled($0, .failed, status: 503, reason: "ServiceUnavailable")
                }
            ]
            ))
        try first.append(.state(.finished, at: noon))
        try first.closeIntoOneFile()
        let retry = try makeRun(folder, id: "retry", audience: accepted.itself + 1, retryOf: "run")
        try retry.append(.state(.running, at: noon))
        try retry.append(.claimed(0..<accepted.itself + 1, at: noon))
        try retry.append(
            .settled([
                (0..<accepted.itself).map { settled($0) } + [
                    settled(accepted.itself, .invalidToken, status: 400, reason: "BadDeviceToken")
                ]
            ]))
        try retry.append(.state(.finished, at: noon))
        let list = retry.catalog.suppression(app: retry.plan.app, service: APNs(), environment: "production")
        #expect(try list.suppressGone(of: retry).added == accepted.suppressed)
    }

    @Test(
        "an epoch is judged by itself as well: what was accepted in others says nothing of its tokens, also when it is opened anew"
    )
    func epochs() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 50)
        try run.append(.epochBegan("1-a", at: noon, from: [.planned]))
        try run.append(.claimed(0..<50, at: noon))
        try run.append(.settled([(0..<45).map { settled($0) }]))
        try run.append(.state(.stopped, cause: .interrupted, at: noon))
        try run.append(.epochBegan("2-b", at: noon, from: [.stopped]))
        try run.append(.settled([(45..<50).map { settled($0, .invalidToken, status: 400, reason: "BadDeviceToken") }]))
        try run.append(.state(.stopped, at: noon))
        // This epoch gets no answers.
        try run.append(.epochBegan("3-c", at: noon, from: [.stopped]))
        try run.append(.state(.finished, at: noon))
        try run.closeIntoOneFile()
        let evidence = try RunFile(path: run.path, readOnly: true).evidence(ofService: 0)
        #expect(evidence.epochs.map(\.accepted) == [45, 0] && evidence.settingsEvidence?.ambiguous == 5)
        let change = try run.catalog.suppression(app: run.plan.app, service: APNs(), environment: "production")
            .suppressGone(of: run)
        #expect(change.added == 0 && change.notSuppressed == 5)
    }

    @Test(
        "a retry whose first run is away, or cannot be read, ends as any other, and suppresses for certain reasons only",
        arguments: [true, false])
    func retryOfNothing(isDamaged: Bool) throws {
        let folder = try TemporaryFolder()
        if isDamaged { writeBytes(Array("no run".utf8), folder.path + "/run.sqlite") }
        let retry = try makeRun(folder, id: "retry", audience: 9, retryOf: "run")
        try retry.append(.state(.running, at: noon))
        try retry.append(.claimed(0..<9, at: noon))
        try retry.append(.settled([(0..<7).map { settled($0) }]))
        try retry.append(
            .settled([
                [
                    settled(7, .invalidToken, status: 400, reason: "BadDeviceToken"),
                    settled(8, .invalidToken, status: 410, reason: "Unregistered"),
                ]
            ]))
        let retried = try retry.answers(ofService: 0).ofRetried
        let end = try retry.append(
            .finished(
                unless: {
                    RunEvidence($0.tokenEvidence(of: PushServices.standard), retried: retried).settingsEvidence == nil
                        ? nil : .described("settings")
                }, at: noon))
        #expect(end.objection == nil)
        let list = retry.catalog.suppression(app: retry.plan.app, service: APNs(), environment: "production")
        let change = try list.suppressGone(of: retry)
        #expect(change.added == 1 && change.notSuppressed == 1)
    }

    @Test("a run without invalid tokens makes no list")
    func nothing() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 3)
        #expect(
            try run.catalog.suppression(app: run.plan.app, service: APNs(), environment: "production").suppressGone(
                of: run)
                == SuppressionList.Change())
        #expect(folder.names == ["run.sqlite"])
    }
}

@Suite struct DamagedSuppressionListTests {
    /// The messages of every kind of use.
    private func messages(_ list: SuppressionList) -> Set<String> {
        Set(
            [
                diagnostic { _ = try list.count() }, diagnostic { try list.add((1, "x", 1)) },
                diagnostic { _ = try list.remove { try $0(Target(normalized: token(1))) } },
                diagnostic { _ = try list.withTokens { count, _ in count } },
            ].map { $0?.message ?? "none" })
    }

    @Test("what is no list is left alone: text, a folder, another database, a run")
    func noList() throws {
        let folder = try TemporaryFolder()
        let list = list(folder)
        let run = try makeRun(folder, audience: 3)
        for bytes in [Array(String(repeating: "device_token\n", count: 900).utf8), readBytes(run.path)] {
            writeBytes(bytes, list.path)
            #expect(messages(list) == ["this is not a suppression list, but is in its place"])
            #expect(readBytes(list.path) == bytes)
        }
        unlink(list.path)
        mkdir(list.path, 0o700)
        #expect(messages(list) == ["this is not a suppression list, but is in its place"])
    }

    @Test("a list of a newer Volley is refused, with both formats named, and left alone")
    func newer() throws {
        let folder = try TemporaryFolder()
        let list = list(folder)
        try list.add((1, "x", 1))
        var bytes = readBytes(list.path)
        // user_version: bytes 60 to 63 of the header (SQLite, "Database File Format", 1.3).
        #expect(bytes[60...63] == [0, 0, 0, 1])
        bytes[63] = 7
        writeBytes(bytes, list.path)
        #expect(messages(list) == ["the suppression list was written by a newer Volley (format 7; this one reads 2)"])
        #expect(readBytes(list.path) == bytes)
    }

    @Test("a list that was cut off is damaged", arguments: [0.3, 0.6, 0.95, 0.9999])
    func truncated(share: Double) throws {
        let folder = try TemporaryFolder()
        let list = list(folder)
        _ = try list.add { entries in
            for number in 0..<500 {
                try entries.add(Target(normalized: token(number)), reason: "x", invalidSince: noon)
            }
        }
        let bytes = readBytes(list.path)
        writeBytes(Array(bytes.prefix(Int(Double(bytes.count) * share))), list.path)
        for message in messages(list) { #expect(message.hasPrefix("the suppression list is damaged")) }
    }

    @Test("random bytes anywhere are a diagnostic or harmless, never a crash", arguments: 0..<40)
    func randomBytes(seed: UInt64) throws {
        var random = Seeded(state: seed)
        let folder = try TemporaryFolder()
        let list = list(folder)
        _ = try list.add { entries in
            for number in 0..<400 {
                try entries.add(Target(normalized: token(number)), reason: "x", invalidSince: noon)
            }
        }
        var bytes = readBytes(list.path)
        let length = [4096, 64, 1][Int(seed) % 3]
        for _ in 0..<(seed % 3 == 0 ? 1 : 30) {
            let start = Int.random(in: 0..<bytes.count, using: &random)
            for index in start..<min(bytes.count, start + length) {
                bytes[index] = .random(in: 0...255, using: &random)
            }
        }
        writeBytes(bytes, list.path)
        for use in [
            { _ = try list.all }, { try list.add((401, "x", 1)) }, { _ = try list.newest(5) },
            { _ = try list.removeAll() },
        ] {
            do { try use() } catch { #expect(error is Diagnostic, "\(error)") }
        }
    }
}
