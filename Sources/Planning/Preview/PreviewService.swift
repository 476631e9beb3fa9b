import Audience
import Base
import Campaigns
import Content
import PushServices
import Workspace

/// What goes through one of an app's services.
struct PreviewService: Sendable {
    var service: any PushService
    /// Where its pushes go, for people.
    var destination: String
    var recipients: Int
    /// nil without recipients.
    var payloadBytes: PayloadBytes?
    /// Never faster than this, as the campaign or the app says; nil for the service's own pace.
    var chosenPace: Pace?
    /// Never faster than this; nil for as fast as the service takes them.
    var pace: Pace? { chosenPace ?? service.usualPace?.pace }

    /// The services of an app, in its order.
    static func all(of context: CampaignContext, _ result: AudienceResult) -> [PreviewService] {
        let messages = context.messages.messages
        return context.app.services.enumerated().map { number, account in
            let groups = messages.indices.filter { messages[$0].service == number }
            let recipients = groups.reduce(0) { $0 + result.groups[$1, default: 0] }
            let sizes = groups.reduce(into: [:]) { $0.merge(result.payloadBytesOfGroups[$1] ?? [:], uniquingKeysWith: +) }
            // Services are sent to side by side: together they are not faster than the campaign's pace, nor than the app's.
            let share = context.campaign.delivery.pace?.share(of: recipients, in: result.audience)
            let own = account.pace ?? context.app.pace?.share(of: recipients, in: result.audience)
            return PreviewService(
                service: account.service, destination: account.destination, recipients: recipients,
                payloadBytes: PayloadBytes(counts: sizes), chosenPace: Pace.slower(share, own))
        }
    }

    /// The seconds that sending takes at the pace; nil without a pace.
    var secondsAtPace: Double? { pace.map { (Double(recipients) / $0.perSecond * 10).rounded() / 10 } }

    /// Its member of `services` in `preview --json`.
    var json: JSONValue {
        .object(pairs: [
            ("service", .string(service.name)), ("environment", .string(destination)), ("audience", .integer(Int64(recipients))),
            ("payload_bytes", payloadBytes?.json ?? .null), ("pace", pace.map { .string($0.description) } ?? .null),
            ("seconds_at_pace", secondsAtPace.map { .double($0) } ?? .null),
        ])
    }
}
