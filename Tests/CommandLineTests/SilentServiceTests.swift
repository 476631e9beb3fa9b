import Base
import Foundation
import TestCommands
import TestServers
import Testing

/// A service that does not answer, in each way in which that happens.
@Suite("a service that does not answer")
struct SilentServiceTests {
    /// How it does not answer.
    enum Silence: String, CaseIterable, Sendable {
        /// Its port is closed.
        case refused
        /// Its name has no address.
        case unknownName
        /// It accepts connections, and sends nothing on them.
        case noHandshake
        /// Its process was stopped, and keeps its sockets.
        case stopped
        /// The same while the pace holds most pushes back.
        case stoppedAtPace
    }

    @Test(
        "is told of within some seconds, with how many devices wait, and Ctrl-C ends the run",
        arguments: Silence.allCases)
    func told(silence: Silence) throws {
        let server = try LedgeredServer(devices: 60), listener = try Sockets.listen()
        defer { Sockets.close(listener.descriptor) }
        try server.folder.writeCampaign(delivery: silence == .stoppedAtPace ? "pace: 2/s" : nil)
        let project = try String(contentsOf: server.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        let other: String? =
            switch silence {
            case .refused: "localhost:\(try Sockets.freePort())"
            case .unknownName: "nowhere.invalid:443"
            case .noHandshake: "localhost:\(listener.port)"
            case .stopped, .stoppedAtPace: nil
            }
        if let other { try server.folder.write("volley.yaml", project.replacing(#/localhost:\d+/#, with: other)) }
        if other == nil { try server.holdStill(true) }
        defer { try? server.holdStill(false) }
        let running = try VolleyBinary.start(["send", "campaign.yaml", "--yes", "--json"], in: server.folder.url)
        let end = Date(timeIntervalSinceNow: 30)
        while running.isRunning, Date() < end, !running.errorsSoFar.contains("60 devices wait") { usleep(50_000) }
        // A fast resolver may have failed five times by then: the run has stopped, and says why.
        let isOver =
            silence == .unknownName && running.errorsSoFar.contains("the name nowhere.invalid cannot be resolved")
        #expect(
            isOver
                || running.errorsSoFar.contains(
                    #/(There has been no connection to APNs|APNs) \(.*\) (has taken no push )?for \d+ s; 60 devices wait/#
                )
        )
        running.interrupt()
        #expect(!running.errorsSoFar.contains("answers again"))
        #expect([130, 3].contains(running.finish(timeout: 60).status))
    }
}
