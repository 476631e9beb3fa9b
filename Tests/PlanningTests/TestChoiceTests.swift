import Base
import Planning
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
