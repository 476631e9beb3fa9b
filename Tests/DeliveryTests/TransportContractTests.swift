import Base
import Cryptography
import PushServices
import Testing
import TransportConformance

@testable import Delivery

@Suite("transports keep their contract")
struct TransportContractTests {
    @Test("nghttp2", arguments: TransportConformance.ofConnections)
    func http2(behaviour: TransportConformance.Behaviour) throws {
        let conformance = TransportConformance { try Self.adapter($0, HTTP2Transport.init) }
        try withPipeSignalBlocked { Result { try conformance.check(behaviour) } }.get()
    }

    @Test("libcurl", arguments: TransportConformance.ofCalls, [Peer.Language.http2, .http1])
    func calls(behaviour: TransportConformance.Behaviour, language: Peer.Language) throws {
        let conformance = TransportConformance(language) {
            try Self.adapter($0, connectsWithRequest: true, CurlTransport.init)
        }
        try withPipeSignalBlocked { Result { try conformance.check(behaviour) } }.get()
    }

    private static func adapter<T: Transport>(
        _ peer: PeerAddress, connectsWithRequest: Bool = false, _ make: (SenderSettings) throws(Diagnostic) -> T
    ) throws -> TransportUnderTest {
        let folder = try TemporaryFolder()
        let authority = try folder.write("ca.pem", peer.authorityPEM)
        var settings = SenderSettings(
            endpoint: Endpoint(host: peer.host, port: peer.port, certificateAuthorityFile: authority),
            credentials: .token(SimulatorRun.source(.generate())),
            options: PushOptions(topic: SimulatorRun.topic, pushType: .alert, priority: .high), runSeed: .random())
        settings.connectTimeoutSeconds = 5
        settings.wire = connectsWithRequest ? .calls(inFlight: 30) : .http2
        let transport = try make(settings)
        let seed = settings.runSeed
        return TransportUnderTest(
            idHeader: "apns-id", connectsWithRequest: connectsWithRequest, open: { transport.open($0) },
            close: { transport.close($0) },
            submit: { request, connection, target, body in
                Array(target.utf8).withUnsafeBufferPointer { target in
                    body.withUnsafeBufferPointer { body in
                        transport.submit(
                            request: request, id: PushID(runSeed: seed, recipient: request), on: connection,
                            target: target, body: body)
                    }
                }
            }, abandon: { transport.abandon(request: $0, on: $1) }, ping: { transport.ping($0) },
            poll: { milliseconds in
                // The authority's file is read with the first connection.
                defer { withExtendedLifetime(folder) {} }
                transport.poll(until: monotonicNanoseconds() + Int64(milliseconds) * 1_000_000)
                defer { transport.events.removeAll() }
                return transport.events.map(Event.init)
            }, wake: { [wakeup = transport.wakeup] in wakeup.wake() })
    }
}

extension Event {
    fileprivate init(_ event: TransportEvent) {
        self =
            switch event {
            case .opened(let connection): .opened(connection: connection)
            case .failed(let connection, _): .failed(connection: connection)
            case .limitChanged(let connection, let limit): .limitChanged(connection: connection, limit: limit)
            case .windowChanged(let connection, let room): .windowChanged(connection: connection, room: room)
            case .leaving(let connection, _, let isInOrder): .leaving(connection: connection, isInOrder: isInOrder)
            case .ended(let connection, _): .ended(connection: connection)
            case .alive(let connection): .alive(connection: connection)
            case .answered(let request, let answer):
                .answered(
                    request: request,
                    Answer(
                        status: answer.status, reason: answer.reason, retryAfterSeconds: answer.retryAfterSeconds,
                        hasOwnID: answer.id == .own, isCutOff: answer.isCutOff))
            case .notProcessed(let request): .notProcessed(request: request)
            case .refused(let request): .refused(request: request)
            case .reset(let request): .reset(request: request)
            }
    }
}
