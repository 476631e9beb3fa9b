/// The single gate that decides whether a run may begin, go on, or be retried. Every way to send
/// passes through it: `send`, `send --plan`, `resume`, `retry`, `schedule`.
///
/// It is a value without a file, a lock or a clock. Calls tell it what happened, and it answers
/// with the next action until it has admitted or refused the run. Its driver does one action after
/// the other and may die between any two: the next driver then finds what was claimed. The order
/// makes this safe:
///
/// 1. the run's lock, so that no other process sends, resumes, retries or removes the run during
///    the checks, and other runs of its campaign see it;
/// 2. a check, under the lock, of everything that must hold (`Facts`);
/// 3. the time of the schedule, claimed in one transaction that fails when another run has it;
/// 4. the record next to the runs, which holds what was begun, even when the run file is an older
///    copy;
/// 5. the run file itself, which begins only from the state that was checked;
/// 6. the record again: from then on an older copy is no longer mistaken for this run. Without this
///    step nothing is sent.
public struct SendGate: Sendable {
    /// What a command wants to do with a run.
    public enum Step: Hashable, Sendable {
        /// Begin a plan.
        case begin
        /// Go on with a run that was begun.
        case goOn
        /// Make a new run for some of its recipients.
        case retry
    }

    /// What to do next.
    public enum Action: Hashable, Sendable {
        /// Take the run's lock, which is the right to send it; answered by `locked`.
        case lock
        /// Gather the facts; answered by `saw`.
        case look
        /// Claim the time of the schedule for the run; answered by `timeClaimed`.
        case claimTime
        /// Record next to the runs that this one is about to begin; answered by `recorded`.
        case record
        /// Record the beginning in the run file; answered by `began`.
        case begin
        /// Record next to the runs that the run file has the beginning; answered by `confirmed`.
        case confirm
        /// Give up the claim on the time; answered by `timeReturned`.
        case returnTime
        /// The run may send, or be retried, as long as the lock is held.
        case admit
        /// Release the lock, if it is held. Nothing was sent.
        case refuse(Refusal)
    }

    /// Why a run may not send.
    public enum Refusal: Hashable, Sendable {
        /// Another process has the lock.
        case isBusy
        /// The file is a copy, was renamed or replaced, or has another name.
        case isMisplaced
        /// The record next to the runs is ahead of the file.
        case isOutdated
        /// The state does not fit the step.
        case hasOtherState
        /// The run was never begun, so it cannot go on.
        case neverBegun
        /// The run was begun before.
        case hasBegun
        /// Recipients, campaign or settings in the file differ from what was planned, or the file
        /// is damaged.
        case isChanged
        /// volley.yaml, or the credentials that it names, differ from those of the plan.
        case settingsChanged
        case needsApproval
        /// A retry has taken over some of the recipients.
        case isRetried
        /// The run that this one retries went on after the retry was planned.
        case parentWentOn
        case isTooLate
        /// Another run of the campaign is being sent.
        case runsBesideAnother
        /// Another run of the campaign has reached devices that this one still has to reach.
        case isSuperseded
        /// Another run has the time of the schedule, or it is up to another process to send it.
        case timeIsTaken
    }

    /// What the gate must know about a run.
    public struct Facts: Hashable, Sendable {
        /// How far the run has come, according to its file.
        public enum State: Hashable, Sendable {
            case planned
            /// Running, paused or stopped.
            case underway
            case finished, cancelled
        }

        /// Which run, if any, holds the time of the schedule.
        public enum Time: Hashable, Sendable {
            /// The run does not belong to a time of a schedule.
            case unscheduled
            /// Claimed for this run.
            case own
            /// No run has it; or `volley schedule` has it for this run, which a person sends: it
            /// would resume what the person stops.
            case free
            case taken
        }

        /// Whether the file is the one that was planned, under its own name and in its own folder.
        public var isInPlace: Bool
        /// Whether the record next to the runs has a later beginning than the file.
        public var isOutdated: Bool
        /// How far the run has come.
        public var state: State
        /// Whether the file or the record says that sending was begun.
        public var hasBegun: Bool
        /// Whether everything is still as planned.
        public var isUnchanged: Bool
        /// Whether volley.yaml and the credentials are still those of the plan.
        public var settingsHold: Bool
        /// Whether the run lacks an approval that it needs.
        public var lacksApproval: Bool
        /// Whether some of its recipients belong to a retry of it or, if it is a retry itself, to
        /// another retry of the same run.
        public var isRetried: Bool
        /// For a retry: whether the run that it retries has gone on since.
        public var parentWentOn: Bool
        /// Whether it is too late for any device to get a push.
        public var isTooLate: Bool
        /// Whether another run of the campaign is being sent and this one does not belong to a time
        /// of a schedule.
        public var runsBesideAnother: Bool
        /// Whether another run of the campaign has reached devices that this one still has to
        /// reach. Most likely one of the two was planned in place of the other.
        public var isSuperseded: Bool
        /// Which run, if any, holds its time.
        public var time: Time

