public import Base
public import PushServices

/// A campaign's payload, compiled once: constant JSON with holes for the cells of a device.
///
/// Immutable, and a class, so that each payload retains one thing rather than a dozen arrays.
public final class PayloadTemplate: Sendable {
    /// The columns that templates name, each once, with the place of its first use. `render` takes
    /// the cells in this order.
    public let columns: [SourceText]
    /// alert, or background for a silent campaign.
    public let pushType: PushType
    /// Things that are allowed but rarely meant (a sound where it has no effect, …), in the order
    /// of their places.
    public let warnings: [Diagnostic]

    /// What conditions compare cells with.
    public let comparisons: [TemplateComparison]

    private let compiled: CompiledPayload

    /// The largest payload that the service takes, in bytes.
    public let byteLimit: Int
    /// The service's name in sentences.
    public let serviceName: String

    /// Compiles and checks content against the payload rules of a service. Its languages are not
    /// checked.
    /// - Parameters:
    ///   - columns: come first among this template's columns, whether it names them or not.
    ///   - isOneOfSeveral: whether other services take the campaign's pushes, too: what only this
    ///     one lacks is a warning then.
    /// - Throws: every mistake at once, each at its place in the campaign.
    public init(
        _ content: MessageContent, for service: any PushService = PushServices.standard,
        after columns: [SourceText] = [],
        isOneOfSeveral: Bool = false
    ) throws(Diagnostics) {
        var writer = PayloadWriter(columns: columns)
        let draft = writer.append(content, for: service, isOneOfSeveral: isOneOfSeveral)
        let (constant, limit) = (writer.constantBytes, draft.byteLimit)
        if constant > limit {
            writer.error(
                "the payload has at least \(constant) bytes, but \(service.displayName) takes at most \(limit)",
                at: content.position,
                remedy: "Shorten its texts.")
        }
        let findings = Diagnostics(writer.findings).all
        guard !findings.contains(where: { $0.severity == .error }) else {
            throw Diagnostics(findings.filter { $0.severity == .error })
        }
        self.columns = writer.columns
        pushType = draft.pushType
        byteLimit = draft.byteLimit
        serviceName = service.displayName
        warnings = findings
        compiled = writer.compiled
        comparisons = writer.comparisons
    }

    /// The columns that content names, as far as it can be read: for mistakes about columns in
    /// addition to those that `init` throws.
    static func columns(of content: MessageContent, for service: any PushService, after columns: [SourceText])
        -> [SourceText]
    {
        var writer = PayloadWriter(columns: columns)
        _ = writer.append(content, for: service)
        return writer.columns
    }

    /// The parts that the service limits.
    var limitedParts: [PayloadPart] { compiled.outputs.compactMap(\.limit?.part) }

    /// Whether what is sent depends on the device's language: dates, numbers, plural forms, and
    /// capitals (the Turkish i).
    public var usesLanguage: Bool {
        writesByLanguage || compiled.filters.contains { [.upcase, .downcase, .capitalize].contains($0.kind) }
    }

    /// Whether it contains dates, numbers or plural forms.
    private var writesByLanguage: Bool {
        compiled.filters.contains { [.namedDate, .date, .number, .pluralize].contains($0.kind) }
    }

    /// The languages among these without dates and numbers in Volley, so that the English ones are
    /// used.
    public func unknownLanguages(among tags: some Sequence<String>) -> [String] {
        guard writesByLanguage else { return [] }
        return tags.filter { !$0.isEmpty && !LanguageTables.shared.knows($0) }.sorted()
    }

    /// Replaces `bytes` with the payload of one device. A tracked push has zeros in place of its
    /// id, which only a run gives.
    /// - Parameters:
    ///   - fields: the device's cells in the order of `columns`.
    ///   - language: its language tag, such as `zh-Hans-CN`; may be blank.
    /// - Returns: nil, or why the device gets no push: a blank cell without a default (`bytes` is
    ///   then empty), a payload over the limit.
    public func render(_ fields: [String], language: String = "", into bytes: inout [UInt8]) -> RenderFailure? {
        precondition(fields.count >= columns.count, "a cell for each column")
        bytes.removeAll(keepingCapacity: true)
        let json = JSONValue.array(fields.map(JSONValue.string)).text
        var language = language
        let failure = Array(json.utf8).withUnsafeBufferPointer { json in
            language.withUTF8 { language in
                var cells = EscapedCells()
                guard cells.locate(in: json) else { preconditionFailure("cells as Volley writes them are refused") }
                return compiled.append(cells, language: language, to: &bytes)
            }
        }
        if let failure { return self.failure(failure) }
        PushIDPlace.fill(&bytes, from: 0, with: .sample)
        return bytes.count <= byteLimit ? nil : .tooLarge(bytes: bytes.count)
    }

