public import Base
import Campaigns
import Content

/// The part of a test that is wanted: some of the app's test devices, and some of the texts.
public struct TestChoice: Hashable, Sendable {
    /// Names of test devices; nil for all.
    public var devices: [String]?
    /// Names of variants; nil for all.
    public var variants: [String]?
    /// Languages as the campaign writes them, blank for the text above them; nil for all.
    public var languages: [String]?

    /// Everything.
    public init() {}

    /// What `text` wrote.
    /// - Throws: `Diagnostic` for anything else.
    public init(_ text: String) throws(Diagnostic) {
        guard !text.isEmpty else { return }
        guard let value = try? JSONValue(parsing: text), case .object = value else {
            throw Diagnostic("it cannot be read which texts and devices were chosen for the test", remedy: "Choose them again.")
        }
        func names(_ key: String) -> [String]? {
            guard case .array(let names)? = value[key] else { return nil }
            return names.compactMap(\.stringValue)
        }
        (devices, variants, languages) = (names("devices"), names("variants"), names("languages"))
    }

    /// For an order; blank for everything.
    public var text: String {
        let parts = [("devices", devices), ("variants", variants), ("languages", languages)].compactMap { key, names in
            names.map { (key, JSONValue.array($0.map { .string($0) })) }
        }
        return parts.isEmpty ? "" : JSONValue.object(pairs: parts).text
    }

    func holds(_ device: TestDevice) -> Bool { devices?.contains(device.name) ?? true }

    func holds(_ message: MessageCatalog.Message) -> Bool {
        (variants?.contains(message.variant) ?? true) && (languages?.contains(message.language) ?? true)
    }
}
