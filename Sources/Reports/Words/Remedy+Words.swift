public import Base

extension Remedy {
    /// What to do in the console: a sentence that names the page and its button.
    public var sentence: String {
        switch self {
        case .chooseDevices: "Choose them under “Who” in the campaign’s form."
        case .approve(let run):
            "“Approve” on the page of \(run) gives the approval that it needs; an approver other than its writer can press it."
        case .send(let run): "“Send” on the page of \(run) sends it."
        case .resume(let run): "“Resume” on the page of \(run) lets it go on."
        case .cancel(let run): "“Cancel” on the page of \(run) ends it."
        case .cancelThenRetry(let run):
            "Or “Cancel” on the page of \(run) ends it; then “Retry unsent” sends to the devices that got nothing."
        case .retry(let run): "“Retry” on the page of \(run) plans another retry, for the devices that are left."
        case .retryUnsent(let run): "“Retry unsent” on the page of \(run) sends to the devices that it never sent to."
        case .watch(let run): "The page of \(run) shows its progress."
        case .readReport(let run): "“Read the report” on the page of \(run) shows which devices got the push."
        case .wait(let run): "Wait until \(run) is over; its page shows its progress."
        case .planAgain: "“Plan” on the campaign’s page plans it again."
        case .newPlanRepeats: "A new plan would send again to the devices that got the push."
        case .giveAnotherTime:
            "Each time goes out only once: to send the campaign again, “Edit” it and write a later time."
        case .leaveToSender: "It is sent by itself at its time."
        case .seeCalendar: "“Calendar” shows when its times come."
        case .preview: "“Preview” on the campaign’s page shows it."
        case .explainDevice: "“Why this device?” on the preview’s page explains a single device."
        case .sendTest: "“Send a test” on the campaign’s page sends another."
        case .seeRuns: "“Runs” lists the runs."
        case .seeProblems: "“System” shows what is wrong with each."
        case .seeSuppressed: "“Suppression” shows the lists."
        case .ask(let task): "Ask the people who run Volley to \(task.words)."
        }
    }
}

extension Remedy.Task {
    /// What to request, as written after `to`.
    fileprivate var words: String {
        switch self {
        case .restoreRun(let run): "put back the newest file of \(run), so that no device gets the push twice"
        case .undoChange:
            "undo what was changed since it was planned, in its file, in volley.yaml or in the credentials"
        case .nameProject: "put volley.yaml back where it was when the run was planned"
        case .approveBegun(let run): "have \(run) approved, as it was begun without the approval that it needs now"
        case .resumeCancelled(let run): "resume \(run) after all, if the rest is to be sent"
        case .leaveOutReached(let runs):
            "list the devices that \(Report.listed(runs, by: "and")) reached, so that a new plan can leave them out"
        case .sendNow: "send it at once, if it cannot wait"
        case .startSender: "start the sender again"
        case .giveOwnSender: "start another sender for this campaign"
        case .checkCredentials: "check the app’s credentials and hosts"
        case .checkExport: "make sure that the export is complete and that its tags are written as before"
        case .pushToOne: "push to that single device"
        case .addTestDevices: "add your phone: they need its token, or the alias that you have in the app"
        case .tidyRuns: "remove what an interrupted command left"
        case .giveMemory: "give Volley more memory, or more space for temporary files"
        case .mendOrders:
            "remove the damaged order, or put the record of orders back from a backup; then order it again"
        case .shortenName: "give the account another name"
        }
    }
}

extension Diagnostic {
    /// The problem, without its final full stop, in the words of a face.
    public func message(for face: TextMedium) -> String { face == .console ? plainMessage ?? message : message }

    /// What to do next, whole sentences, in the words of a face; nil if the message says it.
    public func remedy(for face: TextMedium) -> String? {
        face == .terminal || remedies.isEmpty ? remedy : remedies.map(\.sentence).joined(separator: " ")
    }

    /// What people read in a browser, as written after a colon. Paths of the server are left to
    /// logs.
    public var inConsole: String {
        let place = position.map { "line \($0.line), column \($0.column): " } ?? ""
        let remedy = remedy(for: .console).map { ". \($0)" } ?? ""
        return TextFormat.printable("\(place)\(message(for: .console))\(remedy)")
    }
}

extension Diagnostics {
    /// What people read in a browser, a sentence or more for each.
    public var inConsole: String {
        guard all.count > 1 else { return all[0].inConsole }
        let sentences = all.map { TextFormat.capitalized($0.inConsole) }
        return sentences.map { $0.hasSuffix(".") ? $0 : "\($0)." }.joined(separator: " ")
    }
}

/// The readers of a text: the same facts are written for users of the command line and for users of
/// the console.
public enum TextMedium: Hashable, Sendable {
    /// The command line, and the files that it writes.
    case terminal
    /// A browser: the operators of Volley do what only a command can do.
    case console
}

extension TextMedium {
    /// The name of the process that sends.
    var sender: String { self == .console ? "the sender" : "volley schedule" }
}