    /// Appends the payload of one device, the same bytes that `render` gives, with open places for
    /// ids (`PushIDPlace`). Allocates nothing if `bytes` has the capacity, unless a text beyond
    /// ASCII changes its case.
    /// - Parameters:
    ///   - cells: the device's cells in the order of `columns`.
    ///   - language: its language tag; empty if it is not known.
    /// - Returns: nil, or why the device gets no push; `bytes` is then unchanged.
    public func append(
        _ cells: EscapedCells, language: UnsafeBufferPointer<UInt8> = UnsafeBufferPointer(start: nil, count: 0),
        to bytes: inout [UInt8]
    ) -> RenderFailure? {
        precondition(cells.count >= columns.count, "a cell for each column")
        let start = bytes.count
        if let failure = compiled.append(cells, language: language, to: &bytes) { return self.failure(failure) }
        let size = bytes.count - start
        guard size > byteLimit else { return nil }
        bytes.removeSubrange(start...)
        return .tooLarge(bytes: size)
    }

    private func failure(_ failure: CompiledPayload.Failure) -> RenderFailure {
        let output = compiled.outputs[failure.output]
        // Used only for what a column prints.
        var column: String { columns[output.column].value }
        return switch failure.kind {
        case .blank: .blank(column: column, place: output.place)
        case .notADate: .notADate(column: column, place: output.place)
        case .notANumber: .notANumber(column: column, place: output.place)
        case .notHTTPS: .notHTTPS(column: column, place: output.place)
        case .blankText: .blankText(place: output.place)
        case .gap: .gap(column: column, place: output.place)
        case .tooLong:
            .tooLong(
                output.limit ?? PayloadLimit(0, .bytes, of: "", service: serviceName, at: output.place),
                count: failure.count)
        }
    }
}

/// Why a payload could not be rendered for a device.
public enum RenderFailure: Hashable, Sendable, CustomStringConvertible {
    /// This column is blank, and the template that prints it has no default. `place` is the
    /// column's place in that template.
    case blank(column: String, place: SourcePosition)
    /// `date`, or `number` and `pluralize`, got something else from this column.
    case notADate(column: String, place: SourcePosition)
    case notANumber(column: String, place: SourcePosition)
    /// The image's address does not begin with https://. Its first part that is not constant is
    /// this column.
    case notHTTPS(column: String, place: SourcePosition)
    /// A text that people would see is blank; with its place.
    case blankText(place: SourcePosition)
    /// This column, or a condition on it, printed nothing, and left punctuation behind:
    /// `Hi , welcome`.
    case gap(column: String, place: SourcePosition)
    /// There is so much of a part of the payload, and the service takes less.
    case tooLong(PayloadLimit, count: Int)
    /// The payload has this many bytes.
    case tooLarge(bytes: Int)

    /// The reason under which the row is counted.
    public var skipReason: SkipReason {
        switch self {
        case .blank, .notADate, .notANumber, .notHTTPS, .blankText, .gap, .tooLong: .renderError
        case .tooLarge: .payloadTooLarge
        }
    }

    /// `campaign.yaml:9:14: first_name is blank`
    public var description: String {
        switch self {
        case .blank(let column, let place): "\(place): \(column) is blank"
        case .notADate(let column, let place): "\(place): \(column) is not a date"
        case .notANumber(let column, let place): "\(place): \(column) is not a number"
        case .notHTTPS(let column, let place): "\(place): \(column) does not make an address that begins with https://"
        case .blankText(let place): "\(place): the text comes out blank"
        case .gap(let column, let place): "\(place): without \(column), punctuation is left over"
        case .tooLong(let limit, let count):
            "\(limit.place): \(limit.part.excess(count))"
        case .tooLarge(let bytes): "the payload has \(bytes) bytes"
        }
    }
}
