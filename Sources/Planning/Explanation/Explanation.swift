import Audience
import Base
import Campaigns
import Content
import PushServices

/// Why a device gets a campaign or not: each row that matters, step by step, in the order in which
/// planning decides.
public struct Explanation: Sendable {
    /// One question that a row passes or fails.
    struct Step: Sendable {
        /// Scripts may rely on these.
        enum Kind: String, Sendable {
            case selected, conditions, excluded, token, suppressed, newest, aliasLimit = "alias_limit", frequency,
                variant, text, payload
        }

        var kind: Kind
        var holds: Bool
        var text: String
    }

    struct Row: Sendable {
        var position: SourcePosition
        var steps: [Step]
        /// nil for the row that gets its device the push.
        var verdict: SkipReason?
        /// Whether this row decides for its device.
        var decides: Bool
    }

    /// A device, or rows without a token, which belong to no device.
    struct Device: Sendable {
        /// nil without a token.
        var token: Target?
        /// The word for a target, with the article.
        var aNoun: String
        /// What else it is known by.
        var names: [String]
        var rows: [Row]

        /// Whether it gets the push.
        var isRecipient: Bool { rows.contains { $0.verdict == nil } }
        /// Why not; nil when it gets the push.
        var reason: SkipReason? {
            if let deciding = rows.first(where: \.decides) { return deciding.verdict }
            // No row decided: the row that passed the most steps tells the most.
            let order = SkipReason.allCases
            return rows.compactMap(\.verdict).max { (order.firstIndex(of: $0) ?? 0) < (order.firstIndex(of: $1) ?? 0) }
        }
    }

    var campaign: String
    /// The device, alias or registration id that it is about, made safe to show.
    var who: String
    /// What targets look like.
    var targets: TargetForm
    var devices: [Device]
    /// Rows of the exports that cannot be read.
    var badRows: Int
}

/// Puts the trace of an audience into words.
struct Explainer {
    let context: CampaignContext
    let query: AudienceQuery

    func explanation(of subject: TraceSubject, _ trace: AudienceTrace) -> Explanation {
        var devices: [Explanation.Device] = []
        var places: [Target: Int] = [:]
        for row in trace.rows {
            let explained = Explanation.Row(
                position: row.position, steps: steps(of: row), verdict: row.verdict,
                decides: row.device != nil && row.verdict != .duplicateToken)
            let names = Self.names(row)
            if let device = row.device, let place = places[device] {
                devices[place].rows.append(explained)
                devices[place].names += names.filter { !devices[place].names.contains($0) }
                continue
            }
            if let device = row.device { places[device] = devices.count }
            devices.append(
                Explanation.Device(token: row.device, aNoun: service(row).target.aNoun, names: names, rows: [explained])
            )
        }
        return Explanation(
            campaign: context.campaign.name.value, who: subject.shown, targets: query.targets, devices: devices,
            badRows: trace.badRows)
    }

    private func service(_ row: TracedRow) -> any PushService { query.services[row.service] }

    private static func names(_ row: TracedRow) -> [String] {
        [("alias", row.alias), ("registration id", row.registrationID)].filter { !$0.1.isEmpty }.map {
            "\($0) \(shown($1))"
        }
    }

    /// A cell, made safe to show: anything that looks like a whole token is shortened.
    static func shown(_ cell: String) -> String {
        TargetRedaction.cell(cell, maximumBytes: 80)
    }

    /// The steps up to the one at which planning drops the row, which is the last.
    private func steps(of row: TracedRow) -> [Explanation.Step] {
        var steps: [Explanation.Step] = []
        for step in [newest, selected, conditions, exclusion, token, suppression, aliasLimit, frequency] {
            guard let step = step(row) else { continue }
            if !step.holds {
                return steps + flaw(row, besides: step)
                    + (row.verdict == .badToken && step.kind != .token ? [] : [step])
            }
            steps.append(step)
        }
        return row.recipient.map { steps + contentSteps(row, $0) } ?? steps
    }

    // MARK: - Audience

    /// A cell that is not a token is reported even if another step comes first: it may be the only
    /// thing that people want to know, and it comes before the row's tags.
    private func flaw(_ row: TracedRow, besides step: Explanation.Step) -> [Explanation.Step] {
        step.kind == .token || row.tokenFlaw == nil ? [] : [token(row)].compactMap(\.self)
    }

