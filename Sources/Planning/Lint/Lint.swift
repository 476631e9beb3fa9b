package import Base

/// The warnings of a command, without those that the campaign allows.
package struct Lint: Sendable {
    /// What is to be said.
    package let shown: [Diagnostic]
    /// What the campaign does not want to hear, with the reason.
    package let silenced: [(warning: Diagnostic, reason: String)]

    /// - Parameters:
    ///   - sources: what was looked at: what belongs to others cannot be said not to occur any more.
    package init(_ warnings: [Diagnostic], allowed: [AllowedWarning], lookedAt sources: Set<WarningName.Source>) {
        let reasons = Dictionary(allowed.map { ($0.name, $0.reason) }) { first, _ in first }
        silenced = warnings.compactMap { warning in warning.name.flatMap { reasons[$0] }.map { (warning, $0) } }
        let occurring = Set(warnings.compactMap(\.name))
        let unused = allowed.filter { !occurring.contains($0.name) && $0.name.sources.isSubset(of: sources) }.map { allowed in
            Diagnostic.warning(
                .unusedAllow, "'\(allowed.name.rawValue)' is allowed, but there is no such warning any more", at: allowed.position,
                remedy: "Remove it from 'allow', so that it says so when it comes back.")
        }
        shown = warnings.filter { $0.name.map { reasons[$0] == nil } ?? true } + unused
    }

    /// What JSON documents hold of the silenced ones.
    package var silencedJSON: JSONValue {
        .array(
            silenced.map { warning, reason in
                guard case .object(let members) = warning.json else { return warning.json }
                return .object(members + [JSONMember("reason", .string(reason))])
            })
    }
}
