import Base
import PushServices
import Runs

extension Report {
    /// How many reasons the text names one by one.
    private static let shownReasons = 12

    /// Text for a person.
    /// - Parameters:
    ///   - width: of the terminal, in columns; at least 60 are assumed.
    ///   - colour: whether ANSI colours may be used.
    public func text(width: Int, colour: Bool) -> String {
        let style = TextStyle(width: width, colour: colour)
        var lines = style.wrapped(headline, indent: 0).map { style.paint($0, missedForGood > 0 ? .red : .bold) }
        for step in nextSteps {
            lines += style.wrapped("Next: \(step.words)", indent: 0)
            if let command = step.command { lines += style.wrapped(command, indent: 6) }
        }
        lines.append("")
        lines += facts(style)
        if status.state != .planned, plan.audience > 0 {
            lines += section("Outcomes", outcomeTable, style) + serviceLines(style)
        }
        lines += testLines(style)
        if services.isEmpty { lines += reasonLines("Reasons", reasons, service, style) }
        for service in services {
            lines += reasonLines("Reasons of \(service.displayName)", service.reasons, service.service, style)
        }
        if !afterwards.isEmpty {
            lines += ["", style.paint("Afterwards", .bold)] + table(afterwardsTable, style)
            lines += afterwards.map(\.note).filter { !$0.isEmpty }.flatMap { style.wrapped($0, indent: 0) }
        }
        lines += groupLines("Languages", languages, style)
        lines += groupLines(
            "Variants", variants, style,
            last: holdout.map { ("holdout", "\(TextFormat.devices($0)) kept back: they got nothing") })
        lines += section("Skipped rows", skippedTable, style)
        lines += chainLines(style)
        let speed = speedFacts
        if !speed.isEmpty { lines += [""] + table(speed, style) }
        return SecretText.withoutTokens(lines.joined(separator: "\n")) + "\n\nRun file: \(path)"
    }

    /// The result, in one or two sentences.
    var headline: String {
        let all = TextFormat.count(plan.audience)
        let accepted = TextFormat.count(count(.accepted))
        guard plan.audience > 0 else {
            return "There was no \(service.recipientNoun) in the audience, so nothing was sent."
        }
        let pushes = service.choosesDevices ? "\(service.recipientNoun)s" : "pushes"
        let share =
            "\(accepted) of \(all) \(pushes) (\(TextFormat.percent(Double(count(.accepted)) / Double(plan.audience))))"
        if isHeld { return headlineOfHeld }
        switch status.state {
        case .planned:
            let noun = service.recipientNoun
            return
                "Planned, not sent yet: \(all) \(TextFormat.plural(plan.audience, one: "\(noun) is", many: "\(noun)s are")) waiting."
        case .running:
            return
                "\(status.isSenderHidden ? "Running, or cut off" : "Still running"): \(acceptors) accepted \(share) so far\(asFetched)."
        case .paused: return "Paused\(hereOnly): \(acceptors) accepted \(share) so far\(asFetched)."
        case .stopped where isNotFetched: return "Stopped: \(acceptors) accepted \(share)\(asFetched); \(notKnown)."
        case .cancelled where isNotFetched:
            return "Cancelled\(hereOnly): \(acceptors) accepted \(share)\(asFetched); \(notKnown)."
        case .stopped where count(.unsent) == 0:
            return ["Stopped: \(acceptors) accepted \(share).", remainder].compactMap { $0 }.joined(separator: " ")
        case .stopped: return "Stopped early: \(acceptors) accepted \(share); \(neverSent)."
        case .cancelled: return "Cancelled: \(acceptors) accepted \(share); \(neverSent)."
        case .finished:
            if count(.accepted) == plan.audience {
                return plan.audience == 1
                    ? "\(acceptors) accepted the \(service.choosesDevices ? service.recipientNoun : "push")."
                    : "\(acceptors) accepted all \(all) \(pushes)."
            }
            return [missedSentence, "\(acceptors) accepted \(share).", remainder].compactMap { $0 }.joined(
                separator: " ")
        }
    }

    private var neverSent: String {
        let were = TextFormat.counted(count(.unsent), one: "was", many: "were")
        return forgetting == nil && !isShared ? "\(were) never sent" : "\(were) never sent, as far as is known"
    }

    private var hereOnly: String { orderToPassOn == nil ? "" : " here, and not yet for the other machines" }

    private var notKnown: String {
        "\(TextFormat.counted(count(.unknown), one: "is", many: "are")) not known here, as other machines may have sent them"
    }

