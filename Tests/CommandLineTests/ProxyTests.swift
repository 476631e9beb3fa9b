import Base
import Foundation
import TestServers
import TestCommands
import Testing

/// Proxies as a person configures them, with the real binary and a simulator in a separate process.
@Suite("proxies")
struct ProxyTests {
    /// A simulator, and a project that sends to it.
    private struct Site {
        let folder: ProjectFolder
        let simulator: RunningVolley

        /// - Parameter proxy: the line of volley.yaml below the app.
        init(proxy: String? = nil) throws {
            folder = try ProjectFolder()
            simulator = try VolleyBinary.start(
                ["simulate", "--port", "0", "--json", "--for", VolleyBinary.simulatorSeconds], in: folder.url)
            while simulator.isRunning, !simulator.outputSoFar.hasSuffix("}\n") { usleep(20_000) }
            let server = try JSONValue(parsing: simulator.outputSoFar)
            let url = try #require(server["url"]?.stringValue), ca = try #require(server["ca"]?.stringValue)
            let key = try #require(server["key"]?.stringValue)
            app = "environment: {url: \"\(url)\", ca: \(ca)}\nkey: {file: \(key), id: SIMULATOR1, team: VOLLEYTEAM}"
            try folder.writeProject(app: app + (proxy.map { "\nproxy: \($0)" } ?? ""))
            try folder.writeCampaign()
        }

        let app: String

        func send(_ arguments: String..., environment: [String: String] = [:]) throws -> VolleyBinary.Result {
            try VolleyBinary.run(
                ["send", "campaign.yaml", "--yes", "--json"] + arguments, in: folder.url,
                environment: noProxies.merging(environment) { $1 }
            )
        }

        func end() { _ = simulator.finish(timeout: 0) }
    }

