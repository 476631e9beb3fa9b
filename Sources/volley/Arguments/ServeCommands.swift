import ArgumentParser
import Commands

struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show campaigns and runs in a browser, and send what is scheduled.",
        discussion: """
            Starts the console (the program volley-console beside this one) and `volley schedule` for the folder, and starts each again when it \
            ends. If another `volley schedule` is at work, that one stays the sender. Ctrl-C or SIGTERM ends the console first, then the sender, \
            which stops cleanly. Other machines reach the console through a proxy with https: `console` in volley.yaml says under which address.
            """)

    @Argument(help: "The folder of the campaigns.", completion: .directory)
    var folder: String

    @Option(name: .long, help: "The address and port to listen on. (default: 127.0.0.1:8181)")
    var listen: String?

    @Option(name: .long, help: "A Unix socket to listen on instead, for a proxy on this machine.", completion: .file())
    var socket: String?

    @Flag(name: .long, help: "Start the console only: nothing is sent unless another volley schedule is at work.")
    var noSender = false

    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = Console(.init(isQuiet: shared.quiet, isVerbose: shared.verbose, hasProgress: false))
        try perform(console) {
            try ServeCommand.run(
                .init(folder: folder, listen: listen, socket: socket, hasSender: !noSender), options: shared.common(), console: console)
        }
    }
}
