extension Diagnostic {
    /// A C library could not make something, usually for lack of memory.
    /// - Parameters:
    ///   - thing: what could not be made: `a TLS connection`.
    ///   - cause: the library's own words; nil if it gives none.
    public static func cannotMake(_ thing: String, cause: String? = nil) -> Diagnostic {
        Diagnostic(
            "\(thing) cannot be made: \(cause ?? "there is not enough memory")",
            remedy: "Close other programs, or allow more memory: `ulimit -v`, MemoryMax= of a systemd unit, or the limits of the container."
        )
    }
}
