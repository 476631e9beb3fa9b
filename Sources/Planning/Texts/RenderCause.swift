import Audience
import Content

/// Why a payload could not be rendered, in as much detail as devices are counted by.
enum RenderCause: Hashable {
    /// What is wrong with the cell of a column.
    enum Flaw: Int, CaseIterable {
        case blank, notADate, notANumber, notHTTPS, gap
    }

    /// A number of `MessageCatalog.columns`.
    case column(Int, Flaw)
    /// A text that people would see came out blank.
    case blankText
    /// A text came out longer than the service takes.
    case longText
    /// A column beyond those that can be distinguished.
    case otherColumn

    /// As a group of `RecipientCheck`.
    var group: Int {
        let (blankText, other) = (RecipientCheck.groupLimit - 1, RecipientCheck.groupLimit - 2), longText = RecipientCheck.groupLimit - 3
        switch self {
        case .blankText: return blankText
        case .longText: return longText
        case .otherColumn: return other
        case .column(let column, let flaw):
            let group = column * Flaw.allCases.count + flaw.rawValue
            return group < longText ? group : other
        }
    }

    /// - Parameter group: of a check.
    package init(group: Int) {
        switch group {
        case RecipientCheck.groupLimit - 1: self = .blankText
        case RecipientCheck.groupLimit - 2: self = .otherColumn
        case RecipientCheck.groupLimit - 3: self = .longText
        default: self = .column(group / Flaw.allCases.count, Flaw.allCases[group % Flaw.allCases.count])
        }
    }

    /// - Parameter number: the number of a column.
    init?(_ failure: RenderFailure, number: (String) -> Int?) {
        func cause(_ column: String, _ flaw: Flaw) -> RenderCause { number(column).map { .column($0, flaw) } ?? .otherColumn }
        switch failure {
        case .blank(let column, _): self = cause(column, .blank)
        case .notADate(let column, _): self = cause(column, .notADate)
        case .notANumber(let column, _): self = cause(column, .notANumber)
        case .notHTTPS(let column, _): self = cause(column, .notHTTPS)
        case .gap(let column, _): self = cause(column, .gap)
        case .blankText: self = .blankText
        case .tooLong: self = .longText
        case .tooLarge: return nil
        }
    }
}
