public import Base
import Campaigns
public import Delivery
import Runs
import Workspace

/// The messages that say why a run may not begin, continue or be retried, and what to do instead.
/// No remedy pushes again to devices that the run has reached.
enum RefusalText {
    static func hasBegun(_ run: RunFile, moment: Timestamp?) -> Diagnostic {
        Diagnostic(
            "this plan has already been sent\(moment.map { ": sending began at \($0)" } ?? ""), and this file is an older copy",
            file: run.place,
            remedy:
                "Put back the newest file of the run; its report says which devices got the push. A plan is sent once.",
            [.ask(.restoreRun(run.plan.id))])
    }

    /// Other machines have sent it through a store, and what they recorded has not been fetched.
    static func isSharedOut(_ run: RunFile, _ since: Timestamp, _ step: SendGate.Step) -> Diagnostic {
        let id = run.plan.id,
            what = "other machines could send this run since \(since), and whom they have sent to is not in this file"
        if step == .retry {
            return Diagnostic(
                what, file: run.place,
                remedy:
                    "`volley resume \(id)` continues it, and fetches that from the store; so does `volley store fetch \(id)` once it has ended. "
                    + "If the store is lost, only a new plan reaches the rest: `volley report \(id)` says how.",
                [.resume(run: id), .wait(run: id)])
        }
        return Diagnostic(
            what, file: run.place,
            remedy: "Name in volley.yaml the store that has it: `store: {postgres: …}`. Then `volley resume \(id)`.",
            [.ask(.nameProject)])
    }

    /// The state of the run does not allow the step.
    static func state(_ run: RunFile, _ state: RunState, _ step: SendGate.Step) -> Diagnostic {
        let id = run.plan.id
        switch (step, state) {
        case (.begin, .running):
            return Diagnostic(
                "the run is being sent, so it cannot be sent as a plan", file: run.place,
                remedy:
                    "`volley report \(id)` shows its progress; a new plan would send again to the devices that this run has reached.",
                [.watch(run: id), .newPlanRepeats])
        case (.begin, _):
            return Diagnostic(
                "the run is \(state.rawValue), so it cannot be sent as a plan", file: run.place,
                remedy: state.hasEnded && state != .stopped
                    ? "`volley report \(id)` shows what was sent; a new plan would send to the same devices again."
                    : "`volley resume \(id)` continues it; a new plan would send again to the devices that this run has reached.",
                [state.hasEnded && state != .stopped ? .readReport(run: id) : .resume(run: id), .newPlanRepeats])
        case (.goOn, .planned):
            return Diagnostic(
                "the run has not begun yet", file: run.place,
                remedy: "`volley send --plan \(id)` begins it, after asking you.",
                [.send(run: id)])
        case (.goOn, _):
            return Diagnostic(
                "the run is finished: every device has its outcome", file: run.place,
                remedy: "`volley report \(id)` shows them.",
                [.readReport(run: id)])
        case (.retry, _):
            return Diagnostic(
                "the run is \(state.rawValue), not over", file: run.place,
                remedy: state == .planned
                    ? "`volley send --plan \(id)` sends it."
                    : "`volley resume \(id)` continues it. Or `volley cancel \(id)` ends it; then `volley retry \(id) --outcome unsent` sends to the rest.",
                state == .planned
                    ? [.send(run: id)]
                    : [state == .running ? .watch(run: id) : .resume(run: id), .cancelThenRetry(run: id)])
        }
    }

    static func neverBegun(_ run: RunFile, _ settings: RunSettings, _ step: SendGate.Step) -> Diagnostic {
        let fact =
            switch step {
            case .begin: "this plan was cancelled before any of it was sent"
            case .goOn: "this plan was cancelled before any of it was sent, so there is nothing to continue"
            case .retry: "no push of this run was ever sent, so there is nothing to retry"
            }
        return Diagnostic(
            fact,
            file: run.place,
            remedy: run.plan.retryOf == nil
                ? "Plan the campaign again: volley plan \(FilePaths.inShell(run.presentCampaignFile()))."
                : "`\(anotherRetry(run, settings))` plans another retry, for the devices that are left.",
            [run.plan.retryOf.map { .retry(run: $0) } ?? .planAgain])
    }