    private func expectSent(_ result: VolleyBinary.Result) throws {
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.json()["outcomes"]?.int("accepted") == 20)
    }

    @Test("https_proxy is gone through, and no_proxy leads around it")
    func environment() throws {
        let site = try Site()
        defer { site.end() }
        let proxy = try TestProxy(.http)
        let variables = ["https_proxy": "http://127.0.0.1:\(proxy.port)"]
        try expectSent(site.send(environment: variables))
        #expect(proxy.tunnels == 1)
        try expectSent(site.send(environment: variables.merging(["no_proxy": "example.com,localhost"]) { $1 }))
        #expect(proxy.tunnels == 1)
    }

    @Test("proxy: in volley.yaml counts whatever the environment says, and its password stays secret")
    func project() throws {
        var behaviour = TestProxy.Behaviour()
        (behaviour.user, behaviour.password) = ("volley", "s3cret")
        let proxy = try TestProxy(.socks5h, behaviour)
        let site = try Site(
            proxy: "{url: \"socks5h://127.0.0.1:\(proxy.port)\", user: volley, password_env: PROXY_PASSWORD}")
        defer { site.end() }
        let variables = ["PROXY_PASSWORD": "s3cret", "https_proxy": "http://127.0.0.1:1", "no_proxy": "*"]
        let sent = try site.send("--verbose", environment: variables)
        try expectSent(sent)
        #expect(proxy.tunnels == 1)
        #expect(sent.errors.contains("127.0.0.1:\(proxy.port)"), "\(sent.errors)")
        #expect(!sent.errors.contains("s3cret") && !sent.output.contains("s3cret"))
        for file in site.folder.files(in: "runs") {
            let bytes = try Data(contentsOf: site.folder.url.appendingPathComponent("runs/\(file)"))
            #expect(bytes.range(of: Data("s3cret".utf8)) == nil, "\(file)")
            #expect(bytes.range(of: Data("socks5h".utf8)) == nil, "\(file)")
        }
        let unset = try site.send()
        #expect(unset.status == 2)
        #expect(unset.errors.contains("volley.yaml:") && unset.errors.contains("PROXY_PASSWORD"), "\(unset.errors)")
    }

    @Test("proxy: none goes straight to the server")
    func none() throws {
        let site = try Site(proxy: "none")
        defer { site.end() }
        try expectSent(
            site.send(environment: ["https_proxy": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1"]))
    }

    @Test("the built-in simulator is reached without a proxy")
    func simulator() throws {
        let folder = try ProjectFolder(app: "environment: simulator\nproxy: http://127.0.0.1:1")
        try folder.writeCampaign()
        try expectSent(
            folder.volley(
                "send", "campaign.yaml", "--yes", "--json", environment: ["https_proxy": "http://127.0.0.1:1"]))
    }

    @Test("a proxy that is not there stops the run with nothing sent; push says the same")
    func noProxyThere() throws {
        let site = try Site(proxy: "http://volley:s3cret@127.0.0.1:1")
        defer { site.end() }
        let sent = try site.send()
        #expect(sent.status == 3)
        #expect(sent.errors.contains("proxy 127.0.0.1:1") && sent.errors.contains("warning"), "\(sent.errors)")
        #expect(!sent.errors.contains("s3cret") && !sent.output.contains("s3cret"))
        #expect(try sent.json()["outcomes"]?.int("unsent") == 20)
        let push = try VolleyBinary.run(
            ["push", "--app", "shop", "--token", ProjectFolder.token(1), "--title", "Hi"], in: site.folder.url,
            environment: noProxies)
        #expect(push.status == 3)
        #expect(push.errors.contains("proxy 127.0.0.1:1") && !push.errors.contains("s3cret"), "\(push.errors)")
    }

    @Test(
        "an https proxy is trusted as far as this machine trusts it, and its protocol is not taken for the server's",
        .enabled(if: getuid() == 0 && ServerProcess.path(of: "python3") != nil, "root and python3 are needed"),
        arguments: [true, false])
    func overTLS(isAllowed: Bool) throws {
        var behaviour = TestProxy.Behaviour()
        if !isAllowed { behaviour.refusal = 403 }
        let proxy = try TestProxy(.http, behaviour)
        let port = try Sockets.freePort()
        let site = try Site(proxy: "https://localhost:\(port)")
        defer { site.end() }
        let certificate = """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout k.pem -out c.pem -days 9 -subj /CN=localhost \
              -addext subjectAltName=DNS:localhost 2>/dev/null; cat c.pem k.pem > proxy.pem
            """
        #expect(
            try RunningVolley(
                executable: "/bin/sh", ["-ec", certificate], in: site.folder.url, environment: [:], input: nil
            ).finish()
                .status == 0)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/tls_front.py").path
        let pem = site.folder.url.appendingPathComponent("proxy.pem").path
        let front = try ServerProcess("python3", [script, "\(port)", "\(proxy.port)", pem, "60"], port: port)
        defer { withExtendedLifetime(front) {} }
        let untrusted = try site.send()
        #expect(
            untrusted.status == 3 && untrusted.errors.contains("certificate of the proxy localhost:\(port)"),
            "\(untrusted.errors)")
        #expect(proxy.requests.isEmpty)
        // The machine's authorities, replaced only for this command.
        let bundle = "/etc/ssl/certs/ca-certificates.crt"
        let trusted = try RunningVolley(
            executable: "/usr/bin/unshare",
            [
                "-m", "sh", "-ec",
                "mount --bind c.pem \(bundle); exec '\(VolleyBinary.path)' send campaign.yaml --yes --json",
            ],
            in: site.folder.url, environment: noProxies, input: nil
        ).finish()
        if isAllowed { return try expectSent(trusted) }
        #expect(
            trusted.status == 3 && trusted.errors.contains("403") && trusted.errors.contains("Ask its operator"),
            "\(trusted.errors)")
    }

    @Test("a plan goes through the proxy that volley.yaml names when it is sent, not when it was planned")
    func plan() throws {
        let site = try Site(proxy: "http://127.0.0.1:1")
        defer { site.end() }
        #expect(try site.folder.volley("plan", "campaign.yaml").status == 0)
        let proxy = try TestProxy(.http)
        try site.folder.writeProject(app: "\(site.app)\nproxy: http://127.0.0.1:\(proxy.port)")
        try expectSent(
            VolleyBinary.run(
                ["send", "--plan", "last", "--yes", "--json"], in: site.folder.url, environment: noProxies))
        #expect(proxy.tunnels == 1)
    }
}

/// The environment in which the tests run has no influence. An empty variable counts as not set.
let noProxies = Dictionary(
    uniqueKeysWithValues: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"].map {
        ($0, "")
    })
