import Base
import Campaigns
import PushServices

/// Warns about texts that differ from device to device where a service takes one text a call, and so many calls in a while.
struct TextLint {
    /// A leg may take so long without a word.
    private static let longestSeconds = 3600.0

    let context: CampaignContext
    /// How many recipients each service has, and how many texts they get.
    let services: [PreviewService]

    var warnings: [Diagnostic] { services.compactMap(warning) }

    private func warning(_ service: PreviewService) -> Diagnostic? {
        let most = service.largestRequest
        guard service.isPacedByCalls, let seconds = service.exactSecondsAtPace, seconds > Self.longestSeconds else { return nil }
        let fewest = (service.recipients + most - 1) / most
        // Texts of many devices each cost no time.
        guard service.calls > 2 * fewest, service.texts > 1 else { return nil }
        let name = service.service.displayName
        return .warning(
            .slowTexts,
            message:
                "\(name) takes one text in a call, and \(TextFormat.devices(service.recipients)) get \(TextFormat.count(service.texts)) different texts: "
                + "\(TextFormat.count(service.calls)) calls \(service.paceWords) take \(TextFormat.duration(seconds: seconds)), "
                + "the same text for all would be \(TextFormat.counted(fewest, one: "call"))",
            at: context.campaign.content.position,
            remedy: "Write a text without cells for it: services: {\(service.service.name): {title: …, body: …}}, or plan for that time.")
    }
}
