public import Base

/// How far an order is.
public enum OrderState: Hashable, Sendable {
    /// No sender has taken it.
    case waiting
    /// A sender does it, or died while it did. `epoch` is a random name of that process.
    case taken(epoch: String)
    case done(OrderResult)
    /// It was not done, and never will be.
    case refused(OrderRefusal)
    /// Its time was over before a sender began it. It is never done.
    case lapsed
    /// The sender that had taken it ended before it was done, and it is not done again.
    case left(OrderRemains)

    /// Whether nothing more is done about it.
    public var hasEnded: Bool {
        switch self {
        case .waiting, .taken: false
        case .done, .refused, .lapsed, .left: true
        }
    }

    /// Its name in `orders.sqlite` and in JSON.
    public var name: String {
        switch self {
        case .waiting: "waiting"
        case .taken: "taken"
        case .done: "done"
        case .refused: "refused"
        case .lapsed: "lapsed"
        case .left: "left"
        }
    }
}

/// What came out of an order that was done.
public struct OrderResult: Hashable, Sendable {
    /// The run that it was about, or that it made; nil for a time that was left out.
    public var run: String?
    /// How the run ended; nil for an order that sent nothing itself.
    public var end: RunEnd?

    /// A result.
    public init(run: String?, end: RunEnd? = nil) {
        self.run = run
        self.end = end
    }
}

/// Why an order was not done.
public enum OrderRefusal: Hashable, Sendable {
    /// The person has no right to it, or has it no more.
    case notPermitted
    /// The approver wrote the campaign.
    case wroteIt
    /// The approver requested the approval.
    case askedForIt
    /// The plan is not the one that the page showed.
    case planDiffers
    /// The campaign's file is not as the page showed it.
    case fileDiffers
    /// A later order paused or cancelled the run before this one was begun.
    case overtaken
    /// No device of the run failed or is unknown.
    case nothingToRetry
    /// The campaign has no such time to come.
    case noSuchTime
    /// The time has come; its run, if it has one.
    case timeHasCome(run: String?)
    /// A push service chooses the devices of the campaign, so that their number is not known beforehand.
    case devicesUnknown
    /// In words: what an error says.
    case described(String)
}

/// What is known of an order whose sender ended before it was done.
public enum OrderRemains: Hashable, Sendable {
    /// There is no run of it.
    case nothing
    /// The run is a plan of which nothing was sent.
    case notBegun(run: String)
    /// The run was begun and has not ended. It continues when a person resumes it.
    case unfinished(run: String)
    /// Another process sends the run, or it is paused.
    case elsewhere(run: String)
    /// The run is over.
    case ended(run: String, RunState)
    /// The order was to change something and may have done so, or the run cannot be read; with an error's words, or
    /// blank.
    case unknown(run: String?, String)
}
