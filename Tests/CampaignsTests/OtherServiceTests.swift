import Base
import PushServices
import TestSupport
import Testing

@testable import Campaigns

@Suite("What a service does not have is refused at its key")
struct OtherServiceTests {
    /// Supports texts, data and expiries.
    private let service = OtherService {
        $0.rules.carried = [.title: "", .body: "", .data: ""]
        $0.rules.deliveryKeys = [.expires]
        ($0.target, $0.hasSimulator) = (OtherService.installationIDs, false)
    }

    private func campaign(_ yaml: String) -> String {
        found { () throws(Diagnostics) in try readPart(yaml, for: service) }
    }

    @Test("keys of delivery")
    func delivery() {
        #expect(campaign("delivery: {expires: 4h, pace: 10/s}\n").isEmpty)
        #expect(
            campaign("delivery: {priority: none, expires: 4h,\n  collapse: sale}\n") == """
                campaign.yaml:1:12: Otherpush has no 'priority'. Remove it.
                campaign.yaml:2:3: Otherpush has no 'collapse'. Remove it.
                """)
    }

    @Test("keys of content, in languages as well")
    func content() {
        #expect(campaign("content: {title: A, body: B, data: {a: 1}}\n").isEmpty)
        #expect(
            campaign("content: {title: A, wake_app: true, badge: 1,\n  languages: {de: {body: B, sound: default}}}\n")
                == """
                campaign.yaml:1:21: Otherpush has no 'wake_app'. Remove it.
                campaign.yaml:1:37: Otherpush has no 'badge'. Remove it.
                campaign.yaml:2:29: Otherpush has no 'sound'. Remove it.
                """)
    }

    @Test("a remedy names only what the service has")
    func nothingVisible() {
        #expect(
            campaign("content: {data: {a: 1}}\n")
                == "campaign.yaml:1:10: the content shows nothing. Add a title or body.")
    }

    /// The findings about an app.
    private func app(_ yaml: String, _ read: (AppReader) -> Void) throws -> String {
        let findings = Findings()
        let source = try YAMLSource(file: "volley.yaml", bytes: Array(yaml.utf8))
        let root = rootSection(
            of: source, ProjectKeys.app(of: service), ProjectKeys.file(of: service), example: "", findings: findings)
        read(AppReader(section: try #require(root), service: service))
        return Diagnostics(findings.all).description
    }

    @Test("the simulator, where Volley has none for the service")
    func simulator() throws {
        let server = "environment: {url: \"https://localhost:2197\", ca: ca.pem}."
        let named = try app("environment: simulator\n") { _ = $0.environment() }
        #expect(
            named
                == "volley.yaml:1:14: Otherpush has no simulator. Name a server in volley.yaml, for example: \(server)")
        let meant = try app("environment: localhost\n") { _ = $0.environment() }
        #expect(
            meant
                == "volley.yaml:1:14: 'environment' must be production or sandbox, not 'localhost'. Name a server, for example: \(server)"
        )
    }

    @Test("test devices are told of in the service's words")
    func testDevices() throws {
        let yaml = "test_devices: [3F2A0C11-5B7E-4D09-8A66-0D1E2F3A9C01, {name: Anna}]\n"
        let findings = try app(yaml) { _ = TestDeviceReader(section: $0.section, services: [service]).devices() }
        #expect(
            findings == """
                volley.yaml:1:16: '3F2A…9C01' cannot be an installation id, as it holds characters that no installation id has. \
                An installation id is a UUID in lower case, 36 characters; put it in quotes.
                volley.yaml:1:54: the key 'token' is missing in the test device. Add it, for example: token: 3f2a….
                """)
        #expect(service.testDevicesExample == "test_devices: [{name: Anna's phone, token: 3f2a…, language: de}]")
    }
}
