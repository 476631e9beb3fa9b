import Automation
import Base
import Campaigns
import Content
import Delivery
import Planning
import PushServices
import Reports
import Runs
import Sending
import Workspace

/// `volley check`: reads and validates campaigns; nothing is expanded.
public enum CheckCommand {
    /// Checks each file, shows all mistakes in all files, and names the files that are fine.
    public static func run(files: [String], options: CommonOptions, console: Console) throws -> ExitStatus {
        // Ctrl-C also ends waiting for a database.
        Interruption.install()
        var results: [JSONValue] = []
        var isClean = true
        // Campaigns of one folder share the mistakes of their volley.yaml.
        var shown: Set<String> = []
        for file in files {
            let result = check(CampaignFile(file, in: options.project), at: .now(), asking: Interruption.process)
            if Interruption.process.isRequested { throw CancellationError() }
            let (errors, lint) = (result.errors, result.lint)
            let warnings = lint?.shown ?? []
            isClean = isClean && errors.isEmpty
            results.append(
                .object(pairs: [
                    ("file", .string(Diagnostic.shownFile(file))), ("valid", .bool(errors.isEmpty)),
                    ("errors", .array(errors.map(\.json))), ("warnings", .array(warnings.map(\.json))),
                    ("silenced", lint?.silencedJSON ?? .array([])),
                ]))
            guard !options.isJSON else { continue }
            if let lint { console.show(.lint(lint)) }
            console.show(errors.filter { shown.insert($0.description).inserted })
            if let approval = result.approval(of: file) { try console.out(approval) }
        }
        if options.isJSON { try console.out(.object(pairs: [("files", .array(results))])) }
        return isClean ? .done : .wrong
    }
}

/// `volley preview`: shows which devices would get a campaign, and what they would get. Nothing is
/// written or sent.
public enum PreviewCommand {
    /// Shows the preview of a campaign.
    /// - Parameters:
    ///   - samples: how many rendered payloads to show of each text; nil for three, or for one of
    ///     each if there are several texts.
    ///   - page: a file for the preview as an HTML page; nil for none.
    ///   - asks: whether the service that chooses the devices checks the calls.
    public static func run(
        file: String, samples: Int?, page: String? = nil, asks: Bool = false, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        Interruption.install()
        let now = Timestamp.now()
        let preview = try Planning.preview(
            CampaignFile(file, in: options.project), samples: samples, console.planning(options), at: now
        ) {
            catalog in
            try ResultFileCheck.check(page, option: "--html", what: "page", runsFolder: catalog.place)
            try checkEnding(of: page)
        }
        if let page { try write(PreviewPage(preview: preview, madeAt: now), to: page, console) }
        let answers =
            asks ? try AskCommand.ask(CampaignFile(file, in: options.project), options: options, console: console) : []
        if options.isJSON {
            let asked = asks ? [JSONMember("asked", .array(answers.map(\.json)))] : []
            guard case .object(let members) = preview.json else { preconditionFailure("a preview is an object") }
            try console.out(.object(members + asked))
        } else {
            let text = preview.text(width: console.width, colour: console.colour, isVerbose: console.options.isVerbose)
            try console.out(([text] + asked(answers, console)).joined(separator: "\n"))
        }
        return answers.allSatisfy(\.isAccepted) ? .done : .doneWithFailures
    }

    /// What the service answered to each call.
    private static func asked(_ answers: [AskCommand.Answer], _ console: Console) -> [String] {
        guard !answers.isEmpty else { return [] }
        return ["", "Checked by the service; nothing was sent"]
            + answers.flatMap { answer in
                TextWidth.wrapped("\(answer.call.words): \(answer.words)", to: max(40, console.width - 4)).enumerated()
                    .map {
                        ($0 == 0 ? "  " : "    ") + $1
                    }
            }
    }

    /// Checks the file's extension: programs choose by it how to open the file.
    private static func checkEnding(of page: String?) throws(Diagnostic) {
        guard let page, let dot = page.lastIndex(of: "."), !page[dot...].contains("/") else { return }
        let ending = page[dot...].dropFirst().lowercased()
        guard ["pdf", "doc", "docx", "xlsx", "xls", "csv", "json", "txt", "png", "jpg", "jpeg"].contains(ending) else {
            return
        }
        throw Diagnostic(
            "a .\(ending) file would hold an HTML page", file: page,
            remedy: "Write --html \(page[..<dot]).html; browsers can print it, also as a PDF.")
    }

    private static func write(_ page: PreviewPage, to file: String, _ console: Console) throws {
        let sink = try OutputSink(file: file, console: console, what: "page", remedy: "Name another file with --html.")
        try sink.write(Array(page.html.markup.utf8))
        try sink.finish()
        console.say("The preview is in \(file).")
    }

