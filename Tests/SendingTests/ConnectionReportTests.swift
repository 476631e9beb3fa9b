import Base
import Delivery
import Runs
import TestSupport
import Testing

@testable import Workspace
@testable import Sending

@Suite("what a server's answer says to volley doctor")
struct ConnectionReportTests {
    private func steps(_ result: ConnectionProbe.Result, usesKey: Bool = true) throws -> [String: CheckStep] {
        let way = ConnectionReport(
            endpoint: .production, route: try ProxyRoute(nil, to: .production) { _ in nil }, topic: "com.example.shop",
            usesKey: usesKey,
            missingCredentials: nil, result: result)
        return Dictionary(uniqueKeysWithValues: way.steps().map { ($0.name, $0) })
    }

    private func answered(_ status: Int, _ reason: String = "", serverIsAheadBy seconds: Double? = nil)
        -> ConnectionProbe.Result
    {
        var result = ConnectionProbe.Result()
        (result.status, result.reason) = (status, reason)
        result.serverTime = seconds.map { result.localTime.adding(seconds: $0) }
        return result
    }

    @Test(
        "a token that no device has is what APNs should complain of, and only of that",
        arguments: ["BadDeviceToken", "PayloadEmpty"])
    func well(reason: String) throws {
        let steps = try steps(answered(400, reason))
        #expect(steps.values.allSatisfy { $0.state != .failed })
        #expect(steps["credentials"]?.state == .ok && steps["topic"]?.state == .ok && steps["clock"]?.state == .ok)
    }

    @Test(
        "a wrong topic is no fault of the credentials",
        arguments: ["TopicDisallowed", "BadTopic", "MissingTopic", "DeviceTokenNotForTopic"])
    func topic(reason: String) throws {
        let steps = try steps(answered(400, reason))
        #expect(steps["credentials"]?.state == .ok && steps["topic"]?.state == .failed)
        #expect(steps["topic"]?.remedy?.contains("bundle id") == true)
    }

    @Test(
        "wrong credentials are said, and the topic is left open",
        arguments: ["InvalidProviderToken", "BadCertificateEnvironment", "Forbidden", "SomethingNew"])
    func credentials(reason: String) throws {
        let steps = try steps(answered(403, reason))
        #expect(steps["credentials"]?.state == .failed && steps["topic"]?.state == .skipped)
        #expect(steps["credentials"]?.message.contains(reason) == true && steps["credentials"]?.remedy != nil)
    }

