import Base
import Cryptography
import Glibc
import PushServices
import Runs
import Testing
@testable import Sending
import Workspace

/// Texts about the credentials of a service that is not APNs: they name them by that service's keys in volley.yaml.
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

    @Test("an app without credentials hears which it lacks")
    func none() {
        let missing = step(settings { _ in })
        #expect(missing.name == "signing_key" && missing.message == "the app has no signing_key")
        #expect(missing.remedy == "Add `signing_key:` to the app in volley.yaml.")
        #expect(step(settings { _ in }, APNs()).message == "the app has neither key nor certificate")
        let simulated = step(settings { $0.environment = .simulator })
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
        let step = step(settings { $0.key = FrozenKey(file: file, keyID: "XYZ789", teamID: "TOYACCT1") })
        #expect(
            step.name == "signing_key"
                && step.message == "\(file): P-256, number XYZ789, account TOYACCT1; the file is named after the key ABC123")
        #expect(step.remedy == "Check `number` in volley.yaml: it must be the number of this key.")
    }

    @Test("what was changed since a plan is named by its keys")
    func changes() {
        let then = settings {
            $0.topic = "shop_app"
            $0.key = FrozenKey(file: "/k.p8", keyID: "ABC123", teamID: "TOYACCT1")
        }
        let now = settings { $0.topic = "other_app" }
        #expect(
            CurrentProject.changes(from: then, to: now, of: Toypush()) == [
                "the app_code was shop_app and is other_app now",
                "the signing_key was ABC123 of account TOYACCT1 in /k.p8 and is none now",
            ])
        let other = CurrentProject.differentKey(
            FrozenKey(file: "/k.p8", keyID: "ABC123", teamID: "TOYACCT1"), "run-1", Toypush().account.names)
        #expect(other.message == "this file holds a different key, under the same number ABC123, than when run-1 was planned")
        #expect(other.remedy?.contains("the number ABC123 belongs to; or correct `number` in volley.yaml") == true)
    }

    @Test("files that hold something else are told where to name it, as far as the service takes such files")
    func files() {
        let words = KeyFileWords(of: Toypush())
        #expect(words.key == "signing_key" && words.certificate == nil)
        #expect(KeyFileWords(of: APNs()).certificate == "certificate" && KeyFileWords(of: APNs()).passphrase == "passphrase_env")
    }
}
