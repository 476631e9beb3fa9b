public import Base

/// One entry of a run's journal: what happened to the run. An entry covers a range or a group of
/// recipients, never a single push.
///
/// The first nine are what several machines tell one another: their numbers in the store are
/// `volley_journal.kind`. The others say what a ledger keeps next to them, and are never written
/// into the store's journal.
///
/// ```swift
/// try ledger.append(.claimed(0..<4000, at: .now()))
/// try ledger.append(.deferred(4000..<5000, .expired, isTooLate: true, at: .now()))
/// ```
public enum RunEntry {
    /// These recipients may go onto the wire from now on. It must be committed before any of them
    /// does.
    /// - `unsent`: what is recorded at the same moment of those of the range that get nothing,
    ///   ascending.
    ///
    /// Refused if part of the range is claimed already or is not in the audience.
    case claimed(Range<Int>, unsent: [Settlement] = [], at: Timestamp)

    /// Pushes got their outcomes, or were given back as `unsent` because they were never handed
    /// over. The parts are not copied together.
    ///
    /// Refused if a recipient has an outcome other than `unsent`, or was never claimed and gets
    /// another one.
    case settled([[Settlement]])

    /// Outcomes are taken back, because these recipients are about to get the push again, so that
    /// they are claimed and nothing else: a crash leaves them unknown. It must be committed before
    /// any of them goes onto the wire. Ids ascend.
    ///
    /// Yields the attempts that were recorded, where there were any.
    case reopened([Int], resendsUnknown: Bool, at: Timestamp)

    /// Those of the recipients that were never sent to are unsent: they wait for another time and
    /// can be claimed then, or it is too late for them. Unknown recipients remain unknown.
    /// - `isTooLate`: whether they stay unsent when the run is resumed, and so are claimed at the
    ///   same moment; they are a whole wave then.
    ///
    /// Yields how many are unsent for this reason.
    case deferred(Range<Int>, OwnReason, isTooLate: Bool, at: Timestamp)

    /// Requests got their names, all or none. It must be committed before any of them goes onto the
    /// wire.
    ///
    /// Refused if a recipient of one was never claimed.
    case callsNamed([NamedCall])

    /// Calls with these numbers say nothing more.
    case callsForgotten([Int])

    /// Receipts of a service's answers: ids under which it can be asked about its pushes later.
    case receipts([String], service: Int)

    /// The run is being sent, as a new epoch of this name: what was answered before is judged
    /// apart, and stopped segments are tried again. Takes the right to send it. The store's journal
    /// does not repeat the name.
    ///
    /// Refused if the run is in none of the `from` states by now, or another process sends it.
    case epochBegan(String, at: Timestamp, from: Set<RunState>)

    /// The run paused, or waits for its next wave: what was answered before is judged apart from
    /// what comes after it.
    case rested

    /// Recipients that were claimed and have no outcome are unknown: what a killed process left
    /// behind. Written in groups: after an error the next one continues.
    ///
    /// Yields how many there were.
    case lost(at: Timestamp)

    /// What holds or stopped a segment, in place of what was recorded of it. A new epoch takes
    /// stops back, and keeps what holds.
    ///
    /// Refused if it is no segment of the run, or another process sends the run.
    case segment(RunSegment, SegmentState)

    /// The run has a state. `running` takes the right to send, sets the start if it has none yet,
    /// and takes an earlier end back; `stopped`, `finished` and `cancelled` set the end.
    ///
    /// Refused if the run is in none of the `from` states, where another process may have changed
    /// it in the meantime; nil for any.
    case state(RunState, cause: StopCause? = nil, at: Timestamp, from: Set<RunState>? = nil)

    /// The run got to its end: it finished or, if its figures say otherwise, stopped. The figures
    /// are counted at the same moment.
    ///
    /// Yields the objection: why a run with these figures did not finish.
    case finished(unless: (RunFigures) -> StopCause?, at: Timestamp)

    /// Another process wants something of the one that sends the run.
    ///
    /// Refused if no process sends the run, or the order does not fit its state by now.
    case ordered(RunOrder, at: Timestamp)

    /// An epoch is about to begin: it is noted where other runs, and older copies of this one, are
    /// recognized by it.
    ///
    /// Yields whether it was noted; only then may the epoch begin.
    case epochNoted(NewEpoch, at: Timestamp)

    /// The ledger has the epoch that was noted: an older copy is no longer taken for this run. It
    /// must be committed before anything is pushed.
    /// - `givenUp`: retries of it that were noted, and given up before they began.
    ///
    /// Yields whether it was noted: not if a retry of it has begun in the meantime.
    case epochConfirmed(givenUp: Set<String>)

    /// The epoch that this ledger began is over: how far the run is, is noted where it outlasts the
    /// ledger. Changes nothing if another one has begun since.
    case epochEnded

    /// The number of claims made so far (`RunClaims.made`): noted where it outlasts the ledger's
    /// newest part. It must be committed before the last of them goes onto the wire.
    case claimsNoted(Int)
}

/// What an entry yielded as it was appended.
public struct EntryYield: Hashable, Sendable {
    /// Of `reopened`: the attempts that were recorded, by recipient.
    public var attempts: [Int: Int] = [:]
    /// Of `deferred` and `lost`: how many recipients.
    public var count = 0
    /// Of `finished`: why the run stopped instead.
    public var objection: StopCause?
    /// Of `epochNoted` and `epochConfirmed`: whether it was noted.
    public var beginning = SendingHistory.Beginning.noted

    /// - Parameter attempts: by recipient.
    public init(
        attempts: [Int: Int] = [:], count: Int = 0, objection: StopCause? = nil,
        beginning: SendingHistory.Beginning = .noted
    ) {
        (self.attempts, self.count, self.objection, self.beginning) = (attempts, count, objection, beginning)
    }
}

/// An epoch of a run that is about to begin, and what the process that begins it has seen of the
/// run: if more is known by then, it must not begin.
public struct NewEpoch: Hashable, Sendable {
    /// Its name (`SendingHistory.epoch(after:)`).
    public var epoch: String
    /// The epoch that the run's account has now; blank when it has none.
    public var seen: String
    /// Recipients that the run has reached, or may have, as its account says.
    public var reached: Int
    /// Claims in its account (`RunClaims.made`).
    public var claimed: Int
    /// The names of the lists of its services and environments (`RunSettings.listName`).
    public var environment: String
    /// The time of the schedule that it is sent for, of a retry that of the run it retries; nil
    /// when it belongs to no time.
    public var time: SendingHistory.Time?
    /// Other begun retries of the run that it retries, as they were looked at.
    public var siblings: [String] = []
    /// Retries of it that were noted, and given up before they began, as they were looked at.
    public var givenUp: Set<String> = []
    /// The epoch of the run that it retries when the retry was planned; nil when it is not known.
    public var parentEpoch: String?

    /// The epoch after the one that was seen.
    public init(
        after seen: String, reached: Int, claimed: Int, in environment: String, for time: SendingHistory.Time? = nil
    ) {
        epoch = SendingHistory.epoch(after: seen)
        self.seen = seen
        self.reached = reached
        self.claimed = claimed
        self.environment = environment
        self.time = time
    }
}

/// How far a run file has taken over what a worker recorded in the store.
package struct FetchMark: Hashable, Sendable {
    /// The worker's number in the store, and which of its sequences of numbers this is about.
    package var sender: Int, writer: Int
    /// The number of its last entry that was taken over.
    package var number: Int

    package init(sender: Int, writer: Int, number: Int) {
        (self.sender, self.writer, self.number) = (sender, writer, number)
    }
}