    @Test("a page with the status 200 is no answer of a service")
    func page() throws {
        var result = answered(200)
        #expect(try steps(result)["credentials"]?.state == .ok)
        result.isStrange = true
        let step = try steps(result)["credentials"]
        #expect(
            step?.state == .failed
                && step?.message == "the server answered 200 with a body that is not JSON, which APNs would not")
    }

    @Test("a server that is none of APNs', and one that has no time, are said")
    func otherServers() throws {
        // A gateway, a web site: answers that APNs would not give.
        for answer in [answered(410), answered(410, "Gone"), answered(302)] {
            let step = try steps(answer)["credentials"]
            #expect(step?.state == .failed && step?.remedy?.contains("host and port") == true, "\(answer)")
        }
        #expect(try steps(answered(410, "Unregistered"))["credentials"]?.state == .ok)
        #expect(try steps(answered(404))["credentials"]?.remedy?.contains("host and port") == true)
        #expect(try steps(answered(503, "ServiceUnavailable"))["credentials"]?.state == .failed)
        #expect(
            try steps(answered(429, "TooManyProviderTokenUpdates"))["credentials"]?.remedy?.contains("20 minutes")
                == true)
    }

    @Test("the clock is compared with the server's, and how far it is off is said")
    func clock() throws {
        #expect(
            try steps(answered(400, "BadDeviceToken", serverIsAheadBy: 2))["clock"]?.message
                == "agrees with the server's")
        let late = try steps(answered(400, "BadDeviceToken", serverIsAheadBy: 100))["clock"]
        #expect(late?.state == .ok && late?.message == "100 seconds behind the server's" && late?.remedy != nil)
        let early = try steps(answered(403, "InvalidProviderToken", serverIsAheadBy: -4000))["clock"]
        #expect(early?.state == .failed && early?.message == "4000 seconds ahead of the server's")
        #expect(try steps(answered(403, "ExpiredProviderToken"))["clock"]?.state == .failed)
        #expect(try steps(answered(403, "InvalidProviderToken"))["clock"]?.state == .skipped)
    }

    private func toySteps(_ status: Int, _ reason: String) throws -> [String: CheckStep] {
        let way = ConnectionReport(
            service: Toypush(), endpoint: .production, route: try ProxyRoute(nil, to: .production) { _ in nil },
            topic: "shop_app",
            usesKey: true, missingCredentials: nil, result: answered(status, reason))
        return Dictionary(uniqueKeysWithValues: way.steps().map { ($0.name, $0) })
    }

    @Test("another service's steps and remedies name the settings by its keys")
    func otherService() throws {
        #expect(try toySteps(404, "unknown_device")["app_code"]?.state == .ok)
        #expect(
            try toySteps(404, "unknown_device")["credentials"]?.message
                == "the server accepted the signing_key's signature")
        #expect(
            try toySteps(403, "other_app")["app_code"]?.remedy
                == "Check `app_code` letter by letter, and that the signing_key's account is the app's. A signing_key may also be limited to "
                + "certain app_codes.")
        #expect(try toySteps(401, "bad_key")["credentials"]?.remedy == "Toypush did not accept the signature.")
        #expect(try toySteps(401, "new_reason")["credentials"]?.remedy == "Check signing_key and app_code.")
        #expect(ConnectionReport.skipped(after: "no proxy", of: Toypush()).last?.name == "app_code")
    }

    @Test("a token that the service gave out is named as such")
    func account() throws {
        let way = ConnectionReport(
            service: OtherService.robots, endpoint: .production,
            route: try ProxyRoute(nil, to: .production) { _ in nil }, topic: "my-shop",
            usesKey: true, missingCredentials: nil, result: answered(400, "TopicDisallowed"))
        let steps = Dictionary(uniqueKeysWithValues: way.steps().map { ($0.name, $0) })
        #expect(steps["credentials"]?.message == "the server accepted the robot_account's robot token")
        #expect(
            steps["shop_name"]?.remedy
                == "Check `shop_name` letter by letter, and that the robot_account is this app's.")
        #expect(steps["clock"]?.state == .skipped)
    }

    @Test("a busy service is told without retries, which the probe does not make")
    func busy() throws {
        #expect(try toySteps(503, "busy")["credentials"]?.remedy == "Try again later.")
        #expect(try toySteps(429, "")["credentials"]?.remedy == "Try again in a few minutes.")
        #expect(try steps(answered(503, "ServiceUnavailable"))["credentials"]?.remedy == "Try again in a few minutes.")
        #expect(try steps(answered(503))["credentials"]?.remedy == "Try again in a few minutes.")
    }

    @Test("where the way ended, all behind it is skipped", arguments: ConnectionProbe.Stage.allCases)
    func ended(stage: ConnectionProbe.Stage) throws {
        var result = ConnectionProbe.Result()
        result.failure = (stage, "it broke")
        let way = ConnectionReport(
            endpoint: .production, route: try ProxyRoute(nil, to: .production) { _ in nil }, topic: "t", usesKey: true,
            missingCredentials: nil, result: result)
        let steps = way.steps()
        let broken = try #require(steps.firstIndex { $0.state == .failed })
        #expect(steps.count { $0.state == .failed } == 1 && steps[broken].remedy != nil)
        #expect(steps[(broken + 1)...].allSatisfy { $0.state == .skipped })
    }
}
