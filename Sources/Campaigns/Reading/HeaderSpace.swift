/// Spaces and tabs around a header's value, which HTTP/2 does not allow. Source: RFC 9113 section
/// 8.2.1.
public enum HeaderSpace {
    /// A value without those around it.
    public static func trimmed(_ value: String) -> String {
        var scalars = value.unicodeScalars[...]
        while let first = scalars.first, isSpace(first) { scalars.removeFirst() }
        while let last = scalars.last, isSpace(last) { scalars.removeLast() }
        return String(scalars)
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
}
