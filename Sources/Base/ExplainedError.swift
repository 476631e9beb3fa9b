/// An error that knows what people read about it. Each room has at most one such type of its own; rooms without one throw `Diagnostic`.
public protocol ExplainedError: Error {
    /// What people read, ordered by place. Never empty.
    var diagnostics: [Diagnostic] { get }
}

extension Diagnostic: ExplainedError {
    /// The diagnostic itself.
    public var diagnostics: [Diagnostic] { [self] }

    /// What people read first about any error.
    /// - Parameter file: what the error is about, if the error does not say.
    public init(explaining error: any Error, file: String? = nil) {
        self = (error as? any ExplainedError)?.diagnostics.first ?? Diagnostic("\(error)", file: file)
    }
}

extension Diagnostics: ExplainedError {
    /// All of them.
    public var diagnostics: [Diagnostic] { all }

    /// What people read about any error.
    /// - Parameter file: what the error is about, if the error does not say.
    public init(explaining error: any Error, file: String? = nil) {
        self.init((error as? any ExplainedError)?.diagnostics ?? [Diagnostic("\(error)", file: file)])
    }
}

extension Mistake: ExplainedError {
    /// The mistake, without a place.
    public var diagnostics: [Diagnostic] { [Diagnostic(self)] }
}
