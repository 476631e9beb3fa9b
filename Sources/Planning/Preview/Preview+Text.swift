import Audience
import Base
import Content
import PushServices
import Reports

/// The preview as text for people.
extension Preview {
    /// - Parameters:
    ///   - width: of the terminal, in columns.
    ///   - colour: whether ANSI colours may be used.
    ///   - isVerbose: whether samples also show their payloads as JSON.
    ///   - cards: the most samples that are drawn.
    public func text(width: Int, colour: Bool, isVerbose: Bool = false, cards: Int = .max) -> String {
        var lines = [headline(colour)]
        lines.append("")
        lines += callLines(width)
        lines += table(
            "Selected by", audience.selectedBy.map { ($0.selector, $0.recipients) }, of: audience.audience, width: width
        )
        lines += table("Languages", languages.map { ($0.name, $0.recipients) }, of: audience.audience, width: width)
        lines += table("Texts", groups.texts.map { ($0.name, $0.recipients) }, of: audience.audience, width: width)
        // Shares include the holdout, as they do in the campaign.
        let dealt = audience.audience + (groups.holdout ?? 0)
        lines += table("Variants", groups.variants.map { ($0.name, $0.recipients) }, of: dealt, width: width)
        if let holdout = groups.holdout {
            lines += [
                "Holdout       \(TextFormat.counted(holdout, one: "device gets", many: "devices get")) nothing, for comparison",
                "",
            ]
        }
        lines += exclusionLines
        lines += table("Skipped rows", skipped.map { ($0.name, $0.rows) }, of: audience.rows, width: width)
        lines += noteLines(width)
        if let bytes = payloadBytes {
            let size =
                bytes.min == bytes.max
                ? "\(bytes.max) bytes" : "\(bytes.min) to \(bytes.max) bytes, half of them at most \(bytes.p50)"
            lines.append("Payload       \(size)")
        }
        if services.count > 1 {
            lines += serviceLines
        } else if longest.pace != nil, let seconds = secondsAtPace {
            let calls = longest.callWords.map { "\($0), " } ?? ""
            lines.append("Time          \(calls)\(TextFormat.duration(seconds: seconds)) \(longest.paceWords)")
        } else {
            lines.append("Time          as fast as the server allows: no pace is set")
        }
        if let schedule { lines += schedule.lines }
        // A date without a zone is in UTC, which is usually not the clock of its author.
        if words.expiresAtMoment { lines.append("Expires       \(words.expiry)") }
        if let comparison { lines += comparisonLines(comparison, width: width) }
        lines.append("Plan hash     \(planHash.prefix(16))")
        for sample in samples.prefix(cards) { lines += sampleLines(sample, width: width, isVerbose: isVerbose) }
        if samples.count > cards {
            lines += [
                "", "\(samples.count - cards) more texts are not shown here; `volley preview` shows all of them.",
            ]
        }
        return SecretText.withoutTokens(lines.joined(separator: "\n"))
    }

    /// What goes through each service, and how long it takes; they are sent to in parallel.
    private var serviceLines: [String] {
        services.enumerated().map { number, service in
            let size = service.payloadBytes.map {
                $0.min == $0.max ? "\($0.max) bytes" : "\($0.min) to \($0.max) bytes"
            }
            let time =
                service.secondsAtPace.map { "\(TextFormat.duration(seconds: $0)) \(service.paceWords)" }
                ?? "as fast as the server allows"
            let parts = service.recipients == 0 ? [] : [size, service.callWords, time].compactMap(\.self)
            return TextFormat.padded(number == 0 ? "Services" : "", to: 14)
                + ([
                    TextFormat.padded("\(service.service.displayName), \(service.destination)", to: 20),
                    service.service.recipients(service.recipients),
                ]
                + parts).joined(separator: "  ")
        }
    }

    /// How many calls are shown one by one.
    static let shownCalls = 12

    /// Each call, with what it names; many calls by the kinds of their names.
    private func callLines(_ width: Int) -> [String] {
        guard let calls else { return [] }
        return ["Calls"] + AudienceCall.lines(calls, atMost: Self.shownCalls).flatMap { hanging($0, width: width) } + [
            ""
        ]
    }

    private func headline(_ colour: Bool) -> String {
        let devices = service.recipients(audience.audience)
        let strong = colour ? "\u{1B}[1m\(devices)\u{1B}[0m" : devices
        if calls != nil {
            return
                "\(campaign) would go out in \(strong) for \(app) (\(destination)); \(service.displayName) chooses the devices"
        }
        return
            "\(campaign) would go to \(strong) of \(app) (\(destination)), from \(TextFormat.count(audience.rows)) rows"
    }

