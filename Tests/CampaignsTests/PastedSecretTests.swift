import Base
import Foundation
import PushServices
import Testing

@testable import Campaigns

@Suite("A secret that was pasted into the wrong place")
struct PastedSecretTests {
    private static let address = "S3cretHunter2xyz"
    private static let base64 =
        "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2OFxY/Tq9+KwM3rLs0aVbNc=="
    private static let hex = "0f8fad5bd9cb469fa1657086"
    private static let word = "correcthorsebatterystaple"
    private static let capitals = "THELONGPASSPHRASE"

    /// A whole file, with SECRET in the place of the secret.
    private static func app(_ lines: String, service: String = "apns") -> String {
        let account =
            switch service {
            case "apns": "topic: com.example.shop"
            default: "service: \(service)"
            }
        return "apps:\n  shop:\n    \(account)\n    environment: simulator\n    \(lines)\n"
    }

    private static let places: [(yaml: String, secret: String)] =
        [
            "store: postgres://volley:SECRET@db/volley", "store: {postgres: 'postgres://volley:SECRET@db/volley'}",
            "databases: {w: 'postgres://volley:SECRET@db/volley'}",
            "databases: {'postgres://volley:SECRET@db/volley': {}}",
            "databases: 'postgres://volley:SECRET@db/volley'", "databases: {w: 'host=db password=SECRET'}",
            "store: 'host=db user=volley password=SECRET'", "notices: 'https://hooks.example.com/services/SECRET'",
            "notices: ['https://hooks.example.com/services/SECRET']",
            "notices: [{command: 'curl https://hooks.example.com/SECRET'}]",
            "notices: [{command: \"curl -H 'Authorization: Bearer SECRET' hooks\"}]", "proxy: 'http://u:SECRET@proxy'",
            "monitoring: 'https://u:SECRET@host'", "console: {public_url: 'https://u:SECRET@host'}",
            "console: {oidc: {issuer: 'https://u:SECRET@host'}}", "runs: [x]\nstore:postgres://volley:SECRET@db/volley",
            app("devices: 'postgres://volley:SECRET@db/volley'"),
            app("devices: {database: 'postgres://volley:SECRET@db/volley', query: q}"),
            "apps: {shop: {topic: com.example.shop, environment: {url: 'https://u:SECRET@host:2197'}}}",
            "apps: {shop: {topic: com.example.shop, environment: 'https://u:SECRET@host'}}",
            "apps: 'https://u:SECRET@host'", "apps: {'https://u:SECRET@host': x}",
            "runs: 'postgres://volley:SECRET@db/volley'", "runs: 'host=db password=SECRET'",
            app("environment: {url: 'https://host', ca: 'https://u:SECRET@host'}").replacing(
                "    environment: simulator\n", with: ""),
            "notices: [{webhook: 'https://host', ca: 'https://u:SECRET@host'}]",
            "notices: [{command: ['curl https://u:SECRET@host', x]}]", "monitoring: {health: 'https://u:SECRET@host'}",
            "monitoring: {prometheus: 'https://u:SECRET@host'}", "console: {roots: ['https://u:SECRET@host']}",
            "console: {oidc: {ca: 'https://u:SECRET@host'}}",
            "console: {oidc: {client_secret: {file: 'https://u:SECRET@host'}}}",
        ].map { ($0, address) }
        + [
            app("key: SECRET"), app("key: {file: SECRET}"), app("key: {id: SECRET}"), app("key: {team: SECRET}"),
            app("SECRET: x"),
            app("certificate: SECRET"), app("certificate: {file: SECRET}"), "SECRET: x", "SECRET:x", "store: SECRET",
            "store: {postgres: SECRET}",
            "apps: {SECRET: x}", "apps: [SECRET]", "{SECRET}", "- SECRET", app("pace: SECRET"),
            app("environment: SECRET"),
        ].flatMap { place in [(place, base64), (place, hex)] }
        + [
            app("key: SECRET"), app("certificate: file.p12:SECRET"), app("certificate: {file: 'keys/push.p12:SECRET'}"),
            app("certificate: {file: k.p12, passphrase_env: 'a SECRET'}"), app("passphrase:SECRET"),
            "store: {postgres: SECRET}",
            "notices: [SECRET]", "databases: {w: SECRET}", "console: {oidc: {client_secret: SECRET}}",
            "proxy: {password_env: 'a SECRET'}",
            "store: SECRET", "notices: SECRET", "notices: [{command: SECRET}]",
            "notices: [{webhook: x, events: SECRET}]",
            "databases: SECRET", "monitoring: SECRET", "console: SECRET", "console: {oidc: {only: SECRET}}",
            "apps: SECRET",
            app("key: *SECRET"),
            app("key: !SECRET x"), app("key: &SECRET x"), app("certificate: {file: a.p12, passphrase_env: SECRET,x}"),
            "notices: {SECRET, x}",
            "apps: {shop: SECRET}", "SECRET", "store:SECRET", "runs: x\nstore:SECRET", "runs: x\nnotices：SECRET",
        ].flatMap { place in [(place, word), (place, capitals)] }
        + ["jpush", "rongcloud", "getui", "fcm"].flatMap { name in
            let form = PushServices.all.first { $0.name == name }?.account
            let (topic, credential) = (form?.topic.key ?? "", form?.credentials.first?.key ?? "")
            return [
                (app("services: {\(name): SECRET}"), word), (app("\(name): SECRET"), word),
                (app("\(credential): SECRET", service: name), word),
                (app("\(credential): {file: SECRET}", service: name), base64),
                (app("\(topic): \(base64)", service: name), base64),
            ]
                + (name == "jpush" || name == "rongcloud"
                    ? [
                        (app("\(topic): SECRET", service: name), "Xy7\(word)"),
                        (app("\(topic): SECRET", service: name), "ABCD\(hex.dropFirst(4).uppercased())"),
                    ] : [])
        }

