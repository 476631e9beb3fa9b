import ArgumentParser
import Automation
import Base
import Commands

/// The command line: arguments in, exit codes out. Everything else is in `Commands` and the stages.
@main
struct Volley: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley",
        abstract:
            "Sends push campaigns to \(ServiceWords.names), and reports the outcome of every push, device by device.",
        discussion: """
            A campaign is a YAML file: who gets what, and how fast. `volley init` writes one to start from.

            Results go to standard output, progress and messages to standard error.
            Exit codes: 0 done; 1 done, but some recipients were rejected, failed or unknown, or never sent to in time, or the result of \
            something done could not be shown; 2 the command or a file is wrong, nothing was sent; 3 the run stopped early; 130 interrupted.
            """,
        version: volleyVersion,
        groupedSubcommands: [
            CommandGroup(name: "Write", subcommands: [Init.self, Check.self, Preview.self, Schema.self]),
            CommandGroup(
                name: "Send",
                subcommands: [Plan.self, Approve.self, Send.self, Resume.self, Pause.self, Cancel.self, Retry.self]),
            CommandGroup(name: "Look", subcommands: [Runs.self, Report.self, Orders.self]),
            CommandGroup(
                name: "Service",
                subcommands: [
                    Schedule.self, Serve.self, Work.self, Store.self, Suppression.self, Notify.self, Prune.self,
                    BackUp.self, PutBack.self,
                ]),
            CommandGroup(
                name: "Tool",
                subcommands: [
                    Push.self, ChannelManagement.self, Doctor.self, Simulate.self, SupportBundling.self,
                    VersionFacts.self,
                ]),
        ]
    )

    /// The complaint about a first argument that is neither a command nor an option.
    private static func unknownCommand() -> String? {
        let names = configuration.subcommands.map {
            $0.configuration.commandName ?? String(describing: $0).lowercased()
        }
        return ProgramArguments.all.first.flatMap { CommandName.complaint(about: $0, among: names) }
    }

    /// Shows the problem with the arguments, and exits with 2, as for any other mistake that sends
    /// nothing. With `--json`, the error is also written as a document.
    /// - Parameters:
    ///   - complaint: begins with `Error: `.
    ///   - message: the same without that and the usage.
    private static func refuse(_ complaint: String, message: String) -> Never {
        let console = Console()
        console.warn(SecretText.withoutTokens(complaint))
        if ProgramArguments.all.prefix(while: { $0 != "--" }).contains("--json") {
            // Standard output itself may have failed; then the message above is all.
            try? console.out(JSONValue.object(pairs: [("errors", .array([Diagnostic(message).json]))]).indentedText)
        }
        exit(withError: ExitCode(ExitStatus.wrong.rawValue))
    }

    /// What is wrong with an option where an argument is missing, too: the option comes first,
    /// because the person typed it.
    /// - Returns: the error of the same arguments with something in the place of the missing one,
    ///   if it names an option of theirs.
    private static func wrongOption(_ error: any Error) -> (any Error)? {
        let options = ProgramArguments.all.filter { $0.hasPrefix("-") }
        func names(_ error: any Error) -> Bool { options.contains { message(for: error).contains("'\($0)'") } }
        guard !names(error), let first = ProgramArguments.all.firstIndex(where: { $0.hasPrefix("-") }) else {
            return nil
        }
        var arguments = ProgramArguments.all
        arguments.insert("missing", at: first)
        do {
            _ = try parseAsRoot(arguments)
            return nil
        } catch { return names(error) ? error : nil }
    }

    private static func message(of complaint: String) -> String { String(complaint.dropFirst("Error: ".count)) }

    static func main() {
        ProcessSetup.prepare()
        if let complaint = unknownCommand() { refuse(complaint, message: Self.message(of: complaint)) }
        do {
            var command = try parseAsRoot(ProgramArguments.all)
            try command.run()
        } catch let code as ExitCode {
            exit(withError: code)
        } catch {
            let status = exitCode(for: error)
            // Help and version are results, not mistakes.
            guard status == .success else {
                let complaint = ForeignOption.complaint(about: ProgramArguments.all),
                    error = wrongOption(error) ?? error
                refuse(
                    complaint ?? UsageText.wrapped(fullMessage(for: error)),
                    message: complaint.map(message(of:)) ?? message(for: error))
            }
            let console = Console()
            do { try console.out(UsageText.wrapped(fullMessage(for: error))) } catch {
                console.warn("\(error)")
                exit(withError: ExitCode(ExitStatus.wrong.rawValue))
            }
            exit(withError: ExitCode.success)
        }
    }
}
