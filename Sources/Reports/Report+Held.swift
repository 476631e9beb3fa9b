import Base
import PushServices
import Runs

/// A run that was put back from a backup: of a held one, the figures are those of the backup, and no command goes on with it.
extension Report {
    /// Whether it had not ended when the backup was made.
    var isHeld: Bool { restored?.isHeld ?? false }

    /// Recipients that may have got the push since the backup, though the run's file has nothing of it.
    var notKnownSinceBackup: Int { count(.unsent) }

    /// The result as of the backup, and what is not known.
    var headlineOfHeld: String {
        let (all, accepted) = (TextFormat.count(plan.audience), TextFormat.count(count(.accepted)))
        let pushes = service.choosesDevices ? "\(service.recipientNoun)s" : "pushes"
        return "Held, as it was put back from a backup of \(backupMoment): by then \(acceptors) had accepted \(accepted) "
            + "of \(all) \(pushes). " + TextFormat.capitalized(whatMayHaveBeenSent)
    }

    /// When the backup was made, for people.
    var backupMoment: String { restored.map { TextStyle.moment($0.backupAt) } ?? "" }

    /// How many may have got it since the backup.
    var whatMayHaveBeenSent: String {
        let count = notKnownSinceBackup
        let which =
            count == plan.audience ? service.recipients(count) : "\(TextFormat.count(count)) \(TextFormat.plural(count, one: "other"))"
        return "since then \(which) may have \(words("got the push", ofCalls: "gone out")) without being in this file."
    }

    /// Why it is not sent on.
    var whyHeld: String {
        "no command resumes or retries it, also after `volley cancel`, as it may have been sent on: \(words("devices could get the push", ofCalls: "calls could go out")) twice"
    }

    var stepsOfHeld: [NextStep] {
        [
            NextStep(words: "\(whyHeld)."),
            NextStep(
                words:
                    "if nothing was sent after the backup, move the folder of runs away, put the backup back and say so. What was being sent while "
                    + "the backup was made stays held:", command: "volley restore BACKUP --nothing-sent-since"),
            newPlan(
                after: "otherwise accept that \(service.recipients(notKnownSinceBackup)) may \(words("get it", ofCalls: "go out")) twice"),
        ]
    }
}
