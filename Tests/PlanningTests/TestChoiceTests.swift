import Base
import Foundation
import Planning
import PushServices
import Runs
import Synchronization
import TestCommands
import Testing

@Suite("the part of a test that is wanted")
struct TestChoiceTests {
    @Test("comes back from its text; everything is a blank text")
    func roundTrip() throws {
        var choice = TestChoice()
        #expect(choice.text.isEmpty)
        #expect(try TestChoice("") == choice)
        (choice.devices, choice.languages) = (["Anna", "Ben"], ["", "de"])
        #expect(try TestChoice(choice.text) == choice)
    }

    @Test(
        "a text that cannot be read does not stand for all devices",
        arguments: ["x", "[]", #"{"devices":"Anna"}"#, #"{"devices":["Anna",5]}"#])
    func unreadable(text: String) { #expect(throws: Diagnostic.self) { try TestChoice(text) } }
}

/// Tests that go to the devices of people.
@Suite("people that test, by their aliases")
struct TestPeopleTests {
    /// An app with an export, in which guest has eleven devices, and a campaign for another export.
    private func folder(_ people: String, app: String = "devices: devices.csv") throws -> ProjectFolder {
        let folder = try ProjectFolder(
            app: "environment: simulator\napproval: required\n\(app)\ntest_devices: [\(people)]")
        let rows =
            [
                "\(ProjectFolder.token(1)),anna,Anna", "\(ProjectFolder.token(2)),anna,Anna",
                "\(ProjectFolder.token(3)),ben,",
            ]
            + (20..<31).map { "\(ProjectFolder.token($0)),guest,Guest" }
        try folder.write("devices.csv", "device_token,alias,first_name\n" + rows.joined(separator: "\n") + "\n")
        try folder.write("others.csv", "device_token,alias,first_name\n\(ProjectFolder.token(9)),anna,Eva\n")
        try folder.write(
            "campaign.yaml",
            "name: test\napp: shop\naudience: {devices: others.csv, everyone: true}\n"
                + "content: {title: \"Hi {{ first_name }}\", languages: {de: {title: Hallo}}}\n")
        return folder
    }

    /// The devices and titles of a test, and its warnings.
    private func test(_ folder: ProjectFolder) throws -> (sent: [String], warnings: [String]) {
        let warnings = Mutex<[String]>([])
        let options = PlanOptions(
            observer: PlanningObserver { event in
                if case .warnings(let found) = event { warnings.withLock { $0 += found.map(\.message) } }
            }, cancellation: try Cancellation())
        let run = try planTest(
            CampaignFile(folder.url.appendingPathComponent("campaign.yaml").path), options, at: .now())
        defer { run.close() }
        #expect(run.plan.isTest)
        var sent: [String] = []
        try run.forEachResult { _, recipient, _, _ in
            sent.append("\(recipient.alias) \(recipient.token.text.suffix(2)) \(recipient.fields.joined())")
        }
        return (sent, warnings.withLock { $0 })
    }

    @Test("a test goes to the devices that the app's exports have for an alias, and never to those of the campaign's")
    func found() throws {
        let folder = try folder(
            "{name: Anna, alias: anna, language: de}, {name: Second, token: \"\(ProjectFolder.token(2))\", language: de}, {name: Zoe, alias: zoe}"
        )
        let (sent, warnings) = try test(folder)
        let last = { (number: Int) in ProjectFolder.token(number).suffix(2) }
        // A device that is named by its token, too, gets the test once.
        #expect(sent == ["Anna \(last(1)) Eva", "Second \(last(2)) Eva"], "\(sent)")
        #expect(warnings.contains("no device of the exports has the alias of the test device 'Zoe'"), "\(warnings)")
    }

    @Test(
        "an alias of more than ten devices is not a person's, and no part of them gets the test",
        arguments: [
            ("{name: Guest, alias: guest}", "has more than 10 devices"),
            ("{name: Zoe, alias: zoe}", "no device of the exports has the alias"),
        ])
    func refused(people: String, words: String) throws {
        let folder = try folder(people)
        let mistake = #expect(throws: Diagnostic.self) { try test(folder) }
        #expect(mistake?.message.contains(words) == true && mistake?.severity == .error, "\(mistake as Any)")
        #expect(!folder.files(in: "runs").contains { $0.contains("-test-") })
    }

    @Test("without exports of the app, an alias says nothing, and the mistake says what to write")
    func noExports() throws {
        let folder = try folder("{name: Anna, alias: anna}", app: "pace: 100/s")
        let mistake = #expect(throws: Diagnostic.self) { try test(folder) }
        #expect(mistake?.message.contains("has no exports of its own") == true)
    }
}
