import Base
import Content
import Testing

@Suite struct PayloadByHandTests {
    private func byHand(_ json: String) throws -> MessageContent { try content { $0.payload = try node(json) } }

    @Test("a payload by hand goes out as written, in its order, templates filled in")
    func asWritten() throws {
        let json =
            #"{"z":1,"aps":{"sound":{"critical":1,"name":"a.caf","volume":0.5},"alert":{"loc-key":"K","loc-args":["{{ name }}"],"launch-image":"i"},"#
            + #""badge":3,"interruption-level":"time-sensitive","relevance-score":1,"target-content-id":"t","filter-criteria":"f","mutable-content":1},"#
            + #""a":{"b":[null,true,{"c":"{{ name }}"}]}}"#
        let rendered = try payload(byHand(json), ["name": "An\"na"])
        #expect(rendered == json.replacing("{{ name }}", with: #"An\"na"#))
        #expect(try PayloadTemplate(byHand(json)).warnings.isEmpty)
    }

    @Test(
        "the push type follows from what aps holds",
        arguments: [
            (#"{"aps":{"content-available":1}}"#, PushType.background),
            (#"{"aps":{"content-available":1,"category":"x"}}"#, .background),
            (#"{"aps":{"content-available":1,"alert":"x"}}"#, .alert),
            (#"{"aps":{"content-available":1,"badge":0}}"#, .alert),
            (#"{"aps":{"content-available":1,"sound":"x"}}"#, .alert),
            (#"{"aps":{"alert":"x"}}"#, .alert),
        ])
    func pushType(json: String, type: PushType) throws {
        #expect(try PayloadTemplate(byHand(json)).pushType == type)
    }

    @Test(
        "every mistake against Apple's rules is named at its place",
        arguments: [
            (
                #"{"a":1}"#,
                "c.yaml:10:1: the payload has no 'aps', so APNs would show nothing. For example: payload: {aps: {alert: Hello}}."
            ),
            (#"[1]"#, "c.yaml:10:1: the payload must be an object. For example: payload: {aps: {alert: Hello}}."),
            (
                #"{"aps":"x"}"#,
                "c.yaml:11:1: 'aps' must be a group of keys. For example: payload: {aps: {alert: Hello}}."
            ),
            (
                #"{"aps":{"alert":5}}"#,
                "c.yaml:12:1: 'alert' must be a text, or an object with title, subtitle and body, not 5. For example: alert: {title: Hello, body: World}."
            ),
            (#"{"aps":{"alert":{"title":true}}}"#, "c.yaml:13:1: 'title' must be a text, not true. Put it in quotes."),
            (
                #"{"aps":{"alert":{"loc-args":"x"}}}"#,
                #"c.yaml:13:1: 'loc-args' must be a list of texts, not the text 'x'. For example: loc-args: ["Anna", "5"]."#
            ),
            (
                #"{"aps":{"alert":{"loc-args":["x",1]}}}"#,
                #"c.yaml:13:1: 'loc-args' must be a list of texts, not a list. For example: loc-args: ["Anna", "5"]."#
            ),
            (
                #"{"aps":{"badge":"1"}}"#,
                "c.yaml:12:1: 'badge' must be a number from 0 up, not the text '1'. For example: badge: 1; 0 removes the badge."
            ),
            (
                #"{"aps":{"badge":-1}}"#,
                "c.yaml:12:1: 'badge' must be a number from 0 up, not -1. For example: badge: 1; 0 removes the badge."
            ),
            (
                #"{"aps":{"badge":"{{ n }}"}}"#,
                "c.yaml:12:1: 'badge' must be a number from 0 up, not a template, which always gives a text. For example: badge: 1; 0 removes the badge."
            ),
            (
                #"{"aps":{"sound":1}}"#,
                "c.yaml:12:1: 'sound' must be a text, or an object with critical, name and volume, not 1. For example: sound: default."
            ),
            (
                #"{"aps":{"sound":{"critical":true}}}"#,
                "c.yaml:13:1: 'critical' must be 0 or 1, not true. Write critical: 1 for a critical alert."
            ),
            (
                #"{"aps":{"sound":{"volume":1.5}}}"#,
                "c.yaml:13:1: 'volume' must be a number from 0 to 1, not 1.5. For example: volume: 0.8."
            ),
            (
                #"{"aps":{"sound":{"name":1}}}"#,
                "c.yaml:13:1: 'name' must be a text, not 1. For example: name: default."
            ),
            (
                #"{"aps":{"alert":"x","category":["a"]}}"#,
                "c.yaml:13:1: 'category' must be a text, not a list. Put it in quotes."
            ),
            (
                #"{"aps":{"content-available":true}}"#,
                "c.yaml:12:1: 'content-available' must be 1, not true. Write content-available: 1, or leave it out."
            ),
            (
                #"{"aps":{"alert":"x","mutable-content":0}}"#,
                "c.yaml:13:1: 'mutable-content' must be 1, not 0. Write mutable-content: 1, or leave it out."
            ),
            (
                #"{"aps":{"alert":"x","relevance-score":2}}"#,
                "c.yaml:13:1: 'relevance-score' must be a number from 0 to 1, not 2. For example: relevance-score: 0.5."
            ),
            (
                #"{"aps":{"alert":"x","interruption-level":"time_sensitive"}}"#,
                "c.yaml:13:1: 'interruption-level' must be one of passive, active, time-sensitive, critical, not 'time_sensitive'. Did you mean 'time-sensitive'?"
            ),
            (
                #"{"aps":{"alert":"x","interruption-level":null}}"#,
                "c.yaml:13:1: 'interruption-level' must be one of passive, active, time-sensitive, critical, not nothing. For example: interruption-level: active."
            ),
            (
                #"{"aps":{"alert":{"title":"{{ }}"}}}"#,
                "c.yaml:13:1: '{{ }}' is empty. Name a column in it, for example: {{ first_name }}."
            ),
            (
                #"{"aps":{"alert":"x","alert":"y"}}"#,
                "c.yaml:13:3: the key 'alert' appears here twice. Keep one of them."
            ),
        ])
    func mistake(json: String, expected: String) throws {
        #expect(mistakes(try byHand(json)) == expected)
    }

    @Test(
        "what is allowed but rarely meant gives a warning",
        arguments: [
            (
                #"{"aps":{"alert":"x"},"sound":"y"}"#,
                "c.yaml:13:3: warning: 'sound' is next to aps, where APNs does not look for it. If APNs should use it, move it into 'aps'. [outside-aps]"
            ),
            (
                #"{"aps":{"badge":1,"mutable-content":1}}"#,
                "c.yaml:13:3: warning: 'mutable-content' does nothing without 'alert': the app's extension runs only for a push with text. Add an alert, or remove it. [mutable-without-alert]"
            ),
            (
                #"{"aps":{"alret":"x","sound":"y"}}"#,
                "c.yaml:12:3: warning: 'aps' has no key 'alret'. Did you mean 'alert'? [unknown-payload-key]"
            ),
            (
                #"{"aps":{"alert":"x","threadid":"y"}}"#,
                "c.yaml:13:3: warning: 'aps' has no key 'threadid'. Did you mean 'thread-id'? [unknown-payload-key]"
            ),
            (
                #"{"aps":{"alert":"x","campaign":"y"}}"#,
                "c.yaml:13:3: warning: 'aps' has no key 'campaign'. Custom keys go next to 'aps', not inside it. [unknown-payload-key]"
            ),
            (
                #"{"aps":{"alert":{"tilte":"x"}}}"#,
                "c.yaml:13:3: warning: 'alert' has no key 'tilte'. Did you mean 'title'? [unknown-payload-key]"
            ),
            (
                #"{"aps":{"alert":{"zzzzzzzzz":"x"}}}"#,
                "c.yaml:13:3: warning: 'alert' has no key 'zzzzzzzzz'. It may hold title, subtitle, body, launch-image, title-loc-key, subtitle-loc-key, loc-key, "
                    + "title-loc-args, subtitle-loc-args, loc-args. [unknown-payload-key]"
            ),
            (
                #"{"aps":{"sound":{"nmae":"x"}}}"#,
                "c.yaml:13:3: warning: 'sound' has no key 'nmae'. Did you mean 'name'? [unknown-payload-key]"
            ),
            (
                #"{"aps":{"category":"x"}}"#,
                "c.yaml:11:3: warning: 'aps' has no alert, badge or sound: no one would see this push. Add an alert, or content-available: 1 for a silent push. [nothing-visible]"
            ),
        ])
    func warning(json: String, expected: String) throws {
        #expect(try PayloadTemplate(byHand(json)).warnings.map(\.description) == [expected])
    }

    @Test(
        "what is wrong with a Live Activity",
        arguments: [
            (
                #"{"aps":{"content-state":{}}}"#,
                "c.yaml:12:3: 'content-state' belongs to a Live Activity, and 'aps' has no event. Add event: start, update or end."
            ),
            (
                #"{"aps":{"event":"updte","content-state":{}}}"#,
                "c.yaml:12:1: 'event' must be one of start, update, end, not the text 'updte'. Did you mean 'update'?"
            ),
            (
                #"{"aps":{"event":"update"}}"#,
                "c.yaml:11:3: an activity that updates needs 'content-state'. Add it to 'aps', for example: content-state: {minutes: 12}."
            ),
            (
                #"{"aps":{"event":"start","content-state":{},"attributes-type":"A","attributes":{}}}"#,
                "c.yaml:11:3: an activity that starts needs 'alert'. Add it to 'aps', for example: alert: {title: On its way, body: 12 minutes left}."
            ),
            (
                #"{"aps":{"event":"end","attributes-type":"A"}}"#,
                "c.yaml:13:3: 'attributes-type' is for the start of an activity, and this one ends. Remove it."
            ),
            (
                #"{"aps":{"event":"end","dismissal-date":1795219200000}}"#,
                "c.yaml:13:1: 'dismissal-date' must be a moment in seconds since 1970, not 1795219200000. For example: dismissal-date: 1795219200."
            ),
            (
                #"{"aps":{"event":"update","content-state":"x"}}"#,
                "c.yaml:13:1: 'content-state' must be a group of keys, not the text 'x'. For example: content-state: {minutes: 12}."
            ),
        ])
    func activityMistake(json: String, expected: String) throws {
        #expect(mistakes(try byHand(json)) == expected)
    }

    @Test("a Live Activity goes out as one, with the time of its sending unless it has a time")
    func activity() throws {
        let written = try byHand(
            #"{"own":1,"aps":{"event":"update","content-state":{"driver":"{{ name }}"},"relevance-score":100}}"#)
        #expect(try PayloadTemplate(written).pushType == .liveactivity && PayloadTemplate(written).warnings.isEmpty)
        #expect(
            try payload(written, ["name": "Anna"])
                == #"{"aps":{"timestamp":0,"event":"update","content-state":{"driver":"Anna"},"relevance-score":100},"own":1}"#
        )
        let timed = #"{"own":1,"aps":{"event":"end","timestamp":1795219200}}"#
        #expect(try payload(byHand(timed)) == timed)
        let unknown = try byHand(#"{"aps":{"event":"end","dismisal-date":1}}"#)
        #expect(
            try PayloadTemplate(unknown).warnings.map(\.description) == [
                "c.yaml:13:3: warning: 'aps' has no key 'dismisal-date'. Did you mean 'dismissal-date'? [unknown-payload-key]"
            ])
    }

    @Test("an interruption level from a column is taken on trust")
    func templateLevel() throws {
        #expect(
            try payload(byHand(#"{"aps":{"alert":"x","interruption-level":"{{ l }}"}}"#), ["l": "active"]).contains(
                #":"active"}"#))
    }
}
