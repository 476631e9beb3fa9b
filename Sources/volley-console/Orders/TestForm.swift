import Base
import Campaigns
import HTTPTypes
import Planning
import PushServices
import Reports
import Runs

/// A test: to which of the app's test devices, and with which of the campaign's texts; and what a
/// test has sent.
enum TestForm {
    /// A mark that the form has boxes: unchecked ones are not sent.
    private static let mark = "chosen"
    private static func device(_ name: String) -> String { "device.\(name)" }
    private static func variant(_ name: String) -> String { "variant.\(name)" }
    private static func language(_ tag: String) -> String { "language.\(tag)" }

    /// What can be chosen.
    struct Offer {
        var devices: [String] = [], variants: [String] = []
        /// Blank for the text above the languages.
        var languages = [""]

        init(_ app: App, _ campaign: Campaign?) {
            func add(_ name: String, to names: inout [String]) { if !names.contains(name) { names.append(name) } }
            for device in app.testDevices { add(device.name, to: &devices) }
            guard let campaign else { return }
            variants = campaign.variants.filter { !$0.isHoldout }.map(\.name.value)
            for content in [campaign.content] + campaign.variants.compactMap(\.content) {
                for translation in content.languages { add(translation.language.value, to: &languages) }
            }
        }

        var texts: Int { max(1, variants.count) * languages.count }
    }

    /// Below the heading: how much is sent, and boxes where there is a choice.
    static func html(_ offer: Offer, _ app: App) -> HTML {
        func boxes(_ title: HTML, _ names: [(field: String, words: String)]) -> HTML {
            guard names.count > 1 else { return "" }
            let boxes: [HTML] = names.map { GroupInput.box("\($0.words)", name: $0.field, value: "1", isChecked: true) }
            return
                "<fieldset class=\"field controls\"><legend>\(title)</legend><div class=\"boxes\">\(boxes)</div></fieldset>"
        }
        let texts: HTML = offer.texts > 1 ? ", in \(TextFormat.counted(offer.texts, one: "text"))" : ""
        let own: HTML =
            offer.languages.count > 1 && app.testDevices.contains { $0.language != nil }
            ? " A device with a language gets the texts of that language." : ""
        let people = app.testDevices.count { $0.alias != nil }, named = app.testDevices.count - people
        let devices = [
            named == 0 ? nil : TextFormat.devices(named),
            people == 0 ? nil : "the devices of \(TextFormat.counted(people, one: "person", many: "people"))",
        ].compactMap(\.self).joined(separator: " and ")
        return """
            <p>This campaign goes now to the test devices of its app, \(devices)\(texts).\(own)</p>
            <input type="hidden" name="\(mark)" value="1">
            \(boxes("To", offer.devices.map { (device($0), $0) }))
            \(boxes("Variants", offer.variants.map { (variant($0), $0) }))
            \(boxes("Texts", offer.languages.map { (language($0), $0.isEmpty ? "The text above the languages" : LanguageName.words($0)) }))
            """
    }

    /// What a form chose.
    /// - Throws: `Refusal`: nothing of a kind.
    static func choice(_ form: [String: String], _ offer: Offer) throws(Refusal) -> TestChoice {
        var choice = TestChoice()
        guard form[mark] != nil else { return choice }
        func chosen(_ names: [String], _ field: (String) -> String) throws(Refusal) -> [String]? {
            guard names.count > 1 else { return nil }
            let chosen = names.filter { form[field($0)] != nil }
            guard !chosen.isEmpty else {
                throw Refusal(
                    status: .unprocessableContent, title: "Nothing is chosen",
                    words: "Go back, and choose at least one device and one text for the test. Nothing was ordered.")
            }
            return chosen == names ? nil : chosen
        }
        choice.devices = try chosen(offer.devices, device)
        choice.variants = try chosen(offer.variants, variant)
        choice.languages = try chosen(offer.languages, language)
        return choice
    }

    // MARK: - What was sent

    /// What a test sent to each device, as its run keeps it; blank for another run.
    static func sent(_ summary: RunSummary, _ site: Site) throws -> HTML {
        guard summary.isTest else { return "" }
        let run = try site.catalog.open(summary.id)
        defer { run.close() }
        guard case .array(let items)? = run.plan.preview["pushes"], !items.isEmpty else { return "" }
        func text(_ item: JSONValue, _ key: String) -> String { item[key]?.stringValue ?? "" }
        let pushes: [HTML] = items.map { item in
            let service = PushServices.named(text(item, "service")) ?? run.plan.service
            let texts: [HTML] = service.shown(item["payload"] ?? .null).texts.map {
                "<br><span dir=\"auto\">\($0.text)</span>"
            }
            return """
                <li><b dir="auto">\(UntrustedText.shown(text(item, "device")))</b> <code dir="auto">\(text(item, "token"))</code>, \
                \(UntrustedText.shown(text(item, "text")))\(texts)</li>
                """
        }
        let devices = Set(items.map { text($0, "token") }).count
        return Words.panel(
            "What was sent", id: "sent",
            """
            <p>\(TextFormat.counted(items.count, one: "push", many: "pushes")) to \(TextFormat.devices(devices)).</p>
            <ul class="list">\(pushes)</ul>
            """)
    }
}
