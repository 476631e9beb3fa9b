import Base
import Sending

/// Steps of a check as people read them.
enum StepsText {
    /// Steps below a title.
    /// - Parameter end: the last line; nil for none.
    static func text(_ title: String, _ steps: [CheckStep], _ console: Console, end: String? = nil) -> String {
        var lines = [title]
        let names = steps.map(\.name.count).max() ?? 0
        for step in steps {
            let mark = TextFormat.padded(step.state.rawValue, to: 7)
            let colour = ["ok": "32", "failed": "31"][step.state.rawValue]
            let shown = console.colour ? colour.map { "\u{1B}[\($0)m\(mark)\u{1B}[0m" } ?? mark : mark
            lines.append("  \(shown)  \(TextFormat.padded(step.name, to: names))  \(step.message)")
            if let remedy = step.remedy { lines.append(String(repeating: " ", count: names + 13) + remedy) }
        }
        return (lines + (end.map { [$0] } ?? [])).joined(separator: "\n")
    }
}

extension [CheckStep] {
    /// How many of them failed.
    var failures: Int { count { $0.state == .failed } }
}
