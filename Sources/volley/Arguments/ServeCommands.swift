import ArgumentParser
import Base
import Commands

struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show campaigns and runs in a browser, and send what is scheduled.",
        discussion: """
            Starts the console (the program volley-console beside this one) and `volley schedule` for the folder, and starts each again when it \
            ends. If another `volley schedule` is at work, that one stays the sender. Ctrl-C or SIGTERM ends the console first, then the sender, \
            which stops cleanly. Other machines reach the console through a proxy with https: `console` in volley.yaml says under which address.
            """)

    @Argument(help: "The folder of the campaigns.", completion: .directory, transform: FilePaths.given)
    var folder: String

    @Option(name: .long, help: "The address and port to listen on. (default: \(ServeCommand.usualAddress))")
    var listen: String?

    @Option(
        name: .long, help: "A Unix socket to listen on instead, for a proxy on this machine.", completion: .file(),
        transform: FilePaths.given)
    var socket: String?

    @Flag(name: .long, help: "Start the console only: nothing is sent unless another volley schedule is at work.")
    var noSender = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Print a link with which a person chooses the password of an account, once, and serve nothing. With the name of an account, for a new password.",
            valueName: "name"))
    var invite: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "With --invite: what the person is: viewer, editor, approver or administrator, for an app as editor:shop. May be given several times. (default: administrator)",
            valueName: "role"))
    var role: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Confirm that only its person holds an account that an administrator made or changed, so that it may approve at once; serve nothing.",
            valueName: "name"))
    var confirm: String?

    @OptionGroup var log: LogOptions
    @OptionGroup var shared: SharedOptions

    func validate() throws {
        if invite != nil, confirm != nil {
            throw ValidationError("--invite and --confirm are two commands. Give one of them.")
        }
        if invite == nil, !role.isEmpty {
            throw ValidationError("--role belongs to --invite. Name the person to invite.")
        }
    }

    func run() throws {
        if let invite {
            return try perform(shared.console) {
                try ServeCommand.invite(
                    invite, roles: role, settings: .init(folder: folder, listen: listen), options: shared.common(),
                    console: shared.console)
            }
        }
        if let confirm {
            return try perform(shared.console) {
                try ServeCommand.confirm(confirm, folder: folder, options: shared.common(), console: shared.console)
            }
        }
        let console = shared.console(log, hasProgress: false)
        try perform(console) {
            try ServeCommand.run(
                .init(folder: folder, listen: listen, socket: socket, hasSender: !noSender), options: shared.common(),
                console: console)
        }
    }
}