    private var asFetched: String { isShared ? ", as far as that was fetched from the store that machines share" : "" }

    /// The outcomes of pushes that were not accepted, the most frequent first. Missed devices come
    /// before.
    private var remainder: String? {
        let leftOut = count(.unsent) - missedForGood
        let words: [(count: Int, one: String, many: String)] = [
            doubtsTokens
                ? (
                    count(.invalidToken), "was refused because of its \(guide.noun)",
                    "were refused because of their \(guide.noun)s"
                )
                : guide.areActivities
                    ? (count(.invalidToken), "went to an activity that is over", "went to activities that are over")
                    : (
                        count(.invalidToken), "went to a device that no longer has the app",
                        "went to devices that no longer have the app"
                    ),
            (count(.rejected), "was rejected", "were rejected"), (count(.failed), "failed", "failed"),
            (count(.unknown), "got \(guide.noAnswer)", "got \(guide.noAnswer)"),
            (leftOut, "was left out by frequency", "were left out by frequency"),
        ]
        let parts = words.filter { $0.count > 0 }.sorted { $0.count > $1.count }.map {
            TextFormat.counted($0.count, one: $0.one, many: $0.many)
        }
        guard parts.count > 1, let last = parts.last else { return parts.first.map { $0 + "." } }
        return parts.dropLast().joined(separator: ", ") + " and \(last)."
    }

    private func facts(_ style: TextStyle) -> [String] {
        var facts: [(String, String)] = [
            ("Campaign", plan.campaign + (plan.isTest ? " [test]" : "")), ("App", plan.app),
        ]
        if let environment { facts.append(("Environment", environment)) }
        if let text { facts.append(("Text", text)) }
        facts += [("Run", plan.id), ("State", status.state.rawValue + (isHeld ? ", held" : ""))]
        if let first = plan.retryOf { facts.append(("Retry of", first)) }
        // Its state already says that it was cancelled.
        if status.cause != .cancelled, let because = status.because {
            facts.append(("Because", TextStyle.safe(because, limit: 2000)))
        }
        facts.append(("Planned", TextStyle.moment(plan.plannedAt)))
        if let approval {
            facts.append(
                (
                    "Approved",
                    "by \(TextStyle.safe(approval.name, limit: 100)), \(TextStyle.moment(approval.approvedAt))"
                ))
        }
        if let start = status.startedAt { facts.append(("Started", TextStyle.moment(start))) }
        if let end = status.finishedAt {
            var text = TextStyle.moment(end)
            if let milliseconds {
                text += ", after \(TextFormat.duration(seconds: Double(milliseconds) / 1000))"
            } else if status.startedAt != nil {
                text += "; the clock was set back meanwhile"
            }
            facts.append(("Ended", text))
        }
        if let restored { facts.append(("Put back", "from a backup of \(TextStyle.moment(restored.backupAt))")) }
        if let prunedAt {
            facts.append(("Pruned", "\(TextStyle.moment(prunedAt)); recipients were removed, figures are as they were"))
        }
        let recipients = service.recipients(plan.audience)
        facts.append(
            (
                "Audience",
                recipients
                    + (service.choosesDevices ? ": \(whoKnows)" : " from \(TextFormat.counted(plan.rows, one: "row"))")
            ))
        return table(facts, style)
    }

    /// The service that has the number of reached devices, where a service chose them.
    var whoKnows: String {
        "\(service.displayName) chooses the devices, and it alone knows how many they are"
            + (service.statistics == nil || isSimulated ? "" : "; `volley report \(plan.id) --refresh` asks it")
    }

    /// Whether it went only to the simulator inside Volley, which ended with the run.
    private var isSimulated: Bool {
        (try? plan.settings.get())?.services.allSatisfy(\.environment.isSimulator) ?? false
    }

    /// Whether an outcome gets a line: an answer to a call never says that an app is gone from a
    /// device.
    func isShown(_ outcome: Outcome) -> Bool {
        outcome != .invalidToken || !service.choosesDevices || count(outcome) > 0
    }

    /// Where it was sent, or will be; nil when the plan does not say.
    private var environment: String? {
        let services = services
        guard !services.isEmpty else { return (try? plan.settings.get().firstService.environment).map(Self.words) }
        let words = services.compactMap(\.environment)
        if Set(words).count == 1 { return words[0] }
        return services.compactMap { service in
            service.environment.map { "\(service.displayName): \($0.replacing(": ", with: ", "))" }
        }.joined(separator: "; ")
    }

