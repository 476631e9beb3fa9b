import Base
import Foundation
import TestCommands
import Testing

/// The size of the race tests: each race once among all tests, a hundred times in `make races`.
enum RaceScale {
    static let rounds = number("VOLLEY_RACES") ?? 1
    /// One seed to repeat.
    static let seed = number("VOLLEY_RACE_SEED")
    /// The first of the seeds.
    static let first = number("VOLLEY_RACE_FIRST") ?? 1
    /// Names of the races to run, such as `retry+resume`, separated by commas; all if empty.
    static let names = Set(
        (ProcessInfo.processInfo.environment["VOLLEY_RACE"] ?? "").split(separator: ",").map(String.init))

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap(Int.init)
    }
}

/// Commands at the same moment, each a separate process, against a simulator with a ledger. Each
/// race starts from a state in which its commands affect each other most; a seed decides which, and
/// how far apart they start.
@Suite("commands at the same moment", .serialized)
struct RaceTests {
    private static let pairs: [[Contender]] = Contender.allCases.enumerated().flatMap { index, first in
        Contender.allCases[index...].map { [first, $0] }
    }

    /// The first of them are played among all tests.
    private static let triples: [[Contender]] =
        [
            [.send, .send, .send], [.resume, .retry, .cancel], [.approve, .sendPlan, .schedule],
            [.cancel, .prune, .resume],
            [.sendPlan, .send, .schedule], [.resume, .retry, .prune], [.sendPlan, .resume, .cancel],
            [.retry, .retry, .resume],
        ] + Contender.allCases.dropFirst().map { [$0, $0, $0] }

    /// One of the two is killed, and its command repeated. The first of them are played among all
    /// tests.
    private static let killed: [[Contender]] =
        [[.send, .send], [.resume, .retry], [.sendPlan, .cancel], [.approve, .sendPlan]]
        + [.sendPlan, .resume, .retry].map { [$0, $0] } + [
            [.send, .sendPlan], [.send, .schedule], [.resume, .cancel], [.retry, .prune], [.resume, .prune],
            [.sendPlan, .schedule],
        ]

    /// - Parameter usual: how many of them are played among all tests.
    private func play(_ races: [[Contender]], usual: Int = .max, hasKill: Bool = false) throws {
        let arena = try RaceArena()
        let races = RaceScale.rounds == 1 && RaceScale.names.isEmpty ? Array(races.prefix(usual)) : races
        for contenders in races {
            let name = Race(contenders, seed: 0).name
            guard RaceScale.names.isEmpty || RaceScale.names.contains(name) else { continue }
            let seeds = RaceScale.seed.map { $0...$0 } ?? RaceScale.first...RaceScale.first + RaceScale.rounds - 1
            for seed in seeds { try Race(contenders, seed: UInt64(seed), hasKill: hasKill).play(in: arena) }
            if RaceScale.rounds > 1 { print("\(name)\(hasKill ? ", one killed" : ""): \(seeds.count) rounds") }
        }
    }

    @Test(
        "any two commands: nobody gets it twice or unapproved, reports and ledger agree, and who loses is told what to do"
    )
    func pairs() throws { try play(Self.pairs) }

    @Test("any three commands of a kind, and the most dangerous others")
    func triples() throws { try play(Self.triples, usual: 4) }

    @Test(
        "two commands of which one is killed and then repeated: nobody gets it twice, nobody is left out, and no remedy is a dead end"
    )
    func killed() throws { try play(Self.killed, usual: 4, hasKill: true) }
}
