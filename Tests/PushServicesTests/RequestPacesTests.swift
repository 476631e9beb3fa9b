import Base
import PushServices
import Testing

@Suite("paces of requests")
struct RequestPacesTests {
    private func paces(
        _ batching: Batching = JPush().batching, devices: Pace? = nil,
        calls: Pace? = Pace(pushes: 540, intervalSeconds: 60)
    ) -> RequestPaces {
        var paces = RequestPaces(batching)
        paces.keep(devices, counting: .targets)
        paces.keep(calls, counting: .requests)
        return paces
    }

    private func perSecond(_ count: Int) -> Pace { Pace(pushes: count, intervalSeconds: 1) }

    @Test(
        "beside a pace of calls, a call has as many devices as let both be kept",
        arguments: [
            (Pace(pushes: 1000, intervalSeconds: 1), 111), (Pace(pushes: 60_000, intervalSeconds: 60), 111),
            (Pace(pushes: 9, intervalSeconds: 1), 1), (Pace(pushes: 5, intervalSeconds: 1), 1),
            (Pace(pushes: 100, intervalSeconds: 3600), 1),
            (Pace(pushes: 18, intervalSeconds: 1), 2), (Pace(pushes: 1_000_000, intervalSeconds: 1), 1000), (nil, 1000),
        ] as [(Pace?, Int)])
    func largest(devices: Pace?, largest: Int) { #expect(paces(devices: devices).largestRequest == largest) }

    @Test("calls that may leave once an hour have no more devices than may leave in a second")
    func rareCalls() {
        #expect(paces(devices: perSecond(300), calls: Pace(pushes: 1, intervalSeconds: 3600)).largestRequest == 300)
    }

    @Test("where a request has one device, the slower pace counts, whatever it counts")
    func single() {
        let paces = paces(.single, devices: perSecond(20), calls: perSecond(9))
        #expect(
            paces.targets == perSecond(9) && paces.calls == nil && paces.largestRequest == 1 && paces.pushesAhead == 1)
    }

    @Test("without a pace nothing is held back; with one of calls, full calls are held ready")
    func ahead() {
        #expect(RequestPaces(JPush().batching).pushesAhead == nil && RequestPaces(JPush().batching).isEmpty)
        #expect(paces().pushesAhead == 1000 && paces(devices: perSecond(1000)).pushesAhead == 444)
        #expect(paces(devices: perSecond(5)).pushesAhead == 1)
    }

    @Test("the time is that of the pace which takes longer")
    func seconds() {
        // 111 devices in a call, nine calls a second.
        #expect(paces(devices: perSecond(1000)).seconds(pushes: 9990, requests: 90) == 10)
        #expect(!paces(devices: perSecond(5)).isBoundByCalls(pushes: 90, requests: 90))
        #expect(paces(devices: perSecond(5)).seconds(pushes: 90, requests: 90) == 18)
        #expect(paces(devices: perSecond(1000)).seconds(pushes: 90, requests: 90) == 10, "personal texts")
        #expect(paces(devices: perSecond(1000)).isBoundByCalls(pushes: 90, requests: 90))
        #expect(paces().seconds(pushes: 9000, requests: 9) == 1)
        #expect(RequestPaces(.single).seconds(pushes: 9000, requests: 9000) == nil)
    }
}