    /// The text that most devices get, as in the campaign; nil when there is nothing to read, or
    /// the plan does not keep it.
    private var text: String? {
        guard case .array(let messages)? = plan.preview["messages"] else { return nil }
        let texts = messages.map { message in
            let lines = ["title", "subtitle", "body"].compactMap { message[$0]?.stringValue }.filter { !$0.isEmpty }
            let words = lines.joined(separator: " · ").split(whereSeparator: \.isNewline).joined(separator: " ")
            return (words: words, recipients: message["recipients"]?.integerValue ?? 0)
        }
        // With several services, each text is a separate message of each.
        let recipients = Dictionary(texts.map { ($0.words, $0.recipients) }, uniquingKeysWith: +)
        let most = recipients.values.max()
        guard let first = texts.first(where: { recipients[$0.words] == most }), !first.words.isEmpty else { return nil }
        return TextStyle.safe(first.words, limit: 160)
            + (recipients.count > 1 ? " (one of \(recipients.count) texts)" : "")
    }

    /// The outcome of each push of a test.
    private func testLines(_ style: TextStyle) -> [String] {
        guard !testPushes.isEmpty else { return [] }
        let facts = testPushes.map { push in
            let text = [push.variant, push.language].filter { !$0.isEmpty }.joined(separator: ", ")
            let outcome = push.outcome.name + (push.reason.isEmpty ? "" : " (\(TextStyle.safe(push.reason)))")
            return (
                "\(TextStyle.safe(push.device)) \(push.token)",
                [text, outcome].filter { !$0.isEmpty }.joined(separator: ": ")
            )
        }
        return ["", style.paint("Test devices", .bold)] + table(facts, style)
    }

    /// How many groups the text names one by one.
    private static let shownGroups = 12

    /// The outcomes of each language, or variant, where there are several.
    private func groupLines(_ title: String, _ groups: [ReportGroup], _ style: TextStyle, last: (String, String)? = nil)
        -> [String]
    {
        guard groups.count > 1 || last != nil, !groups.isEmpty, status.state != .planned else { return [] }
        var facts = groups.prefix(Self.shownGroups).map { group in
            let parts = Outcome.allCases.filter { group.count($0) > 0 }.map {
                "\(TextFormat.count(group.count($0))) \($0.name)"
            }
            return (
                TextStyle.safe(group.name), "\(service.recipients(group.audience)): \(parts.joined(separator: ", "))"
            )
        }
        if groups.count > Self.shownGroups {
            let hidden = groups.dropFirst(Self.shownGroups)
            let devices = service.recipients(hidden.reduce(0) { $0 + $1.audience })
            facts.append(("and \(hidden.count) more", "\(devices); `--format json` names them all"))
        }
        return ["", style.paint(title, .bold)] + table(facts + (last.map { [$0] } ?? []), style)
    }

    /// Every run of the chain, and their sum: a retry's devices are some of an earlier run's.
    private func chainLines(_ style: TextStyle) -> [String] {
        guard let first = chain.first else { return [] }
        let facts = chain.map { link in
            let accepted =
                link.accepted.map { "\(TextFormat.count($0)) accepted of \(TextFormat.count(link.audience))" }
                ?? "cannot be read"
            let parts =
                link.accepted == nil
                ? [] : link.services.map { Self.words($0.displayName, $0.accepted ?? 0, of: $0.audience) }
            return (link.id, accepted + Self.inBrackets(parts) + (link.id == plan.id ? ", this run" : ""))
        }
        let together = chain.reduce(0) { $0 + ($1.accepted ?? 0) }
        let parts = chainServices.map { name, displayName in
            let sum = self.together(through: name)
            return Self.words(displayName, sum.accepted, of: sum.audience)
        }
        let sum = (
            "together",
            "\(TextFormat.count(together)) accepted of \(TextFormat.count(first.audience))\(Self.inBrackets(parts))"
        )
        return ["", style.paint("Chain of retries", .bold)] + table(facts + [sum], style)
    }

    private static func words(_ service: String, _ accepted: Int, of audience: Int) -> String {
        "\(service) \(TextFormat.count(accepted)) of \(TextFormat.count(audience))"
    }

    private static func inBrackets(_ parts: [String]) -> String {
        parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }

