import Base

/// Reads `console: {oidc: …}` of volley.yaml.
struct ProviderReader {
    /// `console`
    let parent: Section
    /// The names of the apps.
    let apps: [String]

    /// Those of volley.yaml, with those below `oidc`, to tell where a misplaced one belongs.
    static let keys = FileKeys(
        groups: ProjectKeys.file.groups + [ProjectKeys.provider, ProjectKeys.clientSecret, ProjectKeys.claimedRoles])

    private static let issuerExample = "issuer: \"https://login.example.com\""
    private static let rolesExample = "roles: {claim: groups, map: {marketing: \"editor:shop\"}}"
    private static let example = "oidc: {\(issuerExample), client_id: volley, \(rolesExample)}"
    private static let mapExample = "map: {marketing: \"editor:shop\", admins: administrator}"
    private static let secretExample = "client_secret: {file: keys/oidc.txt}"
    private var findings: Findings { parent.findings }

    /// The provider; nil when absent, or reported.
    func provider() -> ConsoleProvider? {
        guard let section = group("oidc", ProjectKeys.provider, in: parent, example: Self.example) else { return nil }
        let issuer = section.requiredText("issuer", example: Self.issuerExample).flatMap {
            section.accepted($0, Self.checkIssuer)
        }
        let clientID = section.requiredText("client_id", example: "client_id: volley").flatMap {
            section.accepted($0, Self.checkClientID)
        }
        let secret = secret(section)
        let roles = roles(section)
        let name = section.text("name", example: "name: Example Login")
        let nameClaim = section.text("name_claim", example: "name_claim: email")
        let scopes = section.paths("scopes", example: "scopes: [profile, groups]", entry: "a scope").compactMap {
            section.accepted($0, Self.checkScope)?.value
        }
        let authority = section.path("ca", example: "ca: ca.pem")
        let isOnly = section.truth("only") ?? false
        guard let issuer, let clientID, let roles else { return nil }
        return ConsoleProvider(
            issuer: issuer, clientID: clientID, clientSecret: secret, rolesClaim: roles.claim, roles: roles.map,
            name: name,
            nameClaim: nameClaim?.value ?? ConsoleProvider.usualNameClaim,
            scopes: section.has("scopes") ? scopes : ConsoleProvider.usualScopes, certificateAuthority: authority,
            isOnly: isOnly)
    }

    private func group(_ key: String, _ keys: KeyGroup, in section: Section, example: String) -> Section? {
        section.node(key).flatMap { Section($0, keys, of: Self.keys, example: example, findings: findings) }
    }

    private func secret(_ section: Section) -> ConsoleProvider.Secret? {
        if let text = section.node("client_secret")?.text, section.node("client_secret")?.isNull == false {
            // It may be the secret itself, so it is not repeated.
            findings.error(
                "'client_secret' must be a group of keys, not a text", at: text.position,
                remedy: "Keep the client secret itself out of this file; write, for example: \(Self.secretExample).")
            return nil
        }
        guard let below = group("client_secret", ProjectKeys.clientSecret, in: section, example: Self.secretExample)
        else { return nil }
        let file = below.text("file", example: "file: keys/oidc.txt").flatMap {
            below.path($0, subject: "'file'", instead: "client secret", example: "file: keys/oidc.txt")
        }
        let variable = below.variableName("env", of: "client secret", example: "OIDC_SECRET")
        if below.has("file"), below.has("env") {
            findings.error(
                "'file' and 'env' cannot be combined", at: below.place(of: "env"),
                remedy: "Keep the one that holds the secret.")
        } else if !below.mentions("file"), !below.mentions("env") {
            findings.error(
                "'client_secret' has neither 'file' nor 'env'", at: below.position,
                remedy: "Add one of them, for example: file: keys/oidc.txt.")
        }
        return file.map { .file($0) } ?? variable.map { .variable($0) }
    }

