import Base
import Foundation
import PushServices
import Runs
import TestSupport
import Testing

@testable import Campaigns
@testable import Workspace

@Suite("the account of a service that gives out tokens")
struct AppCredentialsTests {
    private let service = OtherService.robots

    private func settings(_ values: [String: String], topic: String = "my-shop") -> RunSettings {
        var settings = RunSettings(pushType: .alert)
        (settings.firstService.topic, settings.firstService.serviceName) = (topic, service.name)
        settings.firstService.credential = FrozenCredential(
            form: "robot_account", values: values.merging(["region": "eu"]) { $1 })
        return settings
    }

    private func read(_ settings: RunSettings) throws -> AppCredentials {
        try AppCredentials(settings, of: service, now: .now())
    }

    /// The message about a file with this content, with FILE for its path.
    private func refusal(of content: String, topic: String = "my-shop") throws -> String {
        try refusal(of: Array(content.utf8), topic: topic)
    }

    private func refusal(of content: [UInt8], topic: String = "my-shop") throws -> String {
        let file = NSTemporaryDirectory() + "volley-robot-\(UUID().uuidString).json"
        try Data(content).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        return refusal(settings(["file": file], topic: topic)).replacing(file, with: "FILE")
    }

    private func refusal(_ settings: RunSettings) -> String {
        do {
            _ = try read(settings)
            return ""
        } catch {
            return "\(error)"
        }
    }

    private func withVariable<Result>(_ content: String?, _ body: (String) throws -> Result) rethrows -> Result {
        let name = "VOLLEY_TEST_\(Int.random(in: 0..<1_000_000_000_000))"
        EnvironmentVariables.replace(name, with: content)
        defer { EnvironmentVariables.replace(name, with: nil) }
        return try body(name)
    }

