public import Base
import PushServices

/// An explanation as text for people and as JSON for programs.
extension Explanation {
    /// The most devices that are explained in full: an alias may have many.
    private static let mostDevices = 20

    /// - Parameter width: of the terminal, in columns.
    public func text(width: Int, colour: Bool) -> String {
        guard !devices.isEmpty else { return notFound }
        var lines: [String] = []
        if devices.count > 1 {
            let count = devices.count { $0.isRecipient }
            lines += ["\(who): \(count) of \(devices.count) get \(campaign)", ""]
        }
        for device in devices.prefix(Self.mostDevices) {
            lines += device.lines(campaign, width: width, colour: colour) + [""]
        }
        if devices.count > Self.mostDevices {
            lines.append("\(devices.count - Self.mostDevices) more are not shown; --json has all of them.")
        }
        if lines.last == "" { lines.removeLast() }
        return SecretText.withoutTokens(lines.joined(separator: "\n"))
    }

    private var notFound: String {
        let hidden = badRows == 0 ? "" : " \(TextFormat.count(badRows)) rows cannot be read; it may be in one of them."
        return "\(who) gets nothing: no row of the exports has this \(targets.namesInExports).\(beginning)\(hidden)"
    }

    /// How to write a token, for hex digits that may be the beginning of one; blank for others, and
    /// if there are too few digits to decide.
    private var beginning: String {
        guard (4..<32).contains(who.utf8.count), who.allSatisfy(\.isHexDigit) else { return "" }
        return
            " Give \(targets.aNoun) whole, or by its first and last digits: \(who.prefix(4))…\(targets.example.suffix(4))."
    }

    /// The document of `preview --why --json`.
    public var json: JSONValue {
        .object(pairs: [
            ("campaign", .string(campaign)), ("who", .string(who)), ("devices", .array(devices.map(\.json))),
            ("bad_rows", .integer(Int64(badRows))),
        ]).withoutTokens
    }
}

extension Explanation.Device {
    /// The name of a verdict: that of a skip reason, or `recipient`.
    fileprivate static func name(_ verdict: SkipReason?) -> String { verdict?.rawValue ?? "recipient" }

    fileprivate func lines(_ campaign: String, width: Int, colour: Bool) -> [String] {
        let name = token?.redacted ?? "A row without \(aNoun)"
        let known = names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
        let verdict = isRecipient ? "gets \(campaign)" : "does not get \(campaign): \(Self.name(reason))"
        var lines = ["\(paint(name, ink: "1", colour: colour))\(known) \(verdict)"]
        for row in rows {
            lines.append("  \(row.position.file):\(row.position.line)")
            for step in row.steps {
                let mark = paint(step.holds ? "✓" : "✗", ink: step.holds ? "32" : "31", colour: colour)
                for (index, line) in TextWidth.wrapped(step.text, to: width - 8).enumerated() {
                    lines.append("    \(index == 0 ? mark : " ") \(line)")
                }
            }
        }
        return lines
    }

    private func paint(_ text: String, ink: String, colour: Bool) -> String {
        colour ? "\u{1B}[\(ink)m\(text)\u{1B}[0m" : text
    }

    fileprivate var json: JSONValue {
        .object(pairs: [
            ("device_token", token.map { .string($0.redacted) } ?? .null), ("names", .array(names.map { .string($0) })),
            ("verdict", .string(Self.name(reason))), ("rows", .array(rows.map(\.json))),
        ])
    }
}

extension Explanation.Row {
    fileprivate var json: JSONValue {
        .object(pairs: [
            ("file", .string(position.file)), ("line", .integer(Int64(position.line))),
            ("verdict", .string(Explanation.Device.name(verdict))),
            (
                "steps",
                .array(
                    steps.map {
                        .object(pairs: [
                            ("step", .string($0.kind.rawValue)), ("holds", .bool($0.holds)), ("text", .string($0.text)),
                        ])
                    })
            ),
        ])
    }
}
