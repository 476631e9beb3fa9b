import Base

/// A group of keys being read: finds values by key, and reports what is unknown, missing or of the
/// wrong kind.
struct Section {
    let group: KeyGroup
    /// Where the group begins; what is missing is reported here.
    let position: SourcePosition
    let findings: Findings
    /// In the order of the file.
    let entries: [YAMLEntry]
    /// Keys that are there and count as absent.
    var withheld: Set<String> = []
    /// What to do other than writing the missing value, after a semicolon; blank for nothing.
    var otherThanValue = ""
    private let values: [String: YAMLEntry]
    /// Keys that misspelt ones probably mean: they are not also reported as missing.
    private let meant: Set<String>
    /// Whether a key was reported that is not like any of the group's: it may be meant for a
    /// missing one, which is then not reported, too.
    let hasStrangeKey: Bool

    /// Opens a group and reports its unknown keys; nil, and reported, when the node is not a group.
    /// - Parameter example: the group as a person might write it, for the remedy.
    init?(_ node: YAMLNode, _ group: KeyGroup, of file: FileKeys, example: String, findings: Findings) {
        guard
            let entries = Self.entries(
                of: node, name: group.name, holdsSecrets: group.holdsSecrets, example: example, findings: findings)
        else { return nil }
        self.group = group
        self.position = node.position
        self.findings = findings
        self.entries = entries
        values = Dictionary(entries.map { ($0.key.value, $0) }) { first, _ in first }
        var meant: Set<String> = [], withheld: Set<String> = []
        var (hasStrangeKey, isBelowStrange) = (false, false)
        // The empty group directly above. Its keys may have lost their indentation.
        var emptied: String?
        for entry in entries {
            let key = entry.key.value
            if group.holds(key) {
                emptied = entry.value.isNull && file.takesGroup(key) ? key : nil
                isBelowStrange = false
                continue
            }
            if isBelowStrange { continue }
            var unknown = file.mistake(about: key, in: group)
            // A second one of the same name would also be refused.
            if let meant = unknown.meant, values[meant] != nil {
                unknown.mistake.remedy =
                    "It most likely means \(quoted(meant)), which is there already: remove this line."
            }
            if let owner = emptied, unknown.meant == nil {
                if withheld.insert(owner).inserted {
                    findings.error(Self.lost(key, from: owner), at: entry.key.position)
                }
                meant.insert(owner)
                continue
            }
            findings.error(unknown.mistake, at: entry.key.position)
            if let key = unknown.meant {
                meant.insert(key)
            } else {
                hasStrangeKey = true
                findings.noteMisplaced(key)
                // What follows an empty key without more indentation was meant to be below it.
                isBelowStrange = entry.value.isNull
            }
        }
        (self.meant, self.withheld, self.hasStrangeKey) = (meant, withheld, hasStrangeKey)
    }

    /// The mistake of a key that has no more indentation than the empty group above it.
    static func lost(_ key: String, from owner: String) -> Mistake {
        Mistake(
            "\(quoted(key)) has no more indentation than \(quoted(owner)), which is empty without it",
            remedy:
                "Put two more blanks before \(quoted(key)), and before the other lines that belong to \(quoted(owner))."
        )
    }

    /// The entries of a group with keys of any name; nil, and reported, when the node is not a
    /// group.
    /// - Parameter holdsSecrets: whether people put a secret in the place of the group: it is not
    ///   read as a key and its value.
    static func entries(
        of node: YAMLNode, name: String, holdsSecrets: Bool = false, example: String, findings: Findings
    ) -> [YAMLEntry]? {
        switch node.content {
        case .mapping(let entries): return entries
        case .unreadable: return nil
        case .scalar(let value, .plain) where !holdsSecrets && KeyTypo(Array(value.unicodeScalars)) != nil:
            if let accident = KeyTypo(Array(value.unicodeScalars)) {
                findings.error(accident.mistake, at: node.position)
            }
            return nil
        default:
            findings.error(
                node.isNull
                    ? "\(KeyGroup.shown(name)) is empty"
                    : "\(KeyGroup.shown(name)) must be a group of keys, not \(findings.noun(of: node))",
                at: node.position,
                remedy: "For example: \(example).")
            return nil
        }
    }

    /// Whether a key is there, whatever its value.
    func has(_ key: String) -> Bool { values[key] != nil && !withheld.contains(key) }

    /// Whether a key is there, or a misspelt one that probably means it.
    func mentions(_ key: String) -> Bool { has(key) || meant.contains(key) }

