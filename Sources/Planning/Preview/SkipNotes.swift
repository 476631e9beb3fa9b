import Audience
import Base
import Campaigns
import Content
import PushServices
import Reports

/// Why rows were skipped, in words, and what can be done about it.
struct SkipNote: Sendable {
    var reason: SkipReason
    /// Rows of the reason, or the part of them that the note is about.
    var rows: Int
    var text: String
    /// The same without folders of the server, for browsers; nil if it is the same.
    var plainText: String?
    /// The column that is blank, or holds something that its template does not accept.
    var column: String?
    /// Whether it needs attention: not when a campaign simply names other devices.
    var isTrouble: Bool
    /// The command that shows more, in words; nil if none does.
    var command: String?

    /// The same in the words of a face.
    func text(for face: TextMedium) -> String { face == .terminal ? text + (command ?? "") : plainText ?? text }

    /// Its member of `skipped_why` in `preview --json`.
    var json: JSONValue {
        .object(
            pairs: [("reason", .string(reason.rawValue)), ("rows", .integer(Int64(rows)))]
                + (column.map { [("column", .string($0))] } ?? []) + [("why", .string(text(for: .terminal)))])
    }
}

/// Makes the notes of one result.
struct SkipNotes {
    let context: CampaignContext
    let result: AudienceResult

    /// In the order of the reasons; for `render_error`, one note for each column.
    var all: [SkipNote] {
        SkipReason.allCases.flatMap { reason -> [SkipNote] in
            guard let rows = result.skipped[reason], rows > 0 else { return [] }
            if reason == .renderError { return renderErrors }
            if reason == .suppressed { return suppressed(rows: rows) }
            if reason == .duplicateToken { return duplicates(rows: rows) }
            if reason == .filtered { return [note(reason, rows: rows)] + unreadableCells }
            return [note(reason, rows: rows)]
        }
    }

    private func note(_ reason: SkipReason, rows: Int) -> SkipNote {
        SkipNote(
            reason: reason, rows: rows, text: text(of: reason, rows: rows) { "\($0.file):\($0.line)" },
            plainText: text(of: reason, rows: rows) { SourcePosition.plainWords(file: $0.file, line: $0.line) },
            isTrouble: reason.isUnintended || reason == .aliasLimit,
            command: reason == .suppressed ? "; `volley suppression list` shows why and since when" : nil)
    }

    /// Rows that a condition cannot judge. A warning says so before planning; this note is also in
    /// the report.
    private var unreadableCells: [SkipNote] {
        result.conditions.filter { $0.unreadableRows > 0 }.map { condition in
            let (name, rows) = (condition.condition.column.value, condition.unreadableRows)
            let cells = condition.cells.map { "'\(TargetRedaction.cell($0, maximumBytes: 40))'" }.joined(
                separator: ", ")
            let hold = TextFormat.counted(rows, one: "row has", many: "rows have")
            return SkipNote(
                reason: .filtered, rows: rows,
                text: "\(hold) a cell in \(name) that the condition cannot compare: \(cells)",
                column: name, isTrouble: false)
        }
    }

    /// Devices that a service refused, and those that their export calls invalid.
    private func suppressed(rows: Int) -> [SkipNote] {
        let invalid = result.skippedGroups[.suppressed]?[AudienceResult.groupOfInvalid] ?? 0
        let refused = rows > invalid ? [note(.suppressed, rows: rows - invalid)] : []
        guard invalid > 0 else { return refused }
        let text =
            "LeanCloud calls \(TextFormat.plural(invalid, one: "this device", many: "these devices")) invalid ('\(AudienceResult.validityColumn)' is false in the export): "
            + "no push reaches \(TextFormat.plural(invalid, one: "it", many: "them")), or \(TextFormat.plural(invalid, one: "its owner", many: "their owners")) opted out"
        return refused + [
            SkipNote(
                reason: .suppressed, rows: invalid, text: text, column: AudienceResult.validityColumn, isTrouble: true)
        ]
    }

    /// Rows that a newer one replaces, and users that get the push on a device of another service.
    private func duplicates(rows: Int) -> [SkipNote] {
        let users = result.skippedGroups[.duplicateToken]?[AudienceResult.groupOfUsers] ?? 0
        let older = rows > users ? [note(.duplicateToken, rows: rows - users)] : []
        guard users > 0, let service = services.first(where: \.target.areUsers) else { return older }
        let targets = service.target
        let text =
            "another row has \(TextFormat.plural(users, one: "this \(targets.noun)", many: "these \(targets.nouns)")) beside the target of a device, "
            + "which stands for the person; \(service.displayName) would push to that device a second time"
        return older + [SkipNote(reason: .duplicateToken, rows: users, text: text, column: nil, isTrouble: true)]
    }

