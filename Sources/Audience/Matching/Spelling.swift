import Base

/// Compares texts that look the same to people: they may differ in capitals, blanks, hyphens,
/// apostrophes, forms of letters, invisible characters.
enum Spelling {
    /// A text without the details that people overlook. Texts with the same meaning may differ by
    /// more, and this alone never equates two texts.
    static func folded(_ text: String) -> String {
        var scalars = Array(
            String(String.UnicodeScalarView(text.unicodeScalars.map(usual))).lowercased().unicodeScalars)
        while scalars.last == "." { scalars.removeLast() }
        var kept = String.UnicodeScalarView()
        for (place, scalar) in scalars.enumerated() {
            // The dot above a Turkish i, which lower-casing leaves behind.
            if scalar.value == 0x307, place > 0, scalars[place - 1] == "i" { continue }
            if scalar == "ı" {
                kept.append("i")
                continue
            }
            if isJoint(scalar) {
                // 1-2 is not 12.
                let isBetweenDigits =
                    place > 0 && place + 1 < scalars.count && isDigit(scalars[place - 1]) && isDigit(scalars[place + 1])
                // Nor is -1, which programs write where they have no number, 1.
                let isMinus = place == 0 && scalar == "-" && scalars.count > 1 && isDigit(scalars[1])
                if isBetweenDigits || isMinus { kept.append("-") }
                continue
            }
            if scalar.properties.generalCategory != .format { kept.append(isApostrophe(scalar) ? "'" : scalar) }
        }
        return String(kept)
    }

    /// A text without quotes, brackets and blanks around it, of whatever script.
    static func core(_ text: Substring) -> Substring { without(text) { isEdge($0) } }

    /// A text without certain characters around it.
    static func without(_ text: Substring, _ isLeftOut: (Unicode.Scalar) -> Bool) -> Substring {
        var part = text.unicodeScalars
        while let first = part.first, isLeftOut(first) { part.removeFirst() }
        while let last = part.last, isLeftOut(last) { part.removeLast() }
        return Substring(part)
    }

    /// Whether a quote or a bracket is before or after a text.
    static func isEnclosed(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        return scalars.prefix(while: isEdge).contains(where: isQuote)
            || scalars.reversed().prefix(while: isEdge).contains(where: isQuote)
    }

    /// A text's core in Latin letters that look like its own, folded: equal for texts that a person
    /// takes for the same name, one of them written with quotes, invisible characters or letters of
    /// another script.
    static func plain(_ text: String) -> String {
        folded(String(String.UnicodeScalarView(core(text[...]).unicodeScalars.map { doubles[$0] ?? $0 })))
    }

    /// A number that is the same for texts with the same `plain` form, found without allocating
    /// memory; others may have it, too. Texts in Greek capitals, and letters that are composed in
    /// one text and not in the other, may have different numbers.
    static func outline(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var (outline, pending, place): (UInt64, UInt32, Int) = (0xCBF2_9CE4_8422_2325, 0, 0)
        while place < text.count {
            let byte = text[place]
            var (scalar, length) = (UInt32(byte), 1)
            if byte >= 0xC0 {
                length = min(byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2, text.count - place)
                scalar &= 0x7F >> UInt32(length)
                for next in place + 1..<place + length { scalar = scalar << 6 | UInt32(text[next] & 0x3F) }
            }
            place += length
            if scalar &- 0x300 < 0x70 {
                // An accent makes another letter, but for the dot above an i.
                if scalar != 0x307 || pending != UInt32(UInt8(ascii: "i")) { pending = 0 }
                continue
            }
            let kept = outlined(scalar)
            // Signs are ignored; they end a letter nevertheless.
            if pending != 0 { outline = (outline ^ UInt64(pending)) &* 0x100_0000_01B3 }
            pending = kept
        }
        return pending == 0 ? outline : (outline ^ UInt64(pending)) &* 0x100_0000_01B3
    }

