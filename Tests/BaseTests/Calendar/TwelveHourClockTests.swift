import Base
import Testing

@Suite("Times by a clock of twelve hours")
struct TwelveHourClockTests {
    @Test(
        "are known by their halves",
        arguments: [
            ("9:00 PM", "21:00"), ("9pm", "21:00"), ("12 am", "00:00"), ("12:30 p.m.", "12:30"),
            ("9:05:00 AM", "09:05"), ("13 pm", nil),
            ("0 am", nil), ("9:00", nil), ("9:60 pm", nil), ("pm", nil), ("", nil), ("9:00 PM Berlin", nil),
        ] as [(String, String?)])
    func times(_ text: String, _ meant: String?) { #expect(TwelveHourClock.time(in: text) == meant) }
}
