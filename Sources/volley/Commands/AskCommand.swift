import Base
import Delivery
import Planning
import PushServices
import Reports
import Runs
import Sending
import Workspace

/// `volley preview --ask`: a service that chooses the devices checks the calls, and sends nothing.
enum AskCommand {
    /// What the service answered to a call.
    struct Answer {
        var call: AudienceCall
        var isAccepted: Bool
        /// In words: `accepted`, or the status, the reason and what it means.
        var words: String
        var json: JSONValue
    }

    /// Queries each call, one after the other.
    /// - Throws: `Diagnostic`: Volley chooses the devices of the campaign, the service checks
    ///   nothing, or it cannot be reached.
    static func ask(_ campaign: CampaignFile, options: CommonOptions, console: Console) throws -> [Answer] {
        let now = Timestamp.now()
        let calls = try callsToAsk(campaign, at: now)
        let settings = calls.settings
        let route = try ProxyRoute(
            calls.proxy, to: settings.firstService.environment, tokens: settings.service.account.tokenExchange)
        return try calls.calls.map { call in
            let stageOptions = console.running(options)
            let single = try SinglePush(settings, route, stageOptions.context, at: now, as: calls.checker)
            let result = try single.send(calls.payload, to: call.target, stageOptions)
            switch result.end {
            case .finished: break
            case .interrupted, .cancelled: throw CancellationError()
            case .stopped(let cause):
                // A refusal of the call itself is its answer.
                if result.settlement.status == 0 {
                    throw Diagnostic("\(settings.service.displayName) did not answer: \(cause.sentence)")
                }
            }
            return answer(call, result, settings.service)
        }
    }

    private static func answer(_ call: AudienceCall, _ result: SinglePush.Result, _ service: any PushService) -> Answer
    {
        let settlement = result.settlement, isAccepted = settlement.outcome == .accepted
        let advice = ReasonText.explanation(of: settlement.reason, by: service)
        let status = settlement.status == 0 ? "no answer" : "\(settlement.status)"
        let refusal = settlement.reason.isEmpty ? status : "\(status) \(settlement.reason)"
        let members: [(String, JSONValue)] = [
            ("call", .string(call.words)), ("accepted", .bool(isAccepted)),
            ("status", settlement.status == 0 ? .null : .integer(Int64(settlement.status))),
            ("reason", settlement.reason.isEmpty ? .null : .string(settlement.reason)),
            ("advice", advice.map { .string($0) } ?? .null),
        ]
        return Answer(
            call: call, isAccepted: isAccepted,
            words: isAccepted ? "accepted" : refusal + (advice.map { ": \($0)" } ?? ""),
            json: .object(pairs: members))
    }
}
