import Base
import Testing

@testable import Campaigns

@Suite("proxies in volley.yaml")
struct ProxySettingTests {
    static let apps =
        "apps: {shop: {topic: a.b, environment: simulator}, news: {topic: a.c, environment: simulator, proxy: none}}\n"

    private func text(_ setting: ProxySetting?) -> String {
        switch setting {
        case nil: "nothing"
        case .none?: "none"
        case .through(let reference)?:
            reference.address.url + (reference.passwordVariable.map { " $\($0.value)" } ?? "")
                + " at \(reference.position)"
        }
    }

    @Test("one at the top level counts for every app that says nothing itself")
    func inherited() throws {
        let (project, warnings) = try readProject("proxy: http://proxy:3128\n" + Self.apps)
        #expect(warnings.isEmpty)
        #expect(text(project.proxy) == "http://proxy:3128 at volley.yaml:1:8")
        #expect(project.apps.map { text($0.proxy) } == ["http://proxy:3128 at volley.yaml:1:8", "none"])
    }

    @Test("an app's own counts for it alone, and without any the environment decides")
    func own() throws {
        let yaml = """
            apps:
              shop: {topic: a.b, environment: simulator}
              news:
                topic: a.c
                environment: simulator
                proxy: {url: "socks5h://proxy:1080", user: "vol ley", password_env: PROXY_PASSWORD}

            """
        let project = try readProject(yaml).0
        #expect(
            project.apps.map { text($0.proxy) } == [
                "nothing", "socks5h://vol%20ley@proxy:1080 $PROXY_PASSWORD at volley.yaml:6:18",
            ])
        #expect(text(project.proxy) == "nothing")
    }

    @Test("a password in the file is taken, with a warning that does not show it")
    func passwordInFile() throws {
        let (project, warnings) = try readProject("proxy: http://volley:s3cret@proxy:3128\n" + Self.apps)
        #expect(text(project.proxy).hasPrefix("http://volley:s3cret@proxy:3128"))
        #expect(
            warnings.map(\.description) == [
                """
                volley.yaml:1:8: warning: everyone who reads this file can see the password of the proxy proxy:3128. \
                Keep it in an environment variable: proxy: {url: "http://proxy:3128", user: NAME, password_env: PROXY_PASSWORD}. [password-in-file]
                """
            ])
    }

    @Test("each mistake is said at its place, with what to do and without a password", arguments: mistakes)
    func mistake(_ mistake: MistakeCase) {
        let text = found { () throws(Diagnostics) in try readProject(mistake.yaml + Self.apps) }
        #expect(text == mistake.expected)
        #expect(!text.contains("cret"))
    }

    static let mistakes: [MistakeCase] = [
        MistakeCase(
            "no scheme", "proxy: proxy:3128\n",
            "volley.yaml:1:8: the proxy 'proxy:3128' has no scheme. Add one, for example: http://proxy.example.com:3128."
        ),
        MistakeCase(
            "an unknown scheme", "proxy: htp://volley:s3cret@proxy:3128\n",
            """
            volley.yaml:1:8: the scheme of the proxy 'htp://…@proxy:3128' is unknown. It must be one of http, https, socks4, socks4a, socks5, socks5h.
            """),
        MistakeCase(
            "no port", "proxy: http://volley:s3cret@proxy\n",
            "volley.yaml:1:8: the proxy 'http://…@proxy' has no port. Add it: most proxies listen on 3128, 8080 or 1080."
        ),
        MistakeCase(
            "nothing", "proxy:\n",
            "volley.yaml:1:7: 'proxy' has no value. For example: proxy: http://proxy.example.com:3128."),
        MistakeCase(
            "a list", "proxy: [none]\n",
            "volley.yaml:1:8: 'proxy' must be a text, not a list. For example: proxy: http://proxy.example.com:3128."),
        MistakeCase(
            "a password in the group", "proxy: {url: \"http://proxy:3128\", user: volley, password: s3cret}\n",
            "volley.yaml:1:49: unknown key 'password' in 'proxy'. Valid here: url, user, password_env."),
        MistakeCase(
            "a password where its variable's name should be",
            "proxy: {url: \"http://proxy:3128\", user: volley, password_env: s3-cret}\n",
            """
            volley.yaml:1:63: 'password_env' must be the name of an environment variable. Keep the password itself out of this file; write, for example: password_env: PROXY_PASSWORD.
            """),
        MistakeCase(
            "no url", "proxy: {user: volley}\n",
            """
            volley.yaml:1:8: the key 'url' is missing in 'proxy'. Add it, for example: url: "http://proxy.example.com:3128".
            """),
        MistakeCase(
            "the proxy's password has no user", "proxy: {url: \"http://proxy:3128\", password_env: P}\n",
            "volley.yaml:1:49: the proxy's password has no user to go with it. Add user: NAME."),
        MistakeCase(
            "two users", "proxy: {url: \"http://volley@proxy:3128\", user: other}\n",
            "volley.yaml:1:48: the proxy's user is in its url too. Keep one of the two."),
        MistakeCase(
            "a password for SOCKS4", "proxy: {url: \"socks4://proxy:1080\", user: volley, password_env: P}\n",
            "volley.yaml:1:65: socks4 takes a user, but no password. Remove it, or use socks5h."),
    ]
}
