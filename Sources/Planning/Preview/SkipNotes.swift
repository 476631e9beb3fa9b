import Audience
import Base
import Campaigns
import Content
import PushServices
import PushServices

/// Why rows were skipped, in words, and what can be done about it.
struct SkipNote: Sendable {
    var reason: SkipReason
    /// Rows of the reason, or that part of them that the note is about.
    var rows: Int
    var text: String
    /// The column that is blank, or holds something else than its template takes.
    var column: String?
    /// Whether somebody should look into it: not when a campaign simply names others.
    var isTrouble: Bool

    /// What `preview --json` holds of it.
    var json: JSONValue {
        .object(
            pairs: [("reason", .string(reason.rawValue)), ("rows", .integer(Int64(rows)))]
                + (column.map { [("column", .string($0))] } ?? []) + [("why", .string(text))])
    }
}

/// Makes the notes of one result.
struct SkipNotes {
    let context: CampaignContext
    let result: AudienceResult

    /// In the order of the reasons; of `render_error` one for each column.
    var all: [SkipNote] {
        SkipReason.allCases.flatMap { reason -> [SkipNote] in
            guard let rows = result.skipped[reason], rows > 0 else { return [] }
            if reason == .renderError { return renderErrors }
            if reason == .filtered { return [note(reason, rows)] + unreadableCells }
            return [note(reason, rows)]
        }
    }

    private static let troubles: Set<SkipReason> = [
        .badRow, .missingToken, .badToken, .suppressed, .aliasLimit, .renderError, .payloadTooLarge,
    ]

    private func note(_ reason: SkipReason, _ rows: Int) -> SkipNote {
        SkipNote(reason: reason, rows: rows, text: text(of: reason, rows), isTrouble: Self.troubles.contains(reason))
    }

    /// Rows that a condition cannot judge. The warning says it before the plan; this stands in the report, too.
    private var unreadableCells: [SkipNote] {
        result.conditions.filter { $0.unreadableRows > 0 }.map { condition in
            let (name, rows) = (condition.condition.column.value, condition.unreadableRows)
            let cells = condition.cells.map { "'\(TextFormat.foreign($0, maximumBytes: 40))'" }.joined(separator: ", ")
            let hold = TextFormat.counted(rows, "row holds", "rows hold")
            return SkipNote(
                reason: .filtered, rows: rows, text: "\(hold) something in \(name) that the condition cannot compare: \(cells)",
                column: name, isTrouble: false)
        }
    }

    private var renderErrors: [SkipNote] {
        let counts = (result.skippedGroups[.renderError] ?? [:]).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return counts.map { group, devices in
            let (text, column) = words(RenderCause(group: group), devices)
            return SkipNote(reason: .renderError, rows: devices, text: text, column: column, isTrouble: true)
        }
    }

    private func words(_ cause: RenderCause, _ devices: Int) -> (text: String, column: String?) {
        let (count, have) = (TextFormat.devices(devices), TextFormat.plural(devices, "has", "have"))
        guard case .column(let number, let flaw) = cause, number < context.messages.columns.count else {
            return cause == .blankText
                ? ("of \(count) a text comes out blank; write one for them into the template, behind {% else %} or 'default'", nil)
                : ("\(count) \(have) cells that a text cannot be made of", nil)
        }
        let column = context.messages.columns[number]
        switch flaw {
        case .blank:
            return (
                "\(count) \(have) no \(column.value), which \(column.position) needs; "
                    + "write {{ \(column.value) | default: 'there' }}, with a text that suits, to reach them", column.value
            )
        case .gap:
            return (
                "\(count) would read punctuation around nothing, as in 'Hi , welcome', where \(column.value) is missing; "
                    + "write a word for them behind {% else %} or 'default', or take blank and punctuation into the {% if %}", column.value
            )
        case .notADate:
            return ("\(count) \(have) no date in \(column.value), which \(column.position) needs; look at the export", column.value)
        case .notANumber:
            return ("\(count) \(have) no number in \(column.value), which \(column.position) needs; look at the export", column.value)
        case .notHTTPS:
            return (
                "the image of \(count) would not be at an address that begins with https://, which iOS demands; look at \(column.value) in the export",
                column.value
            )
        }
    }

    private func text(of reason: SkipReason, _ rows: Int) -> String {
        let audience = context.campaign.audience
        switch reason {
        case .badRow:
            let first = result.badRows.first.flatMap(\.position).map { "; the first is \($0.file):\($0.line)" } ?? ""
            return "these rows cannot be read\(first)"
        case .notMatched: return "no tag, alias or registration id of the campaign names them"
        case .filtered:
            let columns = audience.conditions.map(\.column.value).joined(separator: ", ")
            return "a condition of 'where' does not hold of them: \(columns)"
        case .excluded:
            let parts = result.exclusions.map { "\($0.name) (\($0.extent)): \(TextFormat.count($0.devices))" }
            return "something below 'exclude' names them, by devices: \(parts.joined(separator: ", "))"
        case .missingToken: return "no device token stands in these rows, so there is nobody to send to"
        case .badToken:
            let shapes = result.badTokens.prefix(3).map { found in
                let place = "\(found.position.file):\(found.position.line)"
                let rows = TextFormat.counted(found.rows, "row")
                return
                    "in \(rows) \(context.messages.service.target.clause(of: found.shape, length: found.bytes)) ('\(found.shown)', \(place))"
            }
            return "what stands in the column of device tokens is no token: \(shapes.joined(separator: "; "))"
        case .suppressed:
            return
                "\(context.messages.service.displayName) said earlier that the app is gone from these devices; `volley suppression list` shows since when"
        case .duplicateToken: return "another row of the same device is newer, or as new and read later: that one decides"
        case .aliasLimit:
            return "an alias gets the push on the \(audience.aliasLimit) devices used last; write alias_limit below 'audience' for more"
        case .frequency:
            let caps = context.frequencyCaps.map(\.description).joined(separator: ", ")
            return "these devices got as many pushes of the app lately as they may: \(caps)"
        case .holdout: return "kept back to compare with, and they get nothing"
        case .renderError: return ""
        case .payloadTooLarge: return tooLarge
        }
    }

    private var tooLarge: String {
        let largest = result.largestSkippedPayload
        let size = largest >= AudienceResult.measurablePayload ? "more than \(TextFormat.count(largest))" : TextFormat.count(largest)
        let limit = context.messages.byteLimit
        let groups = PreviewGroups(context.messages, result)
        let names = (result.skippedGroups[.payloadTooLarge] ?? [:]).sorted { $0.key < $1.key }.map { number, devices in
            "\(groups.messages.indices.contains(number) ? groups.name(of: number) : "other"): \(TextFormat.count(devices))"
        }
        let parts = context.messages.hasChoice ? " (\(names.joined(separator: ", ")))" : ""
        return
            "the largest payload would have \(size) bytes, and \(context.messages.service.displayName) takes \(TextFormat.count(limit))\(parts); shorten the texts, "
            + "or the columns that they hold"
    }
}
