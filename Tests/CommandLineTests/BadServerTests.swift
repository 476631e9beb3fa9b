import Base
import Cryptography
import Foundation
import TestCommands
import TestServers
import Testing

/// Keys, certificates and servers that do not work. Nothing is sent, and the message says what to
/// check.
@Suite("bad credentials and servers")
struct BadServerTests {
    private func openssl(_ folder: ProjectFolder, _ command: String) throws {
        let result = try RunningVolley(
            executable: "/bin/sh", ["-ec", command], in: folder.url, environment: [:], input: nil
        ).finish()
        try #require(result.status == 0, "\(command): \(result.errors)")
    }

    private func app(key file: String, url: String = "https://localhost:1", ca: String? = nil) -> String {
        "environment: {url: \"\(url)\"\(ca.map { ", ca: \($0)" } ?? "")}\nkey: {file: \(file), id: ABC123DEFG, team: DEF123GHIJ}"
    }

    private func expectWrong(_ folder: ProjectFolder, app: String, _ words: String...) throws {
        try folder.writeProject(app: app)
        try folder.writeCampaign()
        for command in [["send", "campaign.yaml", "--yes"], ["check", "campaign.yaml"]] {
            let result = try VolleyBinary.run(command, in: folder.url)
            #expect(result.status == 2, "\(command): \(result.errors)")
            for word in words { #expect(result.errors.contains(word), "\(word): \(result.errors)") }
            #expect(!result.errors.contains("MII"))
        }
        #expect(folder.files(in: "runs").isEmpty)
    }

    @Test(
        "something else that answers as if it were APNs gets one push: it is unknown, the run stops, nobody is suppressed, and doctor says so",
        .enabled(if: ServerProcess.path(of: "node") != nil, "node is not installed"))
    func stranger() throws {
        let folder = try ProjectFolder()
        let authority = CertificateAuthority(commonName: "Tests")
        let certificate = authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1"])
        try folder.write("server.pem", certificate.pem)
        try folder.write("ca.pem", authority.certificatePEM)
        try folder.write(
            "server.js",
            """
            const pem = require('fs').readFileSync('\(folder.url.path)/server.pem'), http2 = require('http2');
            const server = http2.createSecureServer({ key: pem, cert: pem });
            server.on('stream', stream => {
              stream.on('error', () => {}); stream.resume();
              stream.on('end', () => { stream.respond({ ':status': 410 }); stream.end('<html>Gone</html>'); });
            });
            server.listen(process.argv[2], '127.0.0.1');

            """)
        try openssl(
            folder,
            "openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out key.p8; chmod 600 key.p8"
        )
        let (server, port) = try ServerProcess.onFreePort("node") { ["\(folder.url.path)/server.js", "\($0)"] }
        try folder.writeProject(app: app(key: "key.p8", url: "https://localhost:\(port)", ca: "ca.pem"))
        try folder.writeCampaign(delivery: "unknown: resend")
        let doctor = try folder.volley("doctor", "shop")
        #expect(
            doctor.status == 2 && doctor.output.contains("the server answered 410, which APNs would not"),
            "\(doctor.output)")
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 3 && sent.errors.contains("without an apns-id"), "\(sent.status) \(sent.errors)")
        let outcomes = try sent.json()["outcomes"]
        #expect(outcomes?.int("unknown") == 1 && outcomes?.int("unsent") == 19, "\(sent.output)")
        #expect(try folder.volley("suppression", "list", "--json").json().int("devices") == 0)
        withExtendedLifetime(server) {}
    }

    @Test("a key that is missing, encrypted, RSA, or no key at all is refused before anything is planned")
    func keys() throws {
        let folder = try ProjectFolder()
        try openssl(
            folder,
            """
            openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out good.p8; chmod 600 good.p8
            openssl pkcs8 -topk8 -in good.p8 -out locked.p8 -passout pass:secret
            openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.p8 2>/dev/null
            echo nothing > text.p8
            """)
        try expectWrong(folder, app: app(key: "none.p8"), "none.p8")
        try expectWrong(folder, app: app(key: "locked.p8"), "locked.p8", "passphrase")
        try expectWrong(folder, app: app(key: "rsa.p8"), "rsa.p8", "RSA", "P-256")
        try expectWrong(folder, app: app(key: "text.p8"), "text.p8")
    }

    @Test("a key that everyone on the machine can read is worth a warning, no more")
    func readableKey() throws {
        let folder = try ProjectFolder()
        try openssl(
            folder,
            "openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out open.p8; chmod 644 open.p8"
        )
        try folder.writeProject(app: "environment: simulator\nkey: {file: open.p8, id: ABC123DEFG, team: DEF123GHIJ}")
        try folder.writeCampaign()
        let result = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("warning") && result.errors.contains("chmod 600"), "\(result.errors)")
    }

    @Test("a wrong or missing passphrase is said without the passphrase")
    func passphrase() throws {
        let folder = try ProjectFolder()
        try openssl(
            folder,
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout k.pem -out c.pem -days 90 -subj /CN=push 2>/dev/null
            openssl pkcs12 -export -inkey k.pem -in c.pem -out push.p12 -passout pass:right
            """)
        try folder.writeProject(
            app: "environment: simulator\ncertificate: {file: push.p12, passphrase_env: PUSH_PASSPHRASE}")
        try folder.writeCampaign()
        let wrong = try folder.volley("send", "campaign.yaml", "--yes", environment: ["PUSH_PASSPHRASE": "topsecret"])
        #expect(wrong.status == 2)
        #expect(wrong.errors.contains("passphrase") && !wrong.errors.contains("topsecret"), "\(wrong.errors)")
        let unset = try folder.volley("send", "campaign.yaml", "--yes")
        #expect(unset.status == 2)
        #expect(unset.errors.contains("PUSH_PASSPHRASE"))
        let right = try folder.volley(
            "send", "campaign.yaml", "--yes", "--json", environment: ["PUSH_PASSPHRASE": "right"])
        #expect(right.status == 0, "\(right.errors)")
        #expect(try right.json()["outcomes"]?.int("accepted") == 20)
    }

    /// A run that cannot reach a proper APNs stops with everything unsent, and says what to check.
    private func expectStopped(_ folder: ProjectFolder, _ words: String...) throws {
        try folder.writeCampaign()
        let result = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(result.status == 3, "\(result.errors)")
        for word in words { #expect(result.errors.contains(word), "\(word): \(result.errors)") }
        let report = try result.json()
        #expect(report["state"]?.stringValue == "stopped")
        #expect(report["outcomes"]?.int("unsent") == 20)
    }

    private func folderWithKey() throws -> ProjectFolder {
        let folder = try ProjectFolder()
        try openssl(
            folder,
            """
            openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out good.p8; chmod 600 good.p8
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout k.pem -out c.pem -days 9 -subj /CN=localhost \
              -addext subjectAltName=DNS:localhost 2>/dev/null
            """)
        return folder
    }

    @Test("a port where nobody listens stops the run")
    func nobodyListens() throws {
        let folder = try folderWithKey()
        try folder.writeProject(app: app(key: "good.p8", url: "https://localhost:1"))
        try expectStopped(folder, "localhost:1")
    }

    @Test("a server with a certificate from elsewhere stops the run, and so does one without HTTP/2")
    func foreignServers() throws {
        let folder = try folderWithKey()
        let port = 20_000 + Int(getpid()) % 20_000
        // One speaks HTTP/2 with a certificate that is not trusted, the other is trusted and does
        // not speak HTTP/2.
        let servers = try [(port, "h2"), (port + 1, "http/1.1")].map { port, name in
            try RunningVolley(
                executable: "/usr/bin/openssl",
                ["s_server", "-accept", "\(port)", "-cert", "c.pem", "-key", "k.pem", "-alpn", name, "-quiet", "-www"],
                in: folder.url, environment: [:], input: nil)
        }
        defer { for server in servers { _ = server.finish(timeout: 0) } }
        usleep(500_000)
        try folder.writeProject(app: app(key: "good.p8", url: "https://localhost:\(port)"))
        try expectStopped(folder, "localhost:\(port)", "certificate")
        try folder.writeProject(app: app(key: "good.p8", url: "https://localhost:\(port + 1)", ca: "c.pem"))
        try expectStopped(folder, "localhost:\(port + 1)", "HTTP/2")
    }

    @Test("provider tokens that the server does not know stop the run at the first push")
    func unknownKey() throws {
        let folder = try folderWithKey()
        let other = try ProjectFolder()
        let running = try VolleyBinary.start(
            ["simulate", "--port", "0", "--json", "--for", VolleyBinary.simulatorSeconds], in: other.url)
        defer { _ = running.finish(timeout: 0) }
        while running.isRunning, !running.outputSoFar.hasSuffix("}\n") { usleep(20_000) }
        let server = try JSONValue(parsing: running.outputSoFar)
        let url = try #require(server["url"]?.stringValue), ca = try #require(server["ca"]?.stringValue)
        try folder.writeProject(app: app(key: "good.p8", url: url, ca: ca))
        try folder.writeCampaign()
        let result = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(result.status == 3, "\(result.errors)")
        #expect(result.errors.contains("InvalidProviderToken"), "\(result.errors)")
        #expect(try result.json()["outcomes"]?.int("unsent") == 19)
    }

    @Test("an authority file that is missing is refused before anything is planned, where volley.yaml names it")
    func missingAuthority() throws {
        let folder = try folderWithKey()
        try expectWrong(folder, app: app(key: "good.p8", ca: "none.pem"), "volley.yaml:6:", "none.pem")
    }

    @Test("a disk that fills up while sending stops the run: never 'nothing was sent'", .enabled(if: getuid() == 0))
    func diskFillsUp() throws {
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 2000/s", export: ProjectFolder.export(devices: 4000))
        try folder.writeCampaign()
        let runs = folder.url.appendingPathComponent("runs").path
        try FileManager.default.createDirectory(atPath: runs, withIntermediateDirectories: true)
        let volley = "'\(VolleyBinary.path)'"
        let script = """
            mount -t tmpfs -o size=1200k none '\(runs)' && \(volley) plan campaign.yaml --quiet >/dev/null && free=$(df --output=avail -k '\(runs)' | tail -1) \
              && head -c $((free * 1024 - 220000)) /dev/zero > '\(runs)/ballast' && \(volley) send --plan last --yes --json; code=$?
            rm -f '\(runs)/ballast'; \(volley) report last --format json; exit $code
            """
        let result = try RunningVolley(
            executable: "/usr/bin/unshare", ["-m", "sh", "-c", script], in: folder.url, environment: [:], input: nil
        ).finish()
        #expect(result.status == 3, "\(result.errors)")
        #expect(result.errors.contains("full"), "\(result.errors)")
        let last = try #require(result.output.range(of: "{\n  \"run\"", options: .backwards))
        let report = try JSONValue(parsing: String(result.output[last.lowerBound...]))
        #expect(report["outcomes"]?.sum == 4000)
        #expect((report["outcomes"]?.int("accepted") ?? 0) > 0)
        #expect((report["outcomes"]?.int("unsent") ?? 0) > 0)
    }

    @Test("a full disk under the run file is said, and nothing is sent", .enabled(if: getuid() == 0))
    func fullDisk() throws {
        let folder = try ProjectFolder(export: ProjectFolder.export(devices: 30_000))
        try folder.writeCampaign()
        let runs = folder.url.appendingPathComponent("runs").path
        try FileManager.default.createDirectory(atPath: runs, withIntermediateDirectories: true)
        // A mount that only this command and its children see.
        let script =
            "mount -t tmpfs -o size=512k none '\(runs)' && '\(VolleyBinary.path)' send campaign.yaml --yes; code=$?; ls '\(runs)'; exit $code"
        let result = try RunningVolley(
            executable: "/usr/bin/unshare", ["-m", "sh", "-c", script], in: folder.url, environment: [:], input: nil
        ).finish()
        #expect(result.status == 2, "\(result.errors)")
        #expect(result.errors.contains("full"), "\(result.errors)")
        #expect(result.output.isEmpty, "\(result.output)")
    }
}
