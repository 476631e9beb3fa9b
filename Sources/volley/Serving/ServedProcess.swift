import Automation
import Base
import Glibc

/// A child of `volley serve`. It ends by SIGTERM when `volley serve` does, for any reason.
struct ServedProcess: Sendable {
    /// Its number.
    let process: pid_t
    private let end: WorkerThread<Int32>

    /// Starts a program.
    /// - Parameters:
    ///   - reportsToManager: whether it notifies the manager of services that it is ready, and
    ///     alive.
    ///   - ended: signalled when it has ended.
    /// - Throws: `Diagnostic`: it cannot be started.
    init(_ program: String, _ arguments: [String], reportsToManager: Bool, ringing ended: Wakeup) throws(Diagnostic) {
        let process: pid_t, variables = reportsToManager ? ServiceManager.variablesOfChild : []
        let environment = ChildProgram.environmentOfSupervised + variables
        do throws(FileError) {
            process = try ChildProgram.start([program] + arguments, environment: environment)
        } catch {
            throw Diagnostic(
                "it cannot be started: \(error)", file: program,
                remedy: "Make sure that the file is there and may be executed.")
        }
        self.process = process
        let child = process
        end = try WorkerThread("child", ringing: ended) {
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            return status
        }
    }

    /// Whether it has ended.
    var hasEnded: Bool { end.isFinished }

    /// How a process ended.
    enum End: Hashable {
        case exited(Int32), signal(Int32)

        /// Completes the sentence `volley schedule ended`. Source: signal(7).
        var words: String {
            switch self {
            case .exited(let code): return "with code \(code)"
            case .signal(let number):
                let names: [Int32: String] = [
                    SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
                    SIGABRT: "SIGABRT",
                    SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV", SIGTERM: "SIGTERM",
                ]
                return "by \(names[number] ?? "signal \(number)")"
            }
        }
    }

    /// How it ended, once it has. Call it once.
    func ended() -> End {
        let status = end.join()
        return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .signal(status & 0x7F)
    }

    /// Tells it to end. A stopped process would learn of it only after it is continued.
    func terminate() {
        _ = Glibc.kill(process, SIGTERM)
        _ = Glibc.kill(process, SIGCONT)
    }

    /// Ends it.
    func kill() { _ = Glibc.kill(process, SIGKILL) }
}
