import Accounts
import Base
import Campaigns
import Foundation
import Testing

@testable import volley_console

@Suite("values for the app")
struct DataControlTests {
    private static let silent = "name: x\napp: shop\naudience: {everyone: true}\ncontent:\n  silent: true\n"

    private static func applied(_ form: [String: String], to source: String) throws -> (
        text: String, mistakes: [String: Mistake]
    ) {
        var edit = try #require(YAMLEdit(source))
        let mistakes = DataControl.apply(form, to: &edit)
        return (edit.text, mistakes)
    }

    @Test(
        "a value is added, changed and removed by its row; a number stays one, and groups, lists and truths stay as they are"
    )
    func rows() throws {
        let (first, none) = try Self.applied(
            ["add.data.1.name": " refresh ", "add.data.1.value": "content"], to: Self.silent)
        #expect(first == Self.silent + "  data:\n    refresh: content\n" && none.isEmpty)
        let more = first + "    level: 5\n    deep: {a: 1}\n    list: [a]\n    ready: true\n"
        #expect(DataControl.fields(in: try #require(YAMLEdit(more))).map(\.path.last) == ["refresh", "level"])
        let changes = [
            "content.data.refresh": "all", "shown.content.data.refresh": "content", "content.data.level": "6",
            "shown.content.data.level": "5",
        ]
        let changed = try Self.applied(changes, to: more)
        #expect(
            changed.text
                == more.replacing("refresh: content", with: "refresh: all").replacing("level: 5", with: "level: 6"))
        // Another took the place of the last one.
        let swap = [
            "content.data.refresh": "", "shown.content.data.refresh": "content", "add.data.2.name": "load",
            "add.data.2.value": "5",
        ]
        #expect(try Self.applied(swap, to: first).text == Self.silent + "  data:\n    load: \"5\"\n")
        let blank = ["content.data.refresh": "", "shown.content.data.refresh": "content"]
        #expect(try Self.applied(blank, to: first).text == Self.silent)
    }

    @Test(
        "half a row, and a name that is there already, are mistakes at the row",
        arguments: [
            ("", "content", "has no name"), ("load", "", "has no value"),
            ("refresh", "all", "there is a value 'refresh' already"),
        ])
    func mistakes(name: String, value: String, words: String) throws {
        let source = Self.silent + "  data: {refresh: content}\n"
        let (text, mistakes) = try Self.applied(["add.data.1.name": name, "add.data.1.value": value], to: source)
        #expect(text == source && mistakes["add.data.1"]?.message.contains(words) == true)
    }

    @Test("the silent refresh of a new campaign shows its value in the form")
    func silentRefresh() async throws {
        let office = try OrderPageTests.Office()
        try office.folder.write(
            "spring-sale.yaml",
            CampaignSample.silentRefresh.text(app: "shop").replacing("name: x", with: "name: spring-sale"))
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", "/campaign/form?file=spring-sale.yaml", session: edith).body
            #expect(
                page.contains("Values for the app") && page.contains("name=\"content.data.refresh\" value=\"content\""))
            #expect(!page.contains("What › Data"))
        }
    }
}
