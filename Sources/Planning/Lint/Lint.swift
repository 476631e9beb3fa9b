public import Base

/// The warnings of a command, without those that the campaign allows.
public struct Lint: Sendable {
    /// The warnings to show.
    public let shown: [Diagnostic]
    /// The warnings that the campaign silences, each with the reason.
    public let silenced: [(warning: Diagnostic, reason: String)]

    /// - Parameters:
    ///   - sources: what was checked: an allowed warning is unused only if all of its sources were checked.
    package init(_ warnings: [Diagnostic], allowed: [AllowedWarning], lookedAt sources: Set<WarningName.Source>) {
        let reasons = Dictionary(allowed.map { ($0.name, $0.reason) }) { first, _ in first }
        silenced = warnings.compactMap { warning in warning.name.flatMap { reasons[$0] }.map { (warning, $0) } }
        let occurring = Set(warnings.compactMap(\.name))
        let unused = allowed.filter { !occurring.contains($0.name) && $0.name.sources.isSubset(of: sources) }.map { allowed in
            Diagnostic.warning(
                .unusedAllow, message: "'\(allowed.written)' is allowed, but there is no longer such a warning", at: allowed.position,
                remedy: "Remove it from 'allow', so that Volley warns you if it comes back.")
        }
        shown = warnings.filter { $0.name.map { reasons[$0] == nil } ?? true } + unused
    }

    /// The silenced warnings in JSON documents.
    public var silencedJSON: JSONValue {
        .array(
            silenced.map { warning, reason in
                guard case .object(let members) = warning.json else { return warning.json }
                return .object(members + [JSONMember("reason", .string(reason))])
            })
    }
}