    @Test("is read from a file, or from a variable")
    func places() throws {
        let file = NSTemporaryDirectory() + "volley-robot-\(UUID().uuidString).json"
        // Editors on Windows put a mark before the text.
        try Data([0xEF, 0xBB, 0xBF] + OtherService.robot().indentedText.utf8).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        chmod(file, 0o644)
        let found = try read(settings(["file": file]))
        guard case .account(let key, let exchange) = found.kind else {
            Issue.record("\(found.kind)")
            return
        }
        #expect(key.issuer == "robot@robopush.example" && key.topic == "my-shop" && exchange.noun == "robot token")
        #expect(
            found.warnings.map(\.name) == [.secretReadable] && found.warnings.first?.remedy == "Run: chmod 600 \(file)")
        chmod(file, 0o600)
        #expect(try read(settings(["file": file])).warnings.isEmpty)
        try withVariable(OtherService.robot().text) { name in
            let found = try read(settings(["env": name]))
            guard case .account(let key, _) = found.kind else {
                Issue.record("\(found.kind)")
                return
            }
            #expect(key.keyID == "7f3a" && found.warnings.isEmpty)
        }
    }

    @Test("that is something else says so, and shows nothing of it")
    func foreign() throws {
        let remedy = "Name the robot account file from Robopush's console."
        let whole = OtherService.robot().text
        #expect(
            try refusal(of: "<!DOCTYPE html>\n<html>") == "FILE: this is a web page, not a robot account. \(remedy)")
        #expect(
            try refusal(of: "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n")
                == "FILE: this is a private key alone, not a robot account. \(remedy)")
        #expect(
            try refusal(of: "-----BEGIN CERTIFICATE-----\nMIGH\n-----END CERTIFICATE-----\n")
                == "FILE: this is a certificate, not a robot account. \(remedy)")
        #expect(
            try refusal(of: [0x30, 0x82, 0xFF, 0xFE]) == "FILE: this is binary data, not a robot account. \(remedy)")
        #expect(try refusal(of: "[\(whole)]") == "FILE: this is JSON of another kind, not a robot account. \(remedy)")
        #expect(try refusal(of: "token: 7f3a") == "FILE: this is text, not a robot account. \(remedy)")
        #expect(
            try refusal(of: String(whole.dropLast(20)))
                == "FILE:1:\(whole.unicodeScalars.count - 19): the robot account is damaged: the JSON ends too early. Copy the file again from where you downloaded it, as a file, not as text."
        )
        #expect(try refusal(of: "").hasPrefix("FILE: the robot account file is empty"))
        #expect(refusal(settings(["file": "/none.json"])).hasPrefix("/none.json: there is no such robot account file"))
    }

    @Test("that lacks a part, or is another app's, says so")
    func parts() throws {
        let copy = "Copy the file again from where you downloaded it, as a file, not as text."
        #expect(try refusal(of: "{}") == "FILE: the robot has no 'email'. \(copy)")
        for pem in ["", "MIIE", "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----"] {
            #expect(
                try refusal(of: OtherService.robot(pem: pem).text)
                    == "FILE: the private key in the robot account is not one: it has no line -----BEGIN PRIVATE KEY-----. \(copy)"
            )
        }
        #expect(
            try refusal(of: OtherService.robot(shop: "other").text)
                == "FILE: the robot account is for the shop name 'other', but the app names 'my-shop'. "
                + "Name the robot account of this app in volley.yaml, or correct its shop_name.")
        #expect(try refusal(of: OtherService.robot(shop: nil).text).isEmpty)
    }

    @Test("in a variable is named by it")
    func variables() throws {
        func refusal(_ content: String?) -> String {
            withVariable(content) { name in self.refusal(settings(["env": name])).replacing(name, with: "ROBOT") }
        }
        let remedy = "Set it, for example with `export ROBOT=\"$(cat FILE)\"`."
        #expect(
            refusal(nil) == "the environment variable ROBOT, which should hold the robot account, is not set. \(remedy)"
        )
        #expect(
            refusal(" \n") == "the environment variable ROBOT, which should hold the robot account, is empty. \(remedy)"
        )
        #expect(
            refusal("keys/robot.json")
                == "the environment variable ROBOT holds the name of a file, not a robot account. \(remedy)")
        let base64 = Data(OtherService.robot().text.utf8).base64EncodedString()
        #expect(
            refusal(base64) == "the environment variable ROBOT holds text in base64, not a robot account. \(remedy)")
        #expect(refusal("c2VjcmV0") == "the environment variable ROBOT holds text, not a robot account. \(remedy)")
        #expect(
            refusal("{\"email\": ")
                == "in the environment variable ROBOT, the robot account is damaged: the JSON ends too early. \(remedy)"
        )
        #expect(refusal("{}") == "in the environment variable ROBOT, the robot has no 'email'. \(remedy)")
    }

    @Test("is frozen by its path and its variable, and by nothing else")
    func frozen() throws {
        func text(_ value: String) -> SourceText {
            SourceText(value, at: SourcePosition(file: "volley.yaml", line: 1, column: 1))
        }
        func frozen(_ values: [String: String]) throws -> FrozenCredential? {
            let account = AppService(
                service: service, topic: text("my-shop"), environment: .simulator,
                credential: CredentialReference(form: "robot_account", values: values.mapValues(text)), pace: nil,
                position: text("").position)
            let app = App(
                name: text("shop"), services: [account], devices: [],
                columns: ExportColumns(), pace: nil, frequency: nil, needsApproval: false, testDevices: [], proxy: nil,
                notices: [])
            return try RunSettings(app, projectFile: "/project/volley.yaml", pushType: .alert).firstService.credential?
                .fingerprinted(
                    service)
        }
        #expect(
            try frozen(["file": "keys/robot.json", "region": "eu"])
                == FrozenCredential(
                    form: "robot_account", values: ["file": "/project/keys/robot.json", "region": "eu"]))
        #expect(
            try frozen(["env": "SHOP_ROBOT", "region": "eu"])
                == FrozenCredential(form: "robot_account", values: ["env": "SHOP_ROBOT", "region": "eu"]))
    }
}
