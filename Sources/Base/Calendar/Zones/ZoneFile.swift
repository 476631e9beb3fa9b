/// A zone's file as written by the tz database's compiler. Source: RFC 9636, TZif; reads only what
/// clocks need. The bytes may be anything.
struct ZoneFile {
    /// Ascending, seconds since 1970.
    var transitions: [Int64]
    /// Seconds east of UTC from each transition on.
    var offsets: [Int]
    /// Seconds east of UTC before the first transition.
    var firstOffset: Int
    /// The rule for all times after the last transition; nil if the file ends without one.
    var footer: PosixZone?

    private struct Header {
        static let length = 44
        var isUTCCount, isStandardCount, leapCount, timeCount, typeCount, characterCount: Int
    }

    /// nil if the bytes are not a zone of format 2 or later, or count leap seconds.
    init?(_ bytes: [UInt8]) {
        guard let (header, block64) = Self.newBlock(of: bytes), header.typeCount > 0, header.leapCount == 0 else {
            return nil
        }
        let rest = block64.dropFirst(Header.length)
        let block =
            header.timeCount * 9 + header.typeCount * 6 + header.characterCount + header.isStandardCount
            + header.isUTCCount
        guard rest.count >= block else { return nil }
        let types = rest.dropFirst(header.timeCount * 9)
        let offsetOfType = (0..<header.typeCount).map { type in
            Int(Int32(truncatingIfNeeded: Self.number(types.dropFirst(type * 6).prefix(4))))
        }
        guard offsetOfType.allSatisfy({ abs($0) <= ZoneRules.largestOffset }) else { return nil }
        transitions = (0..<header.timeCount).map { Int64(bitPattern: Self.number(rest.dropFirst($0 * 8).prefix(8))) }
        let indices = rest.dropFirst(header.timeCount * 8).prefix(header.timeCount)
        guard indices.allSatisfy({ Int($0) < header.typeCount }),
            zip(transitions, transitions.dropFirst()).allSatisfy(<)
        else {
            return nil
        }
        offsets = indices.map { offsetOfType[Int($0)] }
        firstOffset = offsetOfType[0]
        let tail = rest.dropFirst(block)
        guard tail.first == UInt8(ascii: "\n"), let end = tail.dropFirst().firstIndex(of: UInt8(ascii: "\n")) else {
            return nil
        }
        let text = String(decoding: tail[tail.startIndex + 1..<end], as: UTF8.self)
        footer = PosixZone(text)
        if footer == nil, !text.isEmpty { return nil }
    }

    /// Whether the bytes are a zone that counts leap seconds, as the files below `right` do: their
    /// moments are not seconds since 1970 as POSIX defines them.
    static func countsLeapSeconds(_ bytes: [UInt8]) -> Bool { (newBlock(of: bytes)?.header.leapCount ?? 0) > 0 }

    /// The header of the block with 64 bits, and the bytes from there on. The block before it is
    /// for programs that support only 32 bits.
    private static func newBlock(of bytes: [UInt8]) -> (header: Header, rest: ArraySlice<UInt8>)? {
        guard let first = header(bytes[...]), bytes[4] >= UInt8(ascii: "2") else { return nil }
        let oldBlock =
            first.timeCount * 5 + first.typeCount * 6 + first.characterCount + first.leapCount * 8
            + first.isStandardCount
            + first.isUTCCount
        let rest = bytes.dropFirst(Header.length + oldBlock)
        return header(rest).map { ($0, rest) }
    }

    private static func header(_ bytes: ArraySlice<UInt8>) -> Header? {
        guard bytes.count >= Header.length, bytes.prefix(4).elementsEqual("TZif".utf8) else { return nil }
        // No zone has nearly this many; the limit keeps the sums of damaged files small.
        let counts = (0..<6).map { Int(number(bytes.dropFirst(20 + $0 * 4).prefix(4))) }
        guard counts.allSatisfy({ $0 < 1 << 20 }) else { return nil }
        return Header(
            isUTCCount: counts[0], isStandardCount: counts[1], leapCount: counts[2], timeCount: counts[3],
            typeCount: counts[4],
            characterCount: counts[5])
    }

    /// Big-endian.
    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// The rule at the end of a zone's file, for all years after its last transition:
/// `CET-1CEST,M3.5.0,M10.5.0/3`.
/// Source: POSIX.1-2017, section 8.3 (`TZ`), with RFC 9636, section 3.3.1: hours from -167 to 167.
struct PosixZone: Hashable, Sendable {
    /// Seconds east of UTC in standard time.
    var standardOffset: Int
    /// Summer time; nil if the zone has none.
    var summer: Summer?

    struct Summer: Hashable, Sendable {
        /// Seconds east of UTC.
        var offset: Int
        var begins: YearlyMoment
        var ends: YearlyMoment
    }

    /// A day of each year, and a time of that day on the clock before the change.
    struct YearlyMoment: Hashable, Sendable {
        enum Day: Hashable, Sendable {
            /// 1 to 365; February 29 is not counted. (`J60`)
            case withoutLeapDay(Int)
            /// 0 to 365. (`59`)
            case withLeapDay(Int)
            /// The nth weekday of a month, 5 being the last; 0 is Sunday. (`M3.5.0`)
            case weekday(Int, week: Int, month: Int)
        }
        var day: Day
        /// Seconds after midnight; may be negative or more than a day.
        var seconds: Int