    private func roles(_ section: Section) -> (claim: String, map: [(value: String, roles: [ClaimedRole])])? {
        guard section.required("roles", example: Self.rolesExample) != nil,
            let below = group("roles", ProjectKeys.claimedRoles, in: section, example: Self.rolesExample)
        else { return nil }
        let claim = below.requiredText("claim", example: "claim: groups")
        guard let node = below.required("map", example: Self.mapExample),
            let entries = Section.entries(of: node, name: "map", example: Self.mapExample, findings: findings)
        else { return nil }
        if entries.isEmpty {
            findings.error("'map' is empty", at: node.position, remedy: "For example: \(Self.mapExample).")
        }
        let map = entries.map { entry in (entry.key.value, texts(entry, below).compactMap { below.checked($0, role) }) }
        return claim.map { ($0.value, map) }
    }

    /// One role, or a list of them.
    private func texts(_ entry: YAMLEntry, _ section: Section) -> [SourceText] {
        let subject = "the role of \(quoted(entry.key.value))", example = "\(entry.key.value): \"editor:shop\""
        guard case .sequence(let items) = entry.value.content else {
            return section.text(entry.value, subject: subject, example: example).map { [$0] } ?? []
        }
        if items.isEmpty {
            findings.error(
                "\(subject) is an empty list", at: entry.value.position, remedy: "Name a role, or remove the entry.")
        }
        return items.compactMap { section.text($0, subject: subject, example: example) }
    }

    private func role(_ text: String) throws(Mistake) -> ClaimedRole {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let names = ClaimedRole.Role.allCases.map(\.rawValue)
        guard let role = ClaimedRole.Role(rawValue: parts[0]) else {
            let nearest = parts[0].utf8.count <= 64 ? nearestName(to: parts[0], among: names) : nil
            throw Mistake(
                "there is no role \(quoted(parts[0]))",
                remedy: nearest.map { "Did you mean '\($0)'?" }
                    ?? "Roles are \(names.joined(separator: ", ")); for one app, for example: editor:shop.")
        }
        guard parts.count > 1 else { return ClaimedRole(role, app: nil) }
        // A role of an app that does not exist would be one of an app that gets that name later.
        guard apps.contains(parts[1]) else {
            let nearest = parts[1].utf8.count <= 64 ? nearestName(to: parts[1], among: apps) : nil
            throw Mistake(
                "there is no app \(quoted(parts[1]))",
                remedy: nearest.map { "Did you mean '\($0)'?" } ?? "The apps are \(apps.joined(separator: ", ")).")
        }
        return ClaimedRole(role, app: parts[1])
    }

    private static func checkIssuer(_ url: String) throws(Mistake) {
        let rest = url.dropFirst("https://".count)
        guard url.hasPrefix("https://"), url.utf8.count <= 1000, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            !rest.contains(where: { "?#@".contains($0) })
        else {
            throw Mistake(
                "the issuer must be an address that begins with https://, without a user, '?' and '#'",
                remedy: "Copy it from the provider's description, for example: \(issuerExample).")
        }
        do { try ServerURL.check("https://\(rest.prefix { $0 != "/" })", example: "") } catch {
            throw Mistake(error.message, remedy: "For example: \(issuerExample).")
        }
        // People copy the address of the description itself.
        if let end = url.firstRange(of: "/.well-known/") {
            throw Mistake(
                "this is the address of the provider's description",
                remedy: "Write the issuer alone: \(quoted(String(url[..<end.lowerBound]))).")
        }
    }

    private static func checkClientID(_ text: String) throws(Mistake) {
        guard text.utf8.count <= 500, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw Mistake("a client id holds letters, digits and signs alone", remedy: "Copy it from the provider.")
        }
    }

    /// RFC 6749, section 3.3.
    private static func checkScope(_ text: String) throws(Mistake) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
        else {
            throw Mistake("\(quoted(text)) is no scope", remedy: "Write several as a list: scopes: [profile, groups].")
        }
    }
}
