import Base
import Testing

@testable import PushServices

@Suite("What FCM's Data API is asked, and says")
struct FCMStatisticsTests {
    private let run = "20261201-090000-spring-7f3a"

    private func read(_ answer: String) throws -> [String: [String: Int]]? {
        try #require(FCM().statistics).read(try JSONValue(parsing: answer), [run])
    }

    private func day(_ label: String, _ data: String, day: Int = 1) -> String {
        #"{"appId":"1:2:android:ab","date":{"year":2026,"month":12,"day":\#(day)},"analyticsLabel":"\#(label)","data":{\#(data)}}"#
    }

    @Test("the question names project and app, and goes to Google's other server, with a token of a scope of its own")
    func question() throws {
        let facts = try #require(FCM().statistics)
        let path = "/v1beta1/projects/shop-1a2b/androidApps/1:2:android:ab/deliveryData?pageSize=10000"
        #expect(
            facts.question("shop-1a2b/1:2:android:ab", [run], FCM.production)
                == .init(host: "fcmdata.googleapis.com", path: path))
        #expect(facts.question("shop-1a2b/1:2:android:ab", [run], nil) == .init(path: path))
        #expect(
            facts.scope == "https://www.googleapis.com/auth/cloud-platform" && facts.days == 7 && facts.needsTracking)
        guard case .assertion(let scoped) = FCM.tokens.scoped("x").proof else {
            Issue.record("another proof")
            return
        }
        #expect(scoped.scope == "x" && scoped.address == FCM.assertion.address)
    }

    @Test("percents of a day become numbers of messages, by days, and other labels are left out")
    func days() throws {
        let first = day(
            run,
            #""countMessagesAccepted":"2000","messageOutcomePercents":{"delivered":95.55,"pending":2},"messageInsightPercents":{"priorityLowered":0.1}"#
        )
        let second = day(run, #""countMessagesAccepted":"10","messageOutcomePercents":{"delivered":100}"#, day: 2)
        let other = day("20261201-090000-other-0000", #""countMessagesAccepted":"7""#)
        let counts = try read(#"{"androidDeliveryData":[\#(first),\#(other),\#(second)],"nextPageToken":""}"#)
        #expect(
            counts == [
                "\(run) 2026-12-1": [
                    "countMessagesAccepted": 2000, "delivered": 1911, "pending": 40, "priorityLowered": 2,
                ],
                "\(run) 2026-12-2": ["countMessagesAccepted": 10, "delivered": 10],
            ])
    }

    @Test("no answer says more than it says: nothing yet, too little, and what is none")
    func others() throws {
        #expect(try read("{}") == [:])
        #expect(try read(#"{"androidDeliveryData":[\#(day(run, ""))]}"#) == [:])
        for wrong in [
            "[]", #"{"error":{"code":403,"status":"PERMISSION_DENIED"}}"#, #"{"androidDeliveryData":{}}"#,
            #"{"androidDeliveryData":[\#(day(run, #""countMessagesAccepted":"-1""#))]}"#,
            #"{"androidDeliveryData":[\#(day(run, #""countMessagesAccepted":"1","messageOutcomePercents":{"delivered":101}"#))]}"#,
        ] {
            #expect(try read(wrong) == nil, "\(wrong)")
        }
    }
}
