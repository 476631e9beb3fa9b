import Base
import Testing

@testable import Simulators

private func content(_ pushMessage: String, _ more: String = "") -> String {
    #""push_message":{\#(pushMessage)}\#(more)"#
}

private func notification(_ members: String) -> String {
    content(#""notification":{"title":"Sale","body":"Today",\#(members)}"#)
}

private func ios(_ members: String) -> String {
    content(#""transmission":"x""#, #","push_channel":{"ios":{\#(members)}}"#)
}

private func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

/// Contents that break a rule, with the place that the answer names.
private let badContents: [(content: String, place: String)] = [
    (content(""), "push_message: exactly one"),
    (
        content(#""transmission":"x","notification":{"title":"a","body":"b","click_type":"none"}"#),
        "push_message: exactly one"
    ),
    (content(#""transmission":"x","revoke":{"old_task_id":"a"}"#), "push_message: exactly one"),
    (content(#""transmission":"\#(repeated("x", 3073))""#), "push_message.transmission"),
    (content(#""transmission":{"a":1}"#), "push_message.transmission"),
    (content(#""transmission":"x","other":1"#), "push_message.other"),
    (content(#""transmission":"x","network_type":2"#), "push_message.network_type"),
    (content(#""notification":{"title":"a","click_type":"none"}"#), "push_message.notification.body: missing"),
    (content(#""notification":{"title":"a","body":"b"}"#), "push_message.notification.click_type: missing"),
    (
        content(#""notification":{"title":"\#(repeated("题", 51))","body":"b","click_type":"none"}"#),
        "push_message.notification.title"
    ),
    (
        content(#""notification":{"title":"a","body":"\#(repeated("题", 257))","click_type":"none"}"#),
        "push_message.notification.body"
    ),
    (notification(#""click_type":"open""#), "push_message.notification.click_type"),
    (notification(#""click_type":"url""#), "push_message.notification.url: missing"),
    (notification(#""click_type":"payload""#), "push_message.notification.payload: missing"),
    (notification(#""click_type":"intent""#), "push_message.notification.intent: missing"),
    (notification(#""click_type":"payload","payload":{"a":1}"#), "push_message.notification.payload"),
    (notification(#""click_type":"payload","payload":"\#(repeated("x", 3073))""#), "push_message.notification.payload"),
    (notification(#""click_type":"url","url":"\#(repeated("x", 1025))""#), "push_message.notification.url"),
    (notification(#""click_type":"intent","intent":"\#(repeated("x", 4097))""#), "push_message.notification.intent"),
    (notification(#""click_type":"none","big_text":"\#(repeated("x", 513))""#), "push_message.notification.big_text"),
    (
        notification(#""click_type":"none","big_image":"\#(repeated("x", 1025))""#),
        "push_message.notification.big_image"
    ),
    (notification(#""click_type":"none","notify_id":2147483648"#), "push_message.notification.notify_id"),
    (notification(#""click_type":"none","notify_id":"-1""#), "push_message.notification.notify_id"),
    (notification(#""click_type":"none","clickType":"none""#), "push_message.notification.clickType: unknown"),
    (notification(#""click_type":"none","click_type":"none""#), "The name \"click_type\" occurs more than once"),
    (ios(#""type":"alert""#), "push_channel.ios.type"), (ios(#""payload":{"a":1}"#), "push_channel.ios.payload"),
    (ios(#""payload":7"#), "push_channel.ios.payload"), (ios(#""auto_badge":1"#), "push_channel.ios.auto_badge"),
    (ios(#""auto_badge":"+""#), "push_channel.ios.auto_badge"),
    (ios(#""auto_badge":"one""#), "push_channel.ios.auto_badge"),
    (ios(#""apns-collapse-id":"\#(repeated("x", 65))""#), "push_channel.ios.apns-collapse-id"),
    (ios(#""multimedia":[]"#), "push_channel.ios.multimedia"),
    (
        ios(
            #""multimedia":[\#(Array(repeating: #"{"url":"https://a.b","type":1}"#, count: 4).joined(separator: ","))]"#
        ),
        "push_channel.ios.multimedia"
    ),
    (ios(#""multimedia":[{"url":"https://a.b","type":4}]"#), "push_channel.ios.multimedia.0.type"),
    (ios(#""multimedia":[{"url":"https://a.b","type":1,"only_wifi":1}]"#), "push_channel.ios.multimedia.0.only_wifi"),
    (ios(#""aps":{"content-available":true}"#), "push_channel.ios.aps.content-available"),
    (ios(#""aps":{"content-available":2}"#), "push_channel.ios.aps.content-available"),
    (ios(#""aps":{"mutable-content":1}"#), "push_channel.ios.aps.mutable-content: unknown"),
    (ios(#""aps":{"badge":1}"#), "push_channel.ios.aps.badge: unknown"),
    (ios(#""aps":{"alert":"text"}"#), "push_channel.ios.aps.alert"),
    (ios(#""aps":{"alert":{"body":"\#(repeated("x", 4090))"}}"#), "push_channel.ios: "),
    (getuiNotification + #","push_channel":{"ios":{"type":"notify"},"web":{}}"#, "push_channel.web: unknown"),
]

/// What makers and HarmonyOS do not take.
private let badChannels: [(members: String, place: String)] = [
    (
        #""push_channel":{"android":{"ups":{"options":{"SONY":{"/category":"x"}}}}}"#,
        "push_channel.android.ups.options.SONY"
    ),
    (
        #""push_channel":{"android":{"ups":{"options":{"VV":{"category":"x"}}}}}"#,
        "push_channel.android.ups.options.VV.category"
    ),
    (
        #""push_channel":{"harmony":{"notification":{"title":"a","body":"b","click_type":"startapp"}}}"#,
        "push_channel.harmony.notification.category: missing"
    ),
    (
        #""push_channel":{"harmony":{"notification":{"title":"a","body":"b","category":"x","click_type":"want"}}}"#,
        "push_channel.harmony.notification.want: missing"
    ),
]

/// Members next to the content that break a rule.
private let badMembers: [(members: String, place: String)] = [
    (#""settings":{"ttl":-2}"#, "settings.ttl"), (#""settings":{"ttl":259200001}"#, "settings.ttl"),
    (#""settings":{"ttl":"3600000"}"#, "settings.ttl"),
    (#""settings":{"strategy":{"ios":0}}"#, "settings.strategy.ios"),
    (#""settings":{"strategy":{"ios":5}}"#, "settings.strategy.ios"),
    (#""settings":{"strategy":{"apple":2}}"#, "settings.strategy.apple"),
    (#""settings":{"strategy":2}"#, "settings.strategy"), (#""settings":{"speed":-1}"#, "settings.speed"),
    (#""group_name":"a b""#, "group_name"), (#""group_name":"\#(repeated("g", 101))""#, "group_name"),
    (#""more":1"#, "more: unknown"),
]

/// Contents that keep all rules.
private let goodContents = [
    getuiNotification, content(#""transmission":"\#(repeated("题", 3072))""#),
    content(#""revoke":{"old_task_id":"RASL_1"}"#),
    notification(#""click_type":"url","url":"https://example.com","notify_id":2147483647,"channel_level":"3""#),
    notification(#""click_type":"payload","payload":"{\"a\":1}","notify_id":"0""#),
    notification(#""click_type":"intent","intent":"intent:#Intent;end","big_text":"\#(repeated("x", 512))""#),
    content(#""notification":{"title":"\#(repeated("题", 50))","body":"\#(repeated("题", 256))","click_type":"none"}"#),
    ios(
        #""type":"notify","aps":{"alert":{"title":"a","subtitle":"b","body":"c"},"sound":"default","category":"c","thread-id":"t"},"auto_badge":"+1","payload":"{}","apns-collapse-id":"x""#
    ),
    ios(#""aps":{"content-available":1}"#),
    ios(#""multimedia":[{"url":"https://a.b/c.jpg","type":1,"only_wifi":false}],"auto_badge":"0""#),
    getuiNotification
        + #","push_channel":{"android":{"ups":{"notification":{"title":"a","body":"b","click_type":"startapp"}}},"ios":{"type":"notify"}}"#,
    getuiNotification
        + #","push_channel":{"android":{"ups":{"notification":{"title":"a","body":"b","click_type":"startapp"},"options":{"HW":{"/message/android/category":"MARKETING"},"VV":{"/classification":0}}}},"harmony":{"notification":{"title":"a","body":"b","category":"MARKETING","click_type":"want","want":"{}","notify_id":1}}}"#,
    getuiNotification
        + #","settings":{"ttl":-1,"strategy":{"default":1,"ios":4,"hw":2,"hoshw":3},"speed":0},"group_name":"run-2026_1","task_name":"sale""#,
]

@Suite("A message to Getui")
struct GetuiMessageTests {
    @Test("that keeps all rules is sent, alone and in a batch", arguments: goodContents)
    func good(_ content: String) {
        let fixture = GetuiFixture()
        for (call, body) in [
            (getuiSingle, getuiMessage(1, content: content)),
            (getuiBatch, getuiBatchBody([getuiMessage(2, content: content)])),
        ] {
            let answer = fixture.send(body, to: call)
            #expect((answer.status, answer.code) == (200, 0), "\(answer.message)")
            #expect(Array(answer.statuses.values) == ["successed_online"])
        }
    }

    @Test("that breaks a rule is refused at its place, with 400 and 20001", arguments: badContents)
    func bad(_ content: String, _ place: String) {
        let answer = GetuiFixture().send(getuiMessage(content: content), to: getuiSingle)
        #expect((answer.status, answer.code) == (400, 20001))
        #expect(answer.message.hasPrefix(place) || answer.message.contains(place), "\(answer.message)")
        let batch = GetuiFixture().send(getuiBatchBody([getuiMessage(2), getuiMessage(content: content)]))
        #expect(batch.code == 20001 && batch.message.contains(place), "\(batch.message)")
        #expect(batch.recorded == [cid(2), cid(1)])
    }

    @Test("whose settings or channels break a rule is refused, too", arguments: badMembers + badChannels)
    func badSettings(_ members: String, _ place: String) {
        let answer = GetuiFixture().send(getuiMessage(members: "," + members), to: getuiSingle)
        #expect((answer.status, answer.code) == (400, 20001))
        #expect(answer.message.contains(place), "\(answer.message)")
    }

    @Test(
        "has a request id of 10 to 32 characters",
        arguments: [(9, false), (10, true), (32, true), (33, false), (0, false)])
    func requestIDs(length: Int, isAccepted: Bool) {
        let body = getuiMessage().replacing(requestID(1), with: repeated("r", length))
        #expect(GetuiFixture().send(body, to: getuiSingle).code == (isAccepted ? 0 : 20001))
    }

    @Test("without a request id, an audience or a content is refused")
    func missing() {
        for member in ["request_id", "audience", "push_message"] {
            let answer = GetuiFixture().send(
                getuiMessage().replacing("\"\(member)\"", with: "\"x\(member)\""), to: getuiSingle)
            #expect(answer.code == 20001, "\(member)")
        }
    }

    @Test("that comes a second time is answered like the first, and is not sent again")
    func repeats() {
        let fixture = GetuiFixture()
        #expect(fixture.send(getuiBatchBody([getuiMessage(1), getuiMessage(2)])).recorded == [cid(1), cid(2)])
        let mixed = fixture.send(getuiBatchBody([getuiMessage(2), getuiMessage(3)]))
        #expect((mixed.code, mixed.statuses.count, mixed.recorded) == (0, 2, [cid(3)]))
        let single = fixture.send(getuiMessage(1), to: getuiSingle)
        #expect(single.code == 0 && single.statuses == [cid(1): "successed_online"] && single.recorded.isEmpty)
    }

    @Test("that was refused for its content keeps its id: with the same one it is lost, with another one it arrives")
    func refusedIDs() {
        let fixture = GetuiFixture()
        let bad = getuiMessage(2, cid: cid(2, after: "00020001"))
        #expect(fixture.send(getuiBatchBody([getuiMessage(1), bad])).code == 20001)
        let again = fixture.send(getuiBatchBody([getuiMessage(1)]))
        #expect(again.code == 0 && again.recorded.isEmpty)
        #expect(fixture.send(getuiBatchBody([getuiMessage(3, cid: cid(1))])).recorded == [cid(1)])
    }

    @Test(
        "that was refused before its content was looked at may keep its id",
        arguments: ["00010001", "00010005", "00000002", "00000301"])
    func keptIDs(_ digits: String) {
        let fixture = GetuiFixture()
        let body = getuiBatchBody([getuiMessage(1, cid: cid(1, after: digits))])
        #expect(fixture.send(body).code == Int(digits))
        #expect(fixture.send(body).recorded == [cid(1, after: digits)])
    }

    @Test("that a fault refused was not processed, so that its id is not used up")
    func faults() {
        let fixture = GetuiFixture()
        let request = getuiRequest(to: getuiBatch, token: fixture.token(), body: getuiBatchBody([getuiMessage(1)]))
        for (status, code) in [(429, 10005), (503, 2), (500, 500)] {
            fixture.rules.decide(request, hasBody: true, memory: ConnectionMemory(), now: noon)
            fixture.rules.refuse(request, as: Answer(status: status, reason: "TooManyRequests"))
            #expect(GetuiAnswer(request).code == code)
            #expect(!request.answer.isAccepted)
        }
        #expect(fixture.send(getuiBatchBody([getuiMessage(1)])).recorded == [cid(1)])
    }

    @Test("whose headers alone have come is not accepted")
    func early() {
        let fixture = GetuiFixture()
        let request = getuiRequest(to: getuiBatch, token: fixture.token(), body: "")
        #expect(fixture.decide(request, hasBody: false).code == 2)
    }

    @Test("must be JSON by its content and its content type: otherwise 1, with the status 200")
    func json() {
        let fixture = GetuiFixture()
        for (type, body) in [
            ("application/json", "{\"a\":"), ("text/plain", getuiMessage()), (nil, getuiMessage()),
            ("application/json;charset=gbk", getuiMessage()), ("application/json", ""),
        ] as [(String?, String)] {
            let answer = fixture.decide(getuiRequest(to: getuiSingle, token: fixture.token(), type: type, body: body))
            #expect((answer.status, answer.code) == (200, 1), "\(type ?? "") \(body)")
            #expect(!answer.request.answer.isAccepted)
        }
        for (number, type) in [
            "application/json", "application/json;charset:utf-8", "Application/JSON; charset=UTF-8; v=1",
        ].enumerated() {
            let request = getuiRequest(to: getuiSingle, token: fixture.token(), type: type, body: getuiMessage(number))
            #expect(fixture.decide(request).code == 0, "\(type)")
        }
    }

    @Test("may have every key that Getui's SDK for Java writes")
    func keys() {
        let settings =
            #""settings":{"ttl":-1,"strategy":{"default":1,"ios":4,"hoshw":2},"speed":100,"schedule_time":1796000000000,"#
            + #""custom_callback":"https://example.com","filter_notify_off":true,"active_days":7,"need_backup":false,"#
            + #""activate_filter_day":30,"activate_filter_type":1,"lst":0,"active_push":true,"active_push_platform":[1,3]}"#
        let notification =
            #""push_message":{"notification":{"title":"Sale","body":"Today","big_text":"Long","logo":"l.png","channel_id":"c","#
            + #""channel_name":"n","channel_level":"3","slot_type":"s","click_type":"intent","intent":"intent:#Intent;end","want":"{}","#
            + #""notify_id":"7","ring_name":"r","badge_add_num":"1","thread_id":"t","redisplay_freq":2,"redisplay_duration":3600,"#
            + #""category":"CATEGORY_REMINDER"}}"#
        let activity =
            #""push_message":{"transmission":"{}"},"push_channel":{"ios":{"type":"liveactivity","laId":"match","aps":{"event":"update","#
            + #""timestamp":1796000000,"dismissal-date":1796003600,"content-state":{"score":[1,0]}}}}"#
        for (number, content) in [notification, activity].enumerated() {
            let answer = GetuiFixture().send(
                getuiMessage(number, content: content, members: ",\(settings)"), to: getuiSingle)
            #expect(answer.code == 0, "\(answer.message)")
        }
    }

    @Test("to another path, or by another method, is no push")
    func paths() {
        let fixture = GetuiFixture()
        for (call, method, code) in [
            ("push/fast_custom_tag", "POST", 404), ("push/single/tag", "POST", 404), ("push/single/cid/", "POST", 404),
            ("push/all", "GET", 405), ("push/tag", "PUT", 405), ("", "POST", 404),
            ("push/single/cid?a=1", "POST", 404), (getuiSingle, "GET", 405), (getuiBatch, "PUT", 405),
            ("auth", "GET", 405),
        ] {
            let answer = fixture.decide(
                getuiRequest(to: call, method: method, token: fixture.token(), body: getuiMessage()))
            #expect((answer.status, answer.code) == (code, code), "\(call)")
            #expect(answer.request.kind == .other)
        }
    }

    @Test("is one of the calls that an app may make in a minute; one too many is 401 and 10005")
    func calls() {
        let fixture = GetuiFixture { $0.issuer.messagesPerMinute = 2 }
        let token = fixture.token()
        let answers = (1...3).map { fixture.send(getuiBatchBody([getuiMessage($0)]), token: token) }
        #expect(answers.map(\.code) == [0, 0, 10005] && answers[2].status == 401)
        #expect(
            fixture.send(getuiBatchBody([getuiMessage(3)]), token: token, at: noon.adding(seconds: 60)).recorded == [
                cid(3)
            ])
    }
}

@Suite("The targets of Getui")
struct GetuiTargetTests {
    @Test(
        "of a single push are one; of a batch 1 to 200 messages",
        arguments: [(0, false), (1, true), (200, true), (201, false)])
    func counts(count: Int, isAccepted: Bool) {
        let answer = GetuiFixture().send(getuiBatchBody((0..<count).map { getuiMessage($0) }))
        #expect(answer.code == (isAccepted ? 0 : 20001))
        #expect(answer.statuses.count == (isAccepted ? count : 0))
        let two = getuiMessage().replacing("[\"\(cid(1))\"]", with: "[\"\(cid(1))\",\"\(cid(2))\"]")
        #expect(GetuiFixture().send(two, to: getuiSingle).code == 20001)
        #expect(GetuiFixture().send(getuiBatchBody([two])).code == 20001)
        #expect(
            GetuiFixture().send(getuiMessage().replacing("[\"\(cid(1))\"]", with: "[]"), to: getuiSingle).code == 20001)
    }

    @Test("occur once in a request, and so do request ids")
    func repeated() {
        let fixture = GetuiFixture()
        let sameTarget = fixture.send(getuiBatchBody([getuiMessage(1), getuiMessage(2, cid: cid(1))]))
        #expect((sameTarget.code, sameTarget.message) == (20001, "cid is repeated"))
        let sameID = fixture.send(getuiBatchBody([getuiMessage(3), getuiMessage(3, cid: cid(4))]))
        #expect((sameID.code, sameID.message) == (20001, "request_id is repeated"))
    }

    @Test("have a status each")
    func statuses() {
        let (offline, ignored) = (cid(2, after: "00000200"), cid(3, after: "00000090"))
        let answer = GetuiFixture().send(
            getuiBatchBody([getuiMessage(1), getuiMessage(2, cid: offline), getuiMessage(3, cid: ignored)]))
        #expect(
            answer.statuses == [cid(1): "successed_online", offline: "successed_offline", ignored: "successed_ignore"])
        #expect((0..<3).map { answer.request.answer(to: $0).isAccepted } == [true, true, false])
        #expect(answer.request.answer(to: 2).reason == "successed_ignore")
    }

    @Test(
        "that are none are refused for the whole batch",
        arguments: ["", "abc", cid(1).uppercased(), cid(1) + "0", "zz" + cid(1).dropFirst(2)])
    func malformed(_ target: String) {
        let answer = GetuiFixture().send(getuiBatchBody([getuiMessage(1), getuiMessage(2, cid: target)]))
        #expect((answer.status, answer.code, answer.message) == (400, 20001, "target user is invalid"))
    }

    @Test(
        "with certain first digits get their request a code, with its status",
        arguments: [
            (1, 200), (10002, 401), (10004, 401), (20001, 400), (21001, 400), (30000, 403), (30004, 403), (30008, 403),
            (30016, 403),
        ])
    func permanent(code: Int, status: Int) {
        let fixture = GetuiFixture()
        let digits = String(repeating: "0", count: 8 - String(code).count) + String(code)
        for number in 1...2 {
            let answer = fixture.send(
                getuiBatchBody([getuiMessage(10 + number), getuiMessage(number, cid: cid(7, after: digits))]))
            #expect((answer.status, answer.code) == (status, code))
            #expect(answer.statuses.isEmpty && !answer.request.answer.isAccepted)
        }
    }

    @Test(
        "with other first digits do so once",
        arguments: [
            (2, 200), (301, 200), (10001, 401), (10003, 401), (10005, 401), (30012, 403), (30013, 403), (30014, 403),
            (30015, 403),
            (30018, 403), (30019, 403),
        ])
    func temporary(code: Int, status: Int) {
        let fixture = GetuiFixture()
        let digits = String(repeating: "0", count: 8 - String(code).count) + String(code)
        let answer = fixture.send(getuiBatchBody([getuiMessage(1, cid: cid(7, after: digits))]))
        #expect((answer.status, answer.code) == (status, code))
        #expect(fixture.send(getuiBatchBody([getuiMessage(2, cid: cid(7, after: digits))])).code == 0)
    }

    @Test("in the wrong data centre are told the hosts of theirs, as Getui's SDK reads them")
    func hosts() {
        let answer = GetuiFixture().send(getuiMessage(cid: cid(1, after: "00000301")), to: getuiSingle)
        guard case .array(let lists)? = answer.body?["data"]?["hostList"],
            case .array(let hosts)? = lists.first?["domainList"]
        else {
            Issue.record("\(answer)")
            return
        }
        #expect(hosts.first?.stringValue?.hasPrefix("https://") == true)
    }

    @Test("with an answer of their own get it as often as configured")
    func fixed() {
        let fixture = GetuiFixture {
            $0.faults.answers[cid(1)] = SimulatedAnswer(status: 400, reason: "21001", times: 1)
            $0.faults.answers[cid(2)] = SimulatedAnswer(status: 200, reason: "successed_ignore")
        }
        #expect(fixture.send(getuiMessage(1, cid: cid(1)), to: getuiSingle).code == 21001)
        #expect(fixture.send(getuiMessage(2, cid: cid(1)), to: getuiSingle).code == 0)
        #expect(fixture.send(getuiMessage(3, cid: cid(2)), to: getuiSingle).statuses == [cid(2): "successed_ignore"])
    }

    @Test("get no status from a request that does not wait for them")
    func asynchronous() {
        let answer = GetuiFixture().send(getuiBatchBody([getuiMessage(1)]).replacing("false", with: "true"))
        #expect(answer.code == 0 && answer.body?["data"] == nil && answer.recorded == [cid(1)])
    }
}

@Suite("A list of Getui")
struct GetuiListTests {
    private func keep(_ fixture: GetuiFixture, members: String = "", at now: Timestamp = noon) -> String? {
        let answer = fixture.send("{\(getuiNotification)\(members)}", to: getuiListMessage, at: now)
        return answer.body?["data"]?["taskid"]?.stringValue
    }

    private func body(_ task: String, _ targets: [String]) -> String {
        #"{"audience":{"cid":[\#(targets.map { "\"\($0)\"" }.joined(separator: ","))]},"taskid":"\#(task)","is_async":false}"#
    }

    @Test(
        "has its content kept, and is then sent to 1 to 1,000 targets, who share the task",
        arguments: [0, 1, 1000, 1001])
    func sends(count: Int) throws {
        let fixture = GetuiFixture()
        let task = try #require(keep(fixture))
        let targets = (0..<count).map { cid($0) }
        let answer = fixture.send(body(task, targets), to: getuiList)
        let isAccepted = (1...1000).contains(count)
        #expect(answer.code == (isAccepted ? 0 : 20001))
        #expect(answer.recorded == targets)
        guard isAccepted, case .object(let tasks)? = answer.body?["data"] else { return }
        #expect(tasks.map(\.name) == [task] && answer.statuses.count == count)
    }

    @Test("may be sent again: no request id protects its targets")
    func again() throws {
        let fixture = GetuiFixture()
        let task = try #require(keep(fixture))
        #expect((0..<2).allSatisfy { _ in fixture.send(body(task, [cid(1)]), to: getuiList).recorded == [cid(1)] })
    }

    @Test("needs a task that is its app's, and has not ended")
    func tasks() throws {
        let fixture = GetuiFixture()
        let short = try #require(keep(fixture, members: #","settings":{"ttl":60000}"#))
        let usual = try #require(keep(fixture))
        func code(_ task: String, after seconds: Double) -> Int? {
            fixture.send(body(task, [cid(1)]), to: getuiList, at: noon.adding(seconds: seconds)).code
        }
        #expect([code(short, after: 59), code(short, after: 60)] == [0, 20001])
        #expect([code(usual, after: 7199), code(usual, after: 7200), code("RASL_x", after: 0)] == [0, 20001, 20001])
        var proof = GetuiProof()
        proof.app = GetuiFixture.other
        let foreign = getuiRequest(
            to: getuiList, of: proof.app.app, token: fixture.token(proof), body: body(usual, [cid(1)]))
        #expect(fixture.decide(foreign).message == "taskid is invalid")
    }

    @Test("is refused once its owner has ended the task, and after as many lists as the simulator is told")
    func endedTasks() throws {
        let fixture = GetuiFixture { $0.issuer.listsPerTask = 2 }
        let (first, second) = (try #require(keep(fixture)), try #require(keep(fixture)))
        func codes(_ task: String) -> Int? { fixture.send(body(task, [cid(1)]), to: getuiList).code }
        #expect((0..<3).map { _ in codes(first) } == [0, 0, 20001])
        func end(_ task: String, _ token: String?) -> Int? {
            fixture.decide(getuiRequest(to: "task/\(task)", method: "DELETE", token: token, body: "")).code
        }
        #expect([end(second, "x"), end(second, fixture.token()), end(second, fixture.token())] == [10001, 0, 20001])
        #expect(codes(second) == 20001)
    }

    @Test("counts its targets against a quota of the day, which begins at midnight in China")
    func quota() throws {
        let fixture = GetuiFixture { $0.issuer.listTargetsPerDay = 5 }
        let task = try #require(keep(fixture, members: #","settings":{"ttl":259200000}"#))
        func code(_ targets: [Int], after seconds: Double = 0) -> Int? {
            fixture.send(body(task, targets.map { cid($0) }), to: getuiList, at: noon.adding(seconds: seconds)).code
        }
        #expect([code([1, 2, 3]), code([4, 5, 6]), code([7, 8]), code([9])] == [0, 30008, 0, 30008])
        #expect([code([9], after: 15 * 3600), code([9], after: 16 * 3600)] == [30008, 0])
    }

    @Test("counts for the group of its content")
    func group() throws {
        let fixture = GetuiFixture()
        let task = try #require(keep(fixture, members: #","group_name":"sale""#))
        #expect(fixture.send(body(task, [cid(1), cid(2)]), to: getuiList).code == 0)
        let report = fixture.decide(
            getuiRequest(to: "report/push/task_group/sale", method: "GET", token: fixture.token(), body: ""))
        #expect(report.body?["data"]?["sale"]?["total"]?["target_num"] == .integer(2))
    }

    @Test("has the content of any message, without a target, and needs a token")
    func content() {
        let fixture = GetuiFixture()
        #expect(fixture.send(#"{"push_message":{}}"#, to: getuiListMessage).code == 20001)
        #expect(fixture.send(getuiMessage(), to: getuiListMessage).code == 20001)
        #expect(
            fixture.decide(getuiRequest(to: getuiListMessage, token: "x", body: "{\(getuiNotification)}")).code == 10001
        )
        let kept = fixture.decide(
            getuiRequest(to: getuiListMessage, token: fixture.token(), body: "{\(getuiNotification)}"))
        #expect(kept.code == 0 && kept.request.kind == .other)
    }
}

@Suite("A report of Getui")
struct GetuiReportTests {
    private func report(_ fixture: GetuiFixture, _ group: String, token: String? = nil) -> GetuiAnswer {
        fixture.decide(
            getuiRequest(
                to: "report/push/task_group/\(group)", method: "GET", token: token ?? fixture.token(), body: ""))
    }

    @Test("counts what was delivered in a group, and what phones received")
    func counts() {
        let fixture = GetuiFixture(), group = #","group_name":"run-1""#
        let messages = [
            getuiMessage(1, members: group), getuiMessage(2, cid: cid(2, after: "00000200"), members: group),
            getuiMessage(3, cid: cid(3, after: "00000090"), members: group), getuiMessage(4),
        ]
        for _ in 0..<2 { #expect(fixture.send(getuiBatchBody(messages)).code == 0) }
        let answer = report(fixture, "run-1")
        #expect(answer.code == 0 && answer.request.kind == .other)
        let total = answer.body?["data"]?["run-1"]?["total"]
        #expect(
            total?["target_num"] == .integer(2) && total?["receive_num"] == .integer(1)
                && total?["click_num"] == .integer(0))
    }

    @Test("of a group without a push is empty, and needs a token")
    func empty() {
        #expect(report(GetuiFixture(), "run-2").body?["data"] == .object(pairs: []))
        #expect(report(GetuiFixture(), "run-2", token: "x").code == 10001)
    }
}
