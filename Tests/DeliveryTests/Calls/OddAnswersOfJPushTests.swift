import Base
import PushServices
import Testing
import TransportConformance

@testable import Delivery

/// Calls to a server that answers them with 200, as JPush would not.
@Suite("answers of 200 that JPush would not give")
struct OddAnswersOfJPushTests {
    /// Sends one call with two devices.
    /// - Parameter answer: the body of the answer to the push of a number, from 1 on.
    /// - Returns: the settlements, and the cids of the pushes in the order in which they came.
    private func send(_ answer: (Int) -> String) throws -> (settlements: [Settlement], cids: [String]) {
        var run = AnsweredRun(JPush(), .http1, .calls(inFlight: 1), targets: (0..<2).map { "1a0018970a8d000000\($0)" })
        run.otherAnswer = #"{"cidlist":["c1","c2","c3"]}"#
        var cids: [String] = []
        let sent = try run.send { number, body in
            cids.append((try? JSONValue(parsing: body))?["cid"]?.stringValue ?? "")
            return PeerAnswer(body: answer(number))
        }
        return (sent.settlements, cids)
    }

    /// Bodies of such answers.
    private static let odd = [
        "", "{}", "<html>OK</html>", #"{"sendno":"0","msg_id":""}"#, #"{"sendno":"0","msg_id":"18"#,
        #"{"error":{"code":1011,"message":"m"}}"#,
    ]

    @Test("are no acceptance: the call goes again under its cid, and what JPush says then counts", arguments: odd)
    func again(body: String) throws {
        let sent = try send { $0 < 3 ? body : #"{"sendno":"0","msg_id":"1828256757"}"# }
        #expect(sent.cids == ["c1", "c1", "c1"])
        #expect(
            sent.settlements.map(\.outcome) == [.accepted, .accepted] && sent.settlements.map(\.attempts) == [3, 3])
    }

    @Test("leave the devices unknown if no other comes")
    func never() throws {
        let sent = try send { _ in "{}" }
        #expect(sent.cids.count > 1 && Set(sent.cids) == ["c1"])
        #expect(sent.settlements.map(\.outcome) == [.unknown, .unknown])
        #expect(sent.settlements.allSatisfy { $0.reason == "HTTP200" }, "\(sent.settlements)")
    }
}
