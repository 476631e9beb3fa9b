import Base
import Testing

@testable import PushServices

@Suite("What phones show of a payload for Getui")
struct GetuiShownTests {
    private func shown(_ json: String) throws -> ShownPush { Getui().shown(try JSONValue(parsing: json)) }

    @Test("the card has the notification's texts, its image, and what the app gets")
    func card() throws {
        let push = try shown(
            #"{"push_channel":{"ios":{"aps":{"alert":{"title":"I","subtitle":"S","body":"B"},"sound":"a.caf","thread-id":"t"},"auto_badge":"0","payload":"{\"link\":\"x\",\"n\":1}"}},"push_message":{"notification":{"title":"T","body":"B","big_image":"https://a.b/c.png","click_type":"url","url":"x","channel_id":"offers"}}}"#
        )
        #expect(
            push.title == "T" && push.subtitle == "S" && push.body == "B" && push.image == "https://a.b/c.png"
                && !push.isSilent)
        #expect(
            push.marks.map { "\($0.name)=\($0.value)" } == [
                "sound=a.caf", "badge=removed", "thread=t", "link (Android)=x", "channel (Android)=offers",
            ])
        #expect(push.ownKeys.map { "\($0.name)=\($0.value)" } == ["link=x", "n=1"])
    }

    @Test("the card says of which class the push is at makers and on HarmonyOS")
    func classes() throws {
        let push = try shown(
            #"{"push_channel":{"ios":{"aps":{"alert":{"title":"T"}}},"android":{"ups":{"notification":{"title":"T"},"options":{"HW":{"/message/android/category":"MARKETING"},"VV":{"/classification":0}}}},"harmony":{"notification":{"category":"MARKETING"}}},"push_message":{"transmission":"{}"}}"#
        )
        #expect(
            push.marks.map { "\($0.name)=\($0.value)" } == [
                "shown by the app itself on Android, while it runs=", "category (Huawei)=MARKETING",
                "classification (vivo)=operational",
                "category (HarmonyOS)=MARKETING",
            ])
    }

    @Test("the silence that Getui needs is no sound")
    func silence() throws {
        let push = try shown(
            #"{"push_channel":{"ios":{"aps":{"alert":{"title":"T"},"sound":"com.gexin.ios.silence"}}},"push_message":{"notification":{"title":"T"}}}"#
        )
        #expect(push.marks.isEmpty)
    }

    @Test("a message that only an app reads is silent, and says what the app gets, once")
    func silent() throws {
        let push = try shown(
            #"{"push_channel":{"ios":{"aps":{"content-available":1},"payload":"{\"a\":\"b\"}"}},"push_message":{"transmission":"{\"a\":\"b\"}"}}"#
        )
        #expect(push.isSilent && push.marks.isEmpty && push.ownKeys.map(\.name) == ["a"])
        let text = try shown(#"{"push_message":{"transmission":"Hello"}}"#)
        #expect(text.isSilent && text.ownKeys.map(\.value) == ["Hello"])
    }

    @Test("what an app shows itself is said beside what iPhones show")
    func inApp() throws {
        let push = try shown(
            #"{"push_channel":{"ios":{"aps":{"alert":{"title":"T"}}}},"push_message":{"transmission":"{\"screen\":\"sale\"}"}}"#
        )
        #expect(push.title == "T" && !push.isSilent && push.marks.map(\.name) == ["shown by the app itself on Android"])
        #expect(push.ownKeys.map { "\($0.name)=\($0.value)" } == ["screen=sale"])
    }
}
