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
        let unreadable = Diagnostic(
            "it cannot be read which texts and devices were chosen for the test", remedy: "Choose them again.")
        guard let value = try? JSONValue(parsing: text), case .object = value else { throw unreadable }
        // What cannot be read must not stand for all.
        func names(_ key: String) throws(Diagnostic) -> [String]? {
            guard let list = value[key] else { return nil }
            guard case .array(let items) = list else { throw unreadable }
            let names = items.compactMap(\.stringValue)
            guard names.count == items.count else { throw unreadable }
            return names
        }
        (devices, variants, languages) = (try names("devices"), try names("variants"), try names("languages"))
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
