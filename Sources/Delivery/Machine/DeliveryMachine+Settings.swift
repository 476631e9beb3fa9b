import Base
import PushServices

/// Answers that are about the settings, or from something other than the service: one rule for all
/// services. They stop the run if it has not had a single push accepted, or once they came for many
/// targets in a row with none accepted in between. Otherwise an answer about the settings was about
/// its own push after all, and a stranger's was about none.
///
/// What such an answer refuses is kept until it is clear which: a push that is accepted shows that
/// the settings are right, and what was kept is rejected. If the run ends before, what was kept is
/// unsent, so that a resumption reaches it.
struct SettingsDoubt {
    /// For how many targets in a row such answers must come to stop a run that has had pushes
    /// accepted.
    static let enough = 20

    /// Targets in a row.
    fileprivate(set) var targets = 0
    /// The requests that are kept.
    fileprivate(set) var kept: [Int] = []
    /// How many pushes they have.
    fileprivate(set) var keptPushes = 0

    var isEnough: Bool { targets >= Self.enough }
}

extension DeliveryMachine {
    /// Notes that the service accepted a push, from this loop or another one: whatever refused
    /// others, the settings are right.
    mutating func noteAccepted(at now: Moment) {
        hasEverAccepted = true
        guard settingsDoubt.targets > 0 else { return }
        settingsDoubt.targets = 0
        settleKept(at: now)
    }

    /// Handles an answer that is about the settings, or may be.
    mutating func blameSettings(for request: Int, _ meaning: AnswerMeaning, _ answer: Answer, at now: Moment) {
        let count = Int(pushes[request].count)
        settingsDoubt.targets += count
        pushes[request].reason = reasonText(answer)
        guard ending == nil else {
            noteHealth(of: request, at: now)
            return settleUnsent(request, at: now)
        }
        guard settingsDoubt.isEnough || !hasEverAccepted && meaning != .stopIfRepeated else {
            serviceHealth.answered()
            guard !isExpired else { return refused(request, answer, at: now) }
            settingsDoubt.kept.append(request)
            settingsDoubt.keptPushes += count
            return
        }
        let cause = ServiceStop.refused(
            reason: answer.reason, status: answer.status, clockLagSeconds: harmfulClockLagSeconds)
        noteHealth(of: request, at: now)
        // The first push shows the cause. Where a request may be for many, they would all be lost
        // to a resumption.
        let showsCause = count == 1 && !settings.service.isForMany
        if showsCause { settleRejected(request, reason: reasonText(answer), at: now) }
        stopForService(cause, at: now)
        if !showsCause { settleUnsent(request, at: now) }
    }

    /// Handles an answer that is not the service's: it settles nothing.
    mutating func answeredByStranger(_ request: Int, _ answer: Answer, at now: Moment) {
        if pushes[request].attempts == 1 { settingsDoubt.targets += Int(pushes[request].count) }
        let stops = ending == nil && (!hasEverAccepted || settingsDoubt.isEnough)
        lastServiceReason = "\(reasonText(answer)), apparently not from \(settings.service.displayName) itself"
        if !answer.facts.wasNotPassedOn {
            guard stops || ending != nil else { return leaveInDoubt(request, reason: reasonText(answer), at: now) }
            settle(request, .unknown, reason: reasonText(answer), at: now)
            if stops { stopForService(.notTheService(status: answer.status), at: now) }
            return
        }
        pushes[request].reason = reasonText(answer)
        if stops { stopForService(.notTheService(status: answer.status), at: now) }
        if ending != nil { return settleUnsent(request, at: now) }
        serviceHealth.refused(at: now.nanoseconds)
        raiseGeneration(of: request)
        retryLater(request, retryAfterSeconds: nil, at: now)
    }

    /// Settles what was kept: as unsent if the run ends, otherwise as rejected.
    mutating func settleKept(at now: Moment) {
        let kept = settingsDoubt.kept
        (settingsDoubt.kept, settingsDoubt.keptPushes) = ([], 0)
        for request in kept {
            if ending != nil { settleUnsent(request, at: now) } else { refused(request, at: now) }
        }
    }

    /// Settles what was kept once nothing else is open, or may be, that could show what is wrong.
    mutating func settleKeptAtEnd(at now: Moment) {
        guard settingsDoubt.keptPushes > 0, settingsDoubt.keptPushes == openPushes else { return }
        if isSourceEnded || openPushes >= settings.openPushLimit { settleKept(at: now) }
    }
}

