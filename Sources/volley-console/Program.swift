import Accounts
import ArgumentParser
import Automation
import Base
import CLinux
import Campaigns
import Dispatch
import Glibc
import Hummingbird
import Logging
import Logs
import NIOCore
import Runs
import ServiceLifecycle
import Synchronization
import Workspace

/// The web process of the console. `volley serve` starts it; it sends nothing.
@main
enum ConsoleMain {
    /// On the main thread, which stays to the end: the signal that comes with the supervisor's end
    /// belongs to the thread that asked for it. Other threads, which get its mask, begin only after
    /// the signals are held.
    static func main() {
        volley_limit_heaps()
        TerminationSignals.hold()
        if volley_end_with_parent() != 0 { return }
        let end = DispatchSemaphore(value: 0)
        Task.detached {
            await Program.main(ProgramArguments.all)
            end.signal()
        }
        end.wait()
    }
}

struct Program: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley-console", abstract: "Shows campaigns and runs in a browser. volley serve starts it.",
        version: volleyVersion)

    @Argument(help: "The folder of the campaigns.", completion: .directory, transform: FilePaths.given)
    var folder: String

    @Option(name: .long, help: "The address and port to listen on. (default: \(ListenAddress.usual))")
    var listen: String?

    @Option(name: .long, help: "A Unix socket to listen on instead.", completion: .file(), transform: FilePaths.given)
    var socket: String?

    @Option(
        name: .long, help: "volley.yaml; by default it is looked for in the folder, then upward.", completion: .file(),
        transform: FilePaths.given)
    var config: String?

    @Option(
        name: .long, help: "Folder of run files; otherwise the one that volley.yaml names.", completion: .directory,
        transform: FilePaths.given)
    var runs: String?

    @Option(name: .long, help: "Write messages for programs, each on one line: text or json.")
    var logFormat: String?

    @Option(name: .long, help: .hidden)
    var answer: PlanningChild.Question?

    @Option(name: .long, help: .hidden)
    var about: String?

    /// Exit codes: the command, volley.yaml or the port is wrong, so that neither console nor
    /// sender can run as intended; or it ended with an error after it had served, or because of the
    /// console's own files, which can be repaired while `volley schedule` sends.
    private static let wrong: Int32 = 2, failed: Int32 = 1

    func validate() throws {
        if let logFormat, LogFormat(rawValue: logFormat) == nil {
            throw ValidationError("--log-format is text or json.")
        }
    }

    func run() async throws {
        let log = Self.log(
            logFormat.flatMap { LogFormat(rawValue: $0) } ?? (JournalStream.isStandardError ? .journal : nil))
        do {
            try ZoneDatabase.system.refusePipe()
            if let answer {
                TerminationSignals.release()
                throw ExitCode(PlanningChild.answer(answer, file: about ?? "", ProjectChoice(file: config, runs: runs)))
            }
            try await serve(log, until: try TerminationSignals())
        } catch let code as ExitCode {
            throw code
        } catch {
            for mistake in Diagnostics(explaining: error).all { log.error("\(mistake)") }
            throw ExitCode(Self.wrong)
        }
    }

    /// - Parameter format: nil for people.
    private static func log(_ format: LogFormat?) -> Logger {
        var log = Logger(label: "volley-console") { label -> any LogHandler in
            if let format { LineLog(format) } else { StreamLogHandler.standardError(label: label) }
        }
        log.logLevel = .info
        return log
    }

    private func serve(_ log: Logger, until signals: TerminationSignals) async throws {
        let choice = ProjectChoice(file: config, runs: runs)
        // A mistake in the command is reported first: it ends `volley serve`, and trouble with
        // accounts does not.
        let project = try Project.read(file: Site.projectFile(folder, choice)).0, settings = project.console
        let address = try ListenAddress(listen: listen, socket: socket, console: settings)
        try address.checkPath()
        let accounts: AccountStore
        do { accounts = try AccountStore(beside: project.catalog(choice).place) } catch {
            for mistake in Diagnostics(explaining: error).all {
                log.error("There are no pages until this is mended. \(mistake)")
            }
            throw ExitCode(Self.failed)
        }
        let site = try Site(folder: folder, choice: choice, accounts: accounts, at: .now())
        if let warning = site.provider?.warning { log.warning("\(TextFormat.inLine(warning.inLog))") }
        let connections = Connections(limits: OpenFiles.limits, hosts: HostRules(settings))
        let server = ConsoleServer(site: site, settings: settings, connections: connections, log: log)
        // The socket is created with these rights, so that no other user can connect at any moment.
        let isSocket = if case .socket = address { true } else { false }
        let mask = isSocket ? umask(0o117) : 0
        let hasListened = Atomic(false)
        let application = server.application(at: address) { channel in
            hasListened.store(true, ordering: .relaxed)
            if isSocket { umask(mask) }
            let manager = ServiceManager()
            manager.ready()
            if let seconds = manager.secondsPerSign {
                channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .nanoseconds(Int64(seconds * 1e9))) {
                    _ in
                    manager.alive()
                }
            }
            log.info("The console is at \(address.shown(channel.localAddress)).")
        }
        // The first look reads every run and every campaign; no request should have to wait for it.
        Task { try? await server.pages.run { _ = try site.archive.listing() } }
        Task {
            try? await server.pages.run { _ = try site.campaigns.hindrances(project: site.project(), now: .now()) }
        }
        var quiet = log
        quiet.logLevel = .error
        let group = ServiceGroup(
            configuration: .init(services: [application], gracefulShutdownSignals: [], logger: quiet))
        // A request from before `run` also counts.
        signals.end { await group.triggerGracefulShutdown() }
        do { try await group.run() } catch {
            guard hasListened.load(ordering: .relaxed) else { throw address.problem(error) }
            log.error("The console ends: \(TextFormat.inLine("\(error)"))")
            throw ExitCode(Self.failed)
        }
    }
}

/// How many files a process may open.
enum OpenFiles {
    /// Every connection is one: as many as the system allows, once the limit is raised. Half are
    /// left for files of runs and databases.
    static var limits: ConnectionRegistry.Limits {
        let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
        var limits = ConnectionRegistry.Limits(), limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return limits }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        setrlimit(resource, &limit)
        limits.all = min(limits.all, Int(limit.rlim_cur / 2))
        return limits
    }
}
