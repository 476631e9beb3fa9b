import APNsSimulator
import Base
import Cryptography
import Delivery
import Glibc
import TestServers
import Testing

/// A sender's whole run against a simulator over TLS, in one process.
struct SimulatorRun {
    static let topic = "com.example.shop"

    var faults = SimulatorFaults()
    var pushes = 20
    var configure: (inout SenderSettings) -> Void = { _ in }
    /// Called from another thread while the run goes on.
    var meanwhile: (@Sendable (SendControl) -> Void)?
    /// Further pushes that come after a pause.
    var late: (pushes: Int, afterSeconds: Double)?

    struct Result {
        var end: SendEnd
        var settlements: [Settlement]
        var ledger: LedgerSummary

        func count(_ outcome: Outcome) -> Int { settlements.count { $0.outcome == outcome } }
    }

    /// A token that means nothing to the simulator.
    static func token(_ recipient: Int) -> String {
        let digits = String(recipient, radix: 16)
        return "c0ffee" + String(repeating: "0", count: 58 - digits.count) + digits
    }

    func run() throws -> Result {
        let key = SigningKey.generate()
        var configuration = SimulatorConfiguration()
        configuration.keys = [TrustedKey(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", key: key.verificationKey)]
        configuration.topics = [Self.topic]
        configuration.faults = faults
        let simulator = try APNsSimulator(configuration)
        let folder = try TemporaryFolder()
        let authority = try folder.write("ca.pem", simulator.certificateAuthorityPEM)
        let source = ProviderTokenSource(key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        var settings = SenderSettings(
            endpoint: Endpoint(host: "localhost", port: simulator.port, certificateAuthorityFile: authority), credentials: .token(source),
            headers: PushHeaders(topic: Self.topic, pushType: .alert, priority: .high), runSeed: RunSeed.random())
        settings.retry.firstDelaySeconds = 0.01
        settings.retry.longestDelaySeconds = 0.1
        configure(&settings)
        let (end, settlements) = try send(settings, pushes: pushes, late: late, meanwhile: meanwhile)
        return Result(end: end, settlements: settlements, ledger: simulator.stop())
    }
}

/// Sends `pushes` pushes, and checks that every one of them settled exactly once.
func send(
    _ settings: SenderSettings, pushes: Int, late: (pushes: Int, afterSeconds: Double)? = nil,
    meanwhile: (@Sendable (SendControl) -> Void)? = nil
) throws -> (SendEnd, [Settlement]) {
    let sender = try Sender(settings)
    let total = pushes + (late?.pushes ?? 0)
    let source = BoundedQueue<PushBatch>(capacity: total / 500 + 2)
    let results = BoundedQueue<[Settlement]>(capacity: 1000)
    let control = SendControl()
    fill(source, 0..<pushes)
    if let late {
        startThread {
            usleep(UInt32(late.afterSeconds * 1e6))
            fill(source, pushes..<total)
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

private func fill(_ source: BoundedQueue<PushBatch>, _ recipients: Range<Int>) {
    for start in stride(from: recipients.lowerBound, to: recipients.upperBound, by: 500) {
        var batch = PushBatch()
        for recipient in start..<min(start + 500, recipients.upperBound) {
            batch.append(recipient: recipient, token: SimulatorRun.token(recipient), payload: Array(#"{"aps":{"alert":"Hi"}}"#.utf8))
        }
        source.put(batch)
    }
}

/// A folder below /tmp that goes when the test is over.
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

    /// A file, a link, or a folder with everything in it.
    private static func remove(_ path: String) {
        guard unlink(path) != 0, let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
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