    private func selected(_ row: TracedRow) -> Explanation.Step? {
        guard row.selectors.isEmpty else {
            return Explanation.Step(
                kind: .selected, holds: true, text: "named by \(row.selectors.map(Self.shown).joined(separator: ", "))")
        }
        var has: [String] = []
        if !(query.anyTags + query.allTags + query.noneTags).isEmpty {
            has.append(row.tags.isEmpty ? "it has no tags" : "its tags are \(Self.shown(row.tags))")
        }
        if !query.aliases.isEmpty {
            has.append(row.alias.isEmpty ? "it has no alias" : "its alias is \(Self.shown(row.alias))")
        }
        if !query.registrationIDs.isEmpty {
            has.append(
                row.registrationID.isEmpty
                    ? "it has no registration id" : "its registration id is \(Self.shown(row.registrationID))")
        }
        let reason = has.isEmpty ? "" : ": \(has.joined(separator: ", "))"
        return Explanation.Step(
            kind: .selected, holds: false, text: "no tag, alias or registration id of the campaign names it\(reason)")
    }

    private func conditions(_ row: TracedRow) -> Explanation.Step? {
        guard !query.conditions.isEmpty else { return nil }
        guard !row.failedConditions.isEmpty else {
            let columns = query.conditions.map(\.column.value).joined(separator: ", ")
            return Explanation.Step(
                kind: .conditions, holds: true, text: "every condition of 'where' is met: \(columns)")
        }
        let failed = row.failedConditions.map { condition, cell in
            let found = cell.isEmpty ? "it is blank" : "it is '\(Self.shown(cell))'"
            return
                "\(condition.column.value) must be \(Self.words(condition.test)), and \(found) (\(condition.column.position))"
        }
        return Explanation.Step(kind: .conditions, holds: false, text: failed.joined(separator: "; "))
    }

    private static func words(_ test: ColumnTest) -> String {
        switch test {
        case .oneOf(let values) where values.count == 1: "'\(values[0])'"
        case .oneOf(let values): "one of \(values.map { "'\($0)'" }.joined(separator: ", "))"
        case .comparison(let comparison, let value): "\(comparison.rawValue) \(value)"
        case .within(let seconds): "within \(TextFormat.days(seconds))"
        case .olderThan(let seconds): "older than \(TextFormat.days(seconds))"
        case .present: "present"
        case .missing: "missing"
        }
    }

    private func exclusion(_ row: TracedRow) -> Explanation.Step? {
        if !row.exclusions.isEmpty {
            let names = row.exclusions.map { $0 == "list" ? "a file of devices" : Self.shown($0) }
            return Explanation.Step(
                kind: .excluded, holds: false, text: "'exclude' names it by \(names.joined(separator: ", "))")
        }
        let excludes =
            !(query.excludedTags + query.excludedAliases + query.excludedRegistrationIDs + query.excludedDevices)
            .isEmpty
        return excludes ? Explanation.Step(kind: .excluded, holds: true, text: "nothing in 'exclude' names it") : nil
    }

    private func token(_ row: TracedRow) -> Explanation.Step? {
        let targets = service(row).target
        if !row.isReached { return Explanation.Step(kind: .token, holds: false, text: unreached(row)) }
        if let token = row.token {
            let through = query.services.count > 1 ? ", and \(service(row).displayName) reaches it" : ""
            let noun = row.isOfActivity ? ActivityTokens.noun : targets.noun
            return Explanation.Step(kind: .token, holds: true, text: "its \(noun) is \(token.redacted)\(through)")
        }
        if row.isOfActivity, let column = query.columns.columnOfActivity {
            let text =
                row.tokenFlaw.map { "its '\(column)', '\($0.shown)', is not \(ActivityTokens.aNoun): \($0.clause)" }
                ?? "its '\(column)' is blank, so there is no Live Activity to send to"
            return Explanation.Step(kind: .token, holds: false, text: text)
        }
        let text =
            row.tokenFlaw.map {
                "the cell in the column of \(targets.nouns), '\($0.shown)', is not \(targets.aShortNoun): \($0.clause)"
            }
            ?? "the row has no \(targets.noun), so there is no device to send to"
        return Explanation.Step(kind: .token, holds: false, text: text)
    }

