/// Is told what happens, in order, on the thread where it happens. Who makes one decides whether it becomes a line on a terminal, a page, a count or nothing.
public struct Observer<Event: Sendable>: Sendable {
    private let observe: (@Sendable (Event) -> Void)?

    /// - Parameter observe: must return soon; what it is told of waits for it.
    public init(_ observe: @escaping @Sendable (Event) -> Void) { self.observe = observe }

    private init() { observe = nil }

    /// Nobody looks on.
    public static var silent: Observer { Observer() }

    /// Tells it.
    /// - Parameter event: not even made when nobody looks on.
    public func callAsFunction(_ event: @autoclosure () -> Event) { observe?(event()) }

    /// Two that are told the same, this one first.
    public func and(_ other: Observer) -> Observer {
        Observer {
            self($0)
            other($0)
        }
    }
}