    private var renderErrors: [SkipNote] {
        let counts = (result.skippedGroups[.renderError] ?? [:]).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return counts.map { group, devices in
            let (text, column) = words(RenderCause(group: group), devices: devices)
            return SkipNote(reason: .renderError, rows: devices, text: text, column: column, isTrouble: true)
        }
    }

    private func words(_ cause: RenderCause, devices: Int) -> (text: String, column: String?) {
        let (count, have) = (TextFormat.devices(devices), TextFormat.plural(devices, one: "has", many: "have"))
        guard case .column(let number, let flaw) = cause, number < context.messages.columns.count else {
            switch cause {
            case .blankText:
                return (
                    "a text would be blank for \(count); write one for them in the template, after {% else %} or in 'default'",
                    nil
                )
            case .long(let number):
                let parts = context.messages.limitedParts
                return (
                    parts.indices.contains(number)
                        ? tooLong(parts[number], for: count) : "a text would be too long for \(count)", nil
                )
            case .column, .otherColumn: return ("\(count) \(have) cells that no text can be rendered from", nil)
            }
        }
        let column = context.messages.columns[number]
        switch flaw {
        case .blank:
            return (
                "\(count) \(have) no \(column.value), but \(column.position) needs it; "
                    + "to reach them, write {{ \(column.value) | default: 'there' }} with a suitable text", column.value
            )
        case .gap:
            return (
                "\(count) would get stray punctuation, as in 'Hi , welcome', where \(column.value) prints nothing; "
                    + "write a word for them after {% else %} or in 'default', or move the space and the punctuation into the {% if %}",
                column.value
            )
        case .notADate:
            return (
                "\(count) \(have) no date in \(column.value), but \(column.position) needs one; check the export",
                column.value
            )
        case .notANumber:
            return (
                "\(count) \(have) no number in \(column.value), but \(column.position) needs one; check the export",
                column.value
            )
        case .notHTTPS:
            return (
                "for \(count), the image address would not begin with https://, which \(services[0].showing("require")); check \(column.value) in the export",
                column.value
            )
        }
    }

    /// - Parameter count: how many devices, in words.
    private func tooLong(_ part: PayloadPart, for count: String) -> String {
        let most = "the \(part.amount) that \(part.service) takes"
        return switch part.unit {
        case .characters:
            "for \(count), the \(part.noun) would be longer than \(most); shorten it, or what it prints: {{ column | truncate: 20 }}"
        case .bytes:
            "for \(count), the \(part.noun) would be larger than \(most); shorten the texts, or what they print"
        }
    }

    /// - Parameter place: names a row of an export.
    private func text(of reason: SkipReason, rows: Int, _ place: (SourcePosition) -> String) -> String {
        let audience = context.campaign.audience
        switch reason {
        case .badRow:
            let first = result.badRows.first.flatMap(\.position).map { "; the first is \(place($0))" } ?? ""
            return "these rows cannot be read\(first)"
        case .notMatched: return "no tag, alias or registration id of the campaign names them"
        case .filtered:
            let columns = audience.conditions.map(\.column.value).joined(separator: ", ")
            return "a condition of 'where' is not met: \(columns)"
        case .excluded:
            let parts = result.exclusions.map { "\($0.name): \(TextFormat.count($0.devices)) \($0.effect)" }
            return "'exclude' names them; how many devices each part leaves out: \(parts.joined(separator: ", "))"
        case .missingToken where columnOfActivity != nil: return missingActivity
        case .missingToken:
            let nouns = Set(services.map(\.target.noun)).sorted().joined(separator: " or ")
            return (["these rows have no \(nouns), so there is no device to send to"] + targetsBesideTokens).joined(
                separator: "; ")
        case .noService: return unreached
        case .badToken:
            let shapes = result.badTokens.prefix(3).map { found in
                let rows = TextFormat.counted(found.rows, one: "row")
                let targets = found.isOfActivity ? PushServices.standard.target : services[found.service].target
                let what =
                    services.count > 1 && !found.isOfActivity ? "for \(services[found.service].displayName), " : ""
                return
                    "\(what)in \(rows) \(targets.clause(of: found.shape, length: found.bytes)) ('\(found.shown)', \(place(found.position)))"
            }
            if let columnOfActivity, result.badTokens.contains(where: \.isOfActivity) {
                return
                    "the cell in the column '\(columnOfActivity)' is not \(ActivityTokens.aNoun): \(shapes.joined(separator: "; "))"
            }
            let noun = TextFormat.withArticle(services.shortTargetNoun)
            return "the cell in the column of \(services.targetNouns) is not \(noun): \(shapes.joined(separator: "; "))"
        case .suppressed:
            return
                "these devices are on the suppression list: \(services.map(\.displayName).joined(separator: " or ")) said that the app is gone "
                + "from them, or a person put them there, such as for a complaint"
        case .duplicateToken:
            return "another row of the same device is newer, or equally new and read later, so that row decides"
        case .aliasLimit:
            return "an alias gets the push on its \(audience.aliasLimit) most recently active devices; "
                + "for more, write alias_limit under 'audience'"
        case .frequency:
            let caps = context.frequencyCaps.map(\.description).joined(separator: ", ")
            return "these devices have reached their limit of pushes from the app: \(caps)"
        case .holdout: return "kept back for comparison; they get nothing"
        case .renderError: return ""
        case .payloadTooLarge: return tooLarge
        }
    }