        /// Creates the facts.
        public init(
            isInPlace: Bool, isOutdated: Bool, state: State, hasBegun: Bool, isUnchanged: Bool, settingsHold: Bool,
            lacksApproval: Bool,
            isRetried: Bool, parentWentOn: Bool, isTooLate: Bool, runsBesideAnother: Bool, isSuperseded: Bool,
            time: Time
        ) {
            self.isInPlace = isInPlace
            self.isOutdated = isOutdated
            self.state = state
            self.hasBegun = hasBegun
            self.isUnchanged = isUnchanged
            self.settingsHold = settingsHold
            self.lacksApproval = lacksApproval
            self.isRetried = isRetried
            self.parentWentOn = parentWentOn
            self.isTooLate = isTooLate
            self.runsBesideAnother = runsBesideAnother
            self.isSuperseded = isSuperseded
            self.time = time
        }
    }

    private let step: Step
    private var hasClaimedTime = false
    private var refusal: Refusal?

    /// Creates a gate at its first action.
    public init(_ step: Step) { self.step = step }

    /// Returns the first action.
    public func start() -> Action { .lock }

    /// Tells the gate whether the driver has got the lock.
    public mutating func locked(_ isOurs: Bool) -> Action { isOurs ? .look : .refuse(.isBusy) }

    /// Tells the gate the facts, gathered under the lock.
    public mutating func saw(_ facts: Facts) -> Action {
        if let refusal = Self.refusal(of: step, facts) { return .refuse(refusal) }
        return facts.time == .free ? .claimTime : afterTime
    }

    /// Tells the gate whether the run now holds the time.
    public mutating func timeClaimed(_ isOurs: Bool) -> Action {
        guard isOurs else { return .refuse(.timeIsTaken) }
        hasClaimedTime = true
        return afterTime
    }

    /// A retry does not begin the run itself: the run that it makes passes through its own gate.
    private var afterTime: Action { step == .retry ? .admit : .record }

    /// Tells the gate whether the record next to the runs accepted the beginning. It does not if it
    /// is ahead of the facts.
    public mutating func recorded(_ isTaken: Bool) -> Action { isTaken ? .begin : giveUp(.isOutdated) }

    /// Tells the gate whether the run file accepted the beginning. It does not if its state has
    /// changed since.
    public mutating func began(_ isTaken: Bool) -> Action { isTaken ? .confirm : giveUp(.hasOtherState) }

    /// Tells the gate whether the record next to the runs is complete. The run keeps the time
    /// either way: it began, and may go on.
    public mutating func confirmed(_ isTaken: Bool) -> Action { isTaken ? .admit : .refuse(.isOutdated) }

    /// Tells the gate that the time is free again.
    public mutating func timeReturned() -> Action { .refuse(refusal ?? .timeIsTaken) }

    private mutating func giveUp(_ refusal: Refusal) -> Action {
        guard hasClaimedTime else { return .refuse(refusal) }
        self.refusal = refusal
        return .returnTime
    }

    /// Returns the first thing that is in the way; nil if nothing is. Also called before asking a
    /// person for consent.
    public static func refusal(of step: Step, _ facts: Facts) -> Refusal? {
        if !facts.isInPlace { return .isMisplaced }
        if let refusal = refusalByState(of: step, facts) { return refusal }
        if facts.isOutdated { return .isOutdated }
        if !facts.isUnchanged { return .isChanged }
        if !facts.settingsHold { return .settingsChanged }
        if step != .retry, facts.lacksApproval { return .needsApproval }
        if step != .retry, facts.isRetried { return .isRetried }
        if facts.parentWentOn { return .parentWentOn }
        // Before `isTooLate`: that another run has the time says more than that it is too late.
        if facts.time == .taken { return .timeIsTaken }
        if step == .begin, facts.isTooLate { return .isTooLate }
        if step == .begin, facts.runsBesideAnother { return .runsBesideAnother }
        if step != .retry, facts.isSuperseded { return .isSuperseded }
        return nil
    }

    private static func refusalByState(of step: Step, _ facts: Facts) -> Refusal? {
        switch (step, facts.state) {
        case (.begin, .planned): facts.hasBegun ? .hasBegun : nil
        // The record is ahead of the file.
        case (.goOn, .planned) where facts.hasBegun, (.retry, .planned) where facts.hasBegun: .isOutdated
        case (.goOn, .underway), (.goOn, .cancelled), (.retry, .finished), (.retry, .cancelled):
            facts.hasBegun ? nil : .neverBegun
        case (.begin, .cancelled) where !facts.hasBegun: .neverBegun
        default: .hasOtherState
        }
    }
}
