import Base

extension CompiledPayload {
    /// Replaces a number in an export's form with one in people's form; false if it is not a
    /// number.
    /// - Parameter decimals: how many; -1 keeps those of the number, at most three.
    func writeNumber(decimals: Int, language: Int, bytes: inout [UInt8], from start: Int) -> Bool {
        let end = bytes.count
        guard let (wholeCount, isNegative) = appendRounded(decimals, to: &bytes, from: start) else { return false }
        // `bytes` now ends with the digits of the number: those before the point, then those after
        // it.
        let digits = end..<bytes.count
        let tables = LanguageTables.shared
        let table = tables.languages[language]
        if isNegative { append(table.minus, of: tables, to: &bytes) }
        let isGrouped = wholeCount >= table.primaryGroup + table.minimumGrouping
        for (place, index) in digits.enumerated() {
            let left = wholeCount - place
            if left == 0 { append(table.decimal, of: tables, to: &bytes) }
            if isGrouped, place > 0, left > 0, isGroupEnd(left, table) { append(table.group, of: tables, to: &bytes) }
            appendDigit(Int(bytes[index] - 0x30), zero: table.zero, to: &bytes)
        }
        bytes.removeSubrange(start..<digits.upperBound)
        return true
    }

    @inline(__always) private func isGroupEnd(_ left: Int, _ table: LanguageTable) -> Bool {
        left == table.primaryGroup
            || left > table.primaryGroup && (left - table.primaryGroup) % table.secondaryGroup == 0
    }

    private func append(_ range: TextRange, of tables: LanguageTables, to bytes: inout [UInt8]) {
        tables.pool.withUnsafeBufferPointer { bytes.append(contentsOf: $0[range]) }
    }

    /// Appends the digits of a number, rounded half up (away from zero), with at least one before
    /// the point.
    /// - Returns: how many digits are before the point, and whether the number is below zero; nil
    ///   if it is not a number.
    private func appendRounded(_ decimals: Int, to bytes: inout [UInt8], from start: Int) -> (
        wholeCount: Int, isNegative: Bool
    )? {
        let end = bytes.count
        let parts: (whole: Range<Int>, fraction: Range<Int>, isNegative: Bool)? = bytes.withUnsafeBufferPointer { all in
            DecimalText(UnsafeBufferPointer(rebasing: all[start...])).map { ($0.whole, $0.fraction, $0.isNegative) }
        }
        guard let parts else { return nil }
        let count = decimals < 0 ? min(3, parts.fraction.count) : decimals
        var wholeCount = max(1, parts.whole.count)
        if parts.whole.isEmpty { bytes.append(0x30) }
        for index in parts.whole { bytes.append(bytes[start + index]) }
        for place in 0..<count {
            bytes.append(place < parts.fraction.count ? bytes[start + parts.fraction.lowerBound + place] : 0x30)
        }
        if count < parts.fraction.count, bytes[start + parts.fraction.lowerBound + count] >= 0x35 {
            var index = bytes.count - 1
            while index >= end, bytes[index] == 0x39 {
                bytes[index] = 0x30
                index -= 1
            }
            if index >= end {
                bytes[index] += 1
            } else {
                bytes.insert(0x31, at: end)
                wholeCount += 1
            }
        }
        if decimals < 0 {
            while bytes.count > end + wholeCount, bytes[bytes.count - 1] == 0x30 { bytes.removeLast() }
        }
        return (wholeCount, parts.isNegative && bytes[end...].contains { $0 != 0x30 })
    }
}

extension DecimalText {
    /// What plural rules need. Of very long numbers they get the last 18 digits before the point,
    /// which decide, and the first 18 after it.
    var pluralOperands: PluralOperands {
        var operands = PluralOperands(i: 0, f: 0, v: min(fraction.count, 18))
        for index in whole.suffix(18) { operands.i = operands.i * 10 + UInt64(bytes[index] - UInt8(ascii: "0")) }
        // The rules check only the remainder by a power of ten, or whether the number is a certain
        // small one.
        if whole.count > 18 { operands.i += 1_000_000_000_000_000_000 }
        for index in fraction.prefix(18) { operands.f = operands.f * 10 + UInt64(bytes[index] - UInt8(ascii: "0")) }
        return operands
    }

    /// Whether it is 1 or -1.
    var isOne: Bool { whole.count == 1 && fraction.isEmpty && bytes[whole.lowerBound] == UInt8(ascii: "1") }
}
