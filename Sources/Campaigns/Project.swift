public import Base
import Glibc
public import PushServices

/// volley.yaml: written once, by the people that run the apps. Paths are as written, relative to
/// `file`.
///
/// ```swift
/// if let file = Project.find(startingAt: "campaigns") {
///     let (project, warnings) = try Project.read(file: file)
///     print(project.apps.map(\.name.value), warnings)
/// }
/// ```
public struct Project: Sendable {
    /// volley.yaml, as it was named or found.
    public var file: String
    /// Folder of run files, as written; `runs` by default.
    public var runs: String
    /// Databases that queries are put to, in the order of the file.
    public var databases: [Database]
    /// The database that several machines share; nil when runs stay on one machine.
    public var store: StoreSettings?
    /// By name, in the order of the file.
    public var apps: [App]
    /// The proxy of all apps that name none themselves; nil leaves it to the environment.
    public var proxy: ProxySetting?
    /// Where to send notices about the runs of all apps.
    public var notices: [NoticeTarget]
    /// Files that `volley schedule` keeps up to date; nil for none.
    public var monitoring: Monitoring?
    /// How `volley serve` shows campaigns and runs; nil for the defaults, on this machine only.
    public var console: ConsoleSettings?

    /// The app of that name, or nil.
    public func app(named name: String) -> App? { apps.first { $0.name.value == name } }

    /// The database of that name, or nil.
    public func database(named name: String) -> Database? { databases.first { $0.name.value == name } }
}

/// A PostgreSQL database, as volley.yaml names it.
public struct Database: Sendable {
    /// The key below `databases`.
    public var name: SourceText
    /// The environment variable that holds its address.
    public var variable: SourceText
    /// The longest that a query may take, at least a second.
    public var timeoutSeconds: Int

    /// What applies to databases that say nothing.
    public static let usualTimeoutSeconds = 600
}

/// `store:` of volley.yaml: the PostgreSQL database that several machines share to send one run.
public struct StoreSettings: Sendable {
    /// The environment variable that holds its address.
    public var variable: SourceText

    /// A store, as volley.yaml names it.
    public init(variable: SourceText) { self.variable = variable }
}

/// A query that returns devices, as written.
public struct DeviceQuery: Sendable {
    /// The key below `databases`.
    public var database: SourceText
    /// One SELECT.
    public var sql: SourceText
    /// Where it begins.
    public var position: SourcePosition
}

/// One app of volley.yaml.
///
/// ```swift
/// let services = project.app(named: "shop")?.services.map(\.service.name)
/// ```
public struct App: Sendable {
    /// The key below `apps`.
    public var name: SourceText
    /// The services that take its pushes, at least one. A device belongs to one of them, by its
    /// number here.
    public var services: [AppService]
    /// The default device export: paths or globs.
    public var devices: [SourceText]
    /// The query that returns the default device export, instead of files.
    public var deviceQuery: DeviceQuery?
    /// Where to find things in the exports.
    public var columns: ExportColumns
    /// Never more devices than this, through all services together, whatever a campaign sets.
    public var pace: Pace?
    /// How often a device may get a push, whatever a campaign sets.
    public var frequency: FrequencyCap?
    /// Whether each run must be approved before it is sent.
    public var needsApproval: Bool
    /// Where `volley send --test` goes.
    public var testDevices: [TestDevice]
    /// The app's own proxy, else the one at the top level of volley.yaml; nil when neither is there
    /// and the environment decides.
    public var proxy: ProxySetting?
    /// Where to send notices about its runs, in addition to the project's own.
    public var notices: [NoticeTarget]
}

/// One of the services of an app, with the app's account there.
public struct AppService: Sendable {
    /// The service that takes the pushes.
    public var service: any PushService
    /// What the service calls the app.
    public var topic: SourceText
    /// Which of the service's servers.
    public var environment: Environment
    /// The credential that the app presents to the service; nil (in the simulator only) when one is
    /// made for the run.
    public var credential: CredentialReference?
    /// Never faster than this, whatever a campaign sets, in the unit of the service's own pace; nil
    /// if the app has no pace of its own.
    public var pace: Pace?
    /// Where its keys begin.
    public var position: SourcePosition
    /// What the service is asked about for statistics (`AccountForm.countedApp`); nil if the app
    /// does not name it.
    public var countedApp: SourceText?

    /// The form of its credential; nil if it has none.
    public var credentialForm: CredentialForm? { credential.flatMap { service.account.credential($0.form) } }
}

/// A device of `test_devices`.
public struct TestDevice: Sendable {
    /// The most devices of one alias: more are not those of a person.
    public static let mostOfAlias = 10

