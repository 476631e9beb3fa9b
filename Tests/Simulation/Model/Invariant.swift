/// What must hold in every campaign, whatever happens.
enum Invariant: String, CaseIterable {
    case settlesOnce = "every recipient settles exactly once"
    case notSentAgain = "nothing is sent again without leave"
    case streamLimit = "never more streams than the latest limit"
    case canary = "the first pushes are answered before the rest goes out"
    case pace = "never faster than the pace"
    case tokenAge = "no token older than 60 minutes"
    case tokenMinted = "no token minted within 20 minutes of the last, none fetched sooner than the service allows"
    case tokenEnd = "no request leaves with a token past its end"
    case ledger = "accepted is what the ledger accepted"
    case outcome = "an outcome says what happened"
    case stillInDoubt = "no push whose answer was lost is later reported rejected, failed or unsent"
    case attempts = "attempts are counted"
    case timeout = "no retry before its time, nothing given up too early"
    case quota = "nothing leaves while the quota is used up, and then one push tries"
    case tokenRefusals = "a refused token is renewed; if the new one is refused before it ever passed, the run stops"
    case connectionUse = "nothing is submitted where nothing may be"
    case afterEnd = "nothing is submitted after deadline, interrupt or stop"
    case gate = "nothing is submitted while the gate is closed"
    case stops = "a run stops for a reason, and whenever there is one"
    case accounts = "every push is accounted for at any time"
    case awake = "never sleeps while something is due"
    case ends = "it ends"
    case bytes = "every token gets its own payload"
    case requests = "a request carries what its service takes"
    case recognized = "no device gets a push twice from a service that recognizes repeats"
    case named = "no request leaves before its name is on record, and a name stands for the same devices as on record"
    case settingsJudged = "a run whose answers mostly blame its settings stops, and no other at its end"
    case tokensJudged = "doubtful refusals suppress when the run finished and enough others were accepted"
    case goodDevicesStay = "a good device is never suppressed"
    case suppressedByName = "no device is suppressed unless the service named it"
    case goneDevicesGo = "a device that is gone is suppressed"
    case health = "a silent connection is asked, and given up"
    case pushedOnce = "no command sends what another has sent"
    case oneOfTwo = "what another run of the campaign has reached since is not sent again"
    case oneAtATime = "no plan begins while a run of its campaign is sent that had its lock before"
    case oneTime = "a time of a schedule is sent by one run"
    case approved = "nothing is sent without the approval that it needs"
    case asPlanned = "only the file that was planned is sent, as it was planned"
    case refusedFirst = "what is in the way is refused before anything is claimed or noted"
}

struct Violation {
    var invariant: Invariant
    var text: String
    /// True time since the campaign's start, in nanoseconds.
    var time: Int64
}
