import Audience
public import Base
import Campaigns
import Content
import Glibc
import PushServices
import Runs
import Workspace

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

/// Warnings about texts that were changed since the campaign's last run, while languages, variants
/// or services kept theirs.
struct ChangeLint {
    let context: CampaignContext
    let now: Timestamp

    /// - Parameters:
    ///   - last: the plan of the last run.
    ///   - groups: recipients by number of the message, and all; nil where they were not counted.
    func warnings(since last: RunPlan?, _ groups: (devices: [Int: Int], all: Int)? = nil) -> [Diagnostic] {
        let campaign = context.campaign
        guard let last, last.campaignSource != campaign.source else { return [] }
        let old = Campaign.draft(text: last.campaignSource, file: campaign.file, now: now) { _ in
            context.messages.services
        }
        guard let before = old.content else { return [] }
        return PartialChange.all(from: (before, old.variants), to: (campaign.content, campaign.variants)).map {
            change in
            let devices = groups.map { groups in
                let number = context.messages.messages.indices.reduce(0) { sum, message in
                    let value = context.messages.messages[message].content[change.key]
                    return sum + (value.map(change.isKept) ?? false ? groups.devices[message, default: 0] : 0)
                }
                return
                    ": \(TextFormat.count(number)) of these \(TextFormat.devices(groups.all)) \(TextFormat.plural(number, one: "gets", many: "get")) the old one"
            }
            return .warning(
                .partlyChanged,
                message:
                    "the \(change.noun) was changed since the last run, but not for \(change.names)\(devices ?? "")",
                at: change.kept[0].text.position, remedy: "Change it there too, unless the old one still fits.")
        }
    }
}

extension MessageContent {
    /// The value of a key that is a single text; nil for others.
    fileprivate subscript(key: ContentKey) -> String? {
        switch key {
        case .title: title?.value
        case .subtitle: subtitle?.value
        case .body: body?.value
        case .link: link?.value
        case .image: image?.value
        case .sound, .badge, .category, .thread, .data, .interruption, .relevance, .targetContent, .filter, .localized,
            .wakeApp, .silent,
            .payload:
            nil
        }
    }
}

/// Warns about old exports: new devices are missing, and the cells that texts print are out of
/// date.
enum ExportAge {
    /// The age in days at which an export is old.
    static let warningDays = 7

    /// Names the oldest of several files. A rehearsal reaches no device, so there the age does not
    /// matter.
    static func warnings(of files: [String], isRehearsal: Bool, now: Timestamp) -> [Diagnostic] {
        guard !isRehearsal else { return [] }
        let ages = files.compactMap { file in age(of: file, now: now).map { (file: file, days: $0) } }
        let old = ages.filter { $0.days >= warningDays }
        guard let oldest = old.max(by: { $0.days < $1.days }) else { return [] }
        let more = old.count - 1
        let others =
            more == 0
            ? ""
            : ", and \(more) more \(TextFormat.plural(more, one: "is", many: "are")) at least \(warningDays) days old"
        return [
            .warning(
                .staleExport, message: "the export is \(oldest.days) days old\(others)", file: oldest.file,
                remedy: "Export the devices again: new devices are missing, and devices that left are still listed.")
        ]
    }

    /// Whole days since a file was written.
    private static func age(of file: String, now: Timestamp) -> Int? {
        var status = stat()
        guard stat(file, &status) == 0 else { return nil }
        return Int((now.epochSeconds - Int64(status.st_mtim.tv_sec)) / 86_400)
    }
}

/// Warnings about the services of an app with several: that one reaches no device, or that only
/// some of them are rehearsed.
struct ServiceLint {
    let app: App

    /// Services that go to a simulator while others reach people: a rehearsal that sends real
    /// pushes, or a campaign that half of its audience does not get.
    var environments: [Diagnostic] {
        let rehearsed = app.services.filter { if case .simulator = $0.environment { true } else { false } }
        let real = app.services.filter {
            if case .named(let environment) = $0.environment { environment.reachesPeople } else { false }
        }
        guard let first = rehearsed.first, !real.isEmpty else { return [] }
        let destinations = real.map { "\($0.service.displayName) to \($0.destination)" }.joined(separator: " and ")
        return [
            .warning(
                .simulatorAndProduction,
                message:
                    "pushes through \(rehearsed.map(\.service.displayName).joined(separator: " and ")) go to a simulator, "
                    + "but those through \(destinations), where they reach people",
                at: first.position,
                remedy: "To rehearse, write environment: simulator for every service; to reach everyone, for none.")
        ]
    }

    /// Services that reach no device of an audience. The scan reports a column that no export has.
    func withoutDevices(_ result: AudienceResult, in messages: MessageCatalog) -> [Diagnostic] {
        guard app.services.count > 1, result.audience > 0 else { return [] }
        return app.services.indices.filter { number in
            !result.servicesWithoutColumn.contains(number)
                && !messages.messages.indices.contains {
                    messages.messages[$0].service == number && result.groups[$0, default: 0] > 0
                }
        }.map { number in
            let account = app.services[number]
            return .warning(
                .serviceWithoutDevices,
                message: "no device of the audience is reached through \(account.service.displayName)",
                at: account.position, remedy: remedy(account))
        }
    }

    private func remedy(_ account: AppService) -> String {
        let rest = "If the audience has no such devices, allow the warning in the campaign."
        if let column = app.columns.service {
            let cells = column.map.filter { $0.service.value == account.service.name }.map { "'\($0.cell.value)'" }
            guard column.map.isEmpty || !cells.isEmpty else {
                return
                    "In the map of the column '\(column.column.value)' no cell stands for \(account.service.displayName): "
                    + "write the one that its devices have, `CELL: \(account.service.name)`. \(rest)"
            }
            let shown = column.map.isEmpty ? "'\(account.service.name)'" : cells.joined(separator: " or ")
            let target = account.service.target
            let targets =
                app.columns.tokensHold(targets: target.column)
                ? " and \(target.aNoun) in the column \(app.columns.quotedTokens); if these are in another, name it in volley.yaml: "
                    + "columns: {\(target.column): NAME}" : ""
            return "Its devices are rows with \(shown) in the column '\(column.column.value)'\(targets). \(rest)"
        }
        let names = app.columns.quoted(targets: account.service.target.column)
        return "Its devices are rows with \(account.service.target.aNoun) in the column \(names)"
            + "\(app.columns.preference.isEmpty ? "" : ", unless a service that 'prefer' puts before it reaches them"). \(rest)"
    }
}