    /// For people; `device 2` when the file gives none.
    public var name: String
    /// Never shown whole. Blank where an alias is named.
    public var token: Target
    /// The number of its service among the app's.
    public var service: Int
    /// Of a person, whose devices the exports of the app have; nil for a device with its own token.
    public var alias: String?
    /// A language tag as written; nil for a device that gets every text.
    public var language: String?
    /// Cells by column, for templates; columns that are not here take those of a recipient.
    public var cells: [String: String]
    /// Where the token is.
    public var position: SourcePosition
}

/// Which of the service's servers an app talks to.
public enum Environment: Sendable {
    /// One of the service's own.
    case named(ServiceEnvironment)
    /// One that Volley starts for the run on a free loopback port.
    case simulator
    /// Any other server: an https URL without path, and a file with the certificate authority to
    /// trust (nil: the system's).
    case server(url: SourceText, certificateAuthority: SourceText?)

    /// What volley.yaml calls a simulator that Volley starts.
    public static let simulatorName = "simulator"
}

/// A credential as an app names it: `key: {file, id, team}`.
public struct CredentialReference: Sendable {
    /// The key of its form below the app: `key`.
    public var form: String
    /// What is below it, by the keys of the form's fields. What the app leaves out is missing.
    public var values: [String: SourceText]

    /// What is in a field; nil if the form has no such field, or the app leaves it out.
    public subscript(field: AccountField?) -> SourceText? { field.flatMap { values[$0.key] } }
}

extension App {
    /// The first of its services: for an app that has one, all of it.
    public var main: AppService { services[0] }

    /// The service of that name, or nil.
    public func service(named name: String) -> AppService? { services.first { $0.service.name == name } }

    /// The app as it sends to audiences that one of its services keeps: through that one alone, and
    /// without what is about single devices. nil if it has no such service.
    public func sending(toAudiencesOf name: String) -> App? {
        guard var account = service(named: name), let own = account.service.ownAudience else { return nil }
        account.service = own.service
        var app = self
        (app.services, app.frequency, app.testDevices) = ([account], nil, [])
        return app
    }

    /// The app as it sends through one of its services alone; nil if it lacks it.
    public func sending(through name: String) -> App? {
        guard let number = services.firstIndex(where: { $0.service.name == name }) else { return nil }
        var app = self
        app.services = [services[number]]
        app.testDevices = testDevices.filter { $0.alias != nil || $0.service == number }.map { device in
            var device = device
            device.service = 0
            return device
        }
        return app
    }

    /// The app as a run of it was planned: to audiences that one of its services keeps, if the run
    /// goes through such a service.
    public func sending(asThrough service: any PushService) -> App {
        service.accountName == service.name ? self : sending(toAudiencesOf: service.accountName) ?? self
    }
}

/// `proxy:` of volley.yaml.
public enum ProxySetting: Sendable {
    /// `proxy: none`: straight to the server, whatever the environment says.
    case none(SourcePosition)
    /// `proxy: http://proxy:3128`, or `{url, user, password_env}`
    case through(ProxyReference)
}

/// A proxy. Its password is read from the environment when it is needed.
public struct ProxyReference: Sendable {
    /// With the user, if there is one, and with the password if it is in the file itself.
    public var address: ProxyAddress
    /// Where the address is.
    public var position: SourcePosition
    /// The environment variable that holds the password.
    public var passwordVariable: SourceText?

    /// A proxy named at a place.
    public init(address: ProxyAddress, position: SourcePosition, passwordVariable: SourceText? = nil) {
        self.address = address
        self.position = position
        self.passwordVariable = passwordVariable
    }
}

extension Project {
    /// What the project's file is called.
    public static let fileName = "volley.yaml"

    /// The other ending of YAML files counts where there is no file with the first name: a file
    /// further up is not meant for this folder.
    public static let fileNames = [fileName, "volley.yml"]

    /// Looks for volley.yaml in a folder, then in those above it up to the root. The nearest one
    /// counts, even when it is a broken link, a folder, or not accessible: a file further up is not
    /// meant for this folder. Reading it reports what is wrong with it.
    /// - Parameter folder: relative to the current folder, or absolute; empty for the current one.
    /// - Returns: its path: below `folder` as named when it is there, otherwise absolute; nil when
    ///   it is not found.
    public static func find(startingAt folder: String) -> String? {
        // The system would cut a path at a NUL.
        guard !folder.utf8.contains(0) else { return nil }
        let beginning = folder.isEmpty || folder == "." ? "" : folder.hasSuffix("/") ? folder : folder + "/"
        if let file = file(in: beginning) { return file }
        guard var above = absolute(folder.isEmpty ? "." : folder) else { return nil }
        while let slash = above.lastIndex(of: "/"), above != "/" {
            above = slash == above.startIndex ? "/" : String(above[..<slash])
            if let file = file(in: above == "/" ? "/" : above + "/") { return file }
        }
        return nil
    }

