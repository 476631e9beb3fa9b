import Base
import PushServices
import Reports

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
        for (_, text) in push.texts { lines += TextWidth.wrapped(TextFormat.printable(text), to: inner).map { row($0, inner: inner) } }
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
        if !push.ownKeys.isEmpty { notes.append("for the app: " + push.ownKeys.map { "\($0.name) \($0.value)" }.joined(separator: " · ")) }
        return notes.flatMap { TextWidth.wrapped(TextFormat.printable($0), to: max(20, width - 4)) }.map { "    \($0)" }
    }
}
