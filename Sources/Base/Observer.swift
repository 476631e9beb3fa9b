/// Is told what happens, in order, on the thread where it happens. The code that makes an observer
/// decides whether an event becomes a line on a terminal, a page, a count or nothing.
///
/// ```swift
/// let progress = Observer<Int> { print("\($0) rows") }
/// progress(20_000)
/// ```
public struct Observer<Event: Sendable>: Sendable {
    private let observe: (@Sendable (Event) -> Void)?

    /// - Parameter observe: must return soon; the work that reports the event waits for it.
    public init(_ observe: @escaping @Sendable (Event) -> Void) { self.observe = observe }

    private init() { observe = nil }

    /// An observer that ignores every event.
    public static var silent: Observer { Observer() }

    /// Reports an event.
    /// - Parameter event: not evaluated if the observer ignores events.
    public func callAsFunction(_ event: @autoclosure () -> Event) { observe?(event()) }

    /// Passes each event to both observers, this one first.
    public func and(_ other: Observer) -> Observer {
        Observer {
            self($0)
            other($0)
        }
    }
}
