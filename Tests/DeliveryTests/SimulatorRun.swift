import Simulators
import Base
import Cryptography
import Glibc
import PushServices
import TestServers
import Reports
import Testing

@testable import Delivery

/// A sender's whole run against a simulator over TLS, in one process.
struct SimulatorRun {
    static let topic = "com.example.shop"

    var faults: SimulatorFaults
    var pushes: Int
    var payload = smallPayload
    /// Whether the server speaks HTTP/1.1.
    var speaksHTTP1 = false
    /// The signer, if it is not a key made for this run.
    var tokens: ((SigningKey) -> SignedTokenSource)?
    var configure: (inout SenderSettings) -> Void
    /// Called from another thread during the run.
    var meanwhile: (@Sendable (SendControl) -> Void)?
    /// Further pushes that come after a pause.
    var late: (pushes: Int, afterSeconds: Double)?

    init(
        faults: SimulatorFaults = SimulatorFaults(), pushes: Int = 20,
        _ configure: @escaping (inout SenderSettings) -> Void = { _ in }
    ) {
        self.faults = faults
        self.pushes = pushes
        self.configure = configure
    }

    /// A source with its own history: the process's history would compare the key with those of all
    /// other runs.
    static func source(_ key: SigningKey) -> SignedTokenSource {
        SignedTokenSource(key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", history: SignedTokenHistory()) {
            Moment(nanoseconds: bootNanoseconds(), wall: .now())
        }
    }

    /// A token that means nothing to the simulator.
    static func token(_ recipient: Int) -> String {
        let digits = String(recipient, radix: 16)
        return "c0ffee" + String(repeating: "0", count: 58 - digits.count) + digits
    }

    /// Runs, and checks what must hold whatever went wrong.
    func run() throws -> RunResult {
        let key = SigningKey.generate()
        var configuration = SimulatorConfiguration()
        configuration.keys = [TrustedKey(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", key: key.verificationKey)]
        configuration.topics = [Self.topic]
        configuration.faults = faults
        configuration.speaksOnlyHTTP1 = speaksHTTP1
        let simulator = try StandIn.apns.start(configuration)
        let folder = try TemporaryFolder()
        let authority = try folder.write("ca.pem", simulator.certificateAuthorityPEM)
        let source = tokens?(key) ?? Self.source(key)
        var settings = SenderSettings(
            endpoint: Endpoint(host: "localhost", port: simulator.port, certificateAuthorityFile: authority),
            credentials: .token(source),
            options: PushOptions(topic: Self.topic, pushType: .alert, priority: .high), runSeed: RunSeed.random())
        settings.retry.firstDelaySeconds = 0.01
        // On a slow machine others would be added, but tests count connections. Adding them is
        // tested with the machine.
        settings.connections = 1
        settings.retry.longestDelaySeconds = 0.1
        // Nor should a slow machine, for example under a sanitizer, run into time-outs that the
        // test is not about.
        (settings.connectTimeoutSeconds, settings.answerTimeoutSeconds) = (60, 60)
        configure(&settings)
        let (end, settlements) = try send(settings, pushes: pushes, payload: payload, late: late, meanwhile: meanwhile)
        let result = RunResult(settings: settings, end: end, settlements: settlements, ledger: simulator.stop())
        result.expectInvariants()
        return result
    }
}

/// What a run reported, and what the server saw.
struct RunResult {
    var settings: SenderSettings
    var end: RunEnd
    var settlements: [Settlement]
    var ledger: LedgerSummary

    func count(_ outcome: Outcome) -> Int { settlements.count { $0.outcome == outcome } }

    func settlement(of recipient: Int) -> Settlement? { settlements.first { $0.recipient == recipient } }

    /// Attempts of all pushes beyond the first of each.
    var repeats: Int { settlements.reduce(0) { $0 + max(0, $1.attempts - 1) } }

    /// design.md, "Invariants". That every push settles exactly once is checked by `send`.
    fileprivate func expectInvariants() {
        #expect(ledger.repeatedTokens == 0, "a push was sent again under another apns-id")
        #expect(ledger.streamLimitViolations == 0, "more streams than the server's latest limit")
        let accepted = count(.accepted)
        #expect(
            (accepted...accepted + count(.unknown)).contains(ledger.acceptedTokens),
            "\(accepted) reported as accepted and \(count(.unknown)) as unknown, but the server accepted \(ledger.acceptedTokens)"
        )
        #expect(
            ledger.requests <= settlements.reduce(0) { $0 + $1.attempts }, "the transport sent pushes again by itself")
        if !settings.resendsUnknown {
            #expect(ledger.accepted == ledger.acceptedTokens, "sent again though it may have been processed")
        }
    }

