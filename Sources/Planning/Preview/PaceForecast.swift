import Base
import PushServices
import Runs

/// How long services take that are sent to in parallel and share a pace: each gets its part of it,
/// as far as it can use it, and the unused rest goes to the others.
struct PaceForecast {
    /// The devices of each service.
    let devices: [Int]
    /// How many devices a second each takes by itself; nil for as many as come.
    let ownRates: [Double?]
    /// The devices of a second through all services together; nil for no limit.
    let shared: Double?

    /// The seconds that each service takes; nil for one without a pace.
    var seconds: [Double?] {
        guard let shared else {
            return zip(devices, ownRates).map { devices, rate in rate.map { Double(devices) / $0 } }
        }
        var ends = devices.map { _ in 0.0 }, left = devices.map(Double.init), now = 0.0
        while left.contains(where: { $0 > 0 }) {
            let rates = rates(of: left.indices.filter { left[$0] > 0 }, sharing: shared)
            let step = rates.map { left[$0.key] / $0.value }.min() ?? 0
            now += step
            for (service, rate) in rates {
                left[service] -= rate * step
                // Another service may end at the same moment except for rounding.
                if left[service] < 1e-6 { (left[service], ends[service]) = (0, now) }
            }
        }
        return ends
    }

    /// The rates of the services that are still sent to.
    private func rates(of services: [Int], sharing shared: Double) -> [Int: Double] {
        var rates: [Int: Double] = [:], rest = services, free = shared
        while true {
            let sum = rest.reduce(0) { $0 + Double(devices[$1]) }
            let slow = rest.filter { service in
                ownRates[service].map { $0 < free * Double(devices[service]) / sum } ?? false
            }
            if slow.isEmpty {
                for service in rest { rates[service] = free * Double(devices[service]) / sum }
                return rates
            }
            for service in slow { rates[service] = ownRates[service] }
            free -= slow.reduce(0) { $0 + (ownRates[$1] ?? 0) }
            rest.removeAll(where: slow.contains)
            if rest.isEmpty { return rates }
        }
    }
}

extension [PreviewService] {
    /// Computes the pace of each service, and how long that takes.
    mutating func pace(by settings: RunSettings) {
        let shared = Pace.slower(settings.devicePace, settings.appDevicePace)
        let own = indices.map { settings.ofService($0).servicePaces }
        let all = reduce(0) { $0 + $1.recipients }
        // A service that has the pace to itself must fill its requests, which are not divided.
        let alone = count == 1 ? settings.paces : nil
        let forecast = PaceForecast(
            devices: map(\.recipients),
            ownRates: indices.map { place in
                let seconds = (alone ?? own[place]).seconds(pushes: self[place].recipients, requests: self[place].calls)
                return seconds.map { Double(Swift.max(1, self[place].recipients)) / Swift.max($0, 1e-9) }
            }, shared: alone == nil ? shared?.perSecond : nil
        ).seconds
        for place in indices {
            self[place].exactSecondsAtPace = forecast[place]
            let (devices, calls) = (self[place].recipients, self[place].calls)
            let part = shared?.share(of: devices, in: all)
            var paces = own[place]
            paces.keep(part, counting: .targets)
            self[place].isPacedByCalls = paces.isBoundByCalls(pushes: devices, requests: calls)
            self[place].pace = self[place].isPacedByCalls ? paces.calls : paces.targets ?? paces.calls
        }
    }
}
