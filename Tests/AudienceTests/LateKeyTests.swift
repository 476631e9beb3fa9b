import Base
import Testing

@testable import Audience

/// JSON keys that only objects far after the first ones have.
@Suite struct LateKeyTests {
    private let folder = TemporaryFolder()

    /// 3,000 plain objects, followed by these members of the devices 1, 2, …
    private func export(_ late: [String], _ name: String) -> String {
        let plain = (0..<3000).map { "{\"token\":\"\(token($0 + 0x1000))\",\"tags\":[\"news\"]}" }
        let objects =
            plain
            + late.enumerated().map { "{\"token\":\"\(token($0.offset + 1))\",\"tags\":[\"news\"],\($0.element)}" }
        return folder.file(
            name,
            name.hasSuffix(".json") ? "[" + objects.joined(separator: ",\n") + "]" : objects.joined(separator: "\n"))
    }

    private func late(_ sink: CollectingSink) -> [Recipient] {
        sink.recipients.filter { $0.token.text < token(0x1000) }
    }

    @Test("a registration id that comes late excludes its device", arguments: ["a.jsonl", "a.json"])
    func registrationID(name: String) throws {
        let file = export([#""registration_id":"r1""#, #""registration_id":"r2""#], name)
        let query = AudienceQuery(file).with { ($0.everyone, $0.excludedRegistrationIDs) = (true, ["r1"]) }
        #expect(late(try query.run(chunkSize: 4096).sink).map(\.registrationID) == ["r2"])
        let list = folder.file("gone.csv", "token,registration_id\n\(token(0x9999)),r2\n")
        let listed = AudienceQuery(file).with { ($0.everyone, $0.excludedDevices) = (true, [list]) }
        #expect(late(try listed.run().sink).map(\.registrationID) == ["r1"])
        #expect(try query.trace(TraceSubject("r1")).rows.map(\.verdict) == [.excluded])
    }

    @Test("last_active that comes late makes its row the newest", arguments: ["a.jsonl", "a.json"])
    func lastActive(name: String) throws {
        let file = export([#""last_active":"2026-11-02","alias":"new""#], name)
        let again = folder.file(
            "b.jsonl",
            "{\"token\":\"\(token(1))\",\"tags\":[\"news\"],\"last_active\":\"2026-11-01\",\"alias\":\"old\"}\n")
        let query = AudienceQuery(file, again).with { $0.anyTags = ["news"] }
        #expect(late(try query.run(chunkSize: 4096).sink).map(\.alias) == ["new"])
    }

    @Test("a language that comes late is the device's", arguments: ["a.jsonl", "a.json"])
    func language(name: String) throws {
        let query = AudienceQuery(export([#""language":"de""#, #""language":"fr""#], name)).with { $0.everyone = true }
        #expect(late(try query.run(chunkSize: 4096).sink).map(\.language) == ["de", "fr"])
        let german = query.with { $0.conditions = [condition("language", .oneOf(["de"]))] }
        #expect(late(try german.run().sink).map(\.language) == ["de"])
    }

    @Test(
        "a column of where, and one of a text, may come late; a name that no object has is a mistake",
        arguments: ["a.jsonl", "a.json"])
    func conditions(name: String) throws {
        let file = export([#""city":"Berlin""#, #""city":"Lyon","first_name":"Zoë""#], name)
        let query = AudienceQuery(file).with {
            ($0.everyone, $0.fields) = (true, [place("first_name")])
            $0.conditions = [condition("city", .oneOf(["Lyon"]))]
        }
        #expect(late(try query.run(chunkSize: 4096).sink).map(\.fields) == [["Zoë"]])
        #expect(try query.checkColumns().isEmpty)
        let misspelt = query.with { $0.conditions = [condition("citty", .present)] }.mistakes()
        #expect(misspelt.first?.remedy == "Did you mean 'city'?")
    }

    @Test("the tokens of a JSON list of excluded devices may come late")
    func list() throws {
        let notes = (0..<2000).map { "{\"note\":\"\($0)\",\"registration_id\":\"x\($0)\"}\n" }.joined()
        let list = folder.file("gone.jsonl", notes + "{\"token\":\"\(token(1))\"}\n")
        let export = folder.file("a.csv", "token,registration_id\n\(token(1)),\n\(token(2)),\n")
        let query = AudienceQuery(export).with { ($0.everyone, $0.excludedDevices) = (true, [list]) }
        #expect(try query.run().sink.recipients.map(\.token.text) == [token(2)])
    }
}
