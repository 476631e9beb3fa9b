import Base
import PushServices
import Runs

/// A text of a run's campaign, as its plan keeps it.
struct PlannedText {
    /// The service that takes it, as a sentence names it; blank where one takes all pushes.
    var service: String
    /// Blank without variants.
    var variant: String
    /// Blank for the text above `languages`.
    var language: String
    /// Devices that were to get it.
    var recipients: Int
    /// As the first of its recipients gets it, otherwise as in the campaign.
    var push: ShownPush
    /// Whether it is what a recipient gets.
    var isExample: Bool

    /// In the order of the campaign; empty for plans that keep none.
    static func all(in plan: RunPlan) -> [PlannedText] {
        let (samples, services) = (array(plan.preview["samples"]), plan.services)
        return array(plan.preview["messages"]).compactMap { message in
            let (variant, language) = (message["variant"]?.stringValue ?? "", message["language"]?.stringValue ?? "")
            let taker = services.first { $0.name == message["service"]?.stringValue } ?? plan.service
            let example = samples.first { sample in
                ["variant", "language", "service"].allSatisfy { (sample[$0]?.stringValue ?? "") == (message[$0]?.stringValue ?? "") }
            }
            let push = example?["payload"].map(taker.shown)
            let texts = ["title", "subtitle", "body"].map { message[$0]?.stringValue ?? "" }
            guard push != nil || texts != ["", "", ""] else { return nil }
            return PlannedText(
                service: services.count > 1 ? taker.displayName : "",
                variant: variant, language: language, recipients: Int(message["recipients"]?.integerValue ?? 0),
                push: push ?? ShownPush(title: texts[0], subtitle: texts[1], body: texts[2]), isExample: push != nil)
        }
    }

    private static func array(_ value: JSONValue?) -> [JSONValue] {
        if case .array(let values)? = value { values } else { [] }
    }

    /// Its place among the others, for people: `German, variant short`.
    func place(among texts: [PlannedText]) -> String {
        let language = language.isEmpty ? "every other language" : LanguageName.english(language) ?? language
        return [
            service, texts.contains { !$0.language.isEmpty } ? language : "", variant.isEmpty ? "" : "variant \(variant)",
        ].filter { !$0.isEmpty }.joined(separator: ", ")
    }
}