    /// What an outline has of a character; 0 for nothing.
    @inline(__always) private static func outlined(_ scalar: UInt32) -> UInt32 {
        switch scalar {
        case 0x30...0x39, 0x61...0x7A: scalar
        case 0x41...0x5A: scalar | 0x20
        case 0x80..<0x530: UInt32(outlinedDoubles[Int(scalar)])
        // Scripts without capitals.
        case 0x5D0...0x5EA, 0x627...0x64A, 0xE01...0xE5B, 0x3041...0x30FF, 0x3400...0x9FFF, 0xAC00...0xD7A3: scalar
        case 0x1D00...: styled[scalar].map { $0.value | 0x20 } ?? 0
        default: 0
        }
    }

    /// By letter: the small Latin one that it, or its other case, looks like; 0 for none.
    private static let outlinedDoubles: [UInt8] = {
        var table = [UInt8](repeating: 0, count: 0x530)
        func note(_ scalar: Unicode.Scalar, _ meant: Unicode.Scalar) {
            if scalar.value < 0x530, table[Int(scalar.value)] == 0 {
                table[Int(scalar.value)] = UInt8(truncatingIfNeeded: meant.value | 0x20)
            }
        }
        for (scalar, meant) in doubles { note(scalar, meant) }
        for (scalar, meant) in doubles.sorted(by: { $0.key < $1.key }) {
            for text in [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping] {
                if let other = text.unicodeScalars.first, text.unicodeScalars.count == 1 { note(other, meant) }
            }
        }
        // A Turkish İ.
        table[0x130] = UInt8(ascii: "i")
        return table
    }()

    /// Whether a text may be another name in disguise: it is not ASCII, or begins or ends with a
    /// quote, a bracket, a blank.
    /// - Parameter text: `NameTable.slack` bytes after it are readable.
    @inline(__always) static func mayBeDisguised(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let base = UnsafeRawBufferPointer(text).baseAddress, !text.isEmpty else { return false }
        if isASCIIEdge(text[0]) || isASCIIEdge(text[text.count - 1]) { return true }
        var (bits, place): (UInt64, Int) = (0, 0)
        while place < text.count {
            let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            let rest = text.count - place
            bits |= rest < 8 ? word & (1 &<< UInt64(truncatingIfNeeded: 8 * rest) &- 1) : word
            place += 8
        }
        return bits & 0x8080_8080_8080_8080 != 0
    }

    /// Control characters, blanks and `"'()<>`, then ``[]`{}``, as bits.
    @inline(__always) private static func isASCIIEdge(_ byte: UInt8) -> Bool {
        let marks: UInt64 = byte < 0x40 ? 0x5000_0385_FFFF_FFFF : 0xA800_0001_2800_0000
        return byte >= 0x80 || marks >> UInt64(byte & 0x3F) & 1 != 0
    }

    /// What may be around a name: quotes, brackets, blanks.
    static func isEdge(_ scalar: Unicode.Scalar) -> Bool {
        let category = scalar.properties.generalCategory
        return scalar == " " || [.control, .spaceSeparator, .format].contains(category) || isQuote(scalar)
    }

