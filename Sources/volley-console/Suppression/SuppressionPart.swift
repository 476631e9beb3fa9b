import Base
import Campaigns
import PushServices
import Runs
import Workspace

/// One suppression list of an app: an app has one for each of its services, for the environment that volley.yaml gives it.
struct SuppressionPart: Sendable {
    let list: SuppressionList
    /// The environment: `production`; of an app with several services, after the name of the service.
    let name: String
    /// Where the app's exports keep things.
    let columns: ExportColumns

    /// The lists of an app.
    /// - Throws: `Diagnostic`: the settings of the app have a mistake.
    static func all(of app: App, in project: Project, _ site: Site) throws -> [SuppressionPart] {
        let services = try RunSettings(app, projectFile: project.file, pushType: .alert).services
        return services.map { settings in
            let environment = settings.environment.name
            return SuppressionPart(
                list: site.catalog.suppression(app: app.name.value, service: settings.service, environment: settings.listName),
                name: services.count == 1 ? environment : "\(settings.service.displayName), \(environment)", columns: app.columns)
        }
    }
}
