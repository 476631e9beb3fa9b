public import Base
public import Runs

/// A run's delivery report, ready to be written in one of its forms.
public struct Report: Sendable {
    /// Gathers the figures of a run.
    public init(_ run: RunStore) throws { fatalError("skeleton") }
    /// The document of `report --format json`.
    public var json: JSONValue { fatalError("skeleton") }
    /// Text for a person.
    /// - Parameters:
    ///   - width: of the terminal, in columns.
    ///   - colour: whether ANSI colours may be used.
    public func text(width: Int, colour: Bool) -> String { fatalError("skeleton") }
    /// Whether every recipient was accepted or found its token invalid; decides exit code 0 or 1.
    public var isClean: Bool { fatalError("skeleton") }
}

/// The report as CSV, one line per recipient, streamed.
public enum ReportCSV {
    /// Writes the header and a line per recipient in id order; `write` takes chunks of about 64 KiB.
    public static func write(_ run: RunStore, to write: ([UInt8]) throws -> Void) throws { fatalError("skeleton") }
}
