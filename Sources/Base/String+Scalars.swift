extension String {
    /// This text with every occurrence of a scalar replaced. `replacing(_:with:)` compares
    /// Characters, and misses a quote before a combining character, and each half of CR LF: text
    /// that is quoted or escaped in this way would end early.
    public func replacing(scalar: Unicode.Scalar, with text: String) -> String {
        guard unicodeScalars.contains(scalar) else { return self }
        var replaced = String.UnicodeScalarView()
        for each in unicodeScalars {
            if each == scalar { replaced.append(contentsOf: text.unicodeScalars) } else { replaced.append(each) }
        }
        return String(replaced)
    }
}
