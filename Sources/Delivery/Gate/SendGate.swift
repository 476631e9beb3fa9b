/// The one gate: may this run begin, go on, or be retried? Every way to send passes here: `send`, `send --plan`, `resume`, `retry`, `schedule`.
///
/// A value without file, lock or clock. What happened goes in as calls, what is to be done comes out as an action, until the gate has admitted the
/// run or refused it. Its driver does one action after the other, and may die between any two: what was claimed by then is found again by
/// the next one. The order is what makes it safe:
///
/// 1. the run's lock, so that nobody else sends it, resumes it, retries it or removes it while it is looked at, and other runs of its campaign see it;
/// 2. a look at everything that must be so (`Facts`), under the lock;
/// 3. the time of the schedule, claimed in one transaction that fails when another run has it;
/// 4. the record beside the runs, which knows what was begun even when the run file is an older copy;
/// 5. the run file itself, which begins only from the state that was looked at;
/// 6. the record again: from now on an older copy is no longer taken for this run. Without that nothing is sent.
public struct SendGate: Sendable {
    /// What a command wants of a run.
    public enum Step: Hashable, Sendable {
        /// To begin a plan.
        case begin
        /// To go on with what was begun.
        case goOn
        /// To make a run for some of its recipients.
        case retry
    }

    /// What is to be done next.
    public enum Action: Hashable, Sendable {
        /// Take the right to send the run; answered by `locked`.
        case lock
        /// See what is so; answered by `saw`.
        case look
        /// Claim the time of the schedule for the run; answered by `timeClaimed`.
        case claimTime
        /// Note beside the runs that it is about to begin; answered by `recorded`.
        case record
        /// Note it in the run file; answered by `began`.
        case begin
        /// Note beside the runs that the run file has it; answered by `confirmed`.
        case confirm
        /// Take the claim on the time back; answered by `timeReturned`.
        case returnTime
        /// The run may send, or be retried, as long as the lock is held.
        case admit
        /// Give the lock back, if it is held. Nothing was sent.
        case refuse(Refusal)
    }

    /// Why a run may not send.
    public enum Refusal: Hashable, Sendable {
        /// Another process has the lock.
        case isBusy
        /// The file is a copy, was renamed, has another name, or was replaced.
        case isMisplaced
        /// The record beside the runs knows of more than the file does.
        case isOutdated
        /// The state does not fit the step.
        case hasOtherState
        /// Nothing was begun that could go on.
        case neverBegun
        /// It was begun before.
        case hasBegun
        /// Recipients, campaign or settings in the file are not what was planned, or the file is damaged.
        case isChanged
        /// volley.yaml, or the credentials that it names, are others than those of the plan.
        case settingsChanged
        case needsApproval
        /// A retry has taken recipients over.
        case isRetried
        /// The run that it retries went on after it was planned.
        case parentWentOn
        case isTooLate
        /// Another run of the campaign is being sent.
        case runsBesideAnother
        /// Another run of the campaign has reached devices that are left of it.
        case isSuperseded
        /// Another run has the time of the schedule, or it is another process's to send.
        case timeIsTaken
    }

    /// What must be known of a run.
    public struct Facts: Hashable, Sendable {
        /// How far the run is, as its file says.
        public enum State: Hashable, Sendable {
            case planned
            /// Running, paused or stopped.
            case underway
            case finished, cancelled
        }

        /// Whose the time of the schedule is that the run belongs to.
        public enum Time: Hashable, Sendable {
            /// It belongs to no time of a schedule.
            case unscheduled
            /// Claimed for this run.
            case own
            case free
            case taken
        }

        /// Whether the file is the one that was planned, under its own name and in its own folder.
        public var isInPlace: Bool
        /// Whether the record beside the runs knows of a later beginning than the file does.
        public var isOutdated: Bool
        /// How far the run is.
        public var state: State
        /// Whether file or record say that sending was begun.
        public var hasBegun: Bool
        /// Whether all that was planned is as it was.
        public var isUnchanged: Bool
        /// Whether volley.yaml and credentials still say where it goes, and as whom.
        public var settingsHold: Bool
        /// Whether it lacks an approval that it needs.
        public var lacksApproval: Bool
        /// Whether some of its recipients belong to a retry of it or, when it is a retry, to another one of the same run.
        public var isRetried: Bool
        /// Of a retry: whether the run that it retries went on since.
        public var parentWentOn: Bool
        /// Whether no device would get it any more.
        public var isTooLate: Bool
        /// Whether another run of the campaign is being sent, and this one belongs to no time of a schedule.
        public var runsBesideAnother: Bool
        /// Whether another run of the campaign has reached devices that are left of it, which was most likely planned in its place, or it in the other's.
        public var isSuperseded: Bool
        /// Whose its time is.
        public var time: Time