    /// The command that retries the same outcomes again. It names them: the default could push to
    /// unknown devices twice.
    private static func anotherRetry(_ run: RunFile, _ settings: RunSettings) -> String {
        let outcomes = Outcome.allCases.filter((settings.retriedOutcomes ?? [.failed]).contains).map(\.name)
        return "volley retry \(run.plan.retryOf ?? "") --outcome \(outcomes.joined(separator: ","))"
    }

    static func isOvertaken(_ run: RunFile) -> Diagnostic {
        Diagnostic(
            "another command began at the same moment to send this run, a retry of it, or the run that it retries",
            file: run.place,
            remedy: "Nothing was sent; try again.")
    }

    static func siblingHasSent(_ run: RunFile, _ settings: RunSettings, sibling: String) throws -> Diagnostic {
        let what = "another retry of \(run.plan.retryOf ?? ""), \(sibling), has sent to devices of this retry",
            id = run.plan.id
        if try run.hasBegun() {
            let end = try run.status().state == .cancelled ? "" : "`volley cancel \(id)` ends this retry; then "
            return Diagnostic(
                what, file: run.place,
                remedy: "\(end)`volley retry \(id) --outcome unsent` sends to the devices that are left.",
                [.cancelThenRetry(run: id)])
        }
        return Diagnostic(
            what, file: run.place,
            remedy:
                "`volley cancel \(run.plan.id)` cancels this retry; `\(anotherRetry(run, settings))` plans another, for the devices that are left.",
            [.cancel(run: run.plan.id), .retry(run: run.plan.retryOf ?? "")])
    }

    static func siblingIsUnreadable(_ run: RunFile, sibling: String, _ error: any Error) -> Diagnostic {
        Diagnostic(
            "\(sibling), another retry of \(run.plan.retryOf ?? ""), was sent, and Volley cannot read which devices it reached: "
                + "\(Diagnostic(explaining: error).message)", file: run.place,
            remedy:
                "Put its file back next to this one, and make it readable for this user. Without it, devices could get the push twice.",
            [.ask(.restoreRun(sibling))])
    }

    /// The remedy for a run that has begun, if the run or its settings have changed since; and the
    /// same as values.
    static func remedyForChanges(_ run: RunFile, _ settings: RunSettings) throws -> (String, [Remedy]) {
        let reached = try ReportsToExclude(of: run)
        let start = "Undo the change, then resume the run. No more was sent."
        let remedies: [Remedy] = [.ask(.undoChange), .resume(run: run.plan.id)]
        guard !reached.isNobody else { return (start, remedies) }
        return (
            "\(start) A new plan would send again to the devices that were reached: \(leavingOut(reached, run, settings))",
            remedies + [.newPlanRepeats] + waysToLeaveOut(reached)
        )
    }

    /// What `leavingOut` says, as values.
    private static func waysToLeaveOut(_ reached: ReportsToExclude) -> [Remedy] {
        if let unknown = reached.unknown.first { return [.ask(.restoreRun(unknown.id))] }
        if let id = reached.underway.first { return [.wait(run: id)] }
        return [.ask(.leaveOutReached(runs: reached.ids))]
    }

    /// How a new plan leaves out the devices that runs have reached, or why Volley cannot say how.
    private static func leavingOut(_ reached: ReportsToExclude, _ run: RunFile, _ settings: RunSettings) -> String {
        if let unknown = reached.unknown.first {
            return "it is not known which devices \(unknown.id) reached: \(unknown.why). \(unknown.remedy)"
        }
        if let id = reached.underway.first {
            return
                "once \(id), which is still being sent, is over (`volley report \(id)` shows its progress, `volley cancel \(id)` ends it), this command "
                + "says how to leave them out."
        }
        // The file names carry the run ids and are absolute, so an old file or one in another
        // folder is not mistaken for them. They are not next to the campaign, where a glob of
        // exports would find them.
        let folder = FilePaths.absolute(run.catalog.place)
        let files = reached.ids.map { FilePaths.join(folder, name: "reached-\($0).csv") }
        let commands = zip(reached.ids, files).map {
            "`volley report \($0) --format csv --outcome accepted,unknown --output \(FilePaths.inShell($1))`"
        }
        // The scheduled time of the run is used up, so the new plan needs `--now`.
        let sending =
            !run.plan.hasTimes
            ? "" : "; `volley send \(FilePaths.inShell(run.presentCampaignFile())) --now` sends that plan"
        return
            "leave them out with \(commands.joined(separator: " and ")), and \(excluding(files, run))\(sending).\(roomInAliases(reached.first))"
    }

