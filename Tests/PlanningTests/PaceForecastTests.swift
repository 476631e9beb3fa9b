import Testing

@testable import Planning

@Suite("how long services take that share a pace")
struct PaceForecastTests {
    private func seconds(_ devices: [Int], _ rates: [Double?], shared: Double?) -> [Double?] {
        PaceForecast(devices: devices, ownRates: rates, shared: shared).seconds.map { $0.map { ($0 * 1000).rounded() / 1000 } }
    }

    @Test("by their parts they end together")
    func together() { #expect(seconds([3000, 1000], [nil, nil], shared: 400) == [10, 10]) }

    @Test("what a slow one does not use goes to the others, which end sooner")
    func slow() {
        #expect(seconds([500, 500], [50, nil], shared: 300) == [10, 2])
        #expect(seconds([500, 500, 500], [50, nil, 100], shared: 300) == [10, 3.333, 5])
    }

    @Test("one that is alone in the end gets all")
    func alone() { #expect(seconds([900, 100], [nil, 10], shared: 100) == [10, 10]) }

    @Test("without a shared pace each has its own time, or none")
    func own() { #expect(seconds([500, 500, 0], [50, nil, nil], shared: nil) == [10, nil, nil]) }

    @Test("a service without devices takes no time")
    func empty() { #expect(seconds([0, 100], [5, nil], shared: 10) == [0, 10]) }
}
