package import Base

/// A time of a campaign's schedule, and the one run that may be sent for it, on whichever machine.
package struct SharedFiring: Hashable, Sendable {
    /// How far it is.
    package enum State: String, Sendable {
        /// A service is to plan it, or has, and nothing of its run was sent. Once that service is dead, another may
        /// have it.
        case claimed
        /// Its run is being sent, or was: no other run gets the time any more.
        case begun
        /// Nothing is sent for it unless a person does so by hand: it was left out, or is too late.
        case skipped
        /// Nothing is sent for it any more: its plan was cancelled, for example.
        case over
    }

    /// The names of the app and the campaign, and the time on the schedule's clock.
    package var app: String, campaign: String, occurrence: String
    /// The run; blank for a time that was left out.
    package var run: String
    package var state: State
    /// The machine that has it.
    package var machine = MachineName.host

    package init(app: String, campaign: String, occurrence: String, run: String, state: State) {
        (self.app, self.campaign, self.occurrence, self.run, self.state) = (app, campaign, occurrence, run, state)
    }
}

extension SharedFiring {
    /// Why another run cannot be sent for the time.
    package var isTaken: Diagnostic {
        Diagnostic(
            "another machine, \(machine), has \(campaign) (\(occurrence))\(run.isEmpty ? "" : " as \(run)"); nothing was sent",
            remedy: "Each time goes out only once, on one machine. To send another push, give the campaign another time.",
            [.giveAnotherTime])
    }
}
