import Base

/// A date and time of day as written in a cell: `2026-11-01`, `2026-11-01 09:30[:15[.123]]` with
/// `T` or a space, with `Z` or an offset such as `+08:00`, without separators (`CompactDate`), or
/// epoch seconds (9 to 11 digits) or milliseconds (12 to 14), which are taken as UTC. The same
/// forms that `Timestamp` reads.
///
/// An offset is ignored: 20:00+01:00 means eight o'clock.
struct CivilMoment: Equatable {
    var year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0

    /// Days since 1970-01-01.
    private var days: Int { daysFromCivil(year: year, month: month, day: day) }

    /// 0 for Sunday.
    var weekday: Int { ((days + 4) % 7 + 7) % 7 }

    /// 1 for January 1.
    var dayOfYear: Int { days - daysFromCivil(year: year, month: 1, day: 1) + 1 }

    init(epochMilliseconds: Int64) {
        let seconds = epochMilliseconds >= 0 ? epochMilliseconds / 1000 : (epochMilliseconds - 999) / 1000
        let day = Int(seconds >= 0 ? seconds / 86400 : (seconds - 86399) / 86400)
        let rest = Int(seconds) - day * 86400
        (year, month, self.day) = civilDate(fromDays: day)
        hour = rest / 3600
        minute = rest / 60 % 60
        second = rest % 60
    }

    /// nil if the text is not a date. White space at either end is ignored.
    @inline(__always) init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        var scanner = Scanner(bytes: bytes, index: 0, end: bytes.count)
        scanner.trim()
        let length = scanner.end - scanner.index
        if let date = CompactDate(UnsafeBufferPointer(rebasing: bytes[scanner.index..<scanner.end])) {
            year = date.year
            month = date.month
            day = date.day
            hour = date.hour
            minute = date.minute
            second = date.second
            return
        }
        if length >= 9, length <= 14, let number = scanner.epoch() {
            self = CivilMoment(epochMilliseconds: length <= 11 ? number * 1000 : number)
            return
        }
        guard length >= 10, length <= 64, let year = scanner.digits(4), scanner.consume("-"),
            let month = scanner.digits(2),
            scanner.consume("-"),
            let day = scanner.digits(2), month >= 1, month <= 12, day >= 1, day <= daysInMonth(month, year: year)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        if scanner.index == scanner.end { return }
        guard scanner.consume("T") || scanner.consume("t") || scanner.consume(" "), let hour = scanner.digits(2),
            hour < 24,
            scanner.consume(":"),
            let minute = scanner.digits(2), minute < 60
        else { return nil }
        self.hour = hour
        self.minute = minute
        if scanner.consume(":") {
            guard let second = scanner.digits(2), second < 61 else { return nil }
            self.second = second
            if scanner.consume("."), !scanner.skipDigits() { return nil }
        }
        guard scanner.skipOffset() else { return nil }
    }
}

private struct Scanner {
    let bytes: UnsafeBufferPointer<UInt8>
    var index: Int
    var end: Int

    mutating func trim() {
        while index < end, bytes[index] <= 0x20 { index += 1 }
        while end > index, bytes[end - 1] <= 0x20 { end -= 1 }
    }

    @inline(__always) private func digit(_ place: Int) -> Int? {
        guard place < end else { return nil }
        let digit = bytes[place] &- UInt8(ascii: "0")
        return digit <= 9 ? Int(digit) : nil
    }

    func epoch() -> Int64? {
        var value: Int64 = 0
        for place in index..<end {
            guard let digit = digit(place) else { return nil }
            value = value * 10 + Int64(digit)
        }
        return value
    }

    @inline(__always) mutating func digits(_ count: Int) -> Int? {
        guard index + count <= end else { return nil }
        var value = 0
        for place in index..<index + count {
            guard let digit = digit(place) else { return nil }
            value = value * 10 + digit
        }
        index += count
        return value
    }

    @inline(__always) mutating func consume(_ character: Unicode.Scalar) -> Bool {
        guard index < end, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    mutating func skipDigits() -> Bool {
        let start = index
        while digit(index) != nil { index += 1 }
        return index > start
    }

    /// Whether an offset follows, or nothing.
    mutating func skipOffset() -> Bool {
        _ = consume(" ")
        if index == end { return true }
        if consume("Z") || consume("z") { return index == end }
        if end - index == 3, consume("U"), consume("T"), consume("C") { return true }
        guard consume("-") || consume("+"), let hours = digits(2), hours <= 14 else { return false }
        if index == end { return true }
        _ = consume(":")
        guard let minutes = digits(2), minutes < 60 else { return false }
        return index == end
    }
}