    /// - Parameter folder: blank, or with a slash at its end.
    private static func file(in folder: String) -> String? {
        fileNames.map { folder + $0 }.first(where: isThere)
            ?? names(in: folder, where: isLookAlike).first.map { folder + $0 }
    }

    private static func names(in folder: String, where isWanted: (String) -> Bool) -> [String] {
        (try? Folder.names(in: folder.isEmpty ? "." : folder, where: isWanted)) ?? []
    }

    /// Whether a file was probably meant as volley.yaml: `Volley.yaml`, `volley.yaml.txt`, or with
    /// a blank at an end. It is found, so that no file further up takes its place, and reading it
    /// says what to do.
    private static func isLookAlike(_ name: String) -> Bool {
        // A folder may hold thousands of other files, and is looked through with each campaign.
        let letters = name.utf8.map { $0 | 0x20 }
        guard letters.count < 40, letters.indices.contains(where: { letters[$0...].starts(with: "volley".utf8) }),
            !fileNames.contains(name)
        else { return false }
        func trimmed(_ text: some StringProtocol) -> String {
            let end = text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }
            return String(end.reversed())
        }
        let plain = trimmed(name).lowercased()
        return fileNames.contains(plain.hasSuffix(".txt") ? trimmed(plain.dropLast(4)) : plain)
    }

    /// Why it is not clear which file was meant as volley.yaml; nil if it is. The one that is
    /// passed over may require approval.
    static func ambiguity(of file: String) -> Diagnostic? {
        let folder = FilePaths.folder(of: file), name = String(file.split(separator: "/").last ?? "")
        if isLookAlike(name) {
            return Diagnostic(
                "a file is not read under the name '\(TextFormat.foreign(name))'", file: file,
                remedy:
                    "If it is this folder's \(fileName), rename it to that; if not, remove it or give it another name.",
                [.seeProblems])
        }
        guard fileNames.contains(name),
            let other = names(in: folder, where: { $0 != name && (fileNames.contains($0) || isLookAlike($0)) }).first
        else { return nil }
        return Diagnostic(
            "'\(TextFormat.foreign(other))' is in the same folder, and only one of the two is read", file: file,
            remedy: "Keep what counts as \(fileName), and rename or remove the other one.", [.seeProblems])
    }

    /// Whether the name is taken, or that cannot be found out.
    private static func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 || (errno != ENOENT && errno != ENOTDIR)
    }

    /// Without links, so that "above" is where the folder really is.
    private static func absolute(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

/// What notices can be about.
public enum NoticeEvent: String, CaseIterable, Hashable, Sendable {
    /// Sending has begun, or has resumed after it was stopped.
    case started
    /// Every recipient has its outcome.
    case finished
    /// Sending ended early: it stopped itself, was interrupted, or was cancelled.
    case stopped
    /// A plan waits for `volley approve`.
    case approvalNeeded = "approval_needed"
    /// A campaign is not sent at a time of its schedule.
    case skipped
    /// A campaign of a schedule cannot be planned at its time.
    case failed
    /// The file of a scheduled campaign has mistakes.
    case invalid
    /// Something that `volley schedule` does shows no sign of life.
    case stuck
    /// `volley notify` tests the target; every target gets this event.
    case test
}

/// An entry of `notices` in volley.yaml: where notices go, and about what.
public struct NoticeTarget: Sendable {
    /// How a notice is delivered.
    public enum Channel: Sendable {
        /// An https URL that gets a POST (http on this machine only), the environment variable with
        /// the secret that signs it, and a file with the only authority to trust, as written.
        case webhook(url: SourceText, secretVariable: SourceText?, certificateAuthority: SourceText?)
        /// A program and its arguments; a program with a slash is a path relative to volley.yaml.
        case command([SourceText])
    }

    /// How.
    public var way: Channel
    /// About what; `test` is always among them.
    public var events: Set<NoticeEvent>
    /// Where the entry is.
    public var position: SourcePosition
}

/// `monitoring` of volley.yaml: files that `volley schedule` keeps up to date, as written.
public struct Monitoring: Sendable {
    /// Metrics for the textfile collector of Prometheus' node_exporter.
    public var prometheus: SourceText?
    /// A JSON document that says whether all is well.
    public var health: SourceText?
}

extension Project {
    /// Every receiver that the project names, with the app that it gets notices of; nil for all
    /// apps.
    public var noticeTargets: [(app: App?, target: NoticeTarget)] {
        notices.map { (nil, $0) } + apps.flatMap { app in app.notices.map { (app, $0) } }
    }
}
