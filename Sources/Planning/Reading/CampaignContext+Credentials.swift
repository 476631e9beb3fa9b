package import Base
import Campaigns
import Cryptography
import PushServices
import Runs
import Workspace

/// The credentials that sending a campaign needs.
extension CampaignContext {
    /// Checks the credentials of a run that will be sent.
    /// - Returns: warnings about them, also that those of one of several services cannot be used, so that only the others are sent to.
    /// - Throws: `Diagnostic`: those of no service can be used.
    func credentialWarnings(_ settings: RunSettings, now: Timestamp) throws -> [Diagnostic] {
        var warnings: [Diagnostic] = [], mistakes: [(service: any PushService, mistake: Diagnostic)] = []
        for number in settings.services.indices {
            do {
                warnings += try placingCredentials(ofService: settings.services[number].service) {
                    try AppCredentials.check(settings, ofService: number, now: now)
                }
            } catch let mistake as Diagnostic { mistakes.append((settings.services[number].service, mistake)) }
        }
        if mistakes.count == settings.services.count, let first = mistakes.first { throw first.mistake }
        return warnings + mistakes.map { .credentialsUnusable($0.mistake, of: $0.service) }
    }

    /// Checks the credentials of all services of a run.
    /// - Returns: warnings about them.
    /// - Throws: `Diagnostic`: some cannot be used.
    func checkCredentials(_ settings: RunSettings, now: Timestamp) throws -> [Diagnostic] {
        try settings.services.indices.flatMap { number in
            try placingCredentials(ofService: settings.services[number].service) {
                try AppCredentials.check(settings, ofService: number, now: now)
            }
        }
    }

    /// Checks the files of certificate authorities that volley.yaml names elsewhere: for other apps, notices, signing in to the console. A
    /// file for another app that is not on this machine is not needed here.
    /// - Throws: `Diagnostics`: those that cannot be used.
    func checkAuthorities(now: Timestamp) throws(Diagnostics) {
        let others = project.apps.flatMap(\.services).compactMap { service -> SourceText? in
            if case .server(_, let authority?) = service.environment { authority } else { nil }
        }
        let optional = others + [project.console?.provider?.certificateAuthority].compactMap(\.self)
        let needed = (project.notices + app.notices).compactMap { target -> SourceText? in
            if case .webhook(_, _, let authority?) = target.way { authority } else { nil }
        }
        var mistakes: [Diagnostic] = [], seen: Set<String> = []
        for (isNeeded, name) in needed.map({ (true, $0) }) + optional.map({ (false, $0) }) {
            let path = FilePaths.anchored(FilePaths.resolve(name.value, besideFile: project.file))
            guard isNeeded || FilePaths.exists(path), seen.insert(path).inserted else { continue }
            do throws(Diagnostic) { try CertificateAuthorityFile.check(path, now: now) } catch {
                mistakes.append(placed(error, at: name.position))
            }
        }
        if !mistakes.isEmpty { throw Diagnostics(mistakes) }
    }

    /// Places a mistake of a key, certificate or authority where volley.yaml names that file.
    private func placingCredentials<Result>(ofService service: any PushService, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let mistake as Diagnostic {
            // Nothing but a variable's content is a mistake in no file.
            let services = app.services.filter { $0.service.accountName == service.accountName }
            let variables = services.compactMap { $0.credential?[$0.credentialForm?.variable] }
            if mistake.file == nil, let variable = variables.first { throw placed(mistake, at: variable.position) }
            let names = services.flatMap { service in
                var names = service.credentialForm?.files.compactMap { service.credential?[$0] } ?? []
                if case .server(_, let authority?) = service.environment { names.append(authority) }
                return names
            }
            let place = names.first { FilePaths.anchored(FilePaths.resolve($0.value, besideFile: project.file)) == mistake.file }
            throw place.map { placed(mistake, at: $0.position) } ?? mistake
        }
    }
}

/// A mistake of a whole file is placed where the campaign or volley.yaml names that file; one inside the file keeps its place.
package func placed(_ mistake: Diagnostic, at position: SourcePosition) -> Diagnostic {
    guard mistake.position == nil else { return mistake }
    var placed = mistake
    placed.position = position
    placed.file = position.file
    placed.message = (mistake.file.map { "\($0): " } ?? "") + mistake.message
    return placed
}
