/// What to do about a mistake, as a value. A remedy in words names commands, which only people at a
/// terminal can use. Where there is no terminal, these values are worded with the pages and buttons
/// that exist there.
public enum Remedy: Hashable, Sendable {
    /// What only the people that run the machine can do.
    public enum Task: Hashable, Sendable {
        /// Put the newest file of the run back, or make it readable.
        case restoreRun(String)
        /// Undo a change of a run's file, of volley.yaml or of a credential.
        case undoChange
        /// Name the volley.yaml that the run was planned with.
        case nameProject
        /// Approve a run that was begun without the approval that it needs now.
        case approveBegun(run: String)
        /// Send the rest of a run that was cancelled.
        case resumeCancelled(run: String)
        /// List the devices that these runs have reached, so that a new plan leaves them out.
        case leaveOutReached(runs: [String])
        /// Send a campaign that has times at once.
        case sendNow
        /// Start the sender again.
        case startSender
        /// Start another sender, or put the campaign into another folder of runs.
        case giveOwnSender
        /// Look at the credentials and hosts of the app.
        case checkCredentials
        /// Make sure that the export is complete, and its tags as before.
        case checkExport
        /// Send a push to a single device.
        case pushToOne
        /// Name devices of people that test campaigns.
        case addTestDevices
        /// Let Volley use more memory, or more space for temporary files.
        case giveMemory
        /// Remove what an interrupted command left in the folder of runs.
        case tidyRuns
        /// Remove a row of the record of orders that cannot be read, or restore the record.
        case mendOrders
        /// Give the account a name that the record of approvals takes.
        case shortenName
    }

    /// Choose the devices of a campaign.
    case chooseDevices
    case approve(run: String)
    /// Send a plan.
    case send(run: String)
    case resume(run: String)
    case cancel(run: String)
    /// Cancel a run that is not over, then retry it.
    case cancelThenRetry(run: String)
    case retry(run: String)
    /// Send a retry to the devices that a run never sent to.
    case retryUnsent(run: String)
    /// See how far a run is.
    case watch(run: String)
    /// See in its report which devices a run has reached.
    case readReport(run: String)
    /// A run is still being sent: go on once it is over.
    case wait(run: String)
    case planAgain
    /// A new plan sends again to devices that have the push.
    case newPlanRepeats
    /// Each time goes out once: give the campaign another.
    case giveAnotherTime
    /// The sender does it by itself, at its time.
    case leaveToSender
    /// See on the calendar when.
    case seeCalendar
    /// Look at the preview before anything is planned.
    case preview
    /// Have a single device explained.
    case explainDevice
    /// Send to the app's own test devices.
    case sendTest
    case seeRuns
    /// See what is wrong with files of runs.
    case seeProblems
    /// See the lists of suppressed devices.
    case seeSuppressed
    case ask(Task)
}
