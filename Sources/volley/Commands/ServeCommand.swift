import Accounts
import Automation
import Base
import Campaigns
import Glibc
import Logs
import Planning
import Runs
import Workspace

/// `volley serve`: starts the console and the sender, and watches both.
public enum ServeCommand {
    /// Where the console listens without `--listen`.
    public static let usualAddress = ConsoleSettings.usualAddress

    /// How to serve, as typed.
    public struct Settings: Sendable {
        /// The folder of the campaigns.
        public var folder: String
        /// `--listen` and `--socket`, which the console reads.
        public var listen: String?, socket: String?
        /// Whether `volley schedule` is started, too.
        public var hasSender: Bool

        /// Creates settings.
        public init(folder: String, listen: String? = nil, socket: String? = nil, hasSender: Bool = true) {
            (self.folder, self.listen, self.socket, self.hasSender) = (folder, listen, socket, hasSender)
        }
    }

    /// Runs until it is interrupted, or the console reports that it cannot serve with these
    /// settings.
    public static func run(_ settings: Settings, options: CommonOptions, console: Console) throws -> ExitStatus {
        try HangupSignal.expect(console)
        Interruption.install()
        let catalog = try Project.read(file: projectFile(settings.folder, options)).0.catalog(options.project)
        let service = try Service(settings, options, records: catalog.schedule, console)
        return service.run()
    }

    static func projectFile(_ folder: String, _ options: CommonOptions) throws(Diagnostic) -> String {
        guard let kind = FileKind(path: folder) else {
            throw FileAccess.lookupProblem(folder)
                ?? Diagnostic(
                    "there is no such folder", file: folder, remedy: "Name the folder that contains your campaigns.")
        }
        guard kind == .folder else {
            throw Diagnostic(
                "this is \(kind.text), and the console shows a whole folder", file: folder,
                remedy:
                    "Name the folder that contains your campaigns: `volley serve \(FilePaths.inShell(FilePaths.folder(of: folder)))`."
            )
        }
        guard let file = options.project.file ?? Project.find(startingAt: folder) else {
            throw Diagnostic(
                "there is no volley.yaml in this folder or above it", file: folder,
                remedy: "Name the folder that holds your campaigns, or volley.yaml with --config.")
        }
        return file
    }

    /// The two children, and their supervision.
    private final class Service {
        private var supervision: Supervision
        private var children: [Supervision.Child: ServedProcess] = [:]
        private let programs: [Supervision.Child: (path: String, arguments: [String])]
        private let records: ScheduleRecords
        private let console: Console
        /// Signalled when a child has ended, and by SIGHUP.
        private let woken: Wakeup
        private let manager = ServiceManager()
        private let clock = ContinuousClock()
        private let begin: ContinuousClock.Instant
        private var result: ExitStatus?
        /// How each child ended last.
        private var ends: [Supervision.Child: ServedProcess.End] = [:]
        private let hasSender: Bool

        init(_ settings: Settings, _ options: CommonOptions, records: ScheduleRecords, _ console: Console)
            throws(Diagnostic)
        {
            let own = try ServeCommand.ownPath()
            let page = FilePaths.join(FilePaths.folder(of: own), name: "volley-console")
            guard access(page, X_OK) == 0 else {
                throw Diagnostic(
                    "the console is not installed: there is no program \(page)",
                    remedy: "Install volley-console beside volley, from the same version.")
            }
            var common: [String] = []
            if let config = options.project.file { common += ["--config", config] }
            if let runs = options.project.runs { common += ["--runs", runs] }
            if let format = console.options.log { common += ["--log-format", format.rawValue] }
            var listening: [String] = []
            if let listen = settings.listen { listening += ["--listen", listen] }
            if let socket = settings.socket { listening += ["--socket", socket] }
            // A folder whose name begins with a hyphen must not look like an option.
            programs = [
                .console: (page, common + listening + ["--", settings.folder]),
                .sender: (own, ["schedule"] + common + ["--", settings.folder]),
            ]
            supervision = Supervision(hasSender: settings.hasSender)
            hasSender = settings.hasSender
            self.records = records
            self.console = console
            woken = HangupSignal.wakeup
            begin = clock.now
        }

        func run() -> ExitStatus {
            if let flaw = manager.flaw { console.warn(flaw) }
            handle(.begun)
            var isEnding = false
            while true {
                if let result { return result }
                wait(isEnding: isEnding)
                HangupSignal.answer(console)
                for (child, process) in children where process.hasEnded {
                    children[child] = nil
                    let end = process.ended()
                    ends[child] = end
                    handle(.ended(child, isWrong: end == .exited(ExitStatus.wrong.rawValue)))
                }
                // While the console runs, it gives its own signs of life: when it hangs, they stop.
                if children[.console] == nil { manager.alive() }
                if !isEnding, Interruption.process.isRequested {
                    isEnding = true
                    manager.stopping()
                    handle(.endRequested)
                }
                if let due = supervision.wakeAt, due <= now { handle(.timePassed) }
            }
        }

        private var now: Double { (clock.now - begin) / .seconds(1) }

        private func wait(isEnding: Bool) {
            let left = [supervision.wakeAt.map { max(0, $0 - now) }, manager.secondsPerSign].compactMap(\.self).min()
            if isEnding { return woken.wait(atMost: left) }
            if Interruption.process.waitForRequest(atMost: left, orReadable: woken.descriptor) { woken.clear() }
        }

