import Base
import Logs
import PushServices
import Reports
import Runs
import Sending
import Automation

extension Console {
    /// Sends the proposed run and the project's notices. Shows how the run ended, with its report,
    /// and waits until all notices are sent.
    /// - Throws: why the run may not be sent. Nothing was sent.
    func send(_ proposal: SendProposal, _ stageOptions: RunOptions, _ options: CommonOptions) throws -> ExitStatus {
        let notices = Notices(proposal.run.plan.isTest ? nil : proposal.project, retries: .short, noticeObserver)
        var stageOptions = stageOptions
        stageOptions.observer = Observer { [shown = stageOptions.observer] event in
            notices.notify(of: event)
            shown(event)
        }
        let result = try proposal.send(stageOptions)
        defer { notices.finish(until: Interruption.process) }
        return show(result, options)
    }

    private func show(_ result: RunResult, _ options: CommonOptions) -> ExitStatus {
        var about = LogSubject(result.plan)
        if let report = result.report { about.figures = LogSubject.figures(report.outcomes, of: result.plan.audience) }
        let isShown = showReport(result, options, about: about)
        let id = result.plan.id
        switch result.end {
        case .finished:
            guard !result.blamesSettings else {
                for service in result.report?.blamedServices ?? [] {
                    let tokens = service.target.shortNouns
                    warn(
                        "\(service.displayName) refused the \(tokens) of most test devices. Their \(tokens) are old, or environment or \(service.account.topic.key) in volley.yaml is wrong. "
                            + "`volley doctor \(result.plan.app)` checks them; run it before you send the campaign to its audience.",
                        about: about)
                }
                return .doneWithFailures
            }
            return isShown && result.isClean ? .done : .doneWithFailures
        case .stopped(let cause):
            warn("The run stopped: \(cause.sentence)", about: about)
            // If some services were sent to until their end, this is like any report that is not
            // clean.
            if case .services(let partial) = cause, !partial.finished.isEmpty { return .doneWithFailures }
            return .stopped
        case .interrupted:
            warn("Interrupted; \(Self.rest(of: result)). `volley resume \(id)` continues the run.", about: about)
            return .interrupted
        case .cancelled:
            warn("Cancelled; \(Self.rest(of: result)).", about: about)
            return .stopped
        }
    }

    /// The note of a report about devices that were not sent to. Until a shared run is fetched, its
    /// file lacks what was sent.
    private static func rest(of result: RunResult) -> String {
        result.report?.isShared ?? false
            ? "the store that machines share has what was sent, and the report shows it once it is fetched"
            : "what was not sent is unsent in the report"
    }

    /// Shows the report. An error here does not change what was sent, so it is only reported.
    /// - Returns: whether everything could be shown.
    private func showReport(_ result: RunResult, _ options: CommonOptions, about run: LogSubject) -> Bool {
        do {
            if let failure = result.failure { throw failure }
            if let report = result.report {
                try out(options.isJSON ? report.json.indentedText : report.text(width: width, colour: colour))
            }
            if let check = result.ledger { check.agrees ? say(check.text, about: run) : warn(check.text, about: run) }
            return true
        } catch {
            warn("The run is over, but its report cannot be shown. \(error)", about: run)
            return false
        }
    }
}
