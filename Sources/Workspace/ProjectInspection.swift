import Audience
public import Base
public import Campaigns
import Cryptography
import Glibc
import PushServices
public import Runs

/// What this user, on this machine, cannot read, write or start although the work of a project
/// needs it. It is checked when a process starts, by `volley doctor` and for the health file, so
/// that it is known before a time comes. Nothing is opened for writing, and nothing is started.
///
/// ```swift
/// var inspection = ProjectInspection(project, runs)
/// for obstacle in inspection.obstacles() { print(obstacle) }
/// ```
public struct ProjectInspection {
    private let project: Project
    private let catalog: RunsFolder
    private var known: KnownObstacles

    /// - Parameters:
    ///   - catalog: where the project's runs are kept.
    ///   - schedule: the record of the schedule, if this process has it open.
    public init(_ project: Project, _ catalog: RunsFolder, schedule: ScheduleStore? = nil) {
        (self.project, self.catalog) = (project, catalog)
        known = KnownObstacles(schedule: schedule)
    }

    /// What reading all pages of runs found: `obstacles` names it, and reads no more than is cheap.
    public var pages: RunPages { known.pages }

    /// Everything, as warnings; cheap enough for once a minute.
    public mutating func obstacles() -> [Diagnostic] {
        let found =
            catalog.obstacles(&known) + Self.refusedOutputs(of: project) + unwritableOutputs + unreadableFiles
            + Self.hookFlaws(of: project)
        return found.map { obstacle in
            var warning = obstacle
            warning.severity = .warning
            return warning
        }
    }

    private static func path(_ text: SourceText, _ project: Project) -> String {
        FilePaths.anchored(FilePaths.resolve(text.value, besideFile: project.file))
    }

    // MARK: - Outputs

    private static func outputs(of project: Project) -> [SourceText] {
        [project.monitoring?.prometheus, project.monitoring?.health].compactMap(\.self)
    }

    /// Files of `monitoring` that lead to a folder, a socket, a disk or another user's link, with
    /// their places in volley.yaml.
    public static func refusedOutputs(of project: Project) -> [Diagnostic] {
        outputs(of: project).compactMap { output in
            do throws(Diagnostic) {
                _ = try OutputPlace(path(output, project))
                return nil
            } catch { return placed(error, at: output) }
        }
    }

    /// Those in folders that this user may not write to, or that are missing.
    private var unwritableOutputs: [Diagnostic] {
        Self.outputs(of: project).compactMap { output in
            guard case .file(let file)? = try? OutputPlace(Self.path(output, project)) else { return nil }
            let folder = FilePaths.folder(of: file)
            guard FilePaths.exists(folder) else {
                return Self.placed(
                    Diagnostic(
                        "its folder \(folder) does not exist", file: file,
                        remedy: "Make the folder, or name another file."),
                    at: output)
            }
            return FileAccess.problem(folder, .writing, purpose: "into which \(FilePaths.named(file)) is written")
        }
    }

    // MARK: - Exports, keys and authorities

    private var unreadableFiles: [Diagnostic] {
        var files: [(path: String, purpose: String)] = [], authorities: [SourceText] = [], closed: [Diagnostic] = []
        for app in project.apps {
            let name = app.name.value
            for service in app.services {
                let keys = service.credentialForm?.files.compactMap { service.credential?[$0] } ?? []
                files += keys.map { (Self.path($0, project), "a credential of the app '\(name)'") }
                if case .server(_, let authority?) = service.environment { authorities.append(authority) }
            }
            for export in app.devices {
                let path = Self.path(export, project)
                do throws(Diagnostic) {
                    // Dates in a path are those of a time, which may be in the future.
                    if let date = path.firstRange(of: "{{") {
                        if let problem = FileAccess.lookupProblem(String(path[..<date.lowerBound])) { throw problem }
                    } else {
                        files += try AudienceQuery.matches(of: path).map { ($0, "an export of the app '\(name)'") }
                    }
                } catch { closed.append(Self.placed(error, at: export, as: error.file)) }
            }
        }
        for target in project.noticeTargets.map(\.target) {
            if case .webhook(_, _, let authority?) = target.way { authorities.append(authority) }
        }
        return closed + files.compactMap { FileAccess.problem($0.path, .reading, purpose: $0.purpose) }
            + authorities.compactMap { authority in
                do throws(Diagnostic) {
                    try CertificateAuthorityFile.check(Self.path(authority, project))
                    return nil
                } catch { return Self.placed(error, at: authority) }
            }
    }

    // MARK: - Hooks

    /// Programs of `notices` that cannot be started, with their places in volley.yaml.
    public static func hookFlaws(of project: Project) -> [Diagnostic] {
        project.noticeTargets.compactMap { _, target in
            guard case .command(let words) = target.way, let program = words.first else { return nil }
            let word = program.value.contains("/") ? path(program, project) : program.value
            return ProgramFile(word, beside: FilePaths.folder(of: project.file)).flaw.map {
                placed($0, at: program, as: SecretText.program(program.value))
            }
        }
    }

    /// A mistake of a file where volley.yaml names it.
    private static func placed(_ mistake: Diagnostic, at text: SourceText, as shown: String? = nil) -> Diagnostic {
        var placed = mistake
        (placed.position, placed.file) = (text.position, text.position.file)
        placed.message = "\(TextFormat.inLine(shown ?? SecretText.hidden(in: text.value))): \(mistake.message)"
        return placed
    }
}

/// The files that volley.yaml names, resolved, whether they exist or not. Links stay in the paths.
extension Project {
    /// Files with the keys, certificates and secrets of the apps.
    public var keyFiles: [String] {
        resolved(
            apps.flatMap(\.services).flatMap { account in
                (account.credentialForm?.files ?? []).compactMap { account.credential?[$0] }
            })
    }

    /// Files with secrets: those of the apps, and that of the provider of identities.
    public var secretFiles: [String] {
        guard case .file(let secret)? = console?.provider?.clientSecret else { return keyFiles }
        return keyFiles + resolved([secret])
    }

    /// Where the packages put the addresses of databases, with their passwords.
    public static let environmentFile = "/etc/volley/environment"

    /// Certificates of the only authority to trust: of servers, of hooks, and of the provider of
    /// identities.
    public var authorityFiles: [String] {
        let servers: [SourceText] = apps.flatMap(\.services).compactMap { account in
            if case .server(_, let authority) = account.environment { authority } else { nil }
        }
        let hooks: [SourceText] = allNotices.compactMap { target in
            if case .webhook(_, _, let authority) = target.way { authority } else { nil }
        }
        return resolved(servers + hooks + [console?.provider?.certificateAuthority].compactMap(\.self))
    }

    /// All files that a campaign must not name when a console reads it: volley.yaml, what it names
    /// apart from exports, and the addresses of databases, where the packages put them.
    var closedFiles: [String] {
        var others = [monitoring?.prometheus, monitoring?.health].compactMap(\.self)
        // A program, and what it is started with: perhaps a script, or a file with its settings.
        for case .command(let words) in allNotices.map(\.way) { others += words }
        return [file, Self.environmentFile] + secretFiles + authorityFiles + resolved(others)
    }

    private var allNotices: [NoticeTarget] { notices + apps.flatMap(\.notices) }

    private func resolved(_ named: [SourceText]) -> [String] {
        named.map { FilePaths.resolve($0.value, besideFile: file) }
    }
}