        private func handle(_ event: Supervision.Event) {
            for action in supervision.handle(event, at: now) {
                switch action {
                case .look: handle(.looked(isHeld: records.isAtWork))
                case .start(let child): start(child)
                case .end(let child): children[child]?.terminate()
                case .kill(let child, let seconds):
                    children[child]?.kill()
                    console.warn("\(Self.name(child)) did not end within \(Int(seconds)) s, and was killed.")
                case .tellEnded(let child, let seconds):
                    tellEnded(child, seconds: Int(seconds))
                case .tellWrong:
                    console.warn(
                        "The console cannot serve like this, and says why above\(hasSender ? "; volley schedule ends with it" : "")."
                    )
                case .tellHeld:
                    console.say(
                        "Another volley schedule is at work and stays the sender; this one takes its place when it ends."
                    )
                case .finish(let isWrong): result = isWrong ? .wrong : .interrupted
                }
            }
        }

        private func start(_ child: Supervision.Child) {
            guard let program = programs[child] else { return }
            do {
                // The console reports that it is ready once it listens, and then gives signs of
                // life.
                children[child] = try ServedProcess(
                    program.path, program.arguments, reportsToManager: child == .console, ringing: woken)
                handle(.started(child))
            } catch {
                ends[child] = nil
                console.warn("\(error)")
                handle(.notStarted(child))
            }
        }

        private func tellEnded(_ child: Supervision.Child, seconds: Int) {
            let end = ends[child].map { "ended \($0.words)" } ?? "could not be started"
            let continues = child == .console && hasSender ? ", and volley schedule continues" : ""
            console.warn("\(Self.name(child)) \(end)\(continues); it is started again in \(seconds) s.")
            // A manager that waits for the console's signs of life would end the sender with it.
            if child == .console, hasSender { manager.ready() }
        }

        private static func name(_ child: Supervision.Child) -> String {
            switch child {
            case .console: "The console"
            case .sender: "volley schedule"
            }
        }
    }

    /// The file of this program.
    private static func ownPath() throws(Diagnostic) -> String {
        guard let path = realpath("/proc/self/exe", nil) else {
            throw Diagnostic("Volley cannot find its own program", remedy: "Make sure that /proc is mounted.")
        }
        defer { free(path) }
        return String(cString: path)
    }
}

/// `volley serve --invite`: people that may run commands here may invite others to the console.
extension ServeCommand {
    /// Prints a link with which a person chooses the password of a new account, or a new password
    /// of an existing account.
    /// - Parameters:
    ///   - name: the person's sign-in name.
    ///   - roles: `ROLE`, or `ROLE:APP`; none for an administrator of all apps.
    public static func invite(
        _ name: String, roles: [String], settings: Settings, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        let project = try Project.read(file: projectFile(settings.folder, options)).0
        let grants =
            try roles.isEmpty ? [RoleGrant(.administrator, .allApps)] : Set(roles.map { try grant($0, project) })
        let store = try AccountStore(beside: project.catalog(options.project).place)
        defer { store.close() }
        let (accountName, now) = (try AccountName(name), Timestamp.now())
        let link: InvitationLink
        if let account = try store.account(named: accountName) {
            guard roles.isEmpty else {
                throw Diagnostic(
                    "\(name) has an account already, and its roles stay",
                    remedy: "Omit --role for a link to a new password.")
            }
            link = try store.offerNewPassword(of: account.id, by: .terminal, at: now)
        } else {
            link = try store.invite(accountName, DisplayName(name), grants, by: .terminal, at: now)
        }
        let origin = project.console?.publicURL?.value ?? "http://\(settings.listen ?? usualAddress)"
        let address =
            (origin.hasSuffix("/") ? String(origin.dropLast()) : origin) + "/invitation?link=\(link.token.text)"
        console.say(
            "\(name) chooses a password with this link, once, until \(link.invitation.lapsesAt.minuteText). Pass it on where nobody else reads it:"
        )
        try console.out(address)
        return .done
    }

    /// `volley serve --confirm`: ends the ties by which approvals count an account as one person
    /// with others (`AccountTies`).
    public static func confirm(_ name: String, folder: String, options: CommonOptions, console: Console) throws
        -> ExitStatus
    {
        let project = try Project.read(file: projectFile(folder, options)).0
        let store = try AccountStore(beside: project.catalog(options.project).place)
        defer { store.close() }
        let now = Timestamp.now()
        guard let account = try store.account(named: AccountName(name)) else {
            throw Diagnostic(
                "there is no account '\(TextFormat.inLine(name))'",
                remedy: "Accounts are listed under Users in the console.")
        }
        let wasTied = try store.ties(at: now).all.contains { $0.account == account.name }
        try store.confirm(account.id, by: .terminal, at: now)
        console.say(
            wasTied
                ? "\(account.name) is confirmed, and counts as a person of its own."
                : "\(account.name) was not tied to another account.")
        return .done
    }

    private static func grant(_ text: String, _ project: Project) throws(Diagnostic) -> RoleGrant {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let role = Role(rawValue: parts[0]) else {
            throw Diagnostic(
                "there is no role '\(TextFormat.inLine(parts[0]))'",
                remedy: "Roles are \(Role.allCases.map(\.rawValue).joined(separator: ", ")), for an app as editor:shop."
            )
        }
        guard parts.count > 1 else { return RoleGrant(role, .allApps) }
        guard project.app(named: parts[1]) != nil else {
            throw Diagnostic(
                "volley.yaml has no app '\(TextFormat.inLine(parts[1]))'",
                remedy: "It has \(project.apps.map(\.name.value).joined(separator: ", ")).")
        }
        return RoleGrant(role, .app(parts[1]))
    }
}
