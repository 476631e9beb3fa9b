import Base
import Glibc
import GRDB
import Testing

@testable import Runs

/// Several threads that read parts of the ids at the same time read the same as one thread.
@Suite("a run that is read in parts")
struct PartsTests {
    private static let languages = ["en", "de", "", "other", "zh-Hans", "fr\u{0}x"]

    /// Cuts a run into this many parts, some of which may be empty.
    private func cuts(_ audience: Int, _ count: Int, _ random: inout Seeded) -> [Range<Int>] {
        let cuts = [0] + (1..<count).map { _ in Int.random(in: 0...audience, using: &random) }.sorted() + [audience]
        return zip(cuts, cuts.dropFirst()).map { $0..<$1 }
    }

    private func counted(_ run: RunFile, _ parts: [Range<Int>]) throws -> RunFigures {
        try run.read(in: parts) { view in
            try #require(view.parts == parts, "one thread read everything")
            return try run.countFigures(view, withGroups: true)
        }
    }

    /// A run in which some recipients are claimed, some settled, some deferred, and some reopened
    /// and sent to again.
    private func mixedRun(_ folder: TemporaryFolder, audience: Int, languages: Int = 0, _ random: inout Seeded) throws
        -> RunFile
    {
        let writer = try RunWriter(folder: folder.path, id: "run")
        for number in 0..<audience {
            var recipient = recipient(number)
            let language = Int.random(in: 0..<max(languages, Self.languages.count), using: &random)
            recipient.language = languages > 0 ? "l\(language)" : Self.languages[language]
            recipient.variant = ["", "a", "b"][Int.random(in: 0..<3, using: &random)]
            try writer.put(recipient, at: number)
        }
        let run = try writer.finish(plan("run", audience: audience))
        var next = 0
        while next < audience, Int.random(in: 0..<12, using: &random) > 0 {
            let claim = next..<min(audience, next + Int.random(in: 1...400, using: &random))
            try run.append(.claimed(claim, at: noon))
            let settled = claim.filter { _ in Int.random(in: 0..<9, using: &random) > 0 }
            try run.append(.settled([settled.map { settlement($0, &random) }]))
            try run.append(
                .reopened(
                    settled.filter { _ in Int.random(in: 0..<20, using: &random) == 0 }, resendsUnknown: true,
                    at: .now()))
            // A hole between claims.
            next = claim.upperBound + (Int.random(in: 0..<5, using: &random) == 0 ? 7 : 0)
        }
        let unclaimed = (0..<audience).filter { id in id >= next && Int.random(in: 0..<3, using: &random) == 0 }
        try run.append(
            .settled([unclaimed.map { settled($0, .unsent, status: 0, reason: "Stopped", attempts: 0, latency: 0) }]))
        return run
    }

    private func settlement(_ id: Int, _ random: inout Seeded) -> Settlement {
        let outcome = Outcome.allCases[Int.random(in: 0..<Outcome.allCases.count, using: &random)]
        let attempts =
            outcome == .unsent ? Int.random(in: 0...1, using: &random) : Int.random(in: 0...9, using: &random)
        return settled(
            id, outcome, status: [0, 200, 400, 410, 503][Int.random(in: 0..<5, using: &random)],
            reason: ["", "BadDeviceToken", "Expired", "grün"][Int.random(in: 0..<4, using: &random)],
            attempts: attempts,
            latency: Int.random(in: 0...4000, using: &random),
            at: noon.adding(seconds: Double.random(in: 0..<5000, using: &random)))
    }

    @Test("has the same figures however it is cut", arguments: 0..<8 as Range<UInt64>)
    func figures(seed: UInt64) throws {
        var random = Seeded(state: seed)
        let folder = try TemporaryFolder()
        let audience = [1, 2, 249, 250, 251, 1500, 3000, 777][Int(seed)]
        let run = try mixedRun(folder, audience: audience, &random)
        let whole = try counted(run, [0..<audience])
        #expect(whole.outcomes.values.reduce(0, +) == audience)
        #expect(whole.groups?.reduce(0) { $0 + $1.audience } == audience)
        for outcome in Outcome.allCases {
            #expect(whole.groups?.reduce(0) { $0 + $1.count(outcome) } == whole.outcomes[outcome])
        }
        for count in 1...17 {
            let parts = cuts(audience, count, &random)
            #expect(try counted(run, parts) == whole, "\(parts)")
        }
        // Counted as at its end, in the transaction that records the end.
        let parts = cuts(audience, 5, &random)
        let kept = try run.write { db in
            try db.execute(sql: "UPDATE run SET state = 'stopped'")
            let view = run.view(db, in: parts)
            try #require(view.parts == parts)
            return try run.countFigures(view, withGroups: true)
        }
        #expect(kept == whole)
        try run.closeIntoOneFile()
        #expect(try counted(run, parts) == whole)
        #expect(folder.names == ["run.sqlite"])
    }

