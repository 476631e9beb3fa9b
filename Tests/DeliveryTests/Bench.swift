import Base
import PushServices
import Testing

@testable import Delivery

/// A machine at a virtual time, with the actions that it requested.
struct Bench: KeepsMachine {
    let keeper: MachineKeeper
    var now = Moment(nanoseconds: 1_000_000_000, wall: Timestamp(epochSeconds: 1_800_000_000))
    var actions: [DeliveryMachine.Action] = []
    /// Whether peers answer when they are asked for a sign of life.
    var answersPings = true

    init(pushes: Int, _ change: (inout MachineSettings) -> Void = { _ in }) {
        var settings = MachineSettings(endpoint: "example.com:443", usesProviderToken: true)
        settings.connections = 1
        change(&settings)
        keeper = MachineKeeper(settings)
        for recipient in 0..<pushes { _ = machine.add(recipient: recipient, at: now) }
        machine.sourceEnded()
    }

    /// Lets time pass; returns the requested actions. Connections open at once.
    @discardableResult
    mutating func advance(seconds: Double = 0) -> [DeliveryMachine.Action] {
        now = now.adding(nanoseconds: Int64(seconds * 1e9))
        var all: [DeliveryMachine.Action] = []
        repeat {
            machine.advance(to: now)
            actions = machine.actions
            machine.actions.removeAll()
            for case .open(let connection) in actions { machine.connectionOpened(connection, at: now) }
            if answersPings {
                for case .ping(let connection) in actions { machine.connectionAlive(connection, at: now) }
            }
            all += actions
        } while !actions.isEmpty
        return all
    }

    mutating func answer(
        _ push: Int, _ status: Int, _ reason: String = "", retryAfter: Double? = nil,
        _ change: (inout DeliveryMachine.Answer) -> Void = { _ in }
    ) {
        var answer = DeliveryMachine.Answer(
            status: status, reason: reason, retryAfterSeconds: retryAfter, id: status < 500 ? .own : .missing)
        change(&answer)
        machine.answered(push, answer, at: now)
    }

    /// Opens a connection and gets the first push accepted.
    mutating func warmUp() {
        advance()
        answer(0, 200)
    }
}

/// The pushes that were submitted.
func submitted(_ actions: [DeliveryMachine.Action]) -> [Int] {
    actions.compactMap { if case .submit(let push, _) = $0 { push } else { nil } }
}