    /// A quote or a bracket.
    private static func isQuote(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return "[]{}()<>\"'`".unicodeScalars.contains(scalar) }
        if "\u{B4}\u{2032}\u{2033}\u{FF02}\u{FF07}".unicodeScalars.contains(scalar) { return true }
        return switch scalar.properties.generalCategory {
        case .initialPunctuation, .finalPunctuation, .openPunctuation, .closePunctuation: true
        default: false
        }
    }

    /// For a message: how a text differs from a name that it equals apart from details that people
    /// overlook.
    static func difference(of text: String, from name: String) -> String {
        if isEnclosed(text) != isEnclosed(name) { return "apart from quotes or brackets around it" }
        if let invisible = (text.unicodeScalars + name.unicodeScalars).first(where: { isOddBlank($0) }) {
            return "apart from an invisible character (\(code(invisible)))"
        }
        if let double = double(text, name) {
            return "apart from \(code(double)), which looks like '\(doubles[double] ?? double)'"
        }
        func plain(_ text: String) -> String {
            var kept = String.UnicodeScalarView()
            for scalar in text.lowercased().unicodeScalars where !scalar.properties.isWhitespace { kept.append(scalar) }
            return String(kept)
        }
        func withoutApostrophes(_ text: String) -> String {
            String(String.UnicodeScalarView(text.unicodeScalars.filter { !isApostrophe($0) }))
        }
        if text != name, withoutApostrophes(text) == withoutApostrophes(name) {
            return "apart from the form of its apostrophe"
        }
        if text == name { return "apart from the form of its letters (Unicode's NFC and NFD)" }
        return plain(text) == plain(name)
            ? "apart from capitals or blanks"
            : "apart from capitals, blanks, hyphens, apostrophes or the form of its letters"
    }

    /// The letter of another script in one of two texts that are the same otherwise; nil without
    /// such a letter.
    private static func double(_ text: String, _ name: String) -> Unicode.Scalar? {
        folded(text) == folded(name)
            ? nil
            : zip(text.unicodeScalars, name.unicodeScalars).first {
                $0 != $1 && (doubles[$0] ?? $0) == (doubles[$1] ?? $1)
            }
            .map { doubles[$0] == nil ? $1 : $0 }
    }

    /// Whether two texts look the same to people, or nearly: apart from quotes around them,
    /// invisible characters, letters of another script.
    static func looksTheSame(_ text: String, _ name: String) -> Bool {
        text == name || hasInvisible(text) || isEnclosed(text) != isEnclosed(name) || double(text, name) != nil
    }

    /// How a name that a person takes for another one differs from it, for a message:
    /// `an invisible character (U+200B) at position 1`. nil for the same name, for one that looks
    /// different, and for one that differs in capitals alone.
    static func disguise(of name: String, as wanted: String) -> String? {
        guard name != wanted else { return nil }
        var plain = String.UnicodeScalarView()
        var found: String?
        for (place, scalar) in name.unicodeScalars.enumerated() {
            if isOddBlank(scalar) || scalar.value > 0x7F && scalar.properties.isDefaultIgnorableCodePoint {
                found = found ?? "an invisible character (\(code(scalar))) at position \(place + 1)"
                continue
            }
            let meant = doubles[scalar] ?? usual(scalar)
            if meant != scalar {
                found = found ?? "\(code(scalar)), which looks like '\(meant)', at position \(place + 1)"
            }
            plain.append(meant)
        }
        return String(plain).lowercased() == wanted.lowercased() ? found : nil
    }

    /// Letters of other scripts that look like Latin ones, small letters as far as they differ,
    /// capitals. Source: Unicode, UTS 39, confusables.
    private static let doubles: [Unicode.Scalar: Unicode.Scalar] = {
        let pairs =
            "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwӏlАAВBЕEКKМMНHОOРPСCТTХXУYІIЈJЅS" + "οoνvρpιiαaΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX"
            + "υuγyσoϲcϳj"
            + "гrѵvүy" + "ıiɑaɡgſs"
        let scalars = Array(pairs.unicodeScalars)
        return Dictionary(
            stride(from: 0, to: scalars.count - 1, by: 2).map { (scalars[$0], scalars[$0 + 1]) },
            uniquingKeysWith: { first, _ in first })
    }()

    /// Whether a text holds an invisible character, which no one writes on purpose.
    static func hasInvisible(_ text: String) -> Bool { text.unicodeScalars.contains(where: isOddBlank) }

    /// Zero-width characters, marks of direction, control characters, and blanks that a keyboard
    /// does not write.
    private static func isOddBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar != " " && scalar != "\u{3000}" && Blank.isInvisible(scalar)
    }

    /// `U+00A0`
    static func code(_ scalar: Unicode.Scalar) -> String { TextFormat.codePoint(scalar) }

    /// Blanks, hyphens and dashes, underscores.
    private static func isJoint(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isWhitespace || scalar.properties.generalCategory == .dashPunctuation
    }

    /// The straight one, the curly ones that word processors write, and their substitutes.
    private static func isApostrophe(_ scalar: Unicode.Scalar) -> Bool {
        "'\u{2019}\u{2018}\u{2BC}\u{B4}`".unicodeScalars.contains(scalar)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { scalar.value &- 0x30 <= 9 }

    /// The usual form of letters and digits in another style, and of full-width signs.
    private static func usual(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if (0xFF01...0xFF5E).contains(scalar.value) { return Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar }
        return scalar.value < 0x1D00 ? scalar : styled[scalar.value] ?? scalar
    }

    /// Letters that are Latin ones in another style, as Unicode's names say of them
    /// (`MATHEMATICAL BOLD SMALL U`, `CIRCLED LATIN CAPITAL LETTER A`), and digits.
    static let styled: [UInt32: Unicode.Scalar] = {
        let otherLetters: Set<Substring> = ["GREEK", "CYRILLIC", "TURNED", "REVERSED", "OPEN", "SIDEWAYS"]
        var table: [UInt32: Unicode.Scalar] = [:]
        for range in [
            0x1D00...0x1D7F, 0x2070...0x24FF, 0x2C60...0x2C7F, 0xFF10...0xFF5A, 0x1D400...0x1D7FF, 0x1F100...0x1F18F,
        ]
            as [ClosedRange<UInt32>]
        {
            for scalar in range.lazy.compactMap(Unicode.Scalar.init) {
                if scalar.properties.generalCategory == .decimalNumber, let value = scalar.properties.numericValue {
                    table[scalar.value] = Unicode.Scalar(0x30 + UInt32(value))
                }
                guard let words = scalar.properties.name?.split(separator: " "), let last = words.last?.unicodeScalars,
                    last.count == 1,
                    let letter = last.first, otherLetters.isDisjoint(with: words),
                    words.contains("SMALL") || words.contains("CAPITAL") || words.contains("LETTER")
                else { continue }
                let isSmall = words.contains("SMALL") && !words.contains("CAPITAL")
                table[scalar.value] = isSmall ? Unicode.Scalar(letter.value | 0x20) : letter
            }
        }
        return table
    }()
}

