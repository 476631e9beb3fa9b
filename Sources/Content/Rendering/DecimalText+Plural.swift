import Base

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
