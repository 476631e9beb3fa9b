import Base
import Testing

@testable import PushServices

@Suite("The account of an app with FCM")
struct FCMAccountTests {
    private func flaw(_ project: String) -> Mistake? { FCM().account.topic.flaw(project, "'\(project)'") }

    @Test("the id of a project is taken", arguments: ["shop-1a2b", "shoper", "a23456789012345678901234567890"])
    func projects(id: String) throws {
        #expect(flaw(id) == nil)
        guard case .name(let pattern) = FCM().account.topic.kind else { return #expect(Bool(false)) }
        #expect(id.wholeMatch(of: try Regex(pattern)) != nil)
    }

    @Test(
        "what people write in its place is named, with what to do",
        arguments: [
            ("123456789012", "a project's number (its sender id)"),
            ("1:123456789012:android:0a1b2c", "the id of one app"),
            ("com.example.shop", "an app's package or bundle id"),
            ("shop-1a2b.firebaseapp.com", "an address of a Firebase project"),
            ("shop", "not the id of a Firebase project"), ("Shop-1a2b", "not the id of a Firebase project"),
            ("1shop-a", "not the id of a Firebase project"), ("shop-1a-", "not the id of a Firebase project"),
            ("my shop", "not the id of a Firebase project"), ("", "not the id of a Firebase project"),
            ("a234567890123456789012345678901", "not the id of a Firebase project"),
            ("shop/../x", "not the id of a Firebase project"),
        ])
    func flaws(project: String, text: String) throws {
        let mistake = try #require(flaw(project))
        #expect(mistake.message.contains(text), "\(mistake.message)")
        #expect(mistake.remedy?.hasSuffix(".") == true)
    }

    @Test("capitals are what is wrong if the rest is right")
    func capitals() { #expect(flaw("Shop-1a2b")?.remedy?.hasSuffix("project: shop-1a2b.") == true) }

    @Test("there is one server, and words of other tools lead to it")
    func environments() {
        let form = FCM().account.environments
        #expect(form.choices.map(\.name) == ["production"] && form.choices[0].host == "fcm.googleapis.com")
        #expect(form.remedies["sandbox"]?.contains("environment: production") == true)
        #expect(FCM().account.keys == ["project", "environment", "service_account", "android_app"])
        #expect(FCM().signedToken == nil && FCM().account.signingKey == nil && FCM().account.certificate == nil)
    }

    // MARK: - The service account's file

    private static let secret = "MIIEvQIBADANBgkqhkiG9w0BAQ"
    private static let pem = "-----BEGIN PRIVATE KEY-----\n\(secret)\n-----END PRIVATE KEY-----\n"

    private static func file(_ change: (inout [String: JSONValue]) -> Void = { _ in }) -> JSONValue {
        var members: [String: JSONValue] = [
            "type": .string("service_account"), "project_id": .string("shop-1a2b"),
            "private_key_id": .string("0123456789abcdef"),
            "private_key": .string(pem), "client_email": .string("push@shop-1a2b.iam.gserviceaccount.com"),
        ]
        change(&members)
        return .object(pairs: members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    private static func mistake(_ file: JSONValue) -> Mistake? {
        do throws(Mistake) { _ = try FCM.assertion.read(file) } catch { return error }
        return nil
    }

    @Test("the file of a service account names who signs, with which key and for which project")
    func reads() throws {
        let key = try FCM.assertion.read(Self.file())
        #expect(key.issuer == "push@shop-1a2b.iam.gserviceaccount.com" && key.keyID == "0123456789abcdef")
        #expect(key.privateKeyPEM == Self.pem && key.topic == "shop-1a2b")
    }

    @Test(
        "another file in its place is named",
        arguments: [
            (#"{"type":"authorized_user","refresh_token":"1//x"}"#, "the login of a person"),
            (#"{"type":"external_account"}"#, "workload identity federation"),
            (#"{"type":"impersonated_service_account"}"#, "borrows the rights"),
            (#"{"project_info":{"project_id":"shop-1a2b"},"client":[]}"#, "google-services.json"),
            (#"{"installed":{"client_id":"x"}}"#, "an OAuth client"),
            (#"{"apiKey":"x","messagingSenderId":"1"}"#, "a web app"),
            (#"{"type":"something"}"#, "'type' of the service account's file is not"),
            (#"{"type":7}"#, "'type' of the service"),
            ("{}", "has no 'type'"), ("[]", "a JSON object"), (#""-----BEGIN PRIVATE KEY-----""#, "a JSON object"),
        ])
    func otherFiles(text: String, words: String) throws {
        let mistake = try #require(Self.mistake(try JSONValue(parsing: text)))
        #expect(mistake.message.contains(words), "\(mistake.message)")
        #expect(mistake.remedy?.hasSuffix(".") == true)
    }

    @Test("a private key may end its lines as on Windows, or as on old Macs", arguments: ["\r\n", "\r"])
    func lineEnds(_ end: String) throws {
        let pem = Self.pem.replacing("\n", with: end)
        #expect(try FCM.assertion.read(Self.file { $0["private_key"] = .string(pem) }).privateKeyPEM == pem)
    }

    @Test("missing and damaged values are named, and the key is never shown")
    func damaged() throws {
        for name in ["client_email", "private_key_id", "private_key", "project_id"] {
            #expect(try #require(Self.mistake(Self.file { $0[name] = nil })).message.hasSuffix("has no '\(name)'"))
            for value in [JSONValue.string(""), .integer(1), .null] {
                #expect(Self.mistake(Self.file { $0[name] = value })?.message.hasPrefix("'\(name)' of") == true)
            }
        }
        let damaged: [(String, String, String)] = [
            ("client_email", "push", "not an address"), ("private_key_id", "0123…", "not a key's id"),
            (
                "client_email", "push\u{200B}@shop-1a2b.iam.gserviceaccount.com",
                "'client_email' of the service account's file holds an invisible"
            ),
            ("private_key", Self.pem.replacing("-----", with: "—"), "dashes that are not hyphens (U+2014)"),
            ("private_key", "\"\(Self.pem)\"", "quotes around it"),
            ("private_key", "“\(Self.pem)”", "quotes around it"),
            ("private_key", Self.secret, "its first line is missing"),
            ("private_key", String(Self.pem.dropLast(30)), "its last line is missing"),
            ("private_key", Self.pem.replacing("\n", with: "\\n"), "as two characters"),
            ("private_key", Self.pem.replacing("\n", with: ""), "lost the ends of its lines"),
        ]
        for (name, value, words) in damaged {
            let mistake = try #require(Self.mistake(Self.file { $0[name] = .string(value) }))
            #expect(mistake.message.contains(words), "\(mistake.message)")
            #expect(!"\(mistake)".contains(Self.secret.prefix(8)) && mistake.remedy?.hasSuffix(".") == true)
        }
    }

    @Test("tokens are asked for as Google documents it")
    func exchange() {
        let (tokens, facts) = (FCM.tokens, FCM.assertion)
        #expect(facts.address == "https://oauth2.googleapis.com/token" && facts.path == "/token")
        #expect(facts.scope == "https://www.googleapis.com/auth/firebase.messaging" && facts.seconds == 3600)
        #expect(tokens.renewEarlySeconds == 300)
    }
}
