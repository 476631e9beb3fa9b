public import Base
import Campaigns
import PushServices

/// The warnings of a command, without those that the campaign allows.
public struct Lint: Sendable {
    /// The warnings to show.
    public let shown: [Diagnostic]
    /// The warnings that the campaign silences, each with the reason.
    public let silenced: [(warning: Diagnostic, reason: String)]

    /// - Parameters:
    ///   - sources: what was checked: an allowed warning is unused only if all of its sources were
    ///     checked.
    package init(_ warnings: [Diagnostic], allowed: [AllowedWarning], lookedAt sources: Set<WarningName.Source>) {
        let reasons = Dictionary(allowed.map { ($0.name, $0.reason) }) { first, _ in first }
        silenced = warnings.compactMap { warning in warning.name.flatMap { reasons[$0] }.map { (warning, $0) } }
        let occurring = Set(warnings.compactMap(\.name))
        let unused = allowed.filter { !occurring.contains($0.name) && $0.name.sources.isSubset(of: sources) }.map {
            allowed in
            Diagnostic.warning(
                .unusedAllow, message: "'\(allowed.written)' is allowed, but there is no longer such a warning",
                at: allowed.position,
                remedy: "Remove it from 'allow', so that Volley warns you if it comes back.")
        }
        shown = warnings.filter { $0.name.map { reasons[$0] == nil } ?? true } + unused
    }

    /// The silenced warnings in JSON documents.
    public var silencedJSON: JSONValue {
        .array(
            silenced.map { warning, reason in
                guard case .object(let members) = warning.json else { return warning.json }
                return .object(members + [JSONMember("reason", .string(reason))])
            })
    }
}

/// Warns about texts that differ from device to device where a service takes one text per call and
/// limits the rate of calls.
struct TextLint {
    /// A segment may take this long without a warning.
    private static let longestSeconds = 3600.0

    let context: CampaignContext
    /// How many recipients each service has, and how many texts they get.
    let services: [PreviewService]

    var warnings: [Diagnostic] { services.compactMap(warning) }

    private func warning(_ service: PreviewService) -> Diagnostic? {
        let most = service.largestRequest
        guard service.isPacedByCalls, let seconds = service.exactSecondsAtPace, seconds > Self.longestSeconds else {
            return nil
        }
        let fewest = (service.recipients + most - 1) / most
        // Texts that many devices share cost no time.
        guard service.calls > 2 * fewest, service.texts > 1 else { return nil }
        let name = service.service.displayName
        return .warning(
            .slowTexts,
            message:
                "\(name) takes one text in a call, and \(TextFormat.devices(service.recipients)) get \(TextFormat.count(service.texts)) different texts: "
                + "\(TextFormat.count(service.calls)) calls \(service.paceWords) take \(TextFormat.duration(seconds: seconds)), "
                + "the same text for all would be \(TextFormat.counted(fewest, one: "call"))",
            at: context.campaign.content.position,
            remedy:
                "Write a text without cells for it: services: {\(service.service.name): {title: …, body: …}}, or plan for that time."
        )
    }
}
