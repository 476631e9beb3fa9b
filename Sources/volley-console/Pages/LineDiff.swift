import Base

/// What differs between two texts, line by line, as in `diff -u`.
enum LineDiff {
    /// Unchanged lines around a change.
    private static let context = 3
    /// Longer texts are shown without a comparison: finding the smallest difference takes time by
    /// the square of their lines.
    private static let mostLines = 1_000

    /// A line of one of the texts, or of both.
    enum Line: Equatable {
        case same(String), removed(String), added(String)
        /// Lines that are the same are left out here.
        case gap
    }

    /// The lines around all changes, in their order; empty for equal texts, nil for texts that are
    /// too long.
    static func lines(from before: String, to after: String) -> [Line]? {
        let old = split(before), new = split(after)
        guard old.count <= mostLines, new.count <= mostLines else { return nil }
        let difference = new.difference(from: old)
        guard !difference.isEmpty else { return [] }
        var removed: Set<Int> = [], added: Set<Int> = []
        for change in difference {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): added.insert(offset)
            }
        }
        var lines: [Line] = []
        var (left, right) = (0, 0)
        while left < old.count || right < new.count {
            if removed.contains(left) {
                lines.append(.removed(old[left]))
                left += 1
            } else if added.contains(right) {
                lines.append(.added(new[right]))
                right += 1
            } else {
                lines.append(.same(old[left]))
                (left, right) = (left + 1, right + 1)
            }
        }
        return folded(lines)
    }

    /// Leaves out what is the same and far from every change.
    private static func folded(_ lines: [Line]) -> [Line] {
        var isShown = [Bool](repeating: false, count: lines.count)
        for (index, line) in lines.enumerated() {
            if case .same = line { continue }
            for near in max(0, index - context)...min(lines.count - 1, index + context) { isShown[near] = true }
        }
        var folded: [Line] = []
        for (index, line) in lines.enumerated() {
            if isShown[index] { folded.append(line) } else if folded.last != .gap { folded.append(.gap) }
        }
        return folded
    }

    private static func split(_ text: String) -> [String] {
        var lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }.map(String.init)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// The difference for people: each line says in a word whether it was removed or added.
    static func html(from before: String, to after: String) -> HTML {
        guard let lines = lines(from: before, to: after) else {
            return "<p class=\"note\">The texts are too long to be compared here.</p>"
        }
        guard !lines.isEmpty else { return "<p class=\"note\">Nothing differs.</p>" }
        let items: [HTML] = lines.map { line in
            switch line {
            case .same(let text): "<li><code>\(UntrustedText.shown(text))</code></li>"
            case .removed(let text): "<li class=\"removed\"><del><code>\(UntrustedText.shown(text))</code></del></li>"
            case .added(let text): "<li class=\"added\"><ins><code>\(UntrustedText.shown(text))</code></ins></li>"
            case .gap: "<li class=\"gap\">…</li>"
            }
        }
        return "<ol class=\"diff\" dir=\"ltr\">\(items)</ol>"
    }
}
