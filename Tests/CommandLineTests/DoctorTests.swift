import Base
import Foundation
import TestServers
import TestCommands
import Testing

@Suite("volley doctor")
struct DoctorTests {
    /// The state of each step for the only app, and the whole output.
    private struct Findings {
        var status: Int32
        var states: [String: String] = [:]
        var words = ""

        init(_ result: VolleyBinary.Result) throws {
            status = result.status
            let document = try result.json()
            guard case .array(let apps)? = document["apps"], case .array(let steps)? = apps.first?["steps"] else {
                throw Diagnostic("no steps: \(result.output)")
            }
            #expect(document["ok"] == .bool(status == 0) && apps.first?["ok"] == .bool(status == 0))
            for step in steps {
                states[step["step"]?.stringValue ?? ""] = step["state"]?.stringValue
                words += [step["message"], step["remedy"]].compactMap { $0?.stringValue }.joined(separator: " ") + "\n"
                #expect(
                    step["state"]?.stringValue != "failed" || step["remedy"] != .null,
                    "a failure without a remedy: \(step)")
            }
        }

        /// The steps with a state, sorted.
        func steps(_ state: String) -> [String] { states.filter { $0.value == state }.keys.sorted() }
    }

    private func examine(_ folder: ProjectFolder, environment: [String: String] = [:]) throws -> Findings {
        try Findings(folder.volley("doctor", "--json", environment: noProxies.merging(environment) { $1 }))
    }

    @Test("finds nothing wrong with the simulator, in words and in JSON")
    func well() throws {
        let folder = try ProjectFolder()
        let found = try examine(folder)
        #expect(found.status == 0, "\(found.words)")
        #expect(found.steps("ok") == ["HTTP/2", "TLS", "clock", "connection", "credentials", "key", "name", "topic"])
        #expect(found.steps("skipped") == ["proxy", "tunnel"])
        let text = try folder.volley("doctor", "shop")
        #expect(text.status == 0 && text.output.contains("Nothing is wrong."), "\(text.output)")
        #expect(try folder.volley("doctor", "shpo").errors.contains("Did you mean 'shop'?"))
    }

    @Test("shows at most four characters at either end of an app key, which may be a secret in a wrong place")
    func topics() throws {
        let folder = try ProjectFolder()
        try folder.write(
            "volley.yaml", "apps: {shop: {service: jpush, app_key: 0f8fad5bd9cb469fa1657086, environment: simulator}}\n"
        )
        for arguments in [[], ["--json"]] {
            let output = try VolleyBinary.run(["doctor"] + arguments, in: folder.url).output
            #expect(output.contains("7086") && !output.contains("0f8fad"), "\(output)")
        }
    }

    @Test("a server gets one question and no push; another key is told apart from all else")
    func anotherKey() throws {
        let server = try LedgeredServer(devices: 1)
        #expect(try examine(server.folder).status == 0)
        let openssl = "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out AuthKey_OTHERKEY22.p8"
        _ = try RunningVolley(
            executable: "/bin/sh", ["-c", openssl], in: server.folder.url, environment: [:], input: nil
        ).finish()
        let project = try String(contentsOf: server.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        let key = try #require(project.firstMatch(of: /file: ([^,]+),/)?.1)
        try server.folder.write("volley.yaml", project.replacing(key, with: "AuthKey_OTHERKEY22.p8"))
        let found = try examine(server.folder)
        #expect(found.status == 2 && found.steps("failed") == ["credentials"], "\(found.words)")
        #expect(found.states["topic"] == "skipped" && found.states["key"] == "ok")
        #expect(
            found.words.contains("403 InvalidProviderToken") && found.words.contains("named after the key OTHERKEY22"),
            "\(found.words)")
        #expect(try server.accepted().isEmpty)
    }

    @Test("a key that is missing fails alone, while the way is looked at all the same")
    func noKey() throws {
        let server = try LedgeredServer(devices: 1)
        let project = try String(contentsOf: server.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        let key = try #require(project.firstMatch(of: /file: ([^,]+),/)?.1)
        try server.folder.write("volley.yaml", project.replacing(key, with: "gone.p8"))
        let found = try examine(server.folder)
        #expect(found.status == 2 && found.steps("failed") == ["key"], "\(found.words)")
        #expect(found.steps("ok") == ["HTTP/2", "TLS", "connection", "name"])
    }

    @Test("names, closed ports and certificates that nobody vouches for are told apart")
    func way() throws {
        let server = try LedgeredServer(devices: 1)
        let project = try String(contentsOf: server.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        let url = try #require(project.firstMatch(of: /https:\/\/localhost:[0-9]+/)?.0)
        for (edited, step, words) in [
            (project.replacing(url, with: "https://nobody.invalid"), "name", "nobody.invalid"),
            (project.replacing(url, with: "https://localhost:1"), "connection", "port 1 (TCP)"),
            (project.replacing(", ca: simulator-ca.pem", with: ""), "TLS", "intercepting"),
        ] {
            try server.folder.write("volley.yaml", edited)
            let found = try examine(server.folder)
            #expect(found.status == 2 && found.steps("failed") == [step], "\(step): \(found.words)")
            #expect(found.words.contains(words), "\(found.words)")
        }
    }

    @Test("goes through the proxy, and says what a proxy refuses, without its password")
    func proxy() throws {
        var behaviour = TestProxy.Behaviour()
        (behaviour.user, behaviour.password) = ("volley", "s3cret")
        let proxy = try TestProxy(.http, behaviour)
        let server = try LedgeredServer(
            app: "proxy: {url: \"http://127.0.0.1:\(proxy.port)\", user: volley, password_env: PROXY_PASSWORD}",
            devices: 1)
        let found = try examine(server.folder, environment: ["PROXY_PASSWORD": "s3cret"])
        #expect(found.status == 0 && proxy.tunnels == 1, "\(found.words)")
        #expect(found.states["tunnel"] == "ok" && found.states["proxy"] == "ok")
        let refused = try examine(server.folder, environment: ["PROXY_PASSWORD": "wr0ng"])
        #expect(refused.status == 2 && refused.steps("failed") == ["tunnel"], "\(refused.words)")
        #expect(refused.words.contains("407") && !refused.words.contains("wr0ng"), "\(refused.words)")
        let unset = try examine(server.folder)
        #expect(unset.steps("failed") == ["proxy"] && unset.words.contains("PROXY_PASSWORD"), "\(unset.words)")
    }
}
