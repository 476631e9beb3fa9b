import Base

/// JSON in UTF-8, cut at the places where a device's cells decide what follows: a list of steps over column numbers. Everything
/// constant is escaped already and lies in one buffer, so that rendering copies runs of bytes and escapes only what filters made.
struct CompiledPayload: Sendable {
    /// Constants, and what follows them.
    struct Step: BitwiseCopyable {
        enum Kind: UInt8 {
            case end
            /// The cell of `column`, or `text` (escaped) for a blank one.
            case cell
            /// The same through the filters in `range`.
            case filtered
            /// On, if the tests in `range` hold, else to step `target`.
            case branch
            /// To step `target`.
            case jump
            /// Before and behind a text that people see and that may come out blank.
            case shownStart, shownEnd
            /// Fails when all of those texts were blank.
            case mustShow
            /// Before and behind a web address; with `mustBeSecure` it fails unless the address is one of https.
            case addressStart, addressEnd
        }

        var kind: Kind
        /// What of `constants` comes before.
        var constants = TextRange.empty
        var column: Int32 = 0
        /// Of `outputs`.
        var output: Int32 = 0
        var target: Int32 = 0
        var range = TextRange.empty
        /// Whether `range` holds a text for blank cells.
        var hasFallback = false
        var mustBeSecure = false
    }

    /// What a tag prints, for whoever asks why a device cannot be sent to.
    struct Output: Sendable {
        /// Of the template's columns; -1 for a text that people see.
        var column: Int
        var place: SourcePosition
    }

    /// Why nothing was rendered, and at which output.
    struct Failure {
        enum Kind { case blank, notADate, notANumber, notHTTPS, nothingShown }

        var kind: Kind
        var output: Int
    }

    var constants: [UInt8] = []
    /// The arguments of filters and comparisons.
    var literals: [UInt8] = []
    var steps: [Step] = []
    var filters: [CompiledFilter] = []
    var tests: [CompiledTest] = []
    var values: [ComparisonValue] = []
    var dateParts: [CompiledDatePart] = []
    var plurals: [CompiledPlural] = []
    var outputs: [Output] = []

    /// Appends a payload; `bytes` is as before when it fails.
    /// - Parameter language: the device's language tag; may be empty.
    func append(_ cells: EscapedCells, language: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) -> Failure? {
        let old = bytes.count
        // Slices of the arrays themselves would be retained and released with every piece.
        return constants.withUnsafeBufferPointer { constants in
            steps.withUnsafeBufferPointer { steps in
                var language = DeviceLanguage(tag: language)
                var index = 0
                var shownStart = old
                var addressStart = old
                var showsSomething = false
                while true {
                    let step = steps[index]
                    bytes.append(contentsOf: constants[step.constants])
                    index += 1
                    switch step.kind {
                    case .end: return nil
                    case .jump: index = Int(step.target)
                    case .shownStart: shownStart = bytes.count
                    case .shownEnd:
                        showsSomething =
                            showsSomething
                            || bytes.withUnsafeBufferPointer { !isBlank(escaped: UnsafeBufferPointer(rebasing: $0[shownStart...])) }
                    case .mustShow:
                        if !showsSomething {
                            bytes.removeSubrange(old...)
                            return Failure(kind: .nothingShown, output: Int(step.output))
                        }
                    case .addressStart: addressStart = bytes.count
                    case .addressEnd:
                        WebAddress.encode(&bytes, from: addressStart)
                        if step.mustBeSecure, !WebAddress.isSecure(bytes, from: addressStart) {
                            bytes.removeSubrange(old...)
                            return Failure(kind: .notHTTPS, output: Int(step.output))
                        }
                    case .branch: if !holds(step.range, cells, &bytes) { index = Int(step.target) }
                    case .cell:
                        let cell = cells[Int(step.column)]
                        if !isBlank(escaped: cell) {
                            bytes.append(contentsOf: cell)
                        } else if step.hasFallback {
                            literals.withUnsafeBufferPointer { bytes.append(contentsOf: $0[step.range]) }
                        } else {
                            bytes.removeSubrange(old...)
                            return Failure(kind: .blank, output: Int(step.output))
                        }
                    case .filtered:
                        if let kind = appendFiltered(cells[Int(step.column)], step.range, &language, to: &bytes) {
                            bytes.removeSubrange(old...)
                            return Failure(kind: kind, output: Int(step.output))
                        }
                    }
                }
            }
        }
    }
}
