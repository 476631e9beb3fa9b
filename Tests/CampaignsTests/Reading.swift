import Base
import PushServices
import Testing

@testable import Campaigns

/// The time at which every test reads.
let now = Timestamp(epochSeconds: 1_795_219_200)  // 2026-11-21T00:00:00Z

/// The names of all services, as sentences list them.
let serviceNames = orList(PushServices.all.map(\.name))

/// The findings of a reading, as a terminal shows them.
func found<Value>(_ read: () throws(Diagnostics) -> (Value, [Diagnostic])) -> String {
    do throws(Diagnostics) {
        return Diagnostics(try read().1).description
    } catch {
        return error.description
    }
}

/// Reads the text of a campaign.
func readCampaign(
    _ yaml: String, for service: any PushService = PushServices.standard
) throws(Diagnostics) -> (Campaign, [Diagnostic]) {
    try Campaign.read(source(yaml, "campaign.yaml"), services: [service], now: now)
}

/// Reads a part of a campaign; missing required keys are added after it, so that the part keeps its
/// places.
func readPart(_ yaml: String, for service: any PushService = PushServices.standard) throws(Diagnostics) -> (
    Campaign, [Diagnostic]
) {
    try readCampaign(completed(yaml), for: service)
}

/// Reads the text of volley.yaml.
func readProject(_ yaml: String) throws(Diagnostics) -> (Project, [Diagnostic]) {
    try Project.read(source(yaml, "volley.yaml"))
}

func completed(_ yaml: String) -> String {
    let defaults = [("name", "a"), ("app", "shop"), ("audience", "{tags: [a]}"), ("content", "{title: Hi}")]
    let lines = yaml.split(separator: "\n")
    let missing = defaults.filter { key, _ in !lines.contains { $0.hasPrefix(key + ":") } }
    return yaml + missing.map { "\($0): \($1)\n" }.joined()
}

private func source(_ yaml: String, _ file: String) throws(Diagnostics) -> YAMLSource {
    do throws(Diagnostic) {
        return try YAMLSource(file: file, bytes: Array(yaml.utf8))
    } catch {
        throw Diagnostics(error)
    }
}

/// A file with mistakes, and the messages for a person.
struct MistakeCase: Sendable, CustomTestStringConvertible {
    var title: String
    var yaml: String
    var expected: String

    init(_ title: String, _ yaml: String, _ expected: String) {
        self.title = title
        self.yaml = yaml
        self.expected = expected
    }

    var testDescription: String { title }
}
