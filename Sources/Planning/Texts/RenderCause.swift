import Audience
import Content
import PushServices

/// Why a payload could not be rendered, in the detail by which devices are counted.
enum RenderCause: Hashable {
    /// The problem with the cell of a column.
    enum Flaw: Int, CaseIterable {
        case blank, notADate, notANumber, notHTTPS, gap
    }

    /// A number of `MessageCatalog.columns`.
    case column(Int, Flaw)
    /// A text that people would see came out blank.
    case blankText
    /// A part is larger than its service accepts: a number of `MessageCatalog.limitedParts`.
    case long(Int)
    /// A column, or a part, beyond those that can be distinguished.
    case otherColumn

    private static let blankTextGroup = RecipientCheck.groupLimit - 1, otherGroup = RecipientCheck.groupLimit - 2
    /// The groups of parts that can be distinguished. All services together have ten.
    private static let partGroups = RecipientCheck.groupLimit - 18..<RecipientCheck.groupLimit - 2

    /// As a group of `RecipientCheck`.
    var group: Int {
        switch self {
        case .blankText: return Self.blankTextGroup
        case .otherColumn: return Self.otherGroup
        case .long(let part): return part < Self.partGroups.count ? Self.partGroups.lowerBound + part : Self.otherGroup
        case .column(let column, let flaw):
            let group = column * Flaw.allCases.count + flaw.rawValue
            return group < Self.partGroups.lowerBound ? group : Self.otherGroup
        }
    }

    /// - Parameter group: of a check.
    package init(group: Int) {
        switch group {
        case Self.blankTextGroup: self = .blankText
        case Self.otherGroup: self = .otherColumn
        case Self.partGroups: self = .long(group - Self.partGroups.lowerBound)
        default: self = .column(group / Flaw.allCases.count, Flaw.allCases[group % Flaw.allCases.count])
        }
    }

    /// - Parameters:
    ///   - number: the number of a column.
    ///   - part: the number of a part.
    init?(_ failure: RenderFailure, number: (String) -> Int?, part: (PayloadPart) -> Int?) {
        func cause(_ column: String, _ flaw: Flaw) -> RenderCause {
            number(column).map { .column($0, flaw) } ?? .otherColumn
        }
        switch failure {
        case .blank(let column, _): self = cause(column, .blank)
        case .notADate(let column, _): self = cause(column, .notADate)
        case .notANumber(let column, _): self = cause(column, .notANumber)
        case .notHTTPS(let column, _): self = cause(column, .notHTTPS)
        case .gap(let column, _): self = cause(column, .gap)
        case .blankText: self = .blankText
        case .tooLong(let limit, _): self = part(limit.part).map { .long($0) } ?? .otherColumn
        case .tooLarge: return nil
        }
    }
}
