import Dispatch
import Foundation
import Synchronization
import TestServers

/// Runs that are played at the same time as others: they mostly wait.
struct Play: Sendable {
    var name: String
    /// Returns everything that is wrong; blank if nothing is.
    var body: @Sendable () -> [String]

    /// Plays some at a time, on threads of their own.
    /// - Returns: what is wrong with each.
    static func together(_ plays: [Play], atMost limit: Int) -> [(name: String, found: [String])] {
        let results = Results(), done = DispatchSemaphore(value: 0), workers = min(limit, plays.count)
        for _ in 0..<workers {
            startThread {
                while let number = results.next(of: plays.count) {
                    let start = Date(), found = plays[number].body()
                    if MachineScale.rounds > 1 {
                        print("\(plays[number].name): \(found.first ?? "well"), \(Int(-start.timeIntervalSinceNow)) s")
                    }
                    results.note(found, of: number)
                }
                done.signal()
            }
        }
        for _ in 0..<workers { done.wait() }
        return plays.enumerated().map { ($1.name, results.found(in: $0)) }
    }

    private final class Results: Sendable {
        private let found = Mutex<[Int: [String]]>([:]), begun = Mutex(0)

        func next(of count: Int) -> Int? {
            begun.withLock { begun in
                guard begun < count else { return nil }
                begun += 1
                return begun - 1
            }
        }

        func note(_ what: [String], of number: Int) { found.withLock { $0[number] = what } }

        func found(in number: Int) -> [String] { found.withLock { $0[number] } ?? ["it was not played"] }
    }
}
