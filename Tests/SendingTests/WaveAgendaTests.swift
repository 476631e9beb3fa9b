import Base
import Testing

@testable import Sending

@Suite("What comes next in a run that goes out in waves")
struct WaveAgendaTests {
    private static func zone(_ name: String) throws -> ZoneRules { try ZoneDatabase.system.zone(named: name) }

    private func moment(_ text: String) throws -> Timestamp { try #require(Timestamp(text)) }

    private func agenda(
        _ waves: [(zone: String, due: String)], quiet: String? = nil, late: LatePolicy = .usual,
        planning: Range<Timestamp>? = nil,
        lastActivity: String? = nil
    ) throws -> WaveAgenda {
        WaveAgenda(
            try waves.map { (zone: try Self.zone($0.zone), due: try moment($0.due), isOver: false) },
            quietHours: try quiet.map { try QuietHours($0) }, late: late, planning: planning,
            lastActivity: try lastActivity.map(moment))
    }

    @Test("each wave at its time, with rests between them")
    func inOrder() throws {
        var agenda = try agenda([("Asia/Tokyo", "2026-12-01 00:00"), ("Europe/Berlin", "2026-12-01 08:00")])
        #expect(
            agenda.next(at: try moment("2026-11-30 12:00")) == .wait(until: try moment("2026-12-01 00:00"), wave: 0))
        #expect(agenda.next(at: try moment("2026-12-01 00:00")) == .deliver(0, until: nil))
        agenda.noteActivity(at: try moment("2026-12-01 00:05"))
        agenda.markDone(0)
        #expect(
            agenda.next(at: try moment("2026-12-01 00:05")) == .wait(until: try moment("2026-12-01 08:00"), wave: 1))
        #expect(agenda.next(at: try moment("2026-12-01 09:59")) == .deliver(1, until: nil))
        agenda.markDone(1)
        #expect(agenda.next(at: try moment("2026-12-01 10:00")) == .finished)
    }

    @Test("what waited too long is skipped; what waits behind others that are being sent is not late")
    func late() throws {
        let due = [("Asia/Tokyo", "2026-12-01 00:00"), ("Europe/Berlin", "2026-12-01 08:00")]
        #expect(try agenda(due).next(at: moment("2026-12-01 02:00")) == .deliver(0, until: nil))
        #expect(try agenda(due).next(at: moment("2026-12-01 02:00:01")) == .skip(0, seconds: 7201))
        #expect(try agenda(due, late: .send).next(at: moment("2026-12-11 00:00")) == .deliver(0, until: nil))
        #expect(
            try agenda(due, lastActivity: "2026-12-01 09:00").next(at: moment("2026-12-01 10:30"))
                == .deliver(0, until: nil))
        #expect(
            try agenda(due, lastActivity: "2026-11-30 09:00").next(at: moment("2026-12-01 11:00"))
                == .skip(0, seconds: 39_600))
    }

    @Test("planning makes nobody late; waiting for somebody between plan and sending does")
    func planned() throws {
        let due = [("Asia/Tokyo", "2026-12-01 00:00")]
        let late = LatePolicy.skip(afterSeconds: 60)
        let planning = try moment("2026-11-30 23:59:30")..<moment("2026-12-01 00:05:00")
        #expect(
            try agenda(due, late: late, planning: planning).next(at: moment("2026-12-01 00:05:02"))
                == .deliver(0, until: nil))
        #expect(
            try agenda(due, late: late, planning: planning).next(at: moment("2026-12-01 00:06:01"))
                == .skip(0, seconds: 61))
        #expect(try agenda(due, late: late).next(at: moment("2026-12-01 00:05:02")) == .skip(0, seconds: 302))
        let before = try moment("2026-11-30 22:00")..<moment("2026-11-30 23:00")
        #expect(
            try agenda(due, late: late, planning: before).next(at: moment("2026-12-01 00:01:01"))
                == .skip(0, seconds: 61))
        // At night nothing was to be sent, planned in time or not.
        #expect(
            try agenda(
                [("Europe/Berlin", "2026-12-01 21:00")], quiet: "21:00-08:00", late: late,
                planning: moment("2026-12-02 06:50")..<moment("2026-12-02 07:10")
            )
            .next(at: moment("2026-12-02 07:11")) == .deliver(0, until: moment("2026-12-02 20:00")))
    }

    @Test("quiet hours hold a wave, end one that is being sent, and do not make it late")
    func quiet() throws {
        var agenda = try agenda(
            [("Europe/Berlin", "2026-12-01 19:30"), ("America/New_York", "2026-12-01 20:30")], quiet: "21:00-08:00")
        // 20:30 in Berlin.
        #expect(agenda.next(at: try moment("2026-12-01 19:30")) == .deliver(0, until: try moment("2026-12-01 20:00")))
        agenda.noteActivity(at: try moment("2026-12-01 20:00"))
        // The other wave need not wait for the morning in Berlin.
        #expect(
            agenda.next(at: try moment("2026-12-01 20:00")) == .wait(until: try moment("2026-12-01 20:30"), wave: 1))
        #expect(agenda.next(at: try moment("2026-12-01 20:30")) == .deliver(1, until: try moment("2026-12-02 02:00")))
        agenda.markDone(1)
        #expect(
            agenda.next(at: try moment("2026-12-01 21:00")) == .wait(until: try moment("2026-12-02 07:00"), wave: 0))
        #expect(agenda.next(at: try moment("2026-12-02 07:00")) == .deliver(0, until: try moment("2026-12-02 20:00")))
        // Two hours in the morning without any push are still too late.
        #expect(agenda.next(at: try moment("2026-12-02 09:00:01")) == .skip(0, seconds: 7201))
    }

    @Test(
        "what was late before quiet hours began is skipped in them, as the preview says, and is not held until the morning"
    )
    func lateInQuietHours() throws {
        let agenda = try agenda([("Asia/Tokyo", "2026-12-01 00:00")], quiet: "21:00-08:00")
        // 00:16 in Tokyo: from 09:00 to 21:00 there nothing was sent.
        #expect(agenda.next(at: try moment("2026-12-01 15:16")) == .skip(0, seconds: 43_200))
    }

    @Test("the expiry counts from when a wave was sent first, and after quiet hours from their end")
    func start() throws {
        let berlin = try Self.zone("Europe/Berlin")
        let night = try QuietHours("21:00-08:00")
        let (now, claim) = (try moment("2026-12-02 08:30"), try moment("2026-12-01 19:30"))
        #expect(WaveAgenda.start(nil, at: now, night, berlin) == now)
        #expect(WaveAgenda.start(claim, at: now, nil, berlin) == claim)
        #expect(WaveAgenda.start(claim, at: now, night, berlin) == (try moment("2026-12-02 07:00")))
        #expect(WaveAgenda.start(claim, at: try moment("2026-12-01 19:50"), night, berlin) == claim)
        #expect(
            WaveAgenda.start(claim, at: try moment("2026-12-05 12:00"), night, berlin)
                == (try moment("2026-12-05 07:00")))
    }
}
