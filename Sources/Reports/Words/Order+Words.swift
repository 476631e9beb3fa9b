import Base
public import Runs

extension Order.Kind {
    /// The order, as written after a name and before a colon:
    /// `send 20261201-090000-spring-sale-7f3a`.
    public var words: String {
        let most = values.mostDevices.map { " for at most \(TextFormat.devices($0))" } ?? ""
        let subject =
            switch subject {
            case .run(let run): run
            case .file(let file): TextFormat.inLine(file)
            case .campaign(let campaign): "\(campaign) at \(values.occurrence ?? "")"
            }
        return "\(verb) \(subject)\(most)"
    }

    private var verb: String {
        switch self {
        case .approveTime: "approve"
        case .retryUnsent: "retry what was unsent of"
        case .withdrawApproval: "withdraw the approval of"
        default: name
        }
    }
}

extension OrderState {
    /// The result of an order, as written after a colon.
    public var sentence: String { sentence(for: .terminal) }

    /// The same in the words of a face.
    public func sentence(for face: TextMedium) -> String {
        switch self {
        case .waiting: "waiting for \(face.sender)"
        case .taken: "being done"
        case .done(let result): result.sentence(for: face)
        case .refused(let refusal): "not done: \(refusal.sentence)"
        case .lapsed: "lapsed: it was not begun in time, and nothing was done; order it again if you still want it"
        case .left(let remains): "\(face.sender) ended while it did this: \(remains.sentence)"
        }
    }
}

extension OrderResult {
    /// Its result.
    func sentence(for face: TextMedium) -> String {
        let run = run.map { " (\($0))" } ?? ""
        return switch end {
        case nil: "done\(run)"
        case .finished: "sent to its end\(run)"
        case .stopped(let cause): "sent, and stopped\(run): \(cause.sentence(for: face))"
        case .cancelled: "sent, and cancelled\(run)"
        case .interrupted: "sent, and interrupted\(run) because \(face.sender) was ended; resume the run to go on"
        }
    }
}

extension OrderRefusal {
    /// Why an order was not carried out, as written after a colon, with what to do instead.
    public var sentence: String {
        switch self {
        case .notPermitted: "you have no right to do this; ask an administrator for it"
        case .wroteIt: "you wrote this campaign, so another person must approve it; ask a colleague"
        case .askedForIt: "you asked for this approval, so another person must give it; ask a colleague"
        case .planDiffers: "the plan is not the one that you saw; look at it again, and order it from there"
        case .fileDiffers: "the campaign's file was changed after you saw it; look at it again, and order it from there"
        case .overtaken: "the run was paused or cancelled by a later order; resume it if you still want it sent"
        case .nothingToRetry:
            "no device of this run is left for a retry: earlier retries took over all of them, or each has its result"
        case .noSuchTime: "the campaign has no such time to come; look at the calendar again"
        case .timeHasCome(let run?): "the time has come already; cancel its run, \(run), if you do not want it sent"
        case .timeHasCome(nil): "the time has come already, and nothing of it can be left out any more"
        case .devicesUnknown:
            "its push service chooses the devices, so nobody knows their number beforehand; approve it when its time comes"
        case .described(let words): words
        }
    }
}

extension OrderRemains {
    /// The present state, and what to do.
    public var sentence: String {
        switch self {
        case .nothing: "nothing came of it; order it again"
        case .notBegun(let run): "nothing of \(run) was sent; order it again"
        case .unfinished(let run): "\(run) was begun and did not end; resume it to go on"
        case .elsewhere(let run): "\(run) is being sent, or is paused"
        case .ended(let run, let state): "\(run) is \(state.rawValue)"
        case .unknown(let run, let words):
            "it may have been done; look at \(run ?? "the calendar")\(words.isEmpty ? "" : " (\(words))")"
        }
    }
}
