import Audience
import Base

/// The preview as a person reads it.
extension Preview {
    /// - Parameters:
    ///   - width: of the terminal, in columns.
    ///   - colour: whether ANSI colours may be used.
    func text(width: Int, colour: Bool) -> String {
        var lines = [headline(colour)]
        lines.append("")
        lines += table("Selected by", audience.selectedBy.map { ($0.selector, $0.recipients) }, of: audience.audience, width)
        lines += table("Languages", languages.map { ($0.name, $0.recipients) }, of: audience.audience, width)
        lines += table("Texts", groups.texts.map { ($0.name, $0.recipients) }, of: audience.audience, width)
        lines += table("Variants", groups.variants.map { ($0.name, $0.recipients) }, of: audience.audience, width)
        if let holdout = groups.holdout {
            lines += ["Holdout       \(TextFormat.count(holdout)) devices get nothing, to compare with", ""]
        }
        lines += table("Skipped rows", skipped.map { ($0.name, $0.rows) }, of: audience.rows, width)
        if let bytes = payloadBytes {
            lines.append("Payload       \(bytes.min) to \(bytes.max) bytes, half of them at most \(bytes.p50)")
        }
        if let pace, let seconds = secondsAtPace {
            lines.append("Time          \(TextFormat.duration(seconds: seconds)) at \(pace)")
        } else {
            lines.append("Time          as fast as the server allows: no pace is set")
        }
        lines.append("Plan hash     \(planHash.prefix(16))")
        for sample in samples { lines += sampleLines(sample) }
        return lines.joined(separator: "\n")
    }

    private func headline(_ colour: Bool) -> String {
        let devices = "\(TextFormat.count(audience.audience)) device\(audience.audience == 1 ? "" : "s")"
        let strong = colour ? "\u{1B}[1m\(devices)\u{1B}[0m" : devices
        return "\(campaign) would go to \(strong) of \(app) (\(destination)), from \(TextFormat.count(audience.rows)) rows"
    }

    private func table(_ title: String, _ rows: [(String, Int)], of total: Int, _ width: Int) -> [String] {
        guard !rows.isEmpty else { return [] }
        let names = max(20, rows.map(\.0.count).max() ?? 0)
        let bars = max(8, min(30, width - names - 26))
        return [title]
            + rows.map { name, number in
                let share = total == 0 ? 0 : Double(number) / Double(total)
                return "  \(TextFormat.padded(name, to: names)) \(TextFormat.aligned(TextFormat.count(number), to: 12)) "
                    + "\(TextFormat.aligned(TextFormat.percent(share), to: 8))  \(TextFormat.bar(share, width: bars))"
            } + [""]
    }

    private func sampleLines(_ sample: PreviewSample) -> [String] {
        let payload = (try? JSONValue(parsing: sample.payload)) ?? .null
        let names = ([sample.variant, sample.language].filter { !$0.isEmpty } + sample.selectedBy).joined(separator: ", ")
        return ["", "Sample for \(sample.token.redacted) (\(names))"]
            + payload.indentedText.split(separator: "\n").map { "  \($0)" }
    }
}
