import Base
import PushServices
import Reports
import Testing

@testable import Planning

@Suite("What a phone shows of a payload")
struct ShownPushTests {
    private func push(_ json: String) throws -> ShownPush { APNs().shown(try JSONValue(parsing: json)) }

    @Test("an activity shows its state, or its alert; it is never silent")
    func activity() throws {
        let update = try push(
            #"{"aps":{"timestamp":0,"event":"update","content-state":{"minutes":12,"driver":"Anna"}}}"#)
        #expect(update.body == "‹minutes 12 · driver Anna›" && !update.isSilent)
        #expect(update.marks.first.map { "\($0.name) \($0.value)" } == "Live Activity is updated")
        let start = try push(
            #"{"aps":{"event":"start","content-state":{"minutes":12},"alert":{"title":"On its way","sound":"default"}}}"#
        )
        #expect(start.title == "On its way" && start.body.isEmpty)
        #expect(start.marks.map { "\($0.name) \($0.value)" }.prefix(1) == ["Live Activity starts"])
        let fcm = FCM().shown(
            try JSONValue(
                parsing:
                    #"{"message":{"apns":{"live_activity_token":"x","payload":{"aps":{"event":"end","content-state":{"a":1}}}}}}"#
            ))
        #expect(fcm.body == "‹a 1›" && !fcm.isSilent && fcm.marks.first?.value == "ends")
        let jpush = JPush().shown(
            try JSONValue(
                parsing:
                    #"{"live_activity":{"ios":{"apns-priority":0,"stale-date":-1800,"event":"update","content-state":{"a":1},"alert":{"title":"T","body":"B"}}}}"#
            ))
        #expect(jpush.texts.map(\.text) == ["T", "B"] && !jpush.isSilent)
        #expect(
            jpush.marks.map { "\($0.name) \($0.value)" } == [
                "Live Activity is updated", "out of date after 1800 s", #"content-state {"a":1}"#,
            ])
    }

    @Test("texts, marks and own keys are told apart")
    func read() throws {
        let push = try push(
            #"{"aps":{"alert":{"title":"Hi","subtitle":"S","body":"B"},"badge":0,"sound":"default","thread-id":"t","category":"C","mutable-content":1,"content-available":1},"image":"https://x.example/a.jpg","link":"shop://x","n":{"a":[1]}}"#
        )
        #expect(push.texts.map(\.key) == ["title", "subtitle", "body"] && push.texts.map(\.text) == ["Hi", "S", "B"])
        #expect(
            push.marks.map { "\($0.name)=\($0.value)" } == [
                "badge=removed", "sound=default", "thread=t", "category=C", "wakes the app=",
            ])
        #expect(push.image == "https://x.example/a.jpg" && !push.isSilent)
        #expect(push.ownKeys.map { "\($0.name)=\($0.value)" } == ["link=shop://x", #"n={"a":[1]}"#])
    }

    @Test("a text alone is the body, texts of the app are known by their keys, and a background push shows nothing")
    func others() throws {
        #expect(try push(#"{"aps":{"alert":"Hello"}}"#).body == "Hello")
        #expect(try push(#"{"aps":{"alert":{"loc-key":"K","loc-args":["a"]}}}"#).body == "‹K›")
        let silent = try push(#"{"aps":{"content-available":1},"v":2}"#)
        #expect(silent.isSilent && silent.texts.isEmpty && silent.marks.isEmpty && silent.ownKeys.count == 1)
        #expect(try !push(#"{"aps":{"content-available":1,"badge":3}}"#).isSilent)
    }

    @Test("a card is as wide as a phone's, and no wider than the terminal", arguments: [30, 44, 62, 100])
    func card(width: Int) throws {
        let push = try push(
            #"{"aps":{"alert":{"title":"全场八折，仅限今天，门店等您来，从第一束春花到最后一件冬衣都打折","body":"A\nlonger\u001b[31m text that certainly needs more than one line of a phone, and 🎉 as well"},"sound":"x"},"image":"https://cdn.example.com/a/very/long/address/that/does/not/fit/into/a/line.jpg"}"#
        )
        let lines = PhoneCard(app: "shop", push: push).lines(width: width)
        #expect(lines.allSatisfy { TextWidth.columns($0) <= width }, "\(lines.joined(separator: "\n"))")
        let frame = lines.filter { $0.hasPrefix("  │") || $0.hasPrefix("  ╭") || $0.hasPrefix("  ╰") }
        #expect(Set(frame.map { TextWidth.columns($0) }).count == 1)
        #expect(!lines.joined().contains("\u{1B}"))
    }

    @Test("whatever is interpolated into a page is text")
    func escaping() {
        let evil = "<script>alert(1)</script>\"'&\u{0}\u{202E}"
        let page: HTML = "<p title=\"\(evil)\">\(evil)</p>\(["<b>\("<")</b>", "x"] as [HTML])"
        let escaped = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\u{FFFD}\u{202E}"
        #expect(page.markup == "<p title=\"\(escaped)\">\(escaped)</p><b>&lt;</b>\nx")
    }
}
