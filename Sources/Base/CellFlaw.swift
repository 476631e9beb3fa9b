/// Damage that a cell suffered on its way: letters that went through the wrong encoding, HTML,
/// quotes that a program added, code in place of text.
public enum CellFlaw: CaseIterable, Hashable, Sendable {
    /// UTF-8 that was read as Windows-1252 (`JÃ¼rgen`), or that could not be read (U+FFFD).
    case garbled
    /// `Zo&euml;`
    case entity
    /// `'Anna'`, `“Anna”`
    case quoted
    /// `'Anna`, as Excel marks a text; `Anna"`
    case unmatched
    /// What programs write for themselves: a formula (`="Anna"`, `=CONCAT(A1)`), an object
    /// (`{"first":"Anna"}`, `[object Object]`), a quote with a backslash (`O\'Neil`, from MySQL), a
    /// number that a spreadsheet shortened (`1.76E+09`).
    case code

    /// The first flaw of a cell, in UTF-8; nil for nearly all cells.
    @inlinable public static func of(_ cell: UnsafeBufferPointer<UInt8>) -> CellFlaw? {
        if let first = cell.first,
            first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") || first == 0xE2 || first == 0xC2,
            isQuoted(cell)
        {
            return .quoted
        }
        if mayBeCode(cell), isCode(cell) { return .code }
        var mayBeUnmatched = mayBeUnmatched(cell)
        for index in cell.indices {
            let byte = cell[index]
            // U+00C3, and characters above U+EFFF, begin with these bytes.
            guard
                byte == 0xC3 || byte == 0xEF || byte == UInt8(ascii: "&") || byte == UInt8(ascii: "\"")
                    || byte == UInt8(ascii: "\\")
            else { continue }
            if byte == UInt8(ascii: "\\") {
                let next = index + 1 < cell.endIndex ? cell[index + 1] : 0
                if next == UInt8(ascii: "'") || next == UInt8(ascii: "\"") { return .code }
                continue
            }
            if byte == UInt8(ascii: "\"") {
                mayBeUnmatched = true
                continue
            }
            if let flaw = flaw(UnsafeBufferPointer(rebasing: cell[index...])) { return flaw }
        }
        return mayBeUnmatched && isUnmatched(cell) ? .unmatched : nil
    }

    /// Whether a cell begins or ends as code does.
    @inlinable static func mayBeCode(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        guard cell.count > 3 else { return false }
        switch cell[0] {
        case UInt8(ascii: "="), UInt8(ascii: "{"), UInt8(ascii: "["): return true
        default: return cell[cell.count - 3] == UInt8(ascii: "+")
        }
    }