    @Test("tells the same groups apart, also where there are more than it counts")
    func manyGroups() throws {
        var random = Seeded(state: 99)
        let folder = try TemporaryFolder()
        let run = try mixedRun(folder, audience: 9000, languages: 1500, &random)
        let whole = try counted(run, [0..<9000])
        #expect(whole.groups?.count == 2003 && whole.groups?.count { $0.language == "other" } == 3)
        // In the last ones, some parts have too many groups by themselves, and others do not.
        for parts in [
            [0..<4500, 4500..<9000], [0..<1000, 1000..<2000, 2000..<9000], [0..<8900, 8900..<9000],
            [0..<100, 100..<9000],
        ] {
            #expect(try counted(run, parts) == whole, "\(parts)")
        }
        for count in [3, 9, 17] { #expect(try counted(run, cuts(9000, count, &random)) == whole) }
    }

    @Test("is damaged wherever it is cut", .enabled(if: hasSQLiteTool, "needs the sqlite3 tool"))
    func damaged() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 700)
        try run.append(.claimed(0..<700, at: noon))
        try run.append(.settled([(0..<700).map { settled($0, .failed, status: 503, reason: "ServiceUnavailable") }]))
        try run.closeIntoOneFile()
        #expect(query(run.path, "UPDATE outcome_block SET number = 9 WHERE number = 2").isEmpty)
        for parts in [
            [0..<700], [0..<350, 350..<700], [0..<600, 600..<700], [0..<0, 0..<700], [0..<700, 700..<700],
        ] {
            #expect(
                diagnostic { _ = try counted(run, parts) }?.message
                    == "the run file is damaged: an outcome has no recipient")
        }
    }

    @Test(
        "has the same digest however it is cut, and a changed row is noticed anywhere",
        .enabled(if: hasSQLiteTool, "needs the sqlite3 tool"))
    func digest() throws {
        var random = Seeded(state: 5)
        for audience in [1, 2, 640] {
            let folder = try TemporaryFolder()
            let path = try makeRun(folder, audience: audience).path
            for count in 1...17 { try RunFile(path: path).checkUnchanged(in: cuts(audience, count, &random)) }
            let parts = audience < 640 ? cuts(audience, 4, &random) : [0..<200, 200..<201, 201..<201, 201..<640]
            let places = parts.flatMap { [$0.lowerBound, $0.upperBound - 1, $0.upperBound] }.filter {
                (0..<audience).contains($0)
            }
            for id in Set(places + [0, audience - 1]) {
                #expect(query(path, "UPDATE recipient SET alias = alias || 'x' WHERE id = \(id)").isEmpty)
                let problem = diagnostic { try RunFile(path: path).checkUnchanged(in: parts) }
                #expect(
                    problem?.message.contains("its recipients are not as previewed") == true, "\(id) of \(audience)")
                #expect(
                    query(path, "UPDATE recipient SET alias = substr(alias, 1, length(alias) - 1) WHERE id = \(id)")
                        .isEmpty)
                try RunFile(path: path).checkUnchanged(in: parts)
            }
            // Ids that no audience has, before and after it.
            for id in [-1, audience] {
                let copy =
                    "INSERT INTO recipient SELECT \(id), device_token, registration_id, alias, language, variant, fields"
                #expect(query(path, copy + " FROM recipient WHERE id = 0").isEmpty)
                #expect(diagnostic { try RunFile(path: path).checkUnchanged(in: parts) } != nil, "\(id) of \(audience)")
                #expect(query(path, "DELETE FROM recipient WHERE id = \(id)").isEmpty)
            }
        }
    }

    @Test("is read by one thread when something is committed before all threads see the same")
    func committed() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 10)
        try run.append(.claimed(0..<4, at: noon))
        let parts = [0..<5, 5..<10]
        let quiet = try ParallelReaders(run.path, count: 2)
        try run.read { db in #expect(RunView(db, parts, audience: 10, quiet).parts == parts) }
        let late = try ParallelReaders(run.path, count: 2)
        try run.append(.claimed(4..<5, at: noon))
        try run.read { db in
            let view = RunView(db, parts, audience: 10, late)
            #expect(view.parts == [0..<10])
            let figures = try run.countFigures(view)
            #expect(figures.outcomes[.unknown] == 5)
        }
        // By another process, and in a file without a write-ahead log.
        guard hasSQLiteTool else { return }
        try run.closeIntoOneFile()
        let later = try ParallelReaders(run.path, count: 2)
        #expect(query(run.path, "UPDATE run SET stop_cause = 'x'").isEmpty)
        #expect(try !later.begin())
    }

    @Test("is seen at one moment while another thread records")
    func oneMoment() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 1000)
        try run.append(.claimed(0..<1000, at: noon))
        let writer = try WorkerThread("write") {
            // One from the front and one from the back at the same time.
            Result { for id in 0..<500 { try run.append(.settled([[settled(id), settled(999 - id)]])) } }
        }
        var shared = 0
        while !writer.isFinished {
            let parts = [0..<300, 300..<500, 500..<800, 800..<1000]
            try run.read(in: parts) { view in
                shared += view.parts == parts ? 1 : 0
                let accepted = try view.read { db, ids in
                    var accepted = 0
                    try run.forEachOutcome(db, in: ids) { _, _, _ in accepted += 1 }
                    return accepted
                }
                if accepted.count == 4 { #expect(accepted[0] + accepted[1] == accepted[2] + accepted[3]) }
            }
        }
        try writer.join().get()
        #expect(shared > 0)
        #expect(try run.figures().outcomes[.accepted] == 1000)
    }

    @Test("is read through the connection that is open when another file lies in its place")
    func replaced() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 10)
        #expect(try run.figures().outcomes[.unsent] == 10)
        let bytes = readBytes(run.path)
        #expect(rename(run.path, run.path + ".old") == 0)
        writeBytes(bytes, run.path)
        try run.read(in: [0..<5, 5..<10]) { #expect($0.parts == [0..<10]) }
    }

    @Test("has a part for each core, and in each so many recipients that a thread is worth it")
    func sizes() {
        for audience in [0, 1, 10, 50_000] { #expect(RunFile.parts(of: audience, cores: 16) == [0..<audience]) }
        #expect(RunFile.parts(of: 50_001, cores: 1) == [0..<50_001])
        #expect(RunFile.parts(of: 50_001, cores: 16) == [0..<50_000, 50_000..<50_001])
        #expect(RunFile.parts(of: 10_000_000, cores: 128).map(\.count).allSatisfy { [600_000, 650_000].contains($0) })
    }
}