    /// Why no service of the app reaches the device of a row.
    private func unreached(_ row: TracedRow) -> String {
        guard let column = query.columns.service?.column.value else {
            let targets = query.services.map { "\(TextFormat.withArticle($0.target.noun)) for \($0.displayName)" }
            return "the row has neither \(targets.joined(separator: " nor ")), so there is no device to send to"
        }
        return row.serviceCell.isEmpty
            ? "its \(column) is blank, so no service reaches the device"
            : "its \(column) is '\(Self.shown(row.serviceCell))', which stands for no service of the app"
    }

    /// nil for a row without a device.
    private func newest(_ row: TracedRow) -> Explanation.Step? {
        guard row.device != nil else { return nil }
        let active =
            row.lastActive.isEmpty
            ? "it does not say when it was last active" : "last active \(Self.shown(row.lastActive))"
        if row.verdict == .duplicateToken, let device = row.stoodForBy {
            let noun = service(row).target.noun
            return Explanation.Step(
                kind: .newest, holds: false,
                text:
                    "\(Self.place(device.position)) has this \(noun) beside a \(query.services[device.service].target.noun): "
                    + "the push goes there through \(query.services[device.service].displayName), so the \(noun) does not get it again"
            )
        }
        if row.verdict == .duplicateToken, let other = row.decidedBy {
            let tags = query.columns.rows == .merge && !row.decidesWithoutTags ? ", with the tags of both rows" : ""
            let why =
                row.lacksDate
                ? "\(Self.place(other)) has a past date, and counts as newer than a row without one"
                : "\(Self.place(other)) is newer, or equally new and read later"
            return Explanation.Step(
                kind: .newest, holds: false,
                text: "this row is not the newest of its device (\(active)): \(why), so it decides\(tags)")
        }
        return Explanation.Step(
            kind: .newest, holds: true, text: "this is the newest row of its device, so it decides (\(active))")
    }

    private func suppression(_ row: TracedRow) -> Explanation.Step? {
        if row.verdict == .suppressed, let since = row.suppressedSince {
            return Explanation.Step(
                kind: .suppressed, holds: false,
                text:
                    "its \(service(row).target.shortNoun) has been on the suppression list since \(since), and the export does not show that it has registered since"
            )
        }
        if row.verdict == .suppressed, row.isInvalid {
            return Explanation.Step(
                kind: .suppressed, holds: false,
                text: "LeanCloud calls it invalid: its '\(AudienceResult.validityColumn)' is false in the export")
        }
        return query.suppressed == nil
            ? nil
            : Explanation.Step(
                kind: .suppressed, holds: true,
                text: "its \(service(row).target.shortNoun) is not on the suppression list")
    }

    private func frequency(_ row: TracedRow) -> Explanation.Step? {
        guard query.capped != nil else { return nil }
        let caps = context.frequencyCaps.map(\.description).joined(separator: ", ")
        return row.verdict == .frequency
            ? Explanation.Step(kind: .frequency, holds: false, text: "it has reached its limit of pushes: \(caps)")
            : Explanation.Step(kind: .frequency, holds: true, text: "it may get another push: \(caps)")
    }

    private func aliasLimit(_ row: TracedRow) -> Explanation.Step? {
        guard row.verdict == .aliasLimit else { return nil }
        let limit = context.campaign.audience.aliasLimit
        let chosen = row.chosenInstead.prefix(10).map { device in
            device.lastActive.isEmpty
                ? device.token.redacted : "\(device.token.redacted) (\(Self.shown(device.lastActive)))"
        }
        let more = row.chosenInstead.count > chosen.count ? " and \(row.chosenInstead.count - chosen.count) more" : ""
        return Explanation.Step(
            kind: .aliasLimit, holds: false,
            text:
                "at most \(limit) of an alias's devices get it, the most recently active: \(chosen.joined(separator: ", "))\(more)"
        )
    }

    private static func place(_ position: SourcePosition) -> String { "\(position.file):\(position.line)" }

    // MARK: - What it gets

