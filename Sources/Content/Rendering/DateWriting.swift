import Base

extension CompiledPayload {
    /// Replaces a date in an export's form with one in people's form; a failure if it is not a
    /// date.
    func writeDate(_ filter: CompiledFilter, language: Int, bytes: inout [UInt8], from start: Int) -> Failure.Kind? {
        let moment = bytes.withUnsafeBufferPointer { CivilMoment(UnsafeBufferPointer(rebasing: $0[start...])) }
        guard let moment else { return .notADate }
        bytes.removeSubrange(start...)
        let tables = LanguageTables.shared
        let table = tables.languages[language]
        var writer = DateWriter(moment: moment, table: table, names: language * LanguageTable.nameCount)
        if filter.kind == .namedDate {
            let range = table.style(NamedDateStyle(rawValue: Int(filter.number)) ?? .medium)
            // Named dates are entirely in the device's language, including the digits.
            writer.zero = table.zero
            for index in range.start..<range.end {
                writer.write(tables.dateParts[Int(index)], own: literals, language: language, to: &bytes)
            }
        } else {
            for index in filter.text.start..<filter.text.end {
                writer.write(dateParts[Int(index)], own: literals, language: language, to: &bytes)
            }
        }
        return nil
    }
}

private struct DateWriter {
    let moment: CivilMoment
    let table: LanguageTable
    /// The start of the language's names.
    let names: Int
    var zero: UInt32 = 0x30
    private var capitals = false

    init(moment: CivilMoment, table: LanguageTable, names: Int) {
        (self.moment, self.table, self.names) = (moment, table, names)
    }

    @inline(__always)
    mutating func write(_ part: CompiledDatePart, own: [UInt8], language: Int, to bytes: inout [UInt8]) {
        switch part.kind {
        case .pooled: append(part.text, to: &bytes)
        case .own: own.withUnsafeBufferPointer { bytes.append(contentsOf: $0[part.text]) }
        case .year: append(moment.year, width: part.padding == .zero ? 4 : 1, to: &bytes)
        case .shortYear: append(moment.year % 100, width: 2, to: &bytes)
        case .month: append(moment.month, part.padding, to: &bytes)
        case .day: append(moment.day, part.padding, to: &bytes)
        case .hour: append(moment.hour, part.padding, to: &bytes)
        case .hour12: append((moment.hour + 11) % 12 + 1, part.padding, to: &bytes)
        case .minute: append(moment.minute, part.padding, to: &bytes)
        case .second: append(moment.second, part.padding, to: &bytes)
        case .dayOfYear:
            if part.padding == .zero {
                append(moment.dayOfYear, width: 3, to: &bytes)
            } else {
                append(moment.dayOfYear, width: 1, to: &bytes)
            }
        case .monthName: append(name: part.names.start + moment.month - 1, language: language, to: &bytes)
        case .weekdayName: append(name: part.names.start + moment.weekday, language: language, to: &bytes)
        case .dayPeriod: appendName(moment.hour < 12 ? table.am : table.pm, language: language, to: &bytes)
        case .era: append(table.era, to: &bytes)
        case .capitals: capitals = true
        }
    }

    private mutating func append(name: Int, language: Int, to bytes: inout [UInt8]) {
        appendName(LanguageTables.shared.names[names + name], language: language, to: &bytes)
    }

    private mutating func appendName(_ range: TextRange, language: Int, to bytes: inout [UInt8]) {
        let start = bytes.count
        append(range, to: &bytes)
        if capitals { CaseMapping.apply(.upper, language: language, to: &bytes, from: start) }
        capitals = false
    }

    @inline(__always) private func append(_ range: TextRange, to bytes: inout [UInt8]) {
        LanguageTables.shared.pool.withUnsafeBufferPointer { bytes.append(contentsOf: $0[range]) }
    }

    private func append(_ number: Int, _ padding: DatePart.Padding, to bytes: inout [UInt8]) {
        if padding == .space, number < 10 { bytes.append(0x20) }
        append(number, width: padding == .zero ? 2 : 1, to: &bytes)
    }