        /// Seconds since 1970 on that clock, in a year.
        func wallSeconds(in year: Int) -> Int {
            let newYear = LocalTime.dayNumber(year, month: 1, day: 1)
            let dayNumber: Int
            switch day {
            case .withoutLeapDay(let number):
                let isLeap = LocalTime.days(inMonth: 2, of: year) == 29
                dayNumber = newYear + number - 1 + (isLeap && number >= 60 ? 1 : 0)
            case .withLeapDay(let number): dayNumber = newYear + number
            case .weekday(let weekday, let week, let month):
                let first = LocalTime.dayNumber(year, month: month, day: 1)
                let firstWeekday = LocalTime(minutes: first * 24 * 60).weekday
                var day = 1 + (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
                if day > LocalTime.days(inMonth: month, of: year) { day -= 7 }
                dayNumber = first + day - 1
            }
            return dayNumber * 86_400 + seconds
        }
    }

    /// Seconds east of UTC at a moment, in seconds since 1970.
    func offset(at second: Int64) -> Int {
        guard summer != nil else { return standardOffset }
        let year = Self.year(of: second)
        return changes(inYears: year - 1...year + 1).last { $0.at <= second }?.offset ?? standardOffset
    }

    /// When the clock changes, and seconds east of UTC from then on, in chronological order.
    func changes(inYears years: ClosedRange<Int>) -> [(at: Int64, offset: Int)] {
        guard let summer else { return [] }
        var changes: [(at: Int64, offset: Int)] = []
        for year in years {
            let begin = Int64(summer.begins.wallSeconds(in: year) - standardOffset)
            let end = Int64(summer.ends.wallSeconds(in: year) - summer.offset)
            changes += [(begin, summer.offset), (end, standardOffset)]
        }
        // If summer time lasts all year, it ends at the moment at which the next one begins: the
        // beginning counts.
        return changes.sorted {
            ($0.at, $0.offset == summer.offset ? 1 : 0) < ($1.at, $1.offset == summer.offset ? 1 : 0)
        }
    }

    static func year(of second: Int64) -> Int {
        LocalTime(minutes: LocalTime.quotient(Int(second), divisor: 60)).date.year
    }
}

extension PosixZone {
    /// Reads a rule; nil if the text is not one.
    init?(_ text: some StringProtocol) {
        var scanner = Scanner(rest: Array(text.utf8)[...])
        guard scanner.name(), let west = scanner.time() else { return nil }
        standardOffset = -west
        guard !scanner.rest.isEmpty else { return }
        guard scanner.name() else { return nil }
        var offset = standardOffset + 3600
        if scanner.rest.first != UInt8(ascii: ",") {
            guard let west = scanner.time() else { return nil }
            offset = -west
        }
        guard scanner.consume(","), let begins = scanner.yearly(), scanner.consume(","), let ends = scanner.yearly(),
            scanner.rest.isEmpty
        else {
            return nil
        }
        summer = Summer(offset: offset, begins: begins, ends: ends)
    }

    /// Reads a rule as the variable TZ holds it: `CST-8`, `<+0330>-3:30`, `EST5EDT`. Summer time
    /// without days follows the law of the United States, as in the C library. nil where the C
    /// library reads only a part of the text, or an offset of more than a day.
    init?(variable text: String) {
        let isWithoutDays = !text.utf8.dropLast().contains(UInt8(ascii: ","))
        let short = text.hasSuffix(",") ? text.dropLast() : text[...]
        let written = Self(text) ?? (isWithoutDays ? Self(short + ",M3.2.0,M11.1.0") : nil)
        guard let written, abs(written.standardOffset) < 25 * 3600, abs(written.summer?.offset ?? 0) < 26 * 3600 else {
            return nil
        }
        self = written
    }

    private struct Scanner {
        var rest: ArraySlice<UInt8>

        mutating func consume(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }

        /// `CET`, `<+0545>`
        mutating func name() -> Bool {
            let isQuoted = consume("<"), before = rest.count
            rest = rest.drop { Self.isLetter($0) || isQuoted && "0123456789+-".utf8.contains($0) }
            return before - rest.count >= 3 && (!isQuoted || consume(">"))
        }

        private static func isLetter(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) && byte < 0x80
        }

        /// `[+-]hh[:mm[:ss]]` in seconds.
        mutating func time() -> Int? {
            let isNegative = consume("-")
            if !isNegative { _ = consume("+") }
            guard let hours = number(), hours <= 167 else { return nil }
            var seconds = hours * 3600
            for unit in [60, 1] where consume(":") {
                guard let part = number(), part < 60 else { return nil }
                seconds += part * unit
            }
            return isNegative ? -seconds : seconds
        }

        mutating func yearly() -> YearlyMoment? {
            guard let day = day() else { return nil }
            guard consume("/") else { return YearlyMoment(day: day, seconds: 2 * 3600) }
            return time().map { YearlyMoment(day: day, seconds: $0) }
        }

        private mutating func day() -> YearlyMoment.Day? {
            if consume("J") { return number().flatMap { (1...365).contains($0) ? .withoutLeapDay($0) : nil } }
            guard consume("M") else { return number().flatMap { (0...365).contains($0) ? .withLeapDay($0) : nil } }
            guard let month = number(), (1...12).contains(month), consume("."), let week = number(),
                (1...5).contains(week), consume("."),
                let weekday = number(), (0...6).contains(weekday)
            else { return nil }
            return .weekday(weekday, week: week, month: month)
        }

        private mutating func number() -> Int? {
            let digits = rest.prefix(4).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(digits.count)
            return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }
    }
}