    private var speedFacts: [(String, String)] {
        var facts: [(String, String)] = []
        if figures.attempts > 0 {
            let repeats = figures.attempts - figures.attempted
            let text = TextFormat.count(figures.attempts)
            facts.append(("Pushes sent", repeats > 0 ? "\(text), \(TextFormat.count(repeats)) of them again" : text))
        }
        if let mean = meanPerSecond, let peak = peakPerSecond, peak > 0 {
            // A run of less than a second or two has no busiest full second.
            let busiest = peak < mean ? "" : ", \(TextFormat.count(peak)) in the busiest second"
            facts.append(("Rate", "\(TextFormat.count(mean)) a second on average\(busiest)"))
        } else if let peak = peakPerSecond, peak > 0 {
            facts.append(("Rate", "\(TextFormat.count(peak)) in the busiest second"))
        }
        if let latency = figures.latency {
            let texts = [latency.p50, latency.p90, latency.p99, latency.max].map(TextFormat.count)
            facts.append(
                (
                    "Latency",
                    "half within \(texts[0]) ms, 90 % within \(texts[1]), 99 % within \(texts[2]), slowest \(texts[3])"
                ))
        }
        return facts
    }

    private func table(_ facts: [(String, String)], _ style: TextStyle) -> [String] {
        let names = facts.map(\.0.count).max() ?? 0
        return facts.flatMap { name, value -> [String] in
            let lines = style.wrapped(value, indent: names + 4)
            let head = "  \(TextFormat.padded(name, to: names))  "
            guard let first = lines.first else { return [] }
            return [head + first.dropFirst(names + 4)] + lines.dropFirst()
        }
    }

    private func section(_ title: String, _ table: BarTable, _ style: TextStyle) -> [String] {
        guard !table.rows.isEmpty else { return [] }
        return ["", style.paint(title, .bold)] + table.lines(style)
    }

    private var skippedTable: BarTable {
        BarTable(rows: skipped.map { BarTable.Row(name: $0.name, number: $0.rows, note: guide.note(skipped: $0.name)) })
    }

    private var outcomeTable: BarTable {
        // The largest loss first.
        let losses = Outcome.allCases.filter { $0 != .accepted && isShown($0) }.enumerated().sorted {
            (count($1.element), $0.offset) < (count($0.element), $1.offset)
        }
        let rows = ([.accepted] + losses.map(\.element)).map { outcome in
            BarTable.Row(
                name: outcome.name, number: count(outcome),
                ink: outcome == .unsent && missedForGood > 0 ? .red : OutcomeGuide.ink(outcome),
                note: guide.note(outcome))
        }
        return BarTable(rows: rows, whole: plan.audience)
    }

    /// What a reason means and what to do, if Volley has an explanation.
    static func explanation(of reason: String, by service: any PushService, for face: TextMedium = .terminal) -> String
    {
        if let known = ReasonText.explanation(of: reason, by: service, for: face) { return known }
        if StatusReason.status(in: reason) != nil {
            return "\(service.displayName) answered with this status and gave no reason."
        }
        return "Volley does not know this reason. Look for it in \(service.owner.reasonsPage)."
    }

    /// The same for a push of this run.
    func meaning(of reason: String, by service: any PushService) -> String {
        targetsActivities(of: service) && service.goneReasons.contains(reason)
            ? ReasonText.activityOver : Self.explanation(of: reason, by: service, for: face)
    }

    /// The reasons of a service, each with its meaning.
    private func reasonLines(
        _ title: String, _ reasons: [(name: String, recipients: Int)], _ service: any PushService, _ style: TextStyle
    ) -> [String] {
        let rows = reasons.prefix(Self.shownReasons).map {
            BarTable.Row(
                name: TextStyle.safe($0.name), number: $0.recipients, explanation: meaning(of: $0.name, by: service))
        }
        let lines = section(title, BarTable(rows: rows), style)
        let hidden = reasons.dropFirst(Self.shownReasons)
        guard !hidden.isEmpty else { return lines }
        let recipients = hidden.reduce(0) { $0 + $1.recipients }
        return lines + [
            "  and \(hidden.count) more reasons for \(self.service.recipients(recipients)); `--format json` names them all"
        ]
    }

    /// The outcomes of each service, and which of them stopped.
    private func serviceLines(_ style: TextStyle) -> [String] {
        guard !services.isEmpty else { return [] }
        let facts = services.map { service in
            let parts = Outcome.allCases.filter { service.count($0) > 0 }.map {
                "\(TextFormat.count(service.count($0))) \($0.name)"
            }
            let stop = service.cause == nil ? "" : "; stopped"
            return (
                service.displayName, "\(TextFormat.devices(service.audience)): \(parts.joined(separator: ", "))\(stop)"
            )
        }
        return ["", style.paint("Services", .bold)] + table(facts, style)
    }
}
