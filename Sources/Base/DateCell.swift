/// Reads a date as `Timestamp` does, without an allocation for the two forms that most exports hold: `2026-11-01` and
/// `2026-11-01T09:30:15` with `Z` or without.
/// - Returns: milliseconds since 1970, or nil when it is no date.
public func dateMilliseconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    if bytes.count == 10 || bytes.count == 19 || bytes.count == 20, let moment = commonDate(bytes) { return moment }
    guard bytes.count >= 8, bytes.count <= 64 else { return nil }
    return Timestamp(bytes)?.epochMilliseconds
}

/// nil also for dates of the common forms that only `Timestamp` can judge, such as the last days of a month.
@inline(__always) private func commonDate(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    var isValid = true
    func number(_ first: Int, _ count: Int) -> Int {
        var value = 0
        for place in first..<first + count {
            let digit = bytes[place] &- UInt8(ascii: "0")
            if digit > 9 { isValid = false }
            value = value * 10 + Int(digit)
        }
        return value
    }
    let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2))
    guard isValid, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"), (1...12).contains(month), (1...28).contains(day) else {
        return nil
    }
    let midnight = Int64(daysFromCivil(year: year, month: month, day: day)) * 86_400_000
    guard bytes.count > 10 else { return midnight }
    guard bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " "), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
        bytes.count == 19 || bytes[19] == UInt8(ascii: "Z")
    else { return nil }
    let (hour, minute, second) = (number(11, 2), number(14, 2), number(17, 2))
    guard isValid, hour < 24, minute < 60, second < 60 else { return nil }
    return midnight + Int64(hour * 3600 + minute * 60 + second) * 1000
}

/// Whether a date says no time of day: `2026-11-01`, `20261101`.
public func isDayOnly(_ date: UnsafeBufferPointer<UInt8>) -> Bool { date.count == 8 || date.count == 10 && date[4] == UInt8(ascii: "-") }