    @Test("is in no message of the reading, and not in the bundle for those who help", arguments: places)
    func hidden(place: (yaml: String, secret: String)) throws {
        let (yaml, secret) = (place.yaml.replacing("SECRET", with: place.secret), place.secret)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("pasted-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(yaml.utf8).write(to: file)
        let message = found { () throws(Diagnostics) in try readProject(yaml) }
        let outline = (try? ProjectOutline(file: file.path))?.json.text ?? ""
        let parts = (0...max(0, secret.count - 12)).map { String(secret.dropFirst($0).prefix(12)) }
        #expect(!parts.contains(where: message.contains), "\(message)")
        #expect(!parts.contains(where: outline.contains), "\(outline)")
        #expect(!message.isEmpty)
    }

    @Test(
        "is refused as a name, which all messages show: of an app and of a database, also if the rest of the file is right",
        arguments: ["postgres://u:SECRET@h/db", "https://hooks.example.com/SECRET", "host=db password=SECRET"])
    func names(name: String) {
        let name = name.replacing("SECRET", with: Self.address), app = "topic: a.b, environment: simulator"
        for (yaml, thing) in [
            ("apps: {\"\(name)\": {\(app)}}\n", "an app"),
            (
                "databases: {\"\(name)\": {url_env: X}}\napps: {shop: {\(app), devices: {database: \"\(name)\", query: q}}}\n",
                "a database"
            ),
        ] {
            let words = found { () throws(Diagnostics) in try readProject(yaml) }
            #expect(words.contains("the name of \(thing) must not be an address or a password"), "\(words)")
            #expect(!words.contains(Self.address))
        }
        for name in ["shop", "com.example.shop", "0123456789abcdef01234567", "my secret shop", "warehouse: main"] {
            #expect(!SecretText.isNoName(name), "\(name)")
        }
    }

    @Test(
        "leaves ordinary words, names and addresses as they are",
        arguments: [
            "keys/AuthKey_8Y3N2K7QWX.p8", "keys/shop-firebase-adminsdk-x7k2p-3f9a1b2c4d.json",
            "exports/Campaign2026/Devices2026final",
            "com.example.shop.NotificationService", "http://proxy.example.com:3128", "https://localhost:2197",
            "20261123093000000",
            "last_active_before_2026_11_01", "iPhone15ProMaxUsersOfiOS18", "a passphrase for you",
            "passphrase_env: PUSH_PASSPHRASE",
            "2026-12-01 09:00", "https://:2197", "spring-sale-2026-subscribers-of-germany",
        ])
    func ordinary(text: String) {
        #expect(SecretText.hidden(in: text) == text)
        #expect(!text.hasPrefix("keys/") || !SecretText.isNoPath(text))
    }

    @Test(
        "leaves the scheme and the host of its address, where it is certain what the host is",
        arguments: [
            ("postgres://volley:SECRET@db/volley", "postgres://…@db/…"),
            ("postgres://volley:SEC RET@x/y@db/volley", "postgres://…"),
            ("https://u:PW", "https://…"), ("https://u:PW@host:2197", "https://…@host:2197"),
            ("see https://a.example/x and https://b.example now", "see https://a.example/… and https://b.example now"),
            ("[a](https://hooks.example.com/SECRET)", "[a](https://hooks.example.com/…)"),
            ("wss://[::1]:44/SECRET", "wss://[::1]:44/…"),
        ])
    func addresses(text: String, shown: String) { #expect(SecretText.hidden(in: text) == shown) }

    @Test("where a variable belongs is not repeated as its name")
    func variables() {
        #expect(
            SecretText.variable("PUSH_PASSPHRASE_OF_TESTS") == "PUSH_PASSPHRASE_OF_TESTS"
                && SecretText.variable("HOME") == "HOME")
        for secret in [Self.word, Self.capitals, "S3cretHunter", "JBSWY3DPEHPK3PXP"] {
            #expect(!SecretText.variable(secret).contains(secret.prefix(5)))
            #expect(!SecretText.remedy(forUnset: secret, noun: "passphrase", "read -s \(secret)").contains(secret))
        }
        #expect(SecretText.remedy(forUnset: "PUSH_PASSPHRASE", noun: "passphrase", "Set it.") == "Set it.")
        // It may be either.
        let remedy = SecretText.remedy(forUnset: "PGPASSWORDX", noun: "password", "")
        #expect(
            remedy.hasPrefix("If that is the name of a variable, set it where Volley runs.")
                && remedy.contains("VOLLEY_PASSWORD"))
    }

    @Test(
        "is not shown of a command line that stands where its program belongs",
        arguments: [
            ("curl -u admin:hunter2 hooks", "curl …"), ("./hooks/on-notice.sh", "./hooks/on-notice.sh"),
            ("curl\thttps://hooks.example.com/s3cret", "curl …"),
            ("https://hooks.example.com/s3cret", "https://hooks.example.com/…"),
        ])
    func programs(word: String, shown: String) { #expect(SecretText.program(word) == shown) }
}