    /// Where a key is.
    func place(of key: String) -> SourcePosition { values[key]?.key.position ?? position }

    /// The value of a key, if it is there.
    func node(_ key: String) -> YAMLNode? { withheld.contains(key) ? nil : values[key]?.value }

    /// The value of a key that must be there; nil, and reported, when it is not.
    func required(_ key: String, example: String) -> YAMLNode? {
        if let node = node(key) { return node }
        guard !meant.contains(key), !hasStrangeKey else { return nil }
        findings.missing(
            key, "the key '\(key)' is missing" + (group.name.isEmpty ? "" : " \(group.location)"), at: position,
            remedy: "Add it, for example: \(example).")
        return nil
    }

    /// Reports a value of the wrong kind.
    /// - Parameter subject: what has the value: `'tags'`, or `an entry of 'tags'`.
    func wrongKind(_ subject: String, _ node: YAMLNode, must: String, example: String) {
        guard !node.isUnreadable else { return }
        if node.isNull {
            findings.error(
                "\(subject) has no value", at: node.position, remedy: "For example: \(example)\(otherThanValue).")
        } else {
            findings.error(
                "\(subject) must be \(must), not \(findings.noun(of: node))", at: node.position,
                remedy: "For example: \(example).")
        }
    }
}

/// Collects every mistake of one reading, so that a person repairs a file in one go.
final class Findings {
    private(set) var all: [Diagnostic] = []
    /// Keys of the top level that were written twice.
    var repeatedKeys: Set<String> = []
    /// Whether a key could not be read: it may be any.
    var hasUnreadableKeys = false
    /// Whether the file is volley.yaml, where any text may be a secret in the wrong place.
    let isOfProject: Bool
    private var misplaced: Set<String> = []
    private var missing: [String: [Diagnostic]] = [:]

    init(isOfProject: Bool = false) { self.isOfProject = isOfProject }

    /// What a node is, as errors name it: a text of volley.yaml is not repeated, unless it is too
    /// short for a secret.
    func noun(of node: YAMLNode) -> String {
        isOfProject && (node.text?.value.count ?? 0) > Self.shortText && !node.isNull ? "a text" : node.noun
    }

    /// In characters.
    private static let shortText = 6

    func error(_ message: String, at place: SourcePosition, remedy: String? = nil, _ remedies: [Remedy] = []) {
        all.append(Diagnostic(message, at: place, remedy: remedy, remedies))
    }

    func warning(
        _ name: WarningName, message: String, at place: SourcePosition, remedy: String? = nil, _ remedies: [Remedy] = []
    ) {
        all.append(.warning(name, message: message, at: place, remedy: remedy, remedies))
    }

    /// A key is missing, unless it is found elsewhere.
    func missing(_ key: String, _ message: String, at place: SourcePosition, remedy: String) {
        guard !misplaced.contains(key) else { return }
        error(message, at: place, remedy: remedy)
        if let mistake = all.last { missing[key, default: []].append(mistake) }
    }

    /// A key in the wrong place, which was reported, is not reported as missing, too.
    func noteMisplaced(_ key: String) {
        misplaced.insert(key)
        for mistake in missing.removeValue(forKey: key) ?? [] { all.removeAll { $0 == mistake } }
    }

    func warning(_ warning: Diagnostic) { all.append(warning) }

    func error(_ mistake: Mistake, at place: SourcePosition) {
        error(mistake.message, at: place, remedy: mistake.remedy)
    }

    /// The mistake that ended the reading. If its line or the one above was already reported, this
    /// one only follows from that, and is left out.
    func fatal(_ diagnostic: Diagnostic) {
        let isKnown = all.contains { error in
            guard error.severity == .error, let line = error.position?.line, let last = diagnostic.position?.line else {
                return false
            }
            return line == last || line == last - 1
        }
        if !isKnown { all.append(diagnostic) }
    }

    /// Replaces all mistakes that were found from a line on with this one.
    func replaceErrors(from line: Int, by mistake: Diagnostic) {
        all.removeAll { $0.severity == .error && ($0.position?.line ?? 0) >= line }
        all.append(mistake)
    }

    var hasErrors: Bool { all.contains { $0.severity == .error } }

    /// The warnings, in the order of their places, of a reading that went well.
    /// - Throws: everything found, if any of it is an error.
    func warnings() throws(Diagnostics) -> [Diagnostic] {
        let sorted = Diagnostics(all)
        if hasErrors { throw sorted }
        return sorted.all
    }
}