/// Texts that the service refused in a request that carries one text, without saying that a device
/// is at fault. The text is tried with a few single devices: if none of them gets it, it is refused
/// for all others, too, without a request; if one does, the requests are divided in halves until
/// the devices are found that the service does not take.
struct RefusedTexts {
    private enum Verdict: Hashable {
        /// Refused for this number of devices alone.
        case doubted(Int)
        /// Some device got it, or was refused itself.
        case taken
        /// Not sent any more; with the service's words and status.
        case stopped(reason: String, status: Int32)
    }

    /// How many devices alone show that the text is at fault.
    static let enough = 3
    private static let most = 4096

    private var verdicts: [UInt64: Verdict] = [:]
    /// Texts that were taken before any refusal, as far as more than one push has them.
    private var taken: Set<UInt64> = []
    private var lastTaken: UInt64 = 0

    /// Notes that devices got a text, or were refused themselves; 0 is no text.
    /// - Parameter accepted: how many got it; 0 for devices that were refused.
    mutating func take(_ text: UInt64, accepted: Int32 = 0) {
        guard text != 0 else { return }
        let verdict = verdicts.isEmpty ? nil : verdicts[text]
        if case .doubted? = verdict { verdicts[text] = .taken }
        guard accepted > 0 else { return }
        if verdict != nil {
            verdicts[text] = .taken
        } else if accepted > 1 || text == lastTaken, taken.count < Self.most {
            taken.insert(text)
        }
        lastTaken = text
    }

    private func verdict(on text: UInt64) -> Verdict {
        verdicts[text] ?? (taken.contains(text) || text == lastTaken ? .taken : .doubted(0))
    }

    /// Notes that a text was refused, and returns whether to try it with a single device.
    mutating func triesAlone(_ text: UInt64) -> Bool {
        guard text != 0, verdicts[text] != nil || verdicts.count < Self.most else { return false }
        switch verdict(on: text) {
        case .doubted(let devices):
            verdicts[text] = .doubted(devices)
            return true
        case .taken:
            verdicts[text] = .taken
            return false
        case .stopped: return false
        }
    }

    /// Notes that a text was refused for a device alone. Returns true once it is clear that the
    /// text is at fault.
    mutating func refuse(_ text: UInt64, reason: String, status: Int32) -> Bool {
        guard text != 0, verdicts[text] != nil || verdicts.count < Self.most,
            case .doubted(let devices) = verdict(on: text)
        else { return false }
        let isStopped = devices + 1 >= Self.enough
        verdicts[text] = isStopped ? .stopped(reason: reason, status: status) : .doubted(devices + 1)
        return isStopped
    }

    /// Why a text is not sent any more; nil if it is.
    func refusal(of text: UInt64) -> (reason: String, status: Int32)? {
        guard !verdicts.isEmpty, case .stopped(let reason, let status)? = verdicts[text] else { return nil }
        return (reason, status)
    }
}

extension DeliveryMachine {
    /// Handles the refusal of a request with a single device that the service did not name.
    mutating func refusedAlone(_ request: Int, _ answer: Answer, at now: Moment) {
        let text = pushes[request].text
        let isStopped = refusedTexts.refuse(text, reason: reasonText(answer), status: pushes[request].status)
        resolveCanary(request)
        refused(request, answer, at: now)
        guard isStopped, !hasEverAccepted, ending == nil, !hasOtherText(than: text) else { return }
        stopForService(
            .refused(reason: answer.reason, status: answer.status, clockLagSeconds: harmfulClockLagSeconds), at: now)
    }

    /// Whether a request is open with a text that is not refused for all, so that its answer shows
    /// whether texts or settings are at fault.
    private func hasOtherText(than text: UInt64) -> Bool {
        pushes.contains { slot in
            slot.state != .free && slot.state != .member && slot.text != text
                && refusedTexts.refusal(of: slot.text) == nil
        }
    }

    /// Settles the next request, which was not sent, if its text is refused for all.
    /// - Returns: whether it was settled.
    mutating func dropRefusedText(of request: Int, at now: Moment) -> Bool {
        guard let refusal = refusedTexts.refusal(of: pushes[request].text), !mustStayWhole(request) else {
            return false
        }
        if again.first == request { _ = again.removeFirst() } else { _ = removeUntried() }
        if pushes[request].mayBeDelivered {
            giveUp(request, at: now)
        } else {
            pushes[request].status = refusal.status
            settle(request, .rejected, reason: refusal.reason, at: now)
        }
        return true
    }
}
