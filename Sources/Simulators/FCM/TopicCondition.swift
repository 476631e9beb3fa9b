/// Topics, and conditions over them: `'sports' in topics && ('cup' in topics || !('league' in topics))`.
/// Source: firebase.google.com, "Send messages to topics".
struct TopicCondition {
    /// The most topics of a condition.
    static let mostTopics = 5

    private var rest: Substring
    private var topics = 0

    private init(_ text: String) { rest = text[...] }

    /// Whether a text is the name of a topic, without `/topics/`.
    static func isTopic(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { isLetterOrDigit($0) || "-_.~%".utf8.contains($0) }
    }

    /// Whether a text is a condition over at most five topics.
    static func isCondition(_ text: String) -> Bool {
        var reader = TopicCondition(text)
        return reader.readAlternatives(depth: 0) && reader.take("") && reader.rest.isEmpty && reader.topics <= mostTopics
    }

    private mutating func readAlternatives(depth: Int) -> Bool {
        repeat {
            guard readTerm(depth: depth) else { return false }
        } while take("&&") || take("||")
        return true
    }

    private mutating func readTerm(depth: Int) -> Bool {
        // A condition of five topics has no use for more parentheses; a hostile one must not exhaust the stack.
        guard depth < 16 else { return false }
        if take("!") { return readTerm(depth: depth + 1) }
        if take("(") { return readAlternatives(depth: depth + 1) && take(")") }
        guard take("'"), let end = rest.firstIndex(of: "'"), Self.isTopic(rest[..<end]) else { return false }
        rest = rest[end...].dropFirst()
        topics += 1
        return take("in") && take("topics")
    }

    /// Skips spaces, and then a word if it comes next.
    private mutating func take(_ word: String) -> Bool {
        rest = rest.drop { $0 == " " }
        guard rest.hasPrefix(word) else { return false }
        rest = rest.dropFirst(word.count)
        return true
    }
}