        /// What was seen.
        public init(
            isInPlace: Bool, isOutdated: Bool, state: State, hasBegun: Bool, isUnchanged: Bool, settingsHold: Bool, lacksApproval: Bool,
            isRetried: Bool, parentWentOn: Bool, isTooLate: Bool, runsBesideAnother: Bool, isSuperseded: Bool, time: Time
        ) {
            (self.isInPlace, self.isOutdated, self.state, self.hasBegun) = (isInPlace, isOutdated, state, hasBegun)
            (self.isUnchanged, self.settingsHold, self.lacksApproval) = (isUnchanged, settingsHold, lacksApproval)
            (self.isRetried, self.parentWentOn, self.isTooLate, self.time) = (isRetried, parentWentOn, isTooLate, time)
            (self.runsBesideAnother, self.isSuperseded) = (runsBesideAnother, isSuperseded)
        }
    }

    private let step: Step
    private var hasClaimedTime = false
    private var refusal: Refusal?

    /// A gate that nothing has been done for yet.
    public init(_ step: Step) { self.step = step }

    /// The first action.
    public func start() -> Action { .lock }

    /// Whether the lock is ours.
    public mutating func locked(_ isOurs: Bool) -> Action { isOurs ? .look : .refuse(.isBusy) }

    /// What there is to see, under the lock.
    public mutating func saw(_ facts: Facts) -> Action {
        if let refusal = Self.refusal(of: step, facts) { return .refuse(refusal) }
        return facts.time == .free ? .claimTime : afterTime
    }

    /// Whether the time is this run's now.
    public mutating func timeClaimed(_ isOurs: Bool) -> Action {
        guard isOurs else { return .refuse(.timeIsTaken) }
        hasClaimedTime = true
        return afterTime
    }

    /// A retry begins nothing of the run itself; the run that it makes passes a gate of its own.
    private var afterTime: Action { step == .retry ? .admit : .record }

    /// Whether the record beside the runs took it: it does not when it knows of more than was seen.
    public mutating func recorded(_ isTaken: Bool) -> Action { isTaken ? .begin : giveUp(.isOutdated) }

    /// Whether the run file took it: it does not when its state changed meanwhile.
    public mutating func began(_ isTaken: Bool) -> Action { isTaken ? .confirm : giveUp(.hasOtherState) }

    /// Whether the record beside the runs is complete. The time stays the run's: it began, and may go on.
    public mutating func confirmed(_ isTaken: Bool) -> Action { isTaken ? .admit : .refuse(.isOutdated) }

    /// The time is free again.
    public mutating func timeReturned() -> Action { .refuse(refusal ?? .timeIsTaken) }

    private mutating func giveUp(_ refusal: Refusal) -> Action {
        guard hasClaimedTime else { return .refuse(refusal) }
        self.refusal = refusal
        return .returnTime
    }

    /// The first thing that is in the way; nil when nothing is. Also asked before a person is asked for consent.
    public static func refusal(of step: Step, _ facts: Facts) -> Refusal? {
        if !facts.isInPlace { return .isMisplaced }
        if let refusal = refusalByState(of: step, facts) { return refusal }
        if facts.isOutdated { return .isOutdated }
        if !facts.isUnchanged { return .isChanged }
        if !facts.settingsHold { return .settingsChanged }
        if step != .retry, facts.lacksApproval { return .needsApproval }
        if step != .retry, facts.isRetried { return .isRetried }
        if facts.parentWentOn { return .parentWentOn }
        // That it was sent says more than that it is too late.
        if facts.time == .taken { return .timeIsTaken }
        if step == .begin, facts.isTooLate { return .isTooLate }
        if step == .begin, facts.runsBesideAnother { return .runsBesideAnother }
        if step != .retry, facts.isSuperseded { return .isSuperseded }
        return nil
    }

    private static func refusalByState(of step: Step, _ facts: Facts) -> Refusal? {
        switch (step, facts.state) {
        case (.begin, .planned): facts.hasBegun ? .hasBegun : nil
        // The record knows more than the file.
        case (.goOn, .planned) where facts.hasBegun, (.retry, .planned) where facts.hasBegun: .isOutdated
        case (.goOn, .underway), (.goOn, .cancelled), (.retry, .finished), (.retry, .cancelled): facts.hasBegun ? nil : .neverBegun
        case (.begin, .cancelled) where !facts.hasBegun: .neverBegun
        default: .hasOtherState
        }
    }
}
