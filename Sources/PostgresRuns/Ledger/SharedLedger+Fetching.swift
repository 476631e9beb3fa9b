import Base
import Runs

extension SharedLedger {
    /// How many looks, a second apart, a member is waited for; and at how many in a row beats stand still before nobody is expected to record anything.
    private static let mostLooks = 20, stillLooks = 3

    /// Takes over into the run's own file what members have recorded.
    package func fetch() throws {
        let hasEnded = try ask { try row($0) }.state.hasEnded
        try refresh()
        try keepOwnClaims()
        // Nothing is claimed after the end.
        if hasEnded, isAtHome { try replica.noteFetched() }
    }

    /// Cancels the run for all, if it goes on, and fetches: for a process that takes no part in it. Members that are there get some seconds to record the last
    /// answers. Nothing is claimed after this.
    package func cancelAndFetch() throws {
        if [.running, .paused].contains(try ask({ try row($0) }).state) {
            try change(to: .cancelled, cause: .cancelled, at: .now(), from: [.running, .paused])
        }
        var before: [Int: Int64] = [:], still = 0, looks = 0
        while still < Self.stillLooks, looks < Self.mostLooks {
            let beats = try members().mapValues(\.beat)
            if beats.isEmpty { break }
            still = beats == before ? still + 1 : 0
            before = beats
            looks += 1
            store.patience.rest(atMost: 1)
        }
        // Nobody may be left but the file who knows what the store has forgotten.
        try ask { try compareFile($0) }
        try fetch()
    }
}
