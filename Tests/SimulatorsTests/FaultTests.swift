import Testing

@testable import Simulators

@Suite("A fault")
struct FaultTests {
    @Test("meets every n-th push") func everyNth() {
        var faults = SimulatorFaults()
        (faults.tooManyRequestsEvery, faults.silentEvery, faults.unavailableEvery) = (2, 3, 5)
        var plan = FaultPlan(faults)
        let fates = (1...10).map { _ in plan.next() }
        let tooMany = FaultPlan.Fate.refused(Answer(status: 429, reason: "TooManyRequests"))
        let unavailable = FaultPlan.Fate.refused(Answer(status: 503, reason: "ServiceUnavailable"))
        #expect(
            fates == [.accepted, tooMany, .silent, tooMany, unavailable, tooMany, .accepted, tooMany, .silent, tooMany])
    }

    @Test("raises the stream limit at the first accepted push alone") func rise() {
        var limits = ConnectionLimits(SimulatorFaults())
        #expect(limits.streamLimit == 1)
        #expect(limits.note(.badRequest("BadTopic"), streamID: 1).isEmpty)
        #expect(limits.note(.accepted, streamID: 1) == [.announce(1000)])
        #expect(limits.note(.accepted, streamID: 1).isEmpty)
        #expect(ConnectionLimits(SimulatorFaults(), hasCertificate: true).streamLimit == 1000)
    }

    @Test("lowers the stream limit after rejections, and the next accepted push raises it") func fallBack() {
        var faults = SimulatorFaults()
        faults.streamLimitFallsBackAfterRejections = 2
        var limits = ConnectionLimits(faults)
        #expect(limits.note(.accepted, streamID: 1) == [.announce(1000)])
        #expect(limits.note(.badRequest("BadDeviceToken"), streamID: 1).isEmpty)
        #expect(limits.note(.badRequest("BadDeviceToken"), streamID: 1) == [.announce(1)])
        #expect(limits.note(.badRequest("BadDeviceToken"), streamID: 1).isEmpty)
        #expect(limits.note(.accepted, streamID: 1) == [.announce(1000)])
    }

    @Test("ends a connection at its highest stream, whatever the order they end in") func lastStream() {
        var limits = ConnectionLimits(SimulatorFaults())
        _ = limits.note(.accepted, streamID: 7)
        _ = limits.note(.accepted, streamID: 3)
        limits.isEnding = true
        #expect(limits.lastStreamID == 7)
        #expect(limits.admits(streamID: 5))
        #expect(!limits.admits(streamID: 9))
    }

    @Test("ends a connection with many rejections, but not for 410, 429 or 5xx") func rejections() {
        var faults = SimulatorFaults()
        faults.rejectionsBeforeGoAway = 2
        var limits = ConnectionLimits(faults)
        for status in [410, 410, 429, 429, 500, 503] {
            #expect(limits.note(Answer(status: status, reason: "x"), streamID: 1).isEmpty)
        }
        #expect(limits.note(.badRequest("BadDeviceToken"), streamID: 1).isEmpty)
        #expect(limits.note(.badRequest("BadDeviceToken"), streamID: 1) == [.goAway(reason: "BadDeviceToken")])
    }
}
