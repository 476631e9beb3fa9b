/// How figures look wherever a person reads them.
public enum TextFormat {
    /// A stranger's words (a server's, say), fit for terminals, logs and run files: no control characters, and not too long.
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

    /// Text of an export or a file for a terminal, of any length: control characters, which could steer it, become spaces; line ends stay.
    public static func printable(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0xC2 && $0 != 0xE2 || $0 == 0x0A }
        if isPlain { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 != "\n" && isControl($0) ? " " : $0 }))
    }

    /// Also what turns the direction of everything behind it.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x202A...0x202E, 0x2066...0x2069: true
        default: scalar.properties.generalCategory == .control
        }
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

    /// `45.2 %`; never rounded to 0 or 100 when it is neither.
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

    /// A bar of block characters, `share` of `width` columns long, in eighths; something is always visible when there is something.
    public static func bar(_ share: Double, width: Int) -> String {
        guard share > 0 else { return "" }
        let eighths = max(1, min(width * 8, Int((share * Double(width) * 8).rounded())))
        let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
    }

    /// Text filled up with spaces on the right.
    public static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Text filled up with spaces on the left.
    public static func aligned(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
