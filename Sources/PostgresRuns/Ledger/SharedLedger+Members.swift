public import Base
import Postgres
public import Runs
import Synchronization

/// Being a member: joining, beating, leaving, and declaring others dead.
extension SharedLedger {
    /// Makes this process a member, unless it is one.
    /// - Returns: its number.
    @discardableResult
    public func join() throws -> Int {
        if let me = state.withLock({ $0.sender }) { return me }
        let me = try ask { connection in
            var number = 0
            try connection.run(
                """
                INSERT INTO volley_sender (run, machine, beat, tallies, joined_at) SELECT number, $2, 0, '{}', clock_timestamp()
                FROM volley_run WHERE number = $1 RETURNING number
                """, [.int(run), .text(MachineName.process)], within: asking.answerSeconds
            ) { number = $0.int(0) }
            guard number > 0 else { throw isGone }
            return number
        }
        let life = try ask { try row($0).life }
        claiming.restart()
        recording.restart()
        state.withLock { state in
            state = State()
            state.sender = me
            state.life = life.isEmpty ? nil : life
        }
        return me
    }

    /// Ends being a member in an orderly way: what was leased and not claimed comes back. What it claimed and did not settle is unknown from now on.
    public func leave() throws {
        guard let me = state.withLock({ $0.sender }) else { return }
        defer { state.withLock { $0 = State() } }
        guard !store.givingUp.isRequested else { return }
        try ask { connection in _ = try end(me, ifBeatIs: nil, connection) }
    }

    /// Declares a member dead whose beat stands still, in one transaction with giving back what it had leased and not claimed.
    /// - Parameter beat: at which it stood still.
    /// - Returns: false if it beats again, or another was faster.
    func declareDead(_ member: Int, beat: Int64) throws -> Bool {
        try StoreError.explaining { try beating.once { try end(member, ifBeatIs: beat, $0) } }
    }

    /// Gives back what this member has leased and not claimed, so that others may have it: it sends no more for now.
    public func returnLeases() throws {
        guard let me = state.withLock({ $0.sender }), !state.withLock({ $0.stretches.leases.isEmpty }) else { return }
        try ask { connection in
            try connection.transaction(within: asking.answerSeconds) {
                guard try holdFence(me, connection) else { return }
                try giveBackLeases(of: me, connection)
            }
        }
        state.withLock { $0.stretches = Stretches() }
    }

    /// - Parameter beat: nil for whatever it is.
    private func end(_ member: Int, ifBeatIs beat: Int64?, _ connection: PostgresConnection) throws -> Bool {
        let seconds = asking.answerSeconds
        return try connection.transaction(within: seconds) {
            // Waits for what the member is writing, which holds its row under FOR SHARE.
            var isEnded = false
            try connection.run(
                """
                UPDATE volley_sender SET dead_at = clock_timestamp()
                WHERE number = $1 AND dead_at IS NULL AND ($2::bigint IS NULL OR beat = $2) RETURNING 1
                """, [.int(member), .optional(beat.map(Int.init))], within: seconds
            ) { _ in isEnded = true }
            guard isEnded else { return false }
            try giveBackLeases(of: member, connection)
            try connection.run(
                "UPDATE volley_run SET conductor = NULL WHERE number = $1 AND conductor = $2", [.int(run), .int(member)], within: seconds)
            return true
        }
    }

    private func giveBackLeases(of member: Int, _ connection: PostgresConnection) throws {
        let seconds = asking.answerSeconds
        var leases: [Range<Int>] = []
        try connection.run(
            "SELECT first, last FROM volley_lease WHERE run = $1 AND sender = $2 AND redo IS NULL", [.int(run), .int(member)], within: seconds
        ) { leases.append($0.int(0)..<$0.int(1)) }
        for lease in leases { try giveBack(try claimed(of: lease, connection).gaps(in: lease), connection) }
        // Who was to be sent to again is found again by the conductor, who knows whom this member reopened.
        try connection.run("DELETE FROM volley_lease WHERE run = $1 AND sender = $2", [.int(run), .int(member)], within: seconds)
    }

    /// Takes over what is done once for all, if nobody does it.
    /// - Returns: whether this member does it from now on.
    public func becomeConductor() throws -> Bool {
        guard let me = state.withLock({ $0.sender }) else { return false }
        return try ask { connection in
            try connection.transaction(within: asking.answerSeconds) {
                let row = try row(connection, locking: true)
                guard row.conductor == nil else { return row.conductor == me }
                let count = try connection.run(
                    """
                    UPDATE volley_run SET conductor = $2, conducts_sending = true WHERE number = $1
                        AND EXISTS (SELECT 1 FROM volley_sender WHERE number = $2 AND dead_at IS NULL FOR SHARE)
                    """, [.int(run), .int(me)], within: asking.answerSeconds)
                return count == 1
            }
        }
    }