    /// The YAML that excludes the files in addition to what the campaign already excludes. YAML
    /// refuses a second `devices` key, and replacing its value would send to the devices that are
    /// excluded now.
    private static func excluding(_ files: [String], _ run: RunFile) -> String {
        let plan = run.plan
        let campaign = try? Campaign.read(
            source: plan.campaignSource, file: plan.campaignFile, services: plan.services, now: .now())
        let audience = campaign?.0.audience
        let present = audience?.excludedDevices.map(\.value) ?? []
        let list = (present + files).map(FilePaths.inYAML)
        let devices = "devices: \(list.count == 1 ? list[0] : "[\(list.joined(separator: ", "))]")"
        if !present.isEmpty { return "`\(devices)` under `exclude`, in place of the 'devices' there" }
        return audience?.excludes ?? false
            ? "`\(devices)` under `exclude`, in addition to what is there" : "`exclude: {\(devices)}`"
    }

    /// Other runs have reached devices that are left in this run.
    /// - Parameters:
    ///   - others: those other runs.
    ///   - isKept: whether the plan stays when it is refused.
    static func isSuperseded(_ run: RunFile, _ settings: RunSettings, _ others: SupersedingRuns, isKept: Bool) throws
        -> Diagnostic
    {
        let isPlan = try run.plan.retryOf == nil && !run.hasBegun()
        let ids = others.runs.isEmpty ? others.unknown.map(\.id) : others.runs.map(\.plan.id)
        let (who, has, be) =
            ids.count == 1
            ? ("another run of '\(run.plan.campaign)', \(ids[0]),", "has", "is")
            : ("other runs of '\(run.plan.campaign)', \(ids.joined(separator: " and ")),", "have", "are")
        let whose = "of the devices that \(isPlan ? "this plan sends to" : "are left in this run")"
        let whom =
            switch (others.reached, others.toCome) {
            case (0, 0):
                others.unknown.count == 1
                    ? "was sent since, and it is not known which devices it reached: \(others.unknown[0].why)"
                    : "were sent since, and it is not known which devices they reached"
            case (0, let count): "\(be) being sent to \(TextFormat.count(count)) \(whose)"
            case (let count, 0): "\(has) reached \(TextFormat.count(count)) \(whose)"
            case (let count, let more):
                "\(has) reached \(TextFormat.count(count)) \(whose), and \(be) being sent to \(TextFormat.count(more)) more"
            }
        let reached = try ReportsToExclude(of: run, and: others)
        let isUnknown = others.runs.isEmpty && others.unknown.count == 1
        let instead = isUnknown ? ". \(others.unknown[0].remedy)" : "; or \(leavingOut(reached, run, settings))"
        return Diagnostic(
            "\(who) \(whom); nothing\(isPlan ? "" : " more") was sent", file: run.place,
            remedy:
                "\(isKept ? "`volley cancel \(run.plan.id)` cancels this one. " : "")A new plan of the campaign (volley plan "
                + "\(FilePaths.inShell(run.presentCampaignFile()))) sends to them again\(instead)",
            (isKept ? [.cancel(run: run.plan.id)] : []) + [.newPlanRepeats]
                + (isUnknown ? [.ask(.restoreRun(others.unknown[0].id))] : waysToLeaveOut(reached)))
    }

    /// A warning about aliases; blank if `alias_limit` left out no device. An excluded device frees
    /// its place under an alias. The next device of the same person then takes that place, although
    /// the person was already reached.
    private static func roomInAliases(_ first: RunFile) -> String {
        guard let count = first.plan.skipped[.aliasLimit], count > 0 else { return "" }
        return
            " `alias_limit` left out \(TextFormat.devices(count)), which may now take their places: look at "
            + "`volley preview` first."
    }