    private func contentSteps(_ row: TracedRow, _ recipient: Recipient) -> [Explanation.Step] {
        let messages = context.messages
        var chooser = MessageChooser(messages)
        var steps: [Explanation.Step] = []
        if !messages.variantNames.isEmpty {
            let name = messages.variantNames[chooser.variant(of: recipient)]
            let isHoldout = name == MessageVariant.holdoutName
            // The holdout has only devices that could have been sent to.
            if isHoldout, let failure = failureWithout(holdout: recipient, row.service, &chooser) {
                return [Explanation.Step(kind: .payload, holds: false, text: words(failure, row))]
            }
            let key = messages.dealing == .alias && !Blank.isCell(recipient.alias) ? "alias" : "device"
            let reason = "chosen by a hash of campaign and \(key), always the same"
            let text =
                isHoldout
                ? "it is in the holdout, which gets nothing, for comparison (\(reason))"
                : "its variant is \(name) (\(reason))"
            steps.append(Explanation.Step(kind: .variant, holds: !isHoldout, text: text))
        }
        guard let number = chooser.message(of: recipient, service: row.service) else { return steps }
        let message = messages.messages[number]
        if messages.messages.contains(where: { !$0.language.isEmpty }) {
            let language =
                recipient.language.isEmpty
                ? "its language is not known" : "its language is \(Self.shown(recipient.language))"
            let text =
                message.language.isEmpty
                ? "it gets the text above 'languages'" : "it gets the text for \(message.language)"
            steps.append(Explanation.Step(kind: .text, holds: true, text: "\(text): \(language)"))
        }
        var payload: [UInt8] = []
        if let failure = message.template.render(recipient.fields, language: recipient.language, into: &payload) {
            steps.append(Explanation.Step(kind: .payload, holds: false, text: words(failure, row)))
        } else {
            steps.append(
                Explanation.Step(
                    kind: .payload, holds: true, text: "its payload has \(TextFormat.count(payload.count)) bytes"))
        }
        return steps
    }

    /// Why a device of the holdout could not have been sent to, by the rule of `PayloadChecker`;
    /// nil when it could.
    private func failureWithout(
        holdout recipient: Recipient, _ service: Int, _ chooser: inout MessageChooser
    ) -> RenderFailure? {
        let messages = context.messages
        let language = Array(recipient.language.utf8)
        let variant = chooser.variantWithoutHoldout(of: recipient)
        let number = language.withUnsafeBufferPointer {
            chooser.message(variant: variant, language: $0, service: service)
        }
        var payload: [UInt8] = []
        return number.flatMap {
            messages.messages[$0].template.render(recipient.fields, language: recipient.language, into: &payload)
        }
    }

    private func words(_ failure: RenderFailure, _ row: TracedRow) -> String {
        switch failure {
        case .blank(let column, let place):
            return
                "its \(column) is blank, but \(place) needs it; to reach the device, write {{ \(column) | default: 'there' }} with a suitable text"
        case .notADate(let column, let place): return "its \(column) is not a date, but \(place) needs one"
        case .notHTTPS(let column, _): return "with its \(column), the image address does not begin with https://"
        case .notANumber(let column, let place): return "its \(column) is not a number, but \(place) needs one"
        case .blankText(let place): return "the text at \(place) is blank for it"
        case .gap(let column, let place):
            return "\(place) prints nothing for its \(column) and leaves stray punctuation, as in 'Hi , welcome'"
        case .tooLong(let limit, let count):
            return
                "for it, \(limit.part.excess(count)) (\(limit.place))"
        case .tooLarge(let bytes):
            let limit = service(row).payloadLimit(of: context.messages.pushType)
            return
                "its payload would have \(TextFormat.count(bytes)) bytes, but \(service(row).displayName) accepts at most \(TextFormat.count(limit))"
        }
    }
}

extension TextFormat {
    /// `30 days`, `12 hours`, as in conditions.
    static func days(_ seconds: Int) -> String {
        for (unit, length) in [("day", 86_400), ("hour", 3600), ("minute", 60)]
        where seconds >= length && seconds % length == 0 {
            return "\(seconds / length) \(unit)\(seconds == length ? "" : "s")"
        }
        return "\(seconds) seconds"
    }
}