    /// All were accepted, each at its first attempt and once.
    func expectAllAcceptedOnce(sourceLocation: SourceLocation = #_sourceLocation) {
        expectAllAccepted(sourceLocation: sourceLocation)
        #expect(repeats == 0, "some were sent again", sourceLocation: sourceLocation)
        #expect(ledger.accepted == settlements.count, sourceLocation: sourceLocation)
    }

    /// All were accepted in the end.
    func expectAllAccepted(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(end == .finished, sourceLocation: sourceLocation)
        #expect(count(.accepted) == settlements.count, "\(outcomes)", sourceLocation: sourceLocation)
    }

    /// The run stopped, said so in these words, and settled pushes without an answer as unsent.
    func expectStop(saying words: String..., sourceLocation: SourceLocation = #_sourceLocation) {
        guard case .stopped(let cause) = end else {
            Issue.record("it did not stop: \(end)", sourceLocation: sourceLocation)
            return
        }
        let text = cause.sentence
        for word in words { #expect(text.contains(word), "\(text)", sourceLocation: sourceLocation) }
    }

    /// The run stopped before anything was sent, said so in these words, and showed no password of
    /// a proxy.
    func expectNothingSent(saying words: String..., sourceLocation: SourceLocation = #_sourceLocation) {
        guard case .stopped(let cause) = end else {
            Issue.record("it did not stop: \(end)", sourceLocation: sourceLocation)
            return
        }
        let text = cause.sentence
        for word in words { #expect(text.contains(word), "\(text)", sourceLocation: sourceLocation) }
        #expect(!text.contains("s3cret"), "\(text)", sourceLocation: sourceLocation)
        #expect(count(.unsent) == settlements.count, sourceLocation: sourceLocation)
        #expect(ledger.requests == 0, sourceLocation: sourceLocation)
    }

    /// How many pushes got each outcome.
    var outcomes: [String: Int] {
        settlements.reduce(into: [:]) { $0["\($1.outcome.name) \($1.status) \($1.reason)", default: 0] += 1 }
    }
}

let smallPayload = #"{"aps":{"alert":"Hi"}}"#

/// Sends `pushes` pushes, and checks that every one of them settled exactly once.
func send(
    _ settings: SenderSettings, pushes: Int, payload: String = smallPayload,
    late: (pushes: Int, afterSeconds: Double)? = nil,
    meanwhile: (@Sendable (SendControl) -> Void)? = nil
) throws -> (RunEnd, [Settlement]) {
    let sender = try Sender(settings)
    let total = pushes + (late?.pushes ?? 0)
    let source = BoundedQueue<PushBatch>(capacity: total / 500 + 2)
    // They are not taken before the end, and on a busy machine each push may be a group of its own.
    let results = BoundedQueue<[Settlement]>(capacity: total + 1000)
    let control = SendControl()
    fill(source, 0..<pushes, payload)
    if let late {
        startThread {
            usleep(UInt32(late.afterSeconds * 1e6))
            fill(source, pushes..<total, payload)
            source.close()
        }
    } else {
        source.close()
    }
    if let meanwhile { startThread { meanwhile(control) } }
    let end = sender.run(source: source, results: results, control: control)
    var settlements: [Settlement] = []
    while let group = results.take() { settlements += group }
    #expect(settlements.map(\.recipient).sorted() == Array(0..<total), "every push settles exactly once")
    return (end, settlements)
}

private func fill(_ source: BoundedQueue<PushBatch>, _ recipients: Range<Int>, _ payload: String) {
    for start in stride(from: recipients.lowerBound, to: recipients.upperBound, by: 500) {
        var batch = PushBatch()
        for recipient in start..<min(start + 500, recipients.upperBound) {
            batch.append(recipient: recipient, token: SimulatorRun.token(recipient), payload: Array(payload.utf8))
        }
        source.put(batch)
    }
}

/// A folder below /tmp that is removed after the test.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/volley-delivery-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        Self.remove(path)
    }

    /// A file, a link, or a folder with all its contents.
    private static func remove(_ path: String) {
        guard unlink(path) != 0, let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { remove("\(path)/\(name)") }
        }
        closedir(folder)
        rmdir(path)
    }

    func read(_ name: String, atMost limit: Int = 1 << 20) throws -> String {
        let file = try #require(fopen("\(path)/\(name)", "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    func write(_ name: String, _ text: String) throws -> String {
        let file = try #require(fopen("\(path)/\(name)", "w"))
        fputs(text, file)
        fclose(file)
        return "\(path)/\(name)"
    }
}
