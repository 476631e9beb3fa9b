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
