import Audience
import Base
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
        lines += table("Selected by", audience.selectedBy.map { ($0.selector, $0.recipients) }, of: audience.audience, width: width)
        lines += table("Languages", languages.map { ($0.name, $0.recipients) }, of: audience.audience, width: width)
        lines += table("Texts", groups.texts.map { ($0.name, $0.recipients) }, of: audience.audience, width: width)
        // Shares include the holdout, as they do in the campaign.
        let dealt = audience.audience + (groups.holdout ?? 0)
        lines += table("Variants", groups.variants.map { ($0.name, $0.recipients) }, of: dealt, width: width)
        if let holdout = groups.holdout {
            lines += ["Holdout       \(TextFormat.counted(holdout, one: "device gets", many: "devices get")) nothing, for comparison", ""]
        }
        lines += exclusionLines
        lines += table("Skipped rows", skipped.map { ($0.name, $0.rows) }, of: audience.rows, width: width)
        lines += noteLines(width)
        if let bytes = payloadBytes {
            let size =
                bytes.min == bytes.max ? "\(bytes.max) bytes" : "\(bytes.min) to \(bytes.max) bytes, half of them at most \(bytes.p50)"
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
            lines += ["", "\(samples.count - cards) more texts are not shown here; `volley preview` shows all of them."]
        }
        return SecretText.withoutTokens(lines.joined(separator: "\n"))
    }

    /// What goes through each service, and how long it takes; they are sent to side by side.
    private var serviceLines: [String] {
        services.enumerated().map { number, service in
            let size = service.payloadBytes.map { $0.min == $0.max ? "\($0.max) bytes" : "\($0.min) to \($0.max) bytes" }
            let time =
                service.secondsAtPace.map { "\(TextFormat.duration(seconds: $0)) \(service.paceWords)" } ?? "as fast as the server allows"
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
        return ["Calls"] + AudienceCall.lines(calls, atMost: Self.shownCalls).flatMap { hanging($0, width: width) } + [""]
    }

    private func headline(_ colour: Bool) -> String {
        let devices = service.recipients(audience.audience)
        let strong = colour ? "\u{1B}[1m\(devices)\u{1B}[0m" : devices
        if calls != nil {
            return "\(campaign) would go out in \(strong) for \(app) (\(destination)); \(service.displayName) chooses the devices"
        }
        return "\(campaign) would go to \(strong) of \(app) (\(destination)), from \(TextFormat.count(audience.rows)) rows"
    }

    private func table(_ title: String, _ rows: [(String, Int)], of total: Int, width: Int) -> [String] {
        guard !rows.isEmpty else { return [] }
        let rows = rows.map { (TextFormat.printable($0.0), $0.1) }
        let names = max(20, rows.map(\.0.count).max() ?? 0)
        let bars = max(8, min(30, width - names - 26))
        return [title]
            + rows.map { name, number in
                let share = total == 0 ? 0 : Double(number) / Double(total)
                return "  \(TextFormat.padded(name, to: names)) \(TextFormat.aligned(TextFormat.count(number), to: 12)) "
                    + "\(TextFormat.aligned(TextFormat.percent(share), to: 8))  \(TextFormat.bar(share, width: bars))"
            } + [""]
    }

    /// What each part of `exclude` leaves out, even when that is nothing.
    private var exclusionLines: [String] {
        guard !audience.exclusions.isEmpty else { return [] }
        let rows = audience.exclusions.map { (TextFormat.printable($0.name), TextFormat.count($0.devices), $0.extent) }
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
        let names = ([through, sample.variant, sample.language].filter { !$0.isEmpty } + sample.selectedBy).joined(separator: ", ")
        let json = isVerbose ? payload.indentedText.split(separator: "\n").map { "    \($0)" } : []
        return ["", "Sample for \(sample.shownToken)\(names.isEmpty ? "" : " (\(names))")"]
            + PhoneCard(app: app, push: sample.service.shown(payload)).lines(width: width) + json
    }
}