/// Texts of a block that differ from a name of the query only in details that people overlook, and
/// how many rows have them. One for each thread.
struct SimilarTexts {
    private struct Text {
        var bytes: [UInt8]
        /// The name's number; -1 for none.
        var name: Int
        var rows: Int
    }

    /// Texts so far, also of other blocks, so that each is examined only once.
    private var texts: [Text] = []
    /// Hashes of texts that found no room there.
    private var more = SpellingCounts()

    private static let mostTexts = 64

    /// Another block begins.
    mutating func begin() {
        for index in texts.indices { texts[index].rows = 0 }
        more = SpellingCounts()
    }

    /// Notes that a row has a text.
    @inline(never) mutating func note(_ text: UnsafeBufferPointer<UInt8>, _ names: SimilarSpellings) {
        for index in texts.indices
        where texts[index].bytes.count == text.count && texts[index].bytes.elementsEqual(text) {
            texts[index].rows += 1
            return
        }
        let string = String(decoding: text, as: UTF8.self)
        let name = names.number(of: string)
        if texts.count < Self.mostTexts {
            texts.append(Text(bytes: Array(text), name: name ?? -1, rows: 1))
        } else if let name {
            more.add(string, of: name, rows: 1)
        }
    }

    /// What was found in the block.
    var counts: SpellingCounts {
        var counts = more
        for text in texts where text.name >= 0 && text.rows > 0 {
            counts.add(String(decoding: text.bytes, as: UTF8.self), of: text.name, rows: text.rows)
        }
        return counts
    }
}

/// Rows by name of the query and by the other spelling.
struct SpellingCounts: Sendable {
    private struct Key: Hashable {
        var name: Int
        var text: String
    }

    private var rows: [Key: Int] = [:]

    /// Spellings that are counted one by one.
    private static let mostSpellings = 100

    func has(_ text: String, of name: Int) -> Bool { rows[Key(name: name, text: text)] != nil }

    mutating func add(_ text: String, of name: Int, rows count: Int) {
        let spelling = Key(name: name, text: text)
        guard rows[spelling] != nil || rows.count < Self.mostSpellings else { return }
        rows[spelling, default: 0] += count
    }

    mutating func add(_ other: SpellingCounts) {
        // In a fixed order, as there may not be room for all.
        for (spelling, count) in other.rows.sorted(by: { ($0.key.name, $0.key.text) < ($1.key.name, $1.key.text) }) {
            add(spelling.text, of: spelling.name, rows: count)
        }
    }

    /// By the number of the name, the most frequent spelling first.
    var byName: [Int: [(text: String, rows: Int)]] {
        Dictionary(grouping: rows, by: \.key.name).mapValues { spellings in
            spellings.map { (text: $0.key.text, rows: $0.value) }.sorted { ($1.rows, $0.text) < ($0.rows, $1.text) }
        }
    }
}
