import Base
public import Runs

extension ScheduleProblem {
    /// Why a time waits, was given up, or did not reach every device, as written after a colon.
    public var sentence: String { sentence(for: .terminal) }

    /// The same after the state of the time; nil if the state already says it.
    public func sentence(behind state: ScheduledRun.State) -> String? {
        state == .cancelled && self == .stopped(.cancelled) ? nil : sentence
    }

    /// The same in the words of a face.
    public func sentence(for face: TextMedium) -> String {
        switch self {
        case .noticedLate(let seconds):
            "it was noticed \(Self.duration(seconds)) after its time, which is later than 'late' allows"
        case .brokenTooLong(let seconds):
            "its file had mistakes until \(Self.duration(seconds)) after its time, which is later than 'late' allows"
        case .sentUnderAnotherName: "its file was sent or skipped at this time already, under another name"
        case .nextHadCome(let occurrence): "its next time, \(occurrence), had come as well"
        case .superseded(let occurrence, let before):
            (before.map { Self.clause($0.sentence(for: face)) + "; " } ?? "") + "its next time, \(occurrence), has come"
        case .andBefore(let times, let problem):
            "\(Self.clause(problem.sentence(for: face))); so had \(TextFormat.count(times)) times before it"
        case .approvalVoid(let name, let flaw):
            "\(name) approved it beforehand, but \(Self.clause(flaw.sentence)); it waits for another approval"
        case .unapproved: "nobody had approved it"
        case .approvedTooLate: "nobody approved it in time"
        case .plannedTooLate: "its plan was ready too late"
        case .planningEnded: "the process that planned it was ended, and there was no other in time"
        case .campaignChanged: "its file was changed just before it was planned, and says another time or name"
        case .zoneChanged: "the rules of its time zone were changed, and by the new ones it comes later"
        case .campaignBroken: "its file has mistakes, or cannot be read"
        case .fileChanging(let file, let seconds):
            "\(file) was changed less than \(seconds) seconds ago, and may still be being written; its time waits until it is left alone"
        case .begunTooLate: "it could not be begun in time"
        case .runGone: "the file of its run is gone"
        case .stopped(let cause): cause.sentence(for: face)
        case .missed(let missed): missed.sentence
        case .notAccepted(let count, let unanswered, let audience):
            "\(TextFormat.count(count)) of \(TextFormat.counted(audience, one: "push", many: "pushes")) (\(TextFormat.percent(Double(count) / Double(audience)))) \(Self.failed(count, unanswered: unanswered))"
        case .sentByHand: "sent by hand"
        case .restored: "the runs were put back from a backup, and it may have been sent before"
        case .leftOut(let name): "\(name) left it out beforehand"
        case .elsewhere(let machine, ""): "it was left out on another machine, \(machine)"
        case .elsewhere(let machine, let run): "another machine, \(machine), has it as \(run)"
        case .described(let words): words
        }
    }

    /// A sentence, such as a mistake with its remedy, before a semicolon.
    private static func clause(_ words: String) -> String { words.hasSuffix(".") ? String(words.dropLast()) : words }

    private static func failed(_ count: Int, unanswered: Int) -> String {
        switch unanswered {
        case 0: "failed or \(TextFormat.plural(count, one: "was", many: "were")) rejected"
        case count: "got no answer, and may or may not have arrived"
        default: "failed, were rejected or got no answer (\(TextFormat.count(unanswered)) of them)"
        }
    }

    private static func duration(_ seconds: Int) -> String { TextFormat.duration(seconds: Double(seconds)) }
}

extension AdvanceApproval.Flaw {
    /// Why the approval does not hold, as written after "but".
    public var sentence: String {
        switch self {
        case .sourceDiffers: "the campaign or the settings of its app were changed afterwards"
        case .tooManyDevices(let devices, let most):
            "for at most \(TextFormat.devices(most)), and it would reach \(TextFormat.count(devices))"
        case .notPermitted(.wroteIt): "\(Self.person) wrote it"
        case .notPermitted(.notPermitted): "\(Self.person) may not approve any more"
        case .notPermitted(let refusal): refusal.sentence
        }
    }

    private static let person = "that person"
}

extension MissedPushes {
    /// How many were missed, and why.
    public var sentence: String {
        let isOne = count == 1
        let all = TextFormat.counted(audience, one: "push", many: "pushes")
        let share = TextFormat.percent(Double(count) / Double(audience))
        return "\(TextFormat.count(count)) of \(all) (\(share)) \(isOne ? "was" : "were") never sent, as "
            + "\(because(isOne ? "it expired" : "they expired"))."
    }

    /// - Parameter expired: that the pushes expired, in words.
    func because(_ expired: String) -> String {
        let turn = "\(count == 1 ? "its" : "their") turn came"
        return switch (self.expired, tooLate) {
        case (0, 0): "the run ended before \(turn)"
        case (_, 0): "\(expired) before \(turn)"
        case (0, _): "it was too late when \(turn)"
        default: "\(expired), or it was too late, when \(turn)"
        }
    }
}
