public import Base

/// A campaign's payload, compiled once: constant JSON with holes for the cells of a device.
public struct PayloadTemplate: Sendable {
    /// The columns that templates name, each once, with the place of its first use. Cells are handed to `render` in this order.
    public let columns: [SourceText]
    /// alert, or background for a silent campaign.
    public let pushType: PushType

    /// Compiles and checks content against the payload rules of APNs.
    /// - Throws: every mistake at once, each at its place in the campaign.
    public init(_ content: MessageContent) throws(Diagnostics) { fatalError("skeleton") }

    /// Things that are allowed but rarely meant (a sound beside aps in a payload by hand, …).
    public var warnings: [Diagnostic] { fatalError("skeleton") }

    /// Replaces `bytes` by the payload of one device.
    /// - Parameter fields: the device's cells in the order of `columns`.
    /// - Returns: nil, or why the device cannot be sent to: a blank cell without default, a payload over the limit.
    public func render(_ fields: [String], into bytes: inout [UInt8]) -> RenderFailure? { fatalError("skeleton") }
}

/// Why a payload could not be rendered for a device.
public enum RenderFailure: Hashable, Sendable {
    /// This column is blank and the template has no default.
    case blank(column: String)
    /// The payload has so many bytes.
    case tooLarge(bytes: Int)

    /// The reason under which the row is counted.
    public var skipReason: SkipReason {
        switch self {
        case .blank: .renderError
        case .tooLarge: .payloadTooLarge
        }
    }
}