    private func append(_ number: Int, width: Int, to bytes: inout [UInt8]) {
        var divisor = 1
        var digits = 1
        while digits < width || number / divisor >= 10 {
            divisor *= 10
            digits += 1
        }
        while divisor > 0 {
            appendDigit(number / divisor % 10, zero: zero, to: &bytes)
            divisor /= 10
        }
    }
}

/// Appends a digit, from the digits that begin with `zero`.
@inline(__always) func appendDigit(_ digit: Int, zero: UInt32, to bytes: inout [UInt8]) {
    if zero == 0x30 { return bytes.append(0x30 + UInt8(truncatingIfNeeded: digit)) }
    let scalar = Unicode.Scalar(zero + UInt32(digit)) ?? "0"
    bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
}

/// A piece of a date, ready to be written.
struct CompiledDatePart: BitwiseCopyable {
    enum Kind: UInt8 {
        /// A text in the pool of the language tables.
        case pooled
        /// A text among the payload's own.
        case own
        case year, shortYear, month, day, hour, hour12, minute, second, dayOfYear
        case monthName, weekdayName, dayPeriod, era, capitals
    }

    var kind: Kind
    var padding = DatePart.Padding.none
    /// For `monthName` and `weekdayName`.
    var names = LanguageNames.months
    var text = TextRange.empty

    init(_ kind: Kind, _ text: TextRange = .empty) { (self.kind, self.text) = (kind, text) }

    init(_ kind: Kind, _ padding: DatePart.Padding) { (self.kind, self.padding) = (kind, padding) }

    init(_ kind: Kind, _ names: LanguageNames) { (self.kind, self.names) = (kind, names) }

    /// A field of a CLDR pattern.
    init(letter: UInt8, count: Int) {
        switch Unicode.Scalar(letter) {
        case "y": self.init(count == 2 ? .shortYear : .year)
        case "M" where count < 3: self.init(.month, count == 2 ? .zero : .none)
        case "M": self.init(.monthName, count == 3 ? .shortMonths : .months)
        case "L" where count < 3: self.init(.month, count == 2 ? .zero : .none)
        case "L": self.init(.monthName, count == 3 ? .shortMonthsAlone : .monthsAlone)
        case "d": self.init(.day, count == 2 ? .zero : .none)
        case "E": self.init(.weekdayName, count < 4 ? .shortWeekdays : .weekdays)
        case "c": self.init(.weekdayName, count < 4 ? .shortWeekdaysAlone : .weekdaysAlone)
        case "G": self.init(.era)
        default: preconditionFailure("a pattern has an unknown letter")
        }
    }

    /// A directive.
    /// - Parameters:
    ///   - hasDay: whether there is a day next to the month, which changes the month's form in many
    ///     languages.
    ///   - text: keeps a text among the payload's own.
    init(_ part: DatePart, hasDay: Bool, keeping text: (String) -> TextRange) {
        switch part {
        case .text(let constant): self.init(.own, text(constant))
        case .year: self.init(.year)
        case .shortYear: self.init(.shortYear)
        case .month(let padding): self.init(.month, padding)
        case .day(let padding): self.init(.day, padding)
        case .hour(let padding): self.init(.hour, padding)
        case .hour12(let padding): self.init(.hour12, padding)
        case .minute(let padding): self.init(.minute, padding)
        case .second(let padding): self.init(.second, padding)
        case .dayOfYear(let padding): self.init(.dayOfYear, padding)
        case .monthName: self.init(.monthName, hasDay ? .months : .monthsAlone)
        case .shortMonthName: self.init(.monthName, hasDay ? .shortMonths : .shortMonthsAlone)
        case .weekday: self.init(.weekdayName, hasDay ? .weekdays : .weekdaysAlone)
        case .shortWeekday: self.init(.weekdayName, hasDay ? .shortWeekdays : .shortWeekdaysAlone)
        case .dayPeriod: self.init(.dayPeriod)
        case .capitals: self.init(.capitals)
        }
    }
}

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
