public import Base
import PushServices

extension Campaign {
    /// Reads and checks a campaign file. No file but this one is touched.
    /// - Parameter now: an expiry before this moment is in the past.
    /// - Throws: every mistake of the file at once.
    /// - Returns: the campaign, and warnings.
    public static func read(file: String, now: Timestamp) throws(Diagnostics) -> (Campaign, [Diagnostic]) {
        let source = try openSource(file)
        return try read(source, now: now)
    }

    /// Reads and checks the text of a campaign file.
    static func read(
        _ source: YAMLSource, services: [any PushService] = [PushServices.standard], now: Timestamp
    ) throws(Diagnostics) -> (Campaign, [Diagnostic]) {
        let draft = draft(source, now: now) { _ in services }
        guard let campaign = draft.campaign else {
            precondition(!draft.findings.isEmpty, "a campaign was refused without saying why")
            throw Diagnostics(draft.findings)
        }
        return (campaign, draft.findings)
    }
}

extension Project {
    /// Reads and checks volley.yaml. No file but this one is touched.
    /// - Throws: every mistake of the file at once.
    public static func read(file: String) throws(Diagnostics) -> (Project, [Diagnostic]) {
        let source = try openSource(file)
        return try read(source)
    }

    /// Reads and checks the text of volley.yaml.
    static func read(_ source: YAMLSource) throws(Diagnostics) -> (Project, [Diagnostic]) {
        let findings = Findings(isOfProject: true)
        let root = rootSection(of: source, ProjectKeys.root, ProjectKeys.file, example: "runs: runs", findings: findings)
        let project = root.flatMap { ProjectReader(root: $0, file: source.file).read() }
        findings.preferFalseSpaces(in: source)
        let warnings = try findings.warnings()
        guard let project else { preconditionFailure("volley.yaml was refused without saying why") }
        return (project, warnings)
    }
}

func openSource(_ file: String) throws(Diagnostics) -> YAMLSource {
    do throws(Diagnostic) {
        return try YAMLSource(file: file)
    } catch {
        throw Diagnostics(error)
    }
}

/// Parses a file and opens its top level; nil, and reported, when that is impossible.
func rootSection(of source: YAMLSource, _ group: KeyGroup, _ keys: FileKeys, example: String, findings: Findings) -> Section? {
    let start = SourcePosition(file: source.file, line: 1, column: 1)
    do throws(Diagnostic) {
        var composer = try YAMLComposer(source: source, findings: findings)
        guard let root = try composer.document(), !root.isNull else {
            findings.error("the file is empty", at: start, remedy: "It must hold 'key: value' lines, for example: \(example).")
            return nil
        }
        if case .scalar(let value, _) = root.content, let key = group.valid.first(where: { value.hasPrefix($0 + ":") }) {
            findings.error("a space is missing after the ':' of '\(key):'", at: root.position, remedy: "Write it as 'name: value'.")
            return nil
        }
        guard case .mapping = root.content else {
            if !root.isUnreadable {
                findings.error(
                    "the file must hold 'key: value' lines, not \(findings.noun(of: root))", at: root.position,
                    remedy: "It begins, for example, with: \(example).")
            }
            return nil
        }
        return Section(root, group, of: keys, example: example, findings: findings)
    } catch {
        findings.fatal(error)
        return nil
    }
}
