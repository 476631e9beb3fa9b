import Base
import Testing

@Suite("dates in HTTP")
struct HTTPDateTests {
    @Test(
        "moments are read and written as RFC 9110 wants them",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (1_709_210_096, "Thu, 29 Feb 2024 12:34:56 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        ])
    func forms(seconds: Int64, text: String) {
        #expect(Timestamp(httpDate: text) == Timestamp(epochSeconds: seconds))
        #expect(Timestamp(epochSeconds: seconds).httpDate == text)
    }

    @Test(
        "anything else is no date",
        arguments: [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 0x Nov 1994 08:49:37 GMT",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:3é GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:7 GMT",
        ])
    func others(text: String) {
        #expect(Timestamp(httpDate: text) == nil)
    }
}
