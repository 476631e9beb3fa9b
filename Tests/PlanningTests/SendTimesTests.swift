import Base
import Runs
import Testing

@testable import Planning

@Suite("Who gets it when")
struct SendTimesTests {
    private let now = Timestamp(epochSeconds: 1_795_219_200)  // 2026-11-21T00:00:00Z

    private func times(_ schedule: Schedule) throws -> SendTimes {
        try SendTimes(schedule, schedule.at.map { schedule.occurrence(at: $0) }, now: now)
    }

    private func zone(_ name: String) throws -> ZoneRules { try ZoneDatabase.system.zone(named: name) }

    private func number(_ cell: String, _ times: SendTimes) -> Int {
        Array(cell.utf8).withUnsafeBufferPointer { times.number(of: $0) }
    }

    @Test(
        "by devices' own clocks every zone gets it at that time, however clocks are changed just then",
        arguments: ["2026-12-01 09:00", "2026-03-29 02:30", "2026-11-01 01:30"])
    func everyZone(_ at: String) throws {
        let local = try #require(LocalTime(at))
        let times = try times(Schedule(at: local, zone: .recipient(fallback: try zone("Europe/Berlin"))))
        #expect(times.waves.count > 30 && times.waves.count < 60)
        #expect(zip(times.waves, times.waves.dropFirst()).allSatisfy { $0.due < $1.due })
        for name in ZoneDatabase.system.names() {
            let wave = times.waves[number(name, times)]
            #expect(wave.due == (try zone(name).firstMoment(of: local)), "\(name)")
        }
    }

    @Test("with quiet hours zones share a wave only if these begin and end together for two weeks")
    func quiet() throws {
        // Clocks go back on November 1st in New York, and never in Lima: both show the same time
        // before, but not after.
        let schedule = Schedule(
            at: LocalTime("2026-10-30 20:00"), zone: .named(try zone("UTC")), quietHours: try QuietHours("21:00-08:00"))
        let times = try times(schedule)
        for name in ZoneDatabase.system.names() {
            let wave = times.waves[number(name, times)]
            let own = try zone(name)
            let base = try #require(schedule.at.map { schedule.occurrence(at: $0).begins })
            #expect(wave.due == schedule.quietHours?.end(from: base, in: own), "\(name)")
            for hour in 0..<24 * 12 {
                let moment = wave.due.adding(seconds: Double(hour * 3600))
                #expect(wave.zone.offset(at: moment) == own.offset(at: moment), "\(name)")
            }
        }
    }

    @Test("what is blank, and what is no zone, is told apart, and goes out by the fallback's clock")
    func fallback() throws {
        let times = try times(
            Schedule(at: LocalTime("2026-12-01 09:00"), zone: .recipient(fallback: try zone("America/New_York"))))
        #expect(number("", times) == times.blankNumber && number("  ", times) == times.blankNumber)
        for cell in ["Berlin", "europe/berlin", "+02:00", "Europe/Berlin2", "../x", "null"] {
            #expect(number(cell, times) == times.unknownNumber)
        }
        #expect(number(" Asia/Tokyo ", times) == number("Asia/Tokyo", times))
        for number in [times.blankNumber, times.unknownNumber] {
            #expect(times.place(of: number) == self.number("America/New_York", times))
        }
        let waves = times.runWaves([
            times.blankNumber: 3, number("Asia/Tokyo", times): 2, number("America/Detroit", times): 1,
        ])
        #expect(waves.map(\.ids) == [0..<2, 2..<6] && waves.map(\.zone) == ["Asia/Tokyo", "America/New_York"])
    }

    @Test("one clock for all and no quiet hours: one wave, and no device's zone is looked at")
    func named() throws {
        let times = try times(Schedule(at: LocalTime("2026-12-01 09:00"), zone: .named(try zone("Asia/Kathmandu"))))
        #expect(!times.isByDevice && times.waveOfRecipients() == nil)
        #expect(times.runWaves([0: 7]).map(\.due) == [Timestamp("2026-12-01 03:15")])
    }
}