    /// Whether a whole cell is a formula, an object or a shortened number.
    @usableFromInline static func isCode(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        let text = String(decoding: cell, as: UTF8.self)
        return switch cell[0] {
        case UInt8(ascii: "="): text.wholeMatch(of: /=("[^"]*"|[A-Za-z][A-Za-z0-9_.]*\(.*\))/) != nil
        case UInt8(ascii: "["): text.hasPrefix("[object ") && text.hasSuffix("]")
        case UInt8(ascii: "{"): text.wholeMatch(of: /\{\s*".*"\s*:.*\}/) != nil
        default: text.wholeMatch(of: /-?[0-9]([.,][0-9]+)?[eE]\+[0-9]{2}/) != nil
        }
    }

    /// Whether quotes of any form enclose the whole cell.
    @usableFromInline static func isQuoted(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        var text = String(decoding: cell, as: UTF8.self).unicodeScalars.drop(while: Blank.isInvisible)
        while text.last.map(Blank.isInvisible) ?? false { text.removeLast() }
        guard text.count > 2, let first = text.first, let last = text.last else { return false }
        switch first {
        case "\"", "'": return last == first && !text.dropFirst().dropLast().contains(first)
        case "\u{201C}", "\u{201D}": return last == "\u{201D}" || last == "\u{201C}"
        case "\u{2018}", "\u{2019}": return last == "\u{2019}" || last == "\u{2018}"
        case "\u{AB}": return last == "\u{BB}"
        default: return false
        }
    }

    /// Whether a quote other than `"` may be at the beginning or the end of a cell.
    @inlinable static func mayBeUnmatched(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        guard cell.count > 2 else { return false }
        // U+2000 to U+203F, « and »; within a cell, apostrophes are of words.
        return cell[0] == UInt8(ascii: "'") || cell[0] == 0xE2 && cell[1] == 0x80 || cell[0] == 0xC2
            || cell[cell.count - 3] == 0xE2 && cell[cell.count - 2] == 0x80 || cell[cell.count - 2] == 0xC2
    }

    /// Whether a quote in the cell has no other half. Not counted: inches (`27"`), abbreviations in
    /// Hebrew (`צה"ל`) and words that begin with an apostrophe (`'s-Gravenhage`).
    @usableFromInline static func isUnmatched(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        var text = String(decoding: cell, as: UTF8.self).unicodeScalars.drop(while: Blank.isInvisible)
        while text.last.map(Blank.isInvisible) ?? false { text.removeLast() }
        let scalars = Array(text)
        func isHebrew(_ place: Int) -> Bool {
            scalars.indices.contains(place) && (0x590...0x5FF).contains(scalars[place].value)
        }
        var (straight, curly, opened, closed) = (0, 0, 0, 0)
        for (place, scalar) in scalars.enumerated() {
            let isMeasure = place > 0 && scalars[place - 1].properties.numericType != nil
            switch scalar {
            case "\"" where !isMeasure && !(isHebrew(place - 1) && isHebrew(place + 1)): straight += 1
            case "\u{201C}", "\u{201E}", "\u{201F}": curly += 1
            case "\u{201D}" where !isMeasure || curly % 2 == 1: curly += 1
            case "\u{AB}": opened += 1
            case "\u{BB}": closed += 1
            default: break
            }
        }
        // A closing quote may follow a number: "Room 5".
        let all = scalars.count { $0 == "\"" }
        if straight % 2 == 1 && all % 2 == 1 || curly % 2 == 1 || opened != closed { return true }
        return scalars.first == "'" && scalars.last != "'" && scalars.count > 1 && !isElision(scalars.dropFirst())
    }

    /// `'t`, `'s-Gravenhage`, `'90s`
    private static func isElision(_ scalars: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let first = scalars.first, first.properties.isAlphabetic else {
            return scalars.first?.properties.numericType != nil
        }
        let word = String(String.UnicodeScalarView(scalars.prefix { $0.properties.isAlphabetic })).lowercased()
        return word.unicodeScalars.count == 1 || ["em", "til", "tis", "twas", "cause"].contains(word)
    }

    @usableFromInline static func flaw(_ bytes: UnsafeBufferPointer<UInt8>) -> CellFlaw? {
        if bytes[0] == UInt8(ascii: "&") { return isEntity(bytes) ? .entity : nil }
        if bytes.starts(with: [0xEF, 0xBF, 0xBD]) { return .garbled }
        guard bytes[0] == 0xC3, bytes.count > 3 else { return nil }
        switch bytes[1] {
        // Ã and Â, before the character that Windows-1252 makes of a byte from 0x80 to 0xBF.
        case 0x83, 0x82: return continuation(bytes, at: 2) > 0 ? .garbled : nil
        // â€ and ðŸ
        case 0xA2: return bytes.dropFirst(2).starts(with: [0xE2, 0x82, 0xAC]) ? .garbled : nil
        case 0xB0: return bytes.dropFirst(2).starts(with: [0xC5, 0xB8]) ? .garbled : nil
        // Cyrillic, Arabic, Hebrew: two pairs in a row.
        case 0x90, 0x91, 0x97, 0x98, 0x99:
            let next = 2 + continuation(bytes, at: 2)
            guard next > 2, next + 1 < bytes.count, bytes[next] == 0xC3,
                [0x90, 0x91, 0x97, 0x98, 0x99].contains(bytes[next + 1])
            else {
                return nil
            }
            return continuation(bytes, at: next + 2) > 0 ? .garbled : nil
        default: return nil
        }
    }

    /// The number of bytes of a character that Windows-1252 has for 0x80 to 0xBF; 0 for others.
    private static func continuation(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
        guard index + 1 < bytes.count else { return 0 }
        switch bytes[index] {
        case 0xC2, 0xC5, 0xC6, 0xCB: return 2
        case 0xE2: return 3
        default: return 0
        }
    }

    /// `&euml;`, `&#39;`, `&#x27;`
    private static func isEntity(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let inside = bytes.dropFirst().prefix(10).prefix { $0 != UInt8(ascii: ";") }
        guard inside.count > 1, inside.endIndex < bytes.count, bytes[inside.endIndex] == UInt8(ascii: ";") else {
            return false
        }
        return inside.enumerated().allSatisfy { offset, byte in
            byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z") || byte >= 0x30 && byte <= 0x39
                || offset == 0 && byte == UInt8(ascii: "#")
        }
    }
}

/// Cells in a column of people's names that cannot be names: `?`, `12345`, `a@b.c`.
public enum NameCell {
    /// Whether a column holds people's names, judged by its own name.
    public static func isColumn(_ name: String) -> Bool {
        let plain = name.lowercased().filter { $0 != "_" && $0 != " " && $0 != "-" }
        return [
            "name", "firstname", "lastname", "fname", "lname", "fullname", "givenname", "surname", "forename",
            "nickname", "vorname",
            "nachname",
            "prenom", "prénom", "nombre", "nome",
        ].contains(plain)
    }

    /// Whether a cell is not a name.
    /// - Parameter cell: not blank.
    public static func isNoName(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        // Letters of other scripts begin above ASCII.
        guard cell.contains(where: { $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") || $0 > 0x7F })
        else { return true }
        return cell.firstIndex(of: UInt8(ascii: "@")).map { cell[$0...].contains(UInt8(ascii: ".")) } ?? false
    }
}
