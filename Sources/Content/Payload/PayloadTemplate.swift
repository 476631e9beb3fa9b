public import Base

/// A campaign's payload, compiled once: constant JSON with holes for the cells of a device.
public struct PayloadTemplate: Sendable {
    /// The columns that templates name, each once, with the place of its first use. Cells are handed to `render` in this order.
    public let columns: [SourceText]
    /// alert, or background for a silent campaign.
    public let pushType: PushType
    /// Things that are allowed but rarely meant (a sound beside aps in a payload by hand, …), in the order of their places.
    public let warnings: [Diagnostic]

    private let compiled: CompiledPayload

    /// Compiles and checks content against the payload rules of APNs.
    /// - Throws: every mistake at once, each at its place in the campaign.
    public init(_ content: MessageContent) throws(Diagnostics) {
        var writer = PayloadWriter()
        let type: PushType
        if let payload = content.payload {
            type = writer.appendByHand(payload)
        } else {
            type = content.isSilent ? .background : .alert
            writer.appendFields(content)
        }
        let (constant, limit) = (writer.constantBytes, type.maximumPayloadBytes)
        if constant > limit {
            writer.error(
                "the payload has at least \(constant) bytes, but APNs takes at most \(limit)", at: content.position,
                remedy: "Shorten its texts.")
        }
        let findings = Diagnostics(writer.findings).all
        guard !findings.contains(where: { $0.severity == .error }) else {
            throw Diagnostics(findings.filter { $0.severity == .error })
        }
        columns = writer.columns
        pushType = type
        warnings = findings
        compiled = writer.compiled
    }

    /// Replaces `bytes` by the payload of one device. Allocates nothing once `bytes` has room.
    /// - Parameter fields: the device's cells in the order of `columns`.
    /// - Returns: nil, or why the device cannot be sent to: a blank cell without default (`bytes` is then empty), a payload over the limit.
    public func render(_ fields: [String], into bytes: inout [UInt8]) -> RenderFailure? {
        precondition(fields.count >= columns.count, "a cell for each column")
        bytes.removeAll(keepingCapacity: true)
        if let column = compiled.append(fields, to: &bytes) { return .blank(column: columns[column].value) }
        return bytes.count <= pushType.maximumPayloadBytes ? nil : .tooLarge(bytes: bytes.count)
    }

    /// Appends the payload of one device, the same bytes that `render` gives. Allocates nothing once `bytes` has room.
    /// - Parameter cells: the device's cells in the order of `columns`.
    /// - Returns: nil, or why the device cannot be sent to; `bytes` is as before then.
    public func append(_ cells: EscapedCells, to bytes: inout [UInt8]) -> RenderFailure? {
        precondition(cells.count >= columns.count, "a cell for each column")
        let start = bytes.count
        if let column = compiled.append(cells, to: &bytes) { return .blank(column: columns[column].value) }
        let size = bytes.count - start
        guard size > pushType.maximumPayloadBytes else { return nil }
        bytes.removeSubrange(start...)
        return .tooLarge(bytes: size)
    }
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
