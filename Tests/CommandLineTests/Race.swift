import Base
import Foundation
import TestCommands
import Testing

/// Commands at the same moment, and the decisions of a seed about them: the state that they find,
/// how far apart they start, and which one is killed when.
struct Race: CustomStringConvertible {
    let contenders: [Contender]
    let seed: UInt64
    let state: RaceStart.State
    private let offsets: [Int]
    /// Whether they name the run `last`.
    private let isLast: Bool
    /// Whether `schedule.lock` is removed repeatedly while they start.
    private let losesLock: Bool
    /// Which one is killed, and how many microseconds after the beginning.
    private let kill: (contender: Int, microseconds: UInt32)?

    var name: String { contenders.map(\.rawValue).joined(separator: "+") }
    var description: String { "\(name) from \(state.rawValue), seed \(seed)" }

    /// - Parameter hasKill: whether one of them is killed.
    init(_ contenders: [Contender], seed: UInt64, hasKill: Bool = false) {
        self.contenders = contenders
        self.seed = seed
        var draws = SplitMix(seed: seed)
        // A state in which all have something to do, if there is one.
        let places = contenders.dropFirst().reduce(contenders[0].places) { $0.intersection($1.places) }
        let possible = places.isEmpty ? contenders.reduce(into: Set()) { $0.formUnion($1.places) } : places
        state = possible.sorted { $0.rawValue < $1.rawValue }.randomElement(using: &draws) ?? .planned
        let isClose = Bool.random(using: &draws)
        offsets = contenders.map { _ in .random(in: 0...(isClose ? 3 : 40), using: &draws) }
        isLast = Int.random(in: 0..<4, using: &draws) == 0
        losesLock = contenders.filter { $0 == .schedule }.count > 1 && Int.random(in: 0..<4, using: &draws) > 0
        kill =
            hasKill
            ? (.random(in: 0..<contenders.count, using: &draws), .random(in: 0...400_000, using: &draws)) : nil
    }

    // MARK: - Running

    /// Plays the race, and compares the results with the ledger.
    func play(in arena: RaceArena) throws {
        let start = try arena.start(state)
        try arena.prepare(start)
        let results = try run(in: arena, start)
        var judge = RaceJudge(race: self, arena: arena, start: start)
        for (index, (contender, result)) in zip(contenders, results).enumerated() where index != kill?.contender {
            judge.hear(contender, result)
        }
        if let kill {
            try judge.follow(contenders[kill.contender].arguments(start.run ?? "last", state))
        }
        try judge.weigh(arena.server.acceptedInLastEpoch())
        if kill == nil { judge.lookForRemains() }
    }

    private func run(in arena: RaceArena, _ start: RaceStart) throws -> [VolleyBinary.Result] {
        let run = isLast ? "last" : start.run ?? "last"
        let running = try zip(contenders, offsets).map { contender, offset in
            try arena.line(up: contender.arguments(run, state), offsetMilliseconds: offset)
        }
        let gate = try arena.open()
        defer { try? gate.close() }
        if losesLock {
            let lock = arena.folder.url.appendingPathComponent("runs/schedule.lock").path
            for _ in 0..<300 where running.contains(where: \.isRunning) {
                unlink(lock)
                usleep(1_000)
            }
        }
        if let kill {
            usleep(kill.microseconds)
            Glibc.kill(running[kill.contender].processID, SIGKILL)
        }
        var results: [VolleyBinary.Result?] = zip(contenders, running).map {
            $0 == .schedule ? nil : $1.finish(timeout: 60)
        }
        for (index, daemon) in running.enumerated() where results[index] == nil {
            awaitFiring(daemon)
            Glibc.kill(daemon.processID, SIGTERM)
            results[index] = daemon.finish(timeout: 60)
        }
        return results.compactMap(\.self)
    }

    /// Waits a moment until the daemon has sent what is due, or reports that it does not.
    private func awaitFiring(_ daemon: RunningVolley) {
        let words = [
            ": finished", ": stopped", ": cancelled", "cannot be sent", "cannot be planned", "by another process",
            "needs approval",
        ]
        for _ in 0..<100 where daemon.isRunning && !words.contains(where: daemon.errorsSoFar.contains) {
            usleep(20_000)
        }
    }
}

/// Compares what the contenders say, the run files and the ledger.
struct RaceJudge {
    let race: Race
    let arena: RaceArena
    let start: RaceStart
    private var heard = ""

    init(race: Race, arena: RaceArena, start: RaceStart) { (self.race, self.arena, self.start) = (race, arena, start) }

    private func fail(_ what: String) {
        Issue.record("\(race): \(what)\nRepeat it with: make races RACE='\(race.name)' SEED=\(race.seed)\n\(heard)")
    }

    /// A process that ran to its end.
    mutating func hear(_ contender: Contender, _ result: VolleyBinary.Result) {
        heard += "--- \(contender.rawValue): exit \(result.status)\n\(result.errors)"
        if ![0, 1, 2, 3, 130].contains(result.status) { fail("\(contender.rawValue) ended with \(result.status)") }
        if result.status == 2, Self.remedy(in: result) == nil { fail("\(contender.rawValue) does not say what to do") }
    }

