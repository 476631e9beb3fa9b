import Audience
import Base
import Campaigns
import Content
import PushServices
import Workspace

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
