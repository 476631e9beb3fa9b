import Base

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
