import ArgumentParser
import Commands

struct Work: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Help to send what other machines send through the store.",
        discussion: """
            Takes part in every run of the apps in this machine's volley.yaml that another machine sends through the same store, for which this \
            machine has the key. It ends with Ctrl-C; the others go on, and what it had not sent is sent by them.
            """)

    @Option(
        name: .customLong("run"), help: ArgumentHelp("Help with this run only, until it has ended.", valueName: "id"))
    var onlyRun: String?
    @OptionGroup var sending: SendingOptions
    @OptionGroup var log: LogOptions
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console(log)
        try perform(console) {
            try WorkCommand.run(
                on: onlyRun, options: shared.common(sending: sending, console: console), console: console)
        }
    }
}
