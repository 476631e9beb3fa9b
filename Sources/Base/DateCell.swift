/// Reads a date as `Timestamp` does, without an allocation for the two most common forms in
/// exports: `2026-11-01` and `2026-11-01T09:30:15`, with or without `Z`.
/// - Returns: milliseconds since 1970, or nil if it is not a date.
public func dateMilliseconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    if bytes.count == 10 || bytes.count == 19 || bytes.count == 20, let moment = commonDate(bytes) { return moment }
    guard bytes.count >= 8, bytes.count <= 64 else { return nil }
    return Timestamp(bytes)?.epochMilliseconds
}

/// The last moment that a cell may mean: a date without a time means its whole day.
/// - Returns: milliseconds since 1970, or nil if it is not a date.
public func latestMilliseconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    dateMilliseconds(bytes).map { isDayOnly(bytes) ? $0 + 86_399_999 : $0 }
}

/// nil also for dates of the common forms that only `Timestamp` can judge, such as the 29th of
/// February.
@inline(__always) private func commonDate(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    let raw = UnsafeRawBufferPointer(bytes)
    guard let date = Digits(raw, 0, of: "0000-00-") else { return nil }
    let month = date.pair(5)
    guard (1...12).contains(month) else { return nil }
    let (tens, ones) = (Int(raw[8] &- UInt8(ascii: "0")), Int(raw[9] &- UInt8(ascii: "0")))
    let day = tens * 10 + ones
    guard tens <= 3, ones <= 9, day >= 1, day <= 28 || month != 2 && day <= 30 + (month ^ month >> 3) & 1 else {
        return nil
    }
    let year = date.pair(0) * 100 + date.pair(2)
    guard year > 0 else { return nil }
    let midnight = Int64(days(year, month: month, day: day)) * 86_400_000
    guard raw.count > 10 else { return midnight }
    guard raw[10] == UInt8(ascii: "T") || raw[10] == UInt8(ascii: " "), raw.count == 19 || raw[19] == UInt8(ascii: "Z"),
        let time = Digits(raw, 11, of: "00:00:00")
    else { return nil }
    let (hour, minute, second) = (time.pair(0), time.pair(3), time.pair(6))
    guard hour < 24, minute < 60, second < 60 else { return nil }
    return midnight + Int64(hour * 3600 + minute * 60 + second) * 1000
}

/// `daysFromCivil` of a year above 0, in a third of the steps.
@inline(__always) private func days(_ year: Int, month: Int, day: Int) -> Int {
    // Years begin in March, so that the leap day is their last.
    let isBeforeMarch = month < 3
    let years = UInt32(truncatingIfNeeded: isBeforeMarch ? year - 1 : year)
    let months = UInt32(truncatingIfNeeded: isBeforeMarch ? month + 9 : month - 3)
    let days = years &* 365 &+ years / 4 &- years / 100 &+ years / 400 &+ (months &* 153 &+ 2) / 5
    return Int(days) + day - 719_469
}

/// The digits of eight bytes of a form, each in the low half of its byte.
private struct Digits {
    private let values: UInt64

    /// nil if the bytes do not have the form: a digit for each 0, and every other character
    /// exactly.
    @inline(__always) init?(_ raw: UnsafeRawBufferPointer, _ place: Int, of form: StaticString) {
        let template = UInt64(littleEndian: UnsafeRawPointer(form.utf8Start).loadUnaligned(as: UInt64.self))
        let zeros: UInt64 = 0x3030_3030_3030_3030
        // 0 where the template has a digit, and not 0 elsewhere, where every bit must match.
        let fixed = template ^ zeros
        values = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)) ^ template
        let isFixed = (fixed &+ 0x7F7F_7F7F_7F7F_7F7F) & 0x8080_8080_8080_8080
        // The high bit is set for a digit beyond 9, and for any difference at a fixed character.
        let most = 0x7676_7676_7676_7676 &+ (isFixed &>> 7) &* 9
        guard ((values &+ most) | values) & 0x8080_8080_8080_8080 == 0 else { return nil }
    }

    /// The number made of two digits.
    @inline(__always) func pair(_ place: Int) -> Int {
        let two = values >> UInt64(8 * place)
        return Int(two & 0xF) * 10 + Int(two >> 8 & 0xF)
    }
}

/// Whether a date has no time of day: `2026-11-01`, `20261101`.
public func isDayOnly(_ date: UnsafeBufferPointer<UInt8>) -> Bool {
    date.count == 8 || date.count == 10 && date[4] == UInt8(ascii: "-")
}
