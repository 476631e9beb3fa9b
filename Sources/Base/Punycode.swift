/// The ASCII form of a host name with other letters. Source: RFC 3492, RFC 5891.
public enum Punycode {
    /// `xn--mller-kva.de` for `müller.de`; nil for a host with letters that have several spellings:
    /// one would have to be chosen first.
    /// - Parameter host: labels separated by full stops.
    public static func host(_ host: some StringProtocol) -> String? {
        let labels = host.lowercased().split(separator: ".", omittingEmptySubsequences: false).map {
            label(Array($0.unicodeScalars))
        }
        return labels.contains(nil) ? nil : labels.compactMap(\.self).joined(separator: ".")
    }

    private static func label(_ scalars: [Unicode.Scalar]) -> String? {
        let plain = scalars.filter(\.isASCII)
        guard plain.count < scalars.count else { return String(String.UnicodeScalarView(plain)) }
        // A letter and its accent apart, or full-width letters: RFC 5891 5.3 requires composed and
        // narrow ones.
        let isOpen = scalars.contains {
            $0.properties.canonicalCombiningClass != .notReordered || (0xFF00...0xFFEF).contains($0.value)
        }
        guard !isOpen else { return nil }
        let prefix = String(String.UnicodeScalarView(plain))
        return "xn--\(prefix)\(prefix.isEmpty ? "" : "-")\(encoded(scalars, basic: plain.count))"
    }

    /// RFC 3492, 6.3, with the parameters of 5.
    private static func encoded(_ scalars: [Unicode.Scalar], basic: Int) -> String {
        var (last, delta, bias, handled) = (0x80, 0, 72, basic)
        var output = ""
        while handled < scalars.count {
            let next = scalars.lazy.map { Int($0.value) }.filter { $0 >= last }.min() ?? last
            delta += (next - last) * (handled + 1)
            last = next
            for scalar in scalars {
                if scalar.value < UInt32(last) { delta += 1 }
                guard Int(scalar.value) == last else { continue }
                output += digits(delta, bias: bias)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basic)
                (delta, handled) = (0, handled + 1)
            }
            (delta, last) = (delta + 1, last + 1)
        }
        return output
    }

    private static func digits(_ number: Int, bias: Int) -> String {
        var (rest, place, text) = (number, 36, "")
        while true {
            let threshold = min(max(place - bias, 1), 26)
            guard rest >= threshold else { break }
            text.append(alphabet[threshold + (rest - threshold) % (36 - threshold)])
            (rest, place) = ((rest - threshold) / (36 - threshold), place + 36)
        }
        text.append(alphabet[rest])
        return text
    }

    /// RFC 3492, 6.1.
    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var (rest, steps) = (delta / (isFirst ? 700 : 2), 0)
        rest += rest / count
        while rest > 455 { (rest, steps) = (rest / 35, steps + 36) }
        return steps + 36 * rest / (rest + 38)
    }

    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789")
}
