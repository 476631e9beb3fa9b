import Base
import Postgres
import Runs
import Synchronization

/// Paces that workers divide: the rows of one pace are a `PaceParts`, changed by one worker at a time.
extension SharedLedger {
    /// Says what this worker uses of a pace, and learns its part of it.
    /// - Parameter wants: whether it has something to send.
    /// - Returns: its part from now on; nil if no part is free.
    func part(of pace: DividedPace, wants: Bool, _ connection: PostgresConnection) throws -> Int? {
        let seconds = beating.answerSeconds
        let (sender, beat) = state.withLock { ($0.sender, $0.beat) }
        guard let me = sender else { return nil }
        return try connection.transaction(within: seconds) {
            try connection.run(
                "INSERT INTO volley_pace (key, parts) VALUES ($1, '') ON CONFLICT DO NOTHING", [.text(pace.key)], within: seconds)
            var stored = DividedParts(text: "", limit: pace.whole.pushes), now = 0
            try connection.run(
                "SELECT parts FROM volley_pace WHERE key = $1 FOR UPDATE", [.text(pace.key)], within: seconds
            ) { stored = DividedParts(text: $0.text(0), limit: pace.whole.pushes) }
            // Once the row is locked: the moment must not be one from before a wait.
            try connection.run("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint", within: seconds) { now = $0.int(0) }
            let gone = try gone(stored.parts.parts.keys.compactMap(Int.init), connection)
            // Declared dead just now.
            if gone.contains("\(me)") { return nil }
            stored.free(gone, at: now, after: pace.whole.intervalSeconds)
            let use = pace.use()
            let granted = stored.parts.beat(
                of: "\(me)", number: Int64(beat), used: use.used, left: use.left, wants: wants, least: use.least)
            try connection.run(
                "UPDATE volley_pace SET parts = $2 WHERE key = $1", [.text(pace.key), .text(stored.text)], within: seconds)
            return granted
        }
    }

    /// Leaves this worker's parts of paces to others, as nothing more leaves it.
    func giveBack(_ paces: [DividedPace]) throws {
        for pace in paces { pace.take(0) }
        state.withLock { $0.beat += 1 }
        try StoreError.explaining {
            try beating.once { connection in for pace in paces { _ = try part(of: pace, wants: false, connection) } }
        }
    }

    /// Which of some workers left or died.
    private func gone(_ workers: [Int], _ connection: PostgresConnection) throws -> Set<String> {
        var there: Set<Int> = []
        try connection.run(
            "SELECT number FROM volley_sender WHERE number = ANY ($1::bigint[]) AND dead_at IS NULL", [.ints(workers)],
            within: beating.answerSeconds
        ) { there.insert($0.int(0)) }
        return Set(workers.filter { !there.contains($0) }.map { "\($0)" })
    }
}

/// The parts of a pace as the store keeps them, and since when workers are gone whose last pushes may still count.
struct DividedParts {
    var parts: PaceParts
    /// By workers, in milliseconds of the database's clock.
    private(set) var goneSince: [String: Int] = [:]

    /// - Parameter text: blank for none. What cannot be read counts as none: only `text` writes it.
    init(text: String, limit: Int) {
        parts = PaceParts(pace: max(1, limit))
        guard let json = JSONValue(stored: text), case .object(let workers)? = json["members"] else { return }
        var known: [String: PaceParts.Part] = [:]
        for worker in workers {
            guard case .array(let cells) = worker.value else { continue }
            let numbers = cells.compactMap(\.integerValue)
            guard numbers.count == 9 else { continue }
            known[worker.name] = PaceParts.Part(
                granted: Int(numbers[0]), used: Int(numbers[1]), left: Int(numbers[8]), beat: numbers[2], wants: numbers[3] == 1,
                least: Int(numbers[4]), turn: numbers[5], served: Int(numbers[6]))
            if numbers[7] > 0 { goneSince[worker.name] = Int(numbers[7]) }
        }
        parts = PaceParts(pace: max(1, limit), parts: known, turns: json["turns"]?.integerValue ?? 0)
    }

    /// How long pushes may leave a worker after its last beat; seconds.
    private static let sendingSeconds = Int(SubmissionGate.longestAgeSeconds + SubmissionGate.queueSeconds) + 1

    /// Frees the parts of workers that are gone: what may not have been used at once, as pushes leave evenly, and the
    /// rest once they are gone for as long as the interval.
    mutating func free(_ gone: Set<String>, at now: Int, after intervalSeconds: Int) {
        for worker in gone {
            let since = goneSince[worker] ?? now
            if goneSince[worker] == nil {
                // What leaves in a second is rounded up, and one request more may leave where another pace held it
                // back.
                parts.leave(worker) { Self.sendingSeconds * ($0 / max(1, intervalSeconds) + 2) }
            }
            goneSince[worker] = since
            guard now - since > (intervalSeconds + 1) * 1000 else { continue }
            parts.remove(worker)
            goneSince[worker] = nil
        }
    }

    var text: String {
        let workers = parts.parts.sorted { $0.key < $1.key }.map { worker, part in
            let numbers = [
                Int64(part.granted), Int64(part.used), part.beat, part.wants ? 1 : 0, Int64(part.least), part.turn, Int64(part.served),
                Int64(goneSince[worker] ?? 0), Int64(part.left),
            ]
            return (worker, JSONValue.array(numbers.map { .integer($0) }))
        }
        return JSONValue.object(pairs: [("turns", .integer(parts.turns)), ("members", .object(pairs: workers))]).text
    }
}