    private func table(_ title: String, _ rows: [(String, Int)], of total: Int, width: Int) -> [String] {
        guard !rows.isEmpty else { return [] }
        let rows = rows.map { (TextFormat.printable($0.0), $0.1) }
        let names = max(20, rows.map(\.0.count).max() ?? 0)
        let bars = max(8, min(30, width - names - 26))
        return [title]
            + rows.map { name, number in
                let share = total == 0 ? 0 : Double(number) / Double(total)
                return
                    "  \(TextFormat.padded(name, to: names)) \(TextFormat.aligned(TextFormat.count(number), to: 12)) "
                    + "\(TextFormat.aligned(TextFormat.percent(share), to: 8))  \(TextFormat.bar(share, width: bars))"
            } + [""]
    }

    /// The number of devices that each part of `exclude` leaves out, even if it is zero.
    private var exclusionLines: [String] {
        guard !audience.exclusions.isEmpty else { return [] }
        let rows = audience.exclusions.map { (TextFormat.printable($0.name), TextFormat.count($0.devices), $0.effect) }
        let width = max(20, rows.map(\.0.count).max() ?? 0)
        return ["Excluded by"]
            + rows.map { "  \(TextFormat.padded($0.0, to: width)) \(TextFormat.aligned($0.1, to: 12))  \($0.2)" } + [""]
    }

    /// Notes that need attention, below the table of skipped rows.
    private func noteLines(_ width: Int) -> [String] {
        let lines = notes.filter(\.isTrouble).flatMap { note in
            hanging("\(note.reason.rawValue): \(note.text(for: .terminal)).", width: width)
        }
        return lines.isEmpty ? [] : lines + [""]
    }

    private func comparisonLines(_ comparison: RunComparison, width: Int) -> [String] {
        let lines = TextWidth.wrapped(comparison.text, to: max(40, width - 14))
        return lines.enumerated().map { ($0 == 0 ? "Last run      " : "              ") + $1 }
            + comparison.shiftTexts.map { "              \($0)" }
    }

    private func hanging(_ text: String, width: Int) -> [String] {
        TextWidth.wrapped(text, to: width - 4).enumerated().map { ($0 == 0 ? "  " : "    ") + $1 }
    }

    private func sampleLines(_ sample: PreviewSample, width: Int, isVerbose: Bool) -> [String] {
        let payload = sample.shownPayload
        let through = services.count > 1 ? sample.service.displayName : ""
        let names = ([through, sample.variant, sample.language].filter { !$0.isEmpty } + sample.selectedBy).joined(
            separator: ", ")
        let json = isVerbose ? payload.indentedText.split(separator: "\n").map { "    \($0)" } : []
        return ["", "Sample for \(sample.shownToken)\(names.isEmpty ? "" : " (\(names))")"]
            + PhoneCard(app: app, push: sample.service.shown(payload)).lines(width: width) + json
    }
}

/// A push as it appears on a lock screen, drawn with characters.
struct PhoneCard {
    let app: String
    let push: ShownPush

    /// The most columns of an iPhone's card, frame included.
    private static let widest = 58

    /// - Parameter width: of the terminal, in columns; at least 30.
    func lines(width: Int) -> [String] {
        let outer = min(Self.widest, width - 4)
        return (push.isSilent ? silent : card(inner: outer - 4)) + notes(width: width)
    }

    private var silent: [String] { ["  (no one sees this push; it wakes the app in the background)"] }

    private func card(inner: Int) -> [String] {
        let mark = push.image.isEmpty ? "" : "▣ "
        var lines = [row("\(app)\(gap(app, right: "\(mark)now", inner: inner))\(mark)now", inner: inner)]
        for (_, text) in push.texts {
            lines += TextWidth.wrapped(TextFormat.printable(text), to: inner).map { row($0, inner: inner) }
        }
        if push.texts.isEmpty { lines.append(row("(no text)", inner: inner)) }
        let edge = String(repeating: "─", count: inner + 2)
        return ["  ╭\(edge)╮"] + lines + ["  ╰\(edge)╯"]
    }

    private func row(_ text: String, inner: Int) -> String { "  │ \(TextWidth.padded(text, to: inner)) │" }

    private func gap(_ left: String, right: String, inner: Int) -> String {
        String(repeating: " ", count: max(1, inner - TextWidth.columns(left) - TextWidth.columns(right)))
    }