    // MARK: - Beats

    /// Says that this member is there, and looks at the run. Once, without patience: a beat that fails is followed by another.
    /// - Parameters:
    ///   - answers: this member's so far, by the numbers of services.
    ///   - paces: those that it keeps with others; each takes the part that it gets.
    ///   - wants: whether it has something to send.
    /// - Returns: nil if this member was declared dead: nothing that it writes counts any more.
    /// - Throws: `Diagnostic`: the store cannot be asked.
    public func beat(answers: [Int: [Outcome: Int]], dividing paces: [DividedPace] = [], wants: Bool = true) throws -> MemberNews? {
        guard let me = state.withLock({ $0.sender }) else { return nil }
        let beat = state.withLock { state in
            state.beat += 1
            return state.beat
        }
        let news = try StoreError.explaining {
            try beating.once { connection -> MemberNews? in
                // A beat that comes late must not overwrite a later one.
                let count = try connection.run(
                    "UPDATE volley_sender SET beat = $2, tallies = $3 WHERE number = $1 AND dead_at IS NULL AND beat < $2",
                    [.int(me), .int(beat), .text(Tallies.text(answers))], within: beating.answerSeconds)
                guard count == 1 else { return nil }
                for pace in paces { if let part = try part(of: pace, wants: wants, connection) { pace.take(part) } }
                return try look(as: me, connection)
            }
        }
        state.withLock { state in
            state.news = news
            state.members = 1 + (news?.others.count ?? 0)
            if news == nil { state.isFenced = true }
        }
        return news
    }

    private func look(as me: Int, _ connection: PostgresConnection) throws -> MemberNews {
        let row = try row(connection)
        var news = MemberNews(state: row.state, cause: row.cause)
        (news.isConductor, news.lacksConductor) = (row.conductor == me, row.conductor == nil)
        news.knowsCapped = row.knowsCapped
        try connection.run(
            "SELECT number, beat, machine, tallies, dead_at IS NULL FROM volley_sender WHERE run = $1 AND number <> $2",
            [.int(run), .int(me)], within: asking.answerSeconds
        ) { cells in
            for (service, outcomes) in Tallies.read(cells.text(3)) {
                news.elsewhere[service, default: [:]].merge(outcomes) { $0 + $1 }
            }
            guard cells.int(4) == 1 else { return }
            news.others.append(.init(number: cells.int(0), beat: Int64(cells.int(1)), machine: cells.text(2)))
        }
        let start = ContinuousClock.now, here = Timestamp.now()
        try connection.run(
            """
            SELECT first, is_open, cause <> '', next < last OR EXISTS (
                    SELECT 1 FROM volley_returned v WHERE v.run = l.run AND v.first < l.last AND v.last > l.first),
                (extract(epoch FROM clock_timestamp()) * 1000)::bigint
            FROM volley_leg l WHERE run = $1
            """, [.int(run)], within: beating.answerSeconds
        ) { cells in
            let first = cells.int(0)
            if cells.int(1) == 1 { news.openLegs.insert(first) }
            if cells.int(2) == 1 { news.stoppedLegs.insert(first) }
            if cells.int(3) == 1 { news.legsWithWork.insert(first) }
            news.clockOffsetSeconds = Double(Int64(cells.int(4)) - here.epochMilliseconds) / 1000
        }
        news.clockErrorSeconds = (.now - start) / .seconds(1) / 2
        return news
    }

    /// Lets all members send a leg: its canary was judged.
    public func open(_ leg: RunLeg) throws {
        try ask { connection in
            try connection.run(
                "UPDATE volley_leg SET is_open = true WHERE run = $1 AND first <= $2 AND last > $2", [.int(run), .int(leg.ids.lowerBound)],
                within: asking.answerSeconds)
        }
    }
}

/// A member's answers by service and outcome, as JSON.
enum Tallies {
    static func text(_ answers: [Int: [Outcome: Int]]) -> String {
        let services = answers.sorted { $0.key < $1.key }.map { service, outcomes in
            ("\(service)", JSONValue.object(pairs: outcomes.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.name, .integer(Int64($0.value))) }))
        }
        return JSONValue.object(pairs: services).text
    }

    static func read(_ text: String) -> [Int: [Outcome: Int]] {
        guard case .object(let services)? = try? JSONValue(parsing: text) else { return [:] }
        var answers: [Int: [Outcome: Int]] = [:]
        for service in services {
            guard let number = Int(service.name), case .object(let outcomes) = service.value else { continue }
            for outcome in Outcome.allCases {
                guard let count = outcomes.first(where: { $0.name == outcome.name })?.value.integerValue else { continue }
                answers[number, default: [:]][outcome] = Int(count)
            }
        }
        return answers
    }
}
