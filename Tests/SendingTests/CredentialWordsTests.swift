import Base
import Cryptography
import Foundation
import PushServices
import Runs
import Testing
import TestSupport
@testable import Sending
import Workspace

/// Texts about the credentials of a service that is not APNs: they name them by that service's keys
/// in volley.yaml.
@Suite("credentials in the words of another service")
struct CredentialWordsTests {
    private func settings(_ change: (inout RunSettings) -> Void) -> RunSettings {
        var settings = RunSettings(pushType: .alert)
        change(&settings)
        return settings
    }

    private func step(_ settings: RunSettings, _ service: any PushService = Toypush()) -> CheckStep {
        CredentialsCheck(settings: settings, service: service, now: .now()).step()
    }

    private func toyKey(file: String, number: String = "ABC123") -> FrozenCredential {
        FrozenCredential(form: "signing_key", values: ["file": file, "number": number, "account": "TOYACCT1"])
    }

    @Test("an app without credentials hears which it lacks")
    func none() {
        let missing = step(settings { _ in })
        #expect(missing.name == "signing_key" && missing.message == "the app has no signing_key")
        #expect(missing.remedy == "Add `signing_key:` to the app in volley.yaml.")
        #expect(step(settings { _ in }, APNs()).message == "the app has neither key nor certificate")
        let simulated = step(settings { $0.firstService.environment = .simulator })
        #expect(simulated.message == "no signing_key is needed: the simulator gets its own for each run")
    }

    @Test("a key is described by its fields")
    func key() throws {
        let folder = "/tmp/volley-words-\(getpid())"
        mkdir(folder, 0o700)
        let file = folder + "/toy-ABC123.p8"
        defer { unlink(file); rmdir(folder) }
        let descriptor = open(file, O_CREAT | O_WRONLY | O_TRUNC, 0o600)
        let pem = Array(SigningKey.generate().pem.utf8)
        #expect(write(descriptor, pem, pem.count) == pem.count)
        close(descriptor)
        let step = step(settings { $0.firstService.credential = toyKey(file: file, number: "XYZ789") })
        #expect(
            step.name == "signing_key"
                && step.message
                    == "\(file): P-256, number XYZ789, account TOYACCT1; the file is named after the key ABC123"
        )
        #expect(step.remedy == "Check `number` in volley.yaml: it must be the number of this key.")
    }

    @Test("what was changed since a plan is named by its keys")
    func changes() {
        let then = settings {
            $0.firstService.topic = "shop_app"
            $0.firstService.credential = toyKey(file: "/k.p8")
        }
        let now = settings { $0.firstService.topic = "other_app" }
        #expect(
            CurrentProject.changes(from: then.firstService, to: now.firstService, of: Toypush()) == [
                "the app_code was shop_app and is other_app now",
                "the signing_key was ABC123 of account TOYACCT1 in /k.p8 and is none now",
            ])
        let other = CurrentProject.differentKey(
            toyKey(file: "/k.p8"), Toypush().account.credentials[0], run: "run-1")
        #expect(
            other.message
                == "this file holds a different key, under the same number ABC123, than when run-1 was planned")
        #expect(
            other.remedy?.contains(
                "If it is the key that the number ABC123 belongs to, plan the campaign again. If not, put that key back; or correct `number` in volley.yaml"
            ) == true)
    }

    @Test("a copy of an authority at another path is no change; on another machine, what differs is not called changed")
    func otherMachine() throws {
        let folder = try PlannedFolder(), paths = ["m1.pem", "m2.pem"].map { FilePaths.join(folder.path, name: $0) }
        func write(_ text: String, _ path: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
        func changes(isOfOtherMachine: Bool) -> [String] {
            let both = paths.map { path in
                settings {
                    $0.firstService.environment = .server(host: "push.example", port: 443, certificateAuthority: path)
                }.firstService
            }
            return CurrentProject.changes(from: both[0], to: both[1], of: Toypush(), isOfOtherMachine: isOfOtherMachine)
        }
        for path in paths { try write("one", path) }
        #expect(changes(isOfOtherMachine: true).isEmpty && changes(isOfOtherMachine: false).isEmpty)
        try write("two", paths[1])
        let here = changes(isOfOtherMachine: true), now = changes(isOfOtherMachine: false)
        #expect(
            here.count == 1 && here[0].contains(" there and ") && here[0].hasSuffix(" here")
                && !here[0].contains("was"), "\(here)")
        #expect(now.count == 1 && now[0].contains(" was ") && now[0].hasSuffix(" now"), "\(now)")
    }

    @Test("an account is described by what its file says, and known by where it stands")
    func account() throws {
        let service = OtherService.robots, variable = "VOLLEY_TEST_ROBOT_\(getpid())"
        EnvironmentVariables.replace(variable, with: OtherService.robot().text)
        defer { EnvironmentVariables.replace(variable, with: nil) }
        func frozen(_ values: [String: String]) -> RunSettings {
            settings {
                ($0.firstService.topic, $0.firstService.credential) = (
                    "my-shop", FrozenCredential(form: "robot_account", values: values)
                )
            }
        }
        let present = step(frozen(["env": variable, "region": "eu"]), service)
        #expect(
            present.state == .ok && present.name == "robot_account"
                && present.message == "\(variable): robot@robopush.example, key 7f3a")
        let missing = step(frozen(["file": "/none.json", "region": "eu"]), service)
        #expect(
            missing.state == .failed && missing.message.hasSuffix("there is no such robot account file"),
            "\(missing.message)")
        #expect(
            step(settings { $0.firstService.environment = .simulator }, service).message.hasPrefix(
                "no robot_account is needed"))

        func changes(_ then: [String: String], _ now: [String: String]) -> [String] {
            CurrentProject.changes(from: frozen(then).firstService, to: frozen(now).firstService, of: service)
        }
        #expect(changes(["env": "ROBOT_A", "region": "eu"], ["env": "ROBOT_A", "region": "eu"]).isEmpty)
        #expect(
            changes(["env": "ROBOT_A"], ["env": "ROBOT_B"]) == [
                "the robot_account was the variable ROBOT_A and is the variable ROBOT_B now"
            ])
        #expect(
            changes(["file": "/a.json"], ["env": "ROBOT_B"]) == [
                "the robot_account was /a.json and is the variable ROBOT_B now"
            ])
        #expect(
            changes(["file": "/a.json"], ["file": "/b.json"]) == ["the robot_account was /a.json and is /b.json now"])
        #expect(changes(["file": "/a.json", "region": "eu"], ["file": "/a.json", "region": "us"]).count == 1)
    }

    @Test("files that hold something else are told where to name it, as far as the service takes such files")
    func files() {
        let words = KeyFileWords(of: Toypush())
        #expect(words.key == "signing_key" && words.certificate == nil)
        #expect(
            KeyFileWords(of: APNs()).certificate == "certificate"
                && KeyFileWords(of: APNs()).passphrase == "passphrase_env")
    }
}
