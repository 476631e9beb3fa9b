import Base
import PushServices
import Testing
import TransportConformance

@testable import Delivery

/// Calls to a server that answers them with 200, as JPush would not, or fails at them.
@Suite("answers of JPush that leave a call in doubt")
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

    @Test(
        "odd ones of 200 are no acceptance: the call goes again under its cid, and what JPush says then counts",
        arguments: odd)
    func again(body: String) throws {
        let sent = try send { $0 < 3 ? body : #"{"sendno":"0","msg_id":"1828256757"}"# }
        #expect(sent.cids == ["c1", "c1", "c1"])
        #expect(
            sent.settlements.map(\.outcome) == [.accepted, .accepted] && sent.settlements.map(\.attempts) == [3, 3])
    }

    @Test("odd ones of 200 leave the devices unknown if no other comes")
    func never() throws {
        let sent = try send { _ in "{}" }
        #expect(sent.cids.count > 1 && Set(sent.cids) == ["c1"])
        #expect(sent.settlements.map(\.outcome) == [.unknown, .unknown])
        #expect(sent.settlements.allSatisfy { $0.reason == "HTTP200" }, "\(sent.settlements)")
    }

    @Test(
        "what JPush failed at is unknown when the run stops: it may have been sent, and a resumption would send it again",
        arguments: [(500, 1000), (503, 1030)])
    func failed(status: Int, code: Int) throws {
        // The first call has a hundred devices, the second one two.
        let targets = (0..<102).map { "1a0018970a8d\(1000 + $0)" }
        var run = AnsweredRun(JPush(), .http1, .calls(inFlight: 1), targets: targets)
        run.otherAnswer = #"{"cidlist":["c1","c2","c3"]}"#
        let sent = try run.send { _, body in
            // What stops a run at once.
            let isFirst = String(decoding: body, as: UTF8.self).contains(targets[0])
            let answer = isFirst ? (status, code) : (403, 2005)
            return PeerAnswer(status: answer.0, body: #"{"error":{"code":\#(answer.1),"message":"m"}}"#)
        }
        guard case .stopped = sent.end else { return #expect(Bool(false), "\(sent.end)") }
        let first = sent.settlements.prefix(100), rest = sent.settlements.suffix(2)
        #expect(
            first.allSatisfy { $0.outcome == .unknown && $0.reason == String(code) },
            "\(Set(first.map { "\($0.outcome) \($0.reason)" }))")
        #expect(rest.allSatisfy { $0.outcome == .unsent }, "\(rest)")
    }
}