    /// - Parameter demand: what the volley.yaml of the campaign's folder requires; the run may have
    ///   been planned with another one.
    static func needsApproval(_ run: RunFile, _ step: SendGate.Step, _ demand: ApprovalDemand) -> Diagnostic {
        let id = run.plan.id
        let demands =
            switch demand {
            case .unknown(let why): "\(why), so it is not known whether it requires approval, and "
            case .made(let project) where !FilePaths.areOneFile(project, run.plan.projectFile):
                "the app '\(run.plan.app)' requires approval in \(project), and "
            case .made, .none: "the app '\(run.plan.app)' requires approval, and "
            }
        guard run.hasDigest else {
            return Diagnostic(
                demands + "a plan of this older format cannot be approved", file: run.place,
                remedy: "Plan the campaign again.",
                [.planAgain])
        }
        if step == .goOn {
            return Diagnostic(
                demands + "nobody has approved this run; nothing more was sent", file: run.place,
                remedy: "`volley approve \(id) --by NAME` shows and approves it, then `volley resume \(id)` continues.",
                [.ask(.approveBegun(run: id)), .resume(run: id)])
        }
        return Diagnostic(
            demands + "nobody has approved this plan; it is kept, and nothing was sent", file: run.place,
            remedy: "`volley approve \(id) --by NAME` shows and approves it, then `volley send --plan \(id)` sends it.",
            [.approve(run: id), .send(run: id)])
    }

    /// - Parameters:
    ///   - retry: the last retry of the run; nil if no file of a retry is there.
    ///   - id: the id of a retry whose file is missing.
    static func isRetried(_ run: RunFile, by retry: RunFile?, else id: String?) throws -> Diagnostic {
        let isOver = try retry?.status().state == .finished
        let unsent = RunRemainder.remedyForUnsent(run)
        let heir: Remedy? = (retry?.plan.id ?? id).map { isOver ? .readReport(run: $0) : .resume(run: $0) }
        return Diagnostic(
            "the run was cancelled and then retried\((retry?.plan.id ?? id).map { " as \($0)" } ?? "")",
            file: run.place,
            remedy: unsent
                ?? (isOver
                    ? "That retry is over: `volley report \(run.plan.id)` shows the outcomes."
                    : "Continue that retry instead: both would send the same pushes."),
            unsent == nil ? [heir ?? .seeRuns] : [.retryUnsent(run: run.plan.id)])
    }

    static func parentWentOn(_ run: RunFile, _ settings: RunSettings) -> Diagnostic {
        Diagnostic(
            "the run \(run.plan.retryOf ?? "") continued after this retry of it was planned: both would send the same pushes",
            file: run.place,
            remedy:
                "`volley cancel \(run.plan.id)` cancels this retry; `\(anotherRetry(run, settings))` plans another, for the devices that are left.",
            [.cancel(run: run.plan.id), .retry(run: run.plan.retryOf ?? "")])
    }

    /// - Parameter other: the run of the same campaign that is being sent.
    static func runsBesideAnother(_ run: RunFile, _ other: RunFile) -> Diagnostic {
        let isPaused = (try? other.status().state) == .paused
        let (state, remedy) =
            isPaused
            ? ("paused", "`volley resume \(other.plan.id)` continues it, and `volley cancel \(other.plan.id)` ends it.")
            : ("being sent", "`volley report \(other.plan.id)` shows its progress.")
        let ways: [Remedy] = isPaused ? [.resume(run: other.plan.id), .cancel(run: other.plan.id)] : []
        return Diagnostic(
            "another run of '\(run.plan.campaign)', \(other.plan.id), is \(state); nothing was sent", file: run.place,
            remedy: remedy
                + " To push to the same devices a second time, wait until that run is over, or send under another campaign name.",
            ways + [.wait(run: other.plan.id)])
    }

    static func isTooLate(_ run: RunFile, _ settings: RunSettings) -> Diagnostic {
        Diagnostic(
            "it is too late for every device of this plan (late: \(settings.schedule?.late ?? .send)); nothing was sent",
            file: run.place,
            remedy:
                "`volley send \(FilePaths.inShell(run.presentCampaignFile())) --now` makes a new plan and sends it at once, to the whole audience.",
            [.ask(.sendNow)])
    }
}

/// The refusal to send a run now. Nothing was sent.
public struct SendRefused: ExplainedError {
    /// The reason, for programs.
    public let why: SendGate.Refusal
    /// The reason, for people.
    public let diagnostics: [Diagnostic]
}