    /// Where targets are read from, for each service whose targets may be in a separate column.
    private var targetsBesideTokens: [String] {
        services.filter { context.app.columns.tokensHold(targets: $0.target.column) }.map { service in
            "those of \(service.displayName) are read from the column \(context.app.columns.quotedTokens), unless volley.yaml names another: "
                + "columns: {\(service.target.column): NAME}"
        }
    }

    private var services: [any PushService] { context.messages.services }

    /// The column of the tokens of activities; nil if the campaign needs none.
    private var columnOfActivity: String? {
        guard services.contains(where: { $0.rules.activities?.needsToken ?? false }) else { return nil }
        return context.campaign.content.activity.map { context.app.columns.name(of: $0.tokens) }
    }

    private var missingActivity: String {
        let devices = services.filter { $0.rules.activities != .target }.map(\.target.noun)
        let others = devices.isEmpty ? "" : ", or no \(Set(devices).sorted().joined(separator: " or "))"
        return
            "these rows have no '\(columnOfActivity ?? "")', \(ActivityTokens.aNoun)\(others), so there is no activity to send to"
    }

    /// The cells that mean no service, or a note that no service has a target.
    private var unreached: String {
        let names = services.map(\.displayName).joined(separator: " or ")
        guard let column = context.app.columns.service?.column.value else {
            return "these rows have no \(services.shortTargetNoun) for \(names), so no service of the app reaches them"
        }
        let cells = result.unreachedCells.prefix(5).map { cell, rows in
            let shown = cell.isEmpty ? "blank" : "'\(TargetRedaction.cell(cell, maximumBytes: 40))'"
            return "\(shown) in \(TextFormat.counted(rows, one: "row"))"
        }
        let more = result.unreachedCells.count > cells.count ? ", and others" : ""
        return "their \(column) stands for no service of the app (\(cells.joined(separator: ", "))\(more)); "
            + "if \(names) \(services.count == 1 ? "reaches" : "reach") them, write the cell in volley.yaml: columns: {service: {column: \(TextFormat.yaml(column)), map: {…}}}"
    }

    private var tooLarge: String {
        let largest = result.largestSkippedPayload
        let size =
            largest >= AudienceResult.measurablePayload
            ? "more than \(TextFormat.count(largest))" : TextFormat.count(largest)
        let groups = PreviewGroups(context.messages, result)
        let names = (result.skippedGroups[.payloadTooLarge] ?? [:]).sorted { $0.key < $1.key }.map { number, devices in
            "\(groups.messages.indices.contains(number) ? groups.name(of: number) : "other"): \(TextFormat.count(devices))"
        }
        let parts = context.messages.hasChoice ? " (\(names.joined(separator: ", ")))" : ""
        let limits = services.map {
            "\($0.displayName) accepts at most \(TextFormat.count($0.payloadLimit(of: context.messages.pushType)))"
        }
        return
            "the largest payload would have \(size) bytes, but \(limits.joined(separator: ", "))\(parts); shorten the texts, "
            + "or the columns that they use"
    }
}
