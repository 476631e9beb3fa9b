import Base
import Testing

@Suite struct TimestampTests {
    @Test(
        "what exports hold is read",
        arguments: [
            ("1970-01-01", 0), ("2026-11-01", 1_793_491_200_000), ("2026-11-01 09:30", 1_793_525_400_000),
            ("2026-11-01T09:30:15", 1_793_525_415_000),
            ("2026-11-01t09:30:15z", 1_793_525_415_000), ("2026-11-01T09:30:15.123Z", 1_793_525_415_123),
            ("2026-11-01T09:30:15.1", 1_793_525_415_100),
            ("2026-11-01T09:30:15.123456789Z", 1_793_525_415_123), ("2026-11-01T09:30:15+08:00", 1_793_496_615_000),
            ("2026-11-01T09:30:15-0530", 1_793_545_215_000), ("2026-11-01 09:30:15 +08", 1_793_496_615_000),
            ("2026-11-01 09:30:15 UTC", 1_793_525_415_000),
            ("2024-02-29", 1_709_164_800_000), ("2000-02-29T23:59:60Z", 951_868_800_000),
            ("1969-12-31T23:59:59.999Z", -1),
            ("0001-01-01", -62_135_596_800_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000), ("123456789", 123_456_789_000),
            ("1793491200", 1_793_491_200_000),
            ("1793491200123", 1_793_491_200_123), ("99999999999", 99_999_999_999_000), ("00000000000000", 0),
        ])
    func reads(text: String, milliseconds: Int64) {
        #expect(Timestamp(text)?.epochMilliseconds == milliseconds)
    }

    @Test(
        "everything else is refused",
        arguments: [
            "", "2026", "2026-11", "2026-1-1", "20261131", "12345678", "123456789012345", "2026-13-01", "2026-00-01",
            "2026-11-00",
            "2026-11-31", "2026-02-29",
            "1900-02-29", "2100-02-29", "2026-11-01T", "2026-11-01 9:30", "2026-11-01T24:00", "2026-11-01T09:60",
            "2026-11-01T09:30:61",
            "2026-11-01T09:30:",
            "2026-11-01T09:30:15.", "2026-11-01T09:30:15.Z", "2026-11-01T09:30+15:00", "2026-11-01T09:30+08:60",
            "2026-11-01T09:30+8",
            "2026-11-01T09:30 GMT",
            "2026-11-01T09:30ZZ", "2026-11-01Z", "2026/11/01", "01.11.2026", "-2026-11-01", " 2026-11-01",
            "2026-11-01x", "yesterday",
            "1793491200.5", "-1793491200",
            "２０２６-11-01",
        ])
    func refuses(text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test(
        "known moments are written in ISO 8601",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1_796_115_600_000, "2026-12-01T09:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
            (-1000, "1969-12-31T23:59:59Z"),
            (-1001, "1969-12-31T23:59:58Z"), (951_782_399_999, "2000-02-28T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59Z"), (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
        ])
    func writes(milliseconds: Int64, text: String) {
        #expect(Timestamp(epochMilliseconds: milliseconds).description == text)
    }

    @Test("a run id begins with the compact form")
    func compact() {
        #expect(Timestamp(epochSeconds: 1_796_115_600).compact == "20261201-090000")
    }

    @Test("every day of the calendar's cycle of four hundred years survives, and follows the day before")
    func calendar() {
        let first = daysFromCivil(year: 1799, month: 12, day: 31)
        let last = daysFromCivil(year: 2200, month: 1, day: 1)
        #expect(last - first == 1 + 146_097)
        var yesterday = (year: 1799, month: 12, day: 30)
        for day in first...last {
            let date = civilDate(fromDays: day)
            guard daysFromCivil(year: date.year, month: date.month, day: date.day) == day else {
                Issue.record("day \(day) became \(date)")
                return
            }
            let isNext = date.day == yesterday.day + 1 && date.month == yesterday.month && date.year == yesterday.year
            let isNewMonth =
                date.day == 1 && yesterday.day >= 28
                && (date.month == yesterday.month + 1 || date.month == 1 && date.year == yesterday.year + 1)
            guard isNext || isNewMonth else {
                Issue.record("\(date) follows \(yesterday)")
                return
            }
            yesterday = date
        }
    }

    @Test("what is written is read back to the second")
    func roundTrip() {
        for _ in 0..<2000 {
            let moment = Timestamp(epochSeconds: .random(in: -62_135_596_800...253_402_300_799))
            #expect(Timestamp(moment.description) == moment)
        }
    }

    @Test("seconds are rounded down, before 1970 too")
    func seconds() {
        #expect(Timestamp(epochMilliseconds: 1999).epochSeconds == 1)
        #expect(Timestamp(epochMilliseconds: -1).epochSeconds == -1)
        #expect(Timestamp(epochMilliseconds: -1000).epochSeconds == -1)
        #expect(Timestamp(epochMilliseconds: -1001).epochSeconds == -2)
    }

    @Test("seconds can be added and moments compared")
    func arithmetic() {
        let moment = Timestamp(epochMilliseconds: 1000)
        #expect(moment.adding(seconds: 0.5).epochMilliseconds == 1500)
        #expect(moment.adding(seconds: -2) < moment)
        #expect(Timestamp.now() > Timestamp(epochSeconds: 1_700_000_000))
    }

    @Test(
        "dates without marks",
        arguments: [
            ("20261101", "2026-11-01T00:00:00Z"), ("202611010930", "2026-11-01T09:30:00Z"),
            ("20261101093015", "2026-11-01T09:30:15Z"),
            ("20240229", "2024-02-29T00:00:00Z"), ("197001010000", "1970-01-01T00:00:00Z"),
        ])
    func compact(text: String, moment: String) {
        #expect(Timestamp(text)?.description == moment)
        #expect(Array(text.utf8).withUnsafeBufferPointer(dateMilliseconds) == Timestamp(moment)?.epochMilliseconds)
    }

    @Test("what is no date without marks is a number, or nothing")
    func notCompact() {
        for text in ["20260229", "20261301", "12345678", "2026110", "202611012530"] where text.count < 12 {
            #expect(Timestamp(text) == nil)
        }
        #expect(Timestamp("202611012530")?.epochMilliseconds == 202_611_012_530)
        #expect(Timestamp("1796126400123")?.epochMilliseconds == 1_796_126_400_123)
        #expect(Timestamp("1796126400")?.epochSeconds == 1_796_126_400)
        #expect(Timestamp("20261399999999")?.epochMilliseconds == 20_261_399_999_999)
    }
}
