import Base

extension Section {
    /// A single text; nil when absent, or reported.
    func text(_ key: String, example: String) -> SourceText? {
        node(key).flatMap { text($0, subject: "'\(key)'", example: example) }
    }

    /// A text that must be there.
    func requiredText(_ key: String, example: String) -> SourceText? {
        required(key, example: example).flatMap { text($0, subject: "'\(key)'", example: example) }
    }

    /// A node as text; nil, and reported, when it is a list, a group, or blank.
    /// - Parameter subject: what holds the text: `'title'`, or `an entry of 'tags'`.
    func text(_ node: YAMLNode, subject: String, example: String) -> SourceText? {
        guard let text = node.text, !node.isNull else {
            wrongKind(subject, node, must: "a text", example: example)
            return nil
        }
        guard text.value.contains(where: { !$0.isWhitespace }) else {
            findings.error("\(subject) is blank", at: node.position, remedy: "For example: \(example).")
            return nil
        }
        warnAboutCurlyQuotes(text)
        return text
    }

    /// A path of volley.yaml; nil when absent, or reported.
    /// - Parameter kind: what it leads to.
    func path(_ key: String, example: String, kind: String = "a file") -> SourceText? {
        text(key, example: example).flatMap { path($0, subject: "'\(key)'", kind: kind, example: example) }
    }

    /// The text as a path; nil, and reported without repeating it, for what is rather an address or
    /// a secret.
    /// - Parameter secret: what people write there instead of its path, for the remedy.
    func path(
        _ text: SourceText, subject: String, kind: String = "a file", instead secret: String = "address or secret",
        example: String
    ) -> SourceText? {
        if !checkPath(of: text) { return nil }
        guard SecretText.isNoPath(text.value) else { return text }
        findings.error(
            "\(subject) must be the path of \(kind)", at: text.position,
            remedy: "Keep the \(secret) itself out of this file; write, for example: \(example).")
        return nil
    }

    /// Reports a path of volley.yaml that begins with a `~` for an unknown folder. Of a campaign it
    /// is judged when the path is used: the campaign of a run is also read where that folder is
    /// another, or none.
    func checkPath(of path: SourceText) -> Bool {
        guard let mistake = FilePaths.pathMistake(path.value) else { return true }
        findings.error(mistake, at: path.position)
        return false
    }

    /// Reports, without repeating it, a name of volley.yaml that is rather an address or a
    /// password: all messages show names whole.
    func checkName(_ name: SourceText, of thing: String, example: String) {
        guard SecretText.isNoName(name.value) else { return }
        findings.error(
            "the name of \(thing) must not be an address or a password", at: name.position,
            remedy:
                "Keep the address or password itself out of this file, and choose a short name, for example: \(example)."
        )
    }

    /// `true` or `false`; nil when absent, or reported.
    func truth(_ key: String) -> Bool? {
        guard let node = node(key) else { return nil }
        if let text = node.text, text.style == .plain {
            if let truth = CoreSchema.bool(text.value) { return truth }
            if let meant = ["yes": true, "y": true, "on": true, "no": false, "n": false, "off": false][
                text.value.lowercased()]
            {
                findings.error(
                    "'\(key)' must be true or false, not \(findings.noun(of: node))", at: node.position,
                    remedy: "Write \(key): \(meant).")
                // So that mistakes about what does not go with it are reported together with this
                // one.
                return meant
            }
        }
        if let text = node.text, CoreSchema.bool(text.value) != nil {
            findings.error(
                "'\(key)' must be true or false, not a text in quotes", at: node.position, remedy: "Remove the quotes.")
            return nil
        }
        wrongKind("'\(key)'", node, must: "true or false", example: "\(key): true")
        return nil
    }

    /// A whole number; nil when absent, or reported.
    func wholeNumber(_ key: String, in range: ClosedRange<Int>, example: String) -> Int? {
        guard let node = node(key) else { return nil }
        guard let text = node.text, text.style == .plain, case .integer(let number) = CoreSchema.value(of: text.value)
        else {
            if let text = node.text, text.style != .plain, case .integer = CoreSchema.value(of: text.value) {
                findings.error(
                    "'\(key)' must be a whole number, not a text in quotes", at: node.position,
                    remedy: "Remove the quotes.")
            } else {
                wrongKind("'\(key)'", node, must: "a whole number", example: example)
            }
            return nil
        }
        guard let value = Int(exactly: number), range.contains(value) else {
            findings.error(
                "'\(key)' must be a whole number from \(range.lowerBound) to \(range.upperBound), not \(findings.noun(of: node))",
                at: node.position,
                remedy: "For example: \(example).")
            return nil
        }
        return value
    }

    /// A value with its own notation, such as a pace; nil when absent, or reported.
    func parsed<Value>(_ key: String, example: String, _ parse: (String) throws(Mistake) -> Value) -> Value? {
        guard let text = text(key, example: example) else { return nil }
        return checked(text, parse)
    }

    /// The value of a text with its own notation; nil, and reported, when the text does not follow
    /// it.
    func checked<Value>(_ text: SourceText, _ parse: (String) throws(Mistake) -> Value) -> Value? {
        do throws(Mistake) {
            return try parse(text.value)
        } catch {
            findings.error(error, at: text.position)
            return nil
        }
    }

    /// The text if a rule accepts it; nil, and reported, when it does not.
    func accepted(_ text: SourceText, _ rule: (String) throws(Mistake) -> Void) -> SourceText? {
        checked(text, rule).map { text }
    }

    /// One of a few words.
    func choice<Value>(_ key: String, _ choices: [(String, Value)]) -> Value? {
        let words = choices.map(\.0)
        let example = "\(key): \(words[0])"
        guard let text = text(key, example: example) else { return nil }
        if let choice = choices.first(where: { $0.0 == text.value }) { return choice.1 }
        let nearest = text.value.utf8.count <= 64 ? nearestName(to: text.value, among: words) : nil
        findings.error(
            "'\(key)' must be \(orList(words)), not \(quoted(text.value))", at: text.position,
            remedy: nearest.map { "Did you mean '\($0)'?" } ?? "For example: \(example).")
        return nil
    }

    private func warnAboutCurlyQuotes(_ text: SourceText) {
        let curly = "“”„‟".unicodeScalars
        guard text.style == .plain, let first = text.value.unicodeScalars.first,
            let last = text.value.unicodeScalars.last,
            curly.contains(first), curly.contains(last)
        else { return }
        findings.warning(
            .curlyQuotes, message: "the curly quotes are part of the text", at: text.position,
            remedy:
                "Replace them with straight quotes, or, if they belong to the text, put straight quotes around them.")
    }
}

/// `high, normal or low`
func orList(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or " + last
}

extension Section {
    /// Whether a key, or a misspelt one, has a value that is neither `true` nor `false`, and so was
    /// reported.
    func truthIsUnclear(_ key: String) -> Bool {
        guard let node = node(key) else { return mentions(key) }
        guard let text = node.text, text.style == .plain else { return true }
        return CoreSchema.bool(text.value) == nil
    }
}
