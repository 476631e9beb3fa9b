/// An error that knows what people read of it. A room has at most one type of its own; rooms without one throw `Diagnostic`.
public protocol ExplainedError: Error, CustomStringConvertible {
    /// What people read, in the order of its places. Never empty.
    var diagnostics: [Diagnostic] { get }
}

extension ExplainedError {
    /// What people read, a mistake a line.
    public var description: String { diagnostics.map(\.description).joined(separator: "\n") }
}

extension Diagnostic: ExplainedError {
    /// Itself.
    public var diagnostics: [Diagnostic] { [self] }

    /// What people read of any error: of several mistakes all, as one message.
    /// - Parameter file: what the error is about, if it does not say so itself.
    public init(explaining error: any Error, file: String? = nil) {
        let found = Diagnostics(explaining: error, file: file)
        self = found.all.count == 1 ? found.all[0] : Diagnostic(found.description)
    }
}

extension Diagnostics: ExplainedError {
    /// All of them.
    public var diagnostics: [Diagnostic] { all }

    /// What people read of any error.
    /// - Parameter file: what the error is about, if it does not say so itself.
    public init(explaining error: any Error, file: String? = nil) {
        if let mistake = error as? Mistake {
            self.init(Diagnostic(mistake, file: file))
        } else {
            self.init((error as? any ExplainedError)?.diagnostics ?? [Diagnostic("\(error)", file: file)])
        }
    }
}

extension Mistake: ExplainedError {
    /// The mistake without a place.
    public var diagnostics: [Diagnostic] { [Diagnostic(self)] }
}