    /// Explains step by step why a device gets the campaign, or does not.
    /// - Parameter who: a device token, whole or as `7276…89f1`, an alias, or a registration id.
    public static func explain(file: String, who: String, options: CommonOptions, console: Console) throws -> ExitStatus
    {
        Interruption.install()
        let explanation = try Planning.explain(
            who, CampaignFile(file, in: options.project), console.planning(options), at: .now())
        if options.isJSON {
            try console.out(explanation.json)
        } else {
            try console.out(explanation.text(width: console.width, colour: console.colour))
        }
        return .done
    }
}

/// `volley preview --ask`: a service that chooses the devices checks the calls, and sends nothing.
enum AskCommand {
    /// What the service answered to a call.
    struct Answer {
        var call: AudienceCall
        var isAccepted: Bool
        /// In words: `accepted`, or the status, the reason and what it means.
        var words: String
        var json: JSONValue
    }

    /// Queries each call, one after the other.
    /// - Throws: `Diagnostic`: Volley chooses the devices of the campaign, the service checks
    ///   nothing, or it cannot be reached.
    static func ask(_ campaign: CampaignFile, options: CommonOptions, console: Console) throws -> [Answer] {
        let now = Timestamp.now()
        let calls = try callsToAsk(campaign, at: now)
        let settings = calls.settings
        let route = try ProxyRoute(
            calls.proxy, to: settings.firstService.environment, tokens: settings.service.account.tokenExchange)
        return try calls.calls.map { call in
            let stageOptions = console.running(options)
            let single = try SinglePush(settings, route, stageOptions.context, at: now, as: calls.checker)
            let result = try single.send(calls.payload, to: call.target, stageOptions)
            switch result.end {
            case .finished: break
            case .interrupted, .cancelled: throw CancellationError()
            case .stopped(let cause):
                // A refusal of the call itself is its answer.
                if result.settlement.status == 0 {
                    throw Diagnostic("\(settings.service.displayName) did not answer: \(cause.sentence)")
                }
            }
            return answer(call, result, settings.service)
        }
    }

    private static func answer(_ call: AudienceCall, _ result: SinglePush.Result, _ service: any PushService) -> Answer
    {
        let settlement = result.settlement, isAccepted = settlement.outcome == .accepted
        let advice = ReasonText.explanation(of: settlement.reason, by: service)
        let status = settlement.status == 0 ? "no answer" : "\(settlement.status)"
        let refusal = settlement.reason.isEmpty ? status : "\(status) \(settlement.reason)"
        let members: [(String, JSONValue)] = [
            ("call", .string(call.words)), ("accepted", .bool(isAccepted)),
            ("status", settlement.status == 0 ? .null : .integer(Int64(settlement.status))),
            ("reason", settlement.reason.isEmpty ? .null : .string(settlement.reason)),
            ("advice", advice.map { .string($0) } ?? .null),
        ]
        return Answer(
            call: call, isAccepted: isAccepted,
            words: isAccepted ? "accepted" : refusal + (advice.map { ": \($0)" } ?? ""),
            json: .object(pairs: members))
    }
}

/// `volley plan`: freezes the audience into a run file and sends nothing.
public enum PlanCommand {
    /// Prints the preview and the run's id; with `--json` the preview's document with the members
    /// `run` and `file` in front.
    public static func run(file: String, options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let now = Timestamp.now()
        let planned = try plan(
            CampaignFile(file, in: options.project), for: .keeping, console.planning(options), at: now)
        let (run, preview) = (planned.run, planned.preview)
        let needsApproval = try needsApproval(run, in: options.project)
        let done = "Planned as \(run.plan.id) in \(run.place)"
        let answer: String
        if options.isJSON {
            guard case .object(let members) = preview.json else { return .done }
            answer =
                JSONValue.object(
                    [JSONMember("run", .string(run.plan.id)), JSONMember("file", .string(run.place))] + members
                ).indentedText
        } else {
            let text = preview.text(
                width: console.width, colour: console.colour, isVerbose: console.options.isVerbose,
                cards: Preview.cardsBesidePlan)
            let waiting = planned.waitsForTimes(at: now) ? " (which waits for its times)" : ""
            let approval = needsApproval ? "Approve it with: volley approve \(run.plan.id) --by NAME\n" : ""
            answer =
                console.options.isQuiet
                ? done : "\(text)\n\n\(done)\n\(approval)Send it with: volley send --plan \(run.plan.id)\(waiting)"
        }
        let status = console.answer(answer, done: "\(done).")
        if needsApproval {
            Notices.notify(
                .approvalNeeded, of: run, planned.project, until: Interruption.process, console.noticeObserver)
        }
        return status
    }
}
