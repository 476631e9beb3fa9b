import Base

/// Reads `console` of volley.yaml.
struct ConsoleReader {
    /// The top level.
    let root: Section

    private static let example = "console: {public_url: \"https://push.example.com\"}"
    private static let urlExample = "https://push.example.com"
    private static let proxyExample = "proxies: [127.0.0.1, 10.0.0.0/8]"

    /// What `volley serve` goes by; nil when absent, or reported.
    func settings() -> ConsoleSettings? {
        guard let node = root.node("console"),
            let section = Section(node, ProjectKeys.console, of: ProviderReader.keys, example: Self.example, findings: root.findings)
        else { return nil }
        if section.entries.isEmpty {
            root.findings.error("'console' is empty", at: node.position, remedy: "For example: \(Self.example).")
        }
        return ConsoleSettings(
            publicURL: publicURL(section), proxies: proxies(section),
            roots: section.paths("roots", example: "roots: [campaigns]", entry: "a folder").filter {
                section.path($0, subject: "an entry of 'roots'", kind: "a folder", example: "roots: [campaigns]") != nil
            },
            provider: ProviderReader(parent: section, apps: apps).provider())
    }

    /// The names of the apps, whatever else is wrong with them.
    private var apps: [String] {
        guard case .mapping(let entries)? = root.node("apps")?.content else { return [] }
        return entries.map(\.key.value)
    }

    private func publicURL(_ section: Section) -> SourceText? {
        section.text("public_url", example: "public_url: \"\(Self.urlExample)\"").flatMap { url in
            section.accepted(url) { (text) throws(Mistake) in
                do throws(Mistake) { try ServerURL.check(text, example: Self.urlExample) } catch {
                    throw Mistake(error.message, remedy: error.remedy?.replacing(" url: ", with: " public_url: "))
                }
            }
        }
    }

    private func proxies(_ section: Section) -> [AddressRange] {
        section.paths("proxies", example: Self.proxyExample, entry: "an address").compactMap { text in
            section.checked(text) { (text) throws(Mistake) in
                guard let range = AddressRange(text) else {
                    throw Mistake(
                        "\(quoted(text)) is neither an address nor a range of addresses", remedy: "For example: \(Self.proxyExample).")
                }
                return range
            }
        }
    }
}