    /// Marks for what cannot be seen on the card, then the payload's own keys.
    private func notes(width: Int) -> [String] {
        var notes: [String] = []
        if !push.image.isEmpty { notes.append("image \(push.image)") }
        let marks = push.marks.map { $0.value.isEmpty ? $0.name : "\($0.name) \($0.value)" }
        if !marks.isEmpty { notes.append(marks.joined(separator: " · ")) }
        if !push.ownKeys.isEmpty {
            notes.append("for the app: " + push.ownKeys.map { "\($0.name) \($0.value)" }.joined(separator: " · "))
        }
        return notes.flatMap { TextWidth.wrapped(TextFormat.printable($0), to: max(20, width - 4)) }.map { "    \($0)" }
    }
}

/// How an audience is divided into variants and languages of the content.
struct PreviewGroups: Sendable {
    /// Devices of a variant that get the same text.
    struct Group: Sendable {
        /// The display name of the service; blank when the app has only one.
        var service: String
        /// The service's name; blank when the app has only one.
        var serviceName: String
        /// Blank when the campaign has no variants.
        var variant: String
        /// The language of `content.languages`; blank for the text above them.
        var language: String
        var recipients: Int
        /// The texts as in the campaign file, by the keys of `content`; empty for a payload by
        /// hand.
        var texts: [(key: String, text: String)]

        init(_ message: MessageCatalog.Message, in catalog: MessageCatalog, recipients: Int) {
            let isOneOfSeveral = catalog.services.count > 1
            service = isOneOfSeveral ? catalog.services[message.service].displayName : ""
            serviceName = isOneOfSeveral ? catalog.services[message.service].name : ""
            variant = message.variant
            language = message.language
            self.recipients = recipients
            let content = message.content
            texts = [("title", content.title), ("subtitle", content.subtitle), ("body", content.body)].compactMap {
                key, text in
                text.map { (key, $0.value) }
            }
        }

        /// Its member of `messages` in `preview --json`, and in the plan of a run.
        var json: JSONValue {
            .object(
                pairs: (serviceName.isEmpty ? [] : [("service", .string(serviceName))]) + [
                    ("variant", .string(variant)), ("language", .string(language)),
                    ("recipients", .integer(Int64(recipients))),
                ] + texts.map { ($0.key, .string($0.text)) })
        }
    }

    /// Every message of the campaign, including those that no device gets.
    var messages: [Group]
    /// Devices that are kept back for comparison; nil when the campaign keeps none back.
    var holdout: Int?

    /// The name of the text above `languages` where it needs one.
    static let defaultLanguage = "default"

    package init(_ catalog: MessageCatalog, _ result: AudienceResult) {
        messages = catalog.messages.enumerated().map {
            Group($1, in: catalog, recipients: result.groups[$0, default: 0])
        }
        holdout = catalog.variantNames.contains(MessageVariant.holdoutName) ? result.skipped[.holdout, default: 0] : nil
    }

    /// Recipients by variant, in the order of the campaign; empty without variants.
    var variants: [(name: String, recipients: Int)] { messages.contains { !$0.variant.isEmpty } ? sums(\.variant) : [] }

    /// Recipients by the language of the text that they get; empty when there is only one language.
    var texts: [(name: String, recipients: Int)] {
        guard messages.contains(where: { !$0.language.isEmpty }) else { return [] }
        return sums(\.language).map { ($0.name.isEmpty ? Self.defaultLanguage : $0.name, $0.recipients) }
    }

    /// A message's name for people: its variant and its language.
    func name(of number: Int) -> String {
        let group = messages[number]
        let hasLanguages = messages.contains { !$0.language.isEmpty }
        let language = hasLanguages ? group.language.isEmpty ? Self.defaultLanguage : group.language : ""
        let parts = [group.service, group.variant, language].filter { !$0.isEmpty }
        return parts.isEmpty ? Self.defaultLanguage : parts.joined(separator: ", ")
    }

    private func sums(_ name: KeyPath<Group, String>) -> [(name: String, recipients: Int)] {
        var sums: [(name: String, recipients: Int)] = []
        for group in messages {
            if let place = sums.firstIndex(where: { $0.name == group[keyPath: name] }) {
                sums[place].recipients += group.recipients
            } else {
                sums.append((group[keyPath: name], group.recipients))
            }
        }
        return sums
    }

    /// Members of `preview --json`: `messages`, one object for each variant in each language with
    /// its texts as in the campaign file, and, where there are several, `texts`, recipients by the
    /// language of the text that they get.
    var pairs: [(String, JSONValue)] {
        (messages.count > 1 ? [("texts", Preview.counts(texts))] : []) + [("messages", .array(messages.map(\.json)))]
    }
}
