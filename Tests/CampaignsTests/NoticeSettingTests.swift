import Base
import Testing

@testable import Campaigns

@Suite("notices and monitoring in volley.yaml")
struct NoticeSettingTests {
    static let apps = "apps: {shop: {topic: a.b, environment: simulator}}\n"

    @Test("webhooks and commands, for all apps and for one, with the events they want")
    func read() throws {
        let yaml = """
            notices:
              - {webhook: "https://hooks.example.com:8443/a?b=c", secret_env: VOLLEY_SECRET, ca: ca.pem, events: [finished, stopped]}
              - command: [./tell.sh, --loud]
            monitoring: {prometheus: /var/lib/node_exporter/volley.prom, health: health.json}
            apps:
              shop:
                topic: a.b
                environment: simulator
                notices: [{webhook: "http://127.0.0.1:8080", events: [approval_needed]}]

            """
        let (project, warnings) = try readProject(yaml)
        #expect(warnings.isEmpty)
        #expect(project.notices.map(\.position.line) == [2, 3])
        #expect(project.notices[0].events == [.finished, .stopped, .test])
        #expect(project.notices[1].events == Set(NoticeEvent.allCases))
        guard case .webhook(let url, let secret, let authority) = project.notices[0].way,
            case .command(let words) = project.notices[1].way
        else {
            Issue.record("read as something else")
            return
        }
        #expect(
            [url.value, secret?.value, authority?.value] == [
                "https://hooks.example.com:8443/a?b=c", "VOLLEY_SECRET", "ca.pem",
            ])
        #expect(words.map(\.value) == ["./tell.sh", "--loud"])
        #expect(project.apps[0].notices.map(\.events) == [[.approvalNeeded, .test]])
        #expect(project.monitoring?.prometheus?.value == "/var/lib/node_exporter/volley.prom")
        #expect(project.monitoring?.health?.value == "health.json")
        #expect(try readProject(Self.apps).0.notices.isEmpty)
    }

    @Test("each mistake is said at its place, with what to do", arguments: mistakes)
    func mistake(_ mistake: MistakeCase) {
        #expect(found { () throws(Diagnostics) in try readProject(mistake.yaml + Self.apps) } == mistake.expected)
    }

    static let mistakes: [MistakeCase] = [
        MistakeCase(
            "no list", "notices: {webhook: \"https://a.example\"}\n",
            """
            volley.yaml:1:10: 'notices' must be a list, not a group of keys. \
            For example: notices: [{webhook: "https://hooks.example.com/volley", secret_env: VOLLEY_SECRET}].
            """),
        MistakeCase(
            "an empty list", "notices: []\n",
            "volley.yaml:1:10: 'notices' is an empty list. Add an entry, or remove the key."),
        MistakeCase(
            "neither webhook nor command", "notices: [{events: [finished]}]\n",
            """
            volley.yaml:1:11: the key 'webhook' is missing in the entry of 'notices'. \
            Add it, for example: webhook: "https://hooks.example.com/volley".
            """),
        MistakeCase(
            "both", "notices: [{webhook: \"https://a.example\", command: [a]}]\n",
            "volley.yaml:1:42: an entry of 'notices' is a webhook or a command, not both. Split it into two entries."),
        MistakeCase(
            "an unknown event, the test's, and a misspelt one",
            "notices: [{command: [a], events: [done, test, finishd]}]\n",
            """
            volley.yaml:1:35: there is no event 'done'. The events are started, finished, stopped, approval_needed, skipped, failed, invalid, stuck.
            volley.yaml:1:41: there is no event 'test'. The events are started, finished, stopped, approval_needed, skipped, failed, invalid, stuck.
            volley.yaml:1:47: there is no event 'finishd'. Did you mean 'finished'?
            """),
        MistakeCase(
            "no events", "notices: [{command: [a], events: []}]\n",
            "volley.yaml:1:34: 'events' is an empty list. Name an event, or remove the key to get all of them."),
        MistakeCase(
            "http elsewhere", "notices: [{webhook: \"http://hooks.example.com/s3cret\"}]\n",
            """
            volley.yaml:1:21: a webhook must begin with https://; http is only for this machine. Write https://, or use a server at 127.0.0.1.
            """),
        MistakeCase(
            "http at a host that only looks like this machine",
            "notices: [{webhook: \"http://127.0.0.1.example.com/\"}]\n",
            """
            volley.yaml:1:21: a webhook must begin with https://; http is only for this machine. Write https://, or use a server at 127.0.0.1.
            """),
        MistakeCase(
            "no scheme", "notices: [{webhook: hooks.example.com}]\n",
            """
            volley.yaml:1:21: the address of a webhook must begin with https://. For example: webhook: "https://hooks.example.com/volley".
            """),
        MistakeCase(
            "a password in the address", "notices: [{webhook: \"https://me:s3cret@a.example/\"}]\n",
            """
            volley.yaml:1:21: the address of a webhook holds a user or a password. Keep secrets out of this file: sign with secret_env instead.
            """),
        MistakeCase(
            "a secret instead of its name", "notices: [{webhook: \"https://a.example\", secret_env: s3-cret}]\n",
            """
            volley.yaml:1:54: 'secret_env' must be the name of an environment variable. Keep the secret itself out of this file; write, for example: secret_env: VOLLEY_SECRET.
            """),
        MistakeCase(
            "a secret for a command", "notices: [{command: [a], secret_env: A}]\n",
            "volley.yaml:1:26: 'secret_env' is for webhooks, and this entry is a command. Remove it."),
        MistakeCase(
            "a command line", "notices: [{command: ./tell.sh --loud}]\n",
            """
            volley.yaml:1:21: 'command' must be a list of the program and its arguments, not a text. \
            For example: command: [./on-notice.sh].
            """),
        MistakeCase(
            "a misspelt key", "notices: [{comand: [a]}]\n",
            "volley.yaml:1:12: unknown key 'comand' in the entry of 'notices'. Did you mean 'command'?"),
        MistakeCase(
            "a file that no collector reads", "monitoring: {prometheus: volley.txt}\n",
            """
            volley.yaml:1:26: the file 'volley.txt' does not end with .prom, and node_exporter reads no others. For example: prometheus: volley.prom.
            """),
        MistakeCase(
            "nothing to keep up to date", "monitoring: {}\n",
            """
            volley.yaml:1:13: 'monitoring' is empty. \
            For example: monitoring: {prometheus: /var/lib/node_exporter/volley.prom, health: health.json}.
            """),
    ]
}