    /// The last sentence of a refusal, which is not the first.
    private static func remedy(in result: VolleyBinary.Result) -> Substring? {
        let refusal = result.errors.split(separator: "\n").last ?? ""
        return refusal.firstRange(of: /[.;] [`A-Z]/).map { refusal[$0.lowerBound...] }
    }

    /// Repeats a command whose process was killed, and follows the advice it gives, until nothing
    /// is left to do.
    mutating func follow(_ command: [String]) throws {
        var next = command
        for _ in 0..<8 {
            var result: VolleyBinary.Result
            if next.first == "schedule" {
                let daemon = try VolleyBinary.start(next, in: arena.folder.url)
                usleep(2_500_000)
                kill(daemon.processID, SIGTERM)
                result = daemon.finish(timeout: 60)
            } else {
                result = try VolleyBinary.run(next, in: arena.folder.url, timeout: 60)
            }
            heard += "--- then \(next.joined(separator: " ")): exit \(result.status)\n\(result.errors)"
            if ![0, 1, 2, 3, 130].contains(result.status) { return fail("\(next) ended with \(result.status)") }
            guard result.status == 2 else { return }
            guard let remedy = Self.remedy(in: result) else {
                return fail("a dead end: \(next) does not say what to do")
            }
            guard let told = remedy.firstMatch(of: /`volley ([^`]+)`/) else { return }
            next = told.1.split(separator: " ").map { $0 == "NAME" ? "Anna" : String($0) }
            if ["send", "retry", "approve"].contains(next[0]) { next.append("--yes") }
            if next[0] == "report" { return }
        }
        fail("a dead end: no remedy led to an end")
    }

    /// - Parameter accepted: what the server accepted since the start, one token for each time.
    func weigh(_ accepted: [String]) throws {
        let reached = Set(accepted)
        if reached.count < accepted.count { fail("\(accepted.count - reached.count) devices were reached twice") }
        let again = reached.intersection(start.accepted)
        if !again.isEmpty { fail("\(again.count) devices were reached again that had been before") }
        let runs = try arena.runsInJSON()
        try weighReports(runs, reached)
        try weighStates(runs, reached)
    }

    private func weighReports(_ runs: [JSONValue], _ reached: Set<String>) throws {
        var (times, unknown, unsent): ([String: Int], Set<String>, Set<String>) = ([:], start.unknown, [])
        for run in runs where run["pruned_at"] == nil {
            let outcomes = try arena.outcomes(of: run["run"]?.stringValue ?? "")
            for (token, outcome) in outcomes {
                if outcome == "accepted" { times[token, default: 0] += 1 }
                if outcome == "unknown" { unknown.insert(token) }
                if outcome == "unsent" { unsent.insert(token) }
            }
            if run.int("audience") != run["outcomes"]?.sum {
                fail("the audience is not the sum of the outcomes: \(run.text)")
            }
        }
        let isPruned = runs.contains { $0["pruned_at"] != nil }
        if times.values.contains(where: { $0 > 1 }) { fail("runs report a device as accepted twice") }
        let all = reached.union(start.accepted)
        let reported = Set(times.keys)
        if !reported.isSubset(of: all) {
            fail("\(reported.subtracting(all).count) are reported as accepted, and were not")
        }
        let missing = all.subtracting(reported).subtracting(unknown)
        if !isPruned, !missing.isEmpty { fail("\(missing.count) were accepted, and no report says so") }
        let sum = runs.reduce(0) { $0 + ($1["outcomes"]?.int("accepted") ?? 0) }
        let doubt = runs.reduce(0) { $0 + ($1["outcomes"]?.int("unknown") ?? 0) }
        if !(sum...sum + doubt).contains(all.count) {
            fail("the reports count \(sum) accepted, the ledger \(all.count)")
        }
        if race.isWithoutKill, doubt > start.unknown.count { fail("\(doubt) are unknown, and nobody was killed") }
        if race.reachesAll, all.union(race.isWithoutKill ? [] : unknown).count < RaceArena.devices {
            fail("\(RaceArena.devices - all.count) were reached by nobody")
        }
    }

    private func weighStates(_ runs: [JSONValue], _ reached: Set<String>) throws {
        for run in runs {
            let state = run["state"]?.stringValue ?? ""
            if !["planned", "stopped", "cancelled", "finished"].contains(state) {
                fail("a run is left \(state): \(run.text)")
            }
        }
        if start.state.needsApproval, !reached.isEmpty, !runs.contains(where: { $0["approved_by"] != nil }) {
            fail("\(reached.count) pushes were sent that nobody approved")
        }
        // A time is sent once: by one run, and its retries.
        let begun = try runs.filter { ($0["started_at"] ?? .null) != .null }.filter { run in
            let report = try arena.folder.volley("report", run["run"]?.stringValue ?? "", "--format", "json").json()
            return (report["retry_of"] ?? .null) == .null
        }
        if begun.count > 1 { fail("\(begun.count) runs were begun for one time: \(begun.map(\.text))") }
    }

    /// What a folder of runs may contain when no process works there.
    func lookForRemains() {
        let remains = arena.folder.files(in: "runs").filter { name in
            !name.hasSuffix(".sqlite") && name != "sent.db" && name != "schedule.lock"
        }
        if !remains.isEmpty { fail("left behind: \(remains)") }
    }
}

extension Race {
    var isWithoutKill: Bool { kill == nil }

    /// Whether all devices must have been reached at the end: every contender sends, and one of
    /// them can.
    var reachesAll: Bool {
        !state.needsApproval && contenders.allSatisfy(\.isSender) && contenders.contains { $0.places.contains(state) }
    }
}
