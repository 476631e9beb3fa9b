extension Diagnostic {
    /// A C library could not make something, for want of memory as a rule.
    /// - Parameters:
    ///   - thing: what was to be made: `a TLS connection`.
    ///   - cause: the library's own words; nil when it has none.
    public static func cannotMake(_ thing: String, cause: String? = nil) -> Diagnostic {
        Diagnostic(
            "\(thing) cannot be made: \(cause ?? "there is not enough memory")",
            remedy: "Close other programs, or allow more memory: `ulimit -v`, MemoryMax= of a systemd unit, or the limits of the container."
        )
    }
}
