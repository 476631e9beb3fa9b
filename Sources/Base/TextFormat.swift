/// The format of figures wherever a person reads them.
public enum TextFormat {
    /// Words from outside (a server's, for example), made fit for terminals, logs and run files: without control characters, and not too
    /// long.
    public static func foreign(_ text: String, maximumBytes: Int = 200) -> String {
        var kept = String.UnicodeScalarView()
        var bytes = 0
        for scalar in text.unicodeScalars {
            bytes += UTF8.width(scalar)
            if bytes > maximumBytes { break }
            kept.append(scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format ? " " : scalar)
        }
        return String(kept)
    }

    /// Text from outside (a cell, a file's name, the output of a program) for a terminal or a log, of any length. Control characters, which
    /// could control the terminal, and characters that change the direction of text are shown as escapes, `\u001B`; line ends and tabs are
    /// kept. JSON stays valid JSON with the same meaning.
    /// - Parameter keepsStyles: keeps colours (SGR sequences of ECMA-48), for a text that Volley coloured.
    public static func printable(_ text: String, keepsStyles: Bool = false) -> String {
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0xC2 && $0 != 0xE2 || $0 == 0x0A || $0 == 0x09 }
        if isPlain { return text }
        var shown = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.first {
            if keepsStyles, let style = style(at: rest) {
                shown.unicodeScalars.append(contentsOf: style)
                rest = rest[style.endIndex...]
                continue
            }
            let isKept = scalar == "\n" || scalar == "\t" || !isControl(scalar) && !turnsDirection(scalar)
            if isKept { shown.unicodeScalars.append(scalar) } else { shown += escape(scalar) }
            rest.removeFirst()
        }
        return shown
    }

    /// A name from outside (a file's, for example) inside a message or a line of a log: as `printable`, but line ends and tabs are escaped,
    /// too, so that no name looks like a message of its own.
    public static func inLine(_ name: String) -> String {
        printable(name).replacing(scalar: "\n", with: escape("\n")).replacing(scalar: "\t", with: escape("\t"))
    }

    /// C0, DEL and C1.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) }

    /// `\u001B`, for a character of the first plane.
    static func escape(_ scalar: Unicode.Scalar) -> String { "\\u" + hex(scalar.value, digits: 4, uppercase: true) }

    /// Whether the text after it may be read in another direction (Unicode's UAX 9, embeddings, overrides and isolates).
    private static func turnsDirection(_ scalar: Unicode.Scalar) -> Bool {
        (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }

    /// `ESC [ … m` with numbers separated by semicolons, which changes only the look of text.
    private static func style(at text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView? {
        guard text.starts(with: "\u{1B}[".unicodeScalars) else { return nil }
        let parameters = text.dropFirst(2).prefix { ("0"..."9").contains($0) || $0 == ";" }
        guard parameters.endIndex < text.endIndex, text[parameters.endIndex] == "m" else { return nil }
        return text[...parameters.endIndex]
    }

    /// `1,096,469`
    public static func count(_ number: Int) -> String {
        var digits = String(number.magnitude)
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.append(digits.suffix(3))
            digits = String(digits.dropLast(3))
        }
        groups.append(Substring(digits))
        return (number < 0 ? "-" : "") + groups.reversed().joined(separator: ",")
    }

    /// `45.2 %`; rounded to 0 or 100 only if it is exactly that.
    public static func percent(_ share: Double) -> String {
        let tenths = Int((share * 1000).rounded())
        if share > 0, tenths == 0 { return "<0.1 %" }
        if share < 1, tenths == 1000 { return "99.9 %" }
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`
    public static func duration(seconds: Double) -> String {
        if seconds < 9.95 { return "\(Int((seconds * 10).rounded()) / 10).\(Int((seconds * 10).rounded()) % 10) s" }
        let whole = Int(seconds.rounded())
        if whole < 60 { return "\(whole) s" }
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        return "\(whole / 3600) h \(whole / 60 % 60) min"
    }

    /// Whether a text is a long number as a spreadsheet program shows it, `1.23E+15`, with digits missing.
    public static func isRounded(_ text: String) -> Bool {
        let halves = text.uppercased().split(separator: "E", omittingEmptySubsequences: false)
        func isDigits(_ text: some StringProtocol) -> Bool { !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber } }
        guard halves.count == 2, halves[1].count == 3, halves[1].first == "+", isDigits(halves[1].dropFirst()) else { return false }
        // In locales with a decimal comma, this has one, too.
        let digits = halves[0].split(omittingEmptySubsequences: false) { $0 == "." || $0 == "," }
        return digits[0].count == 1 && digits.count <= 2 && digits.allSatisfy(isDigits)
    }

    /// The digits of a number that a spreadsheet program keeps.
    public static let keptDigits = 15

    /// How many zeros replace the digits of a long number that a spreadsheet program does not keep; nil if there are other digits, and for
    /// a date and time written as one number, `20261123093000000`.
    public static func zerosOfRounding(_ text: String) -> Int? {
        guard text.utf8.count > keptDigits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            text.dropFirst(keptDigits).allSatisfy({ $0 == "0" }), !(text.utf8.count <= 17 && isDay(text.prefix(8)))
        else { return nil }
        return text.utf8.count - keptDigits
    }

    private static func isDay(_ digits: Substring) -> Bool { Array(digits.utf8).withUnsafeBufferPointer { CompactDate($0) != nil } }

    /// `45 s`, `30 min`, `4 h`, `2 h 5 min`, `3 days`: a length of time as people say it; hours and days come without smaller parts that
    /// hardly matter.
    public static func span(seconds: Int64) -> String {
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min"
        case ..<172_800:
            let minutes = seconds / 60 % 60
            return "\(seconds / 3600) h" + (minutes == 0 ? "" : " \(minutes) min")
        default:
            let hours = seconds / 3600 % 24
            return "\(seconds / 86_400) days" + (hours == 0 ? "" : " \(hours) h")
        }
    }

    /// `1.4 MB`, in powers of ten.
    public static func bytes(_ number: Int) -> String {
        var value = Double(number)
        for unit in ["B", "kB", "MB", "GB"] {
            if value < 999.5 || unit == "GB" {
                return unit == "B" ? "\(number) B" : "\(Int(value * 10) / 10).\(Int(value * 10) % 10) \(unit)"
            }
            value /= 1000
        }
        return "\(number) B"
    }

    /// A bar of block characters, `share` of `width` columns long, in eighths; something is always visible if the share is above 0.
    public static func bar(_ share: Double, width: Int) -> String {
        guard share > 0 else { return "" }
        let eighths = max(1, min(width * 8, Int((share * Double(width) * 8).rounded())))
        let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
    }

    /// Text padded with spaces on the right.
    public static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Text padded with spaces on the left.
    public static func aligned(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
