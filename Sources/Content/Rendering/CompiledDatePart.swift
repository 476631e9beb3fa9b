/// A piece of a date, ready to be written.
struct CompiledDatePart: BitwiseCopyable {
    enum Kind: UInt8 {
        /// A text in the pool of the language tables.
        case pooled
        /// A text among the payload's own.
        case own
        case year, shortYear, month, day, hour, hour12, minute, second, dayOfYear
        case monthName, weekdayName, dayPeriod, era, capitals
    }

    var kind: Kind
    var padding = DatePart.Padding.none
    /// For `monthName` and `weekdayName`.
    var names = LanguageNames.months
    var text = TextRange.empty

    init(_ kind: Kind, _ text: TextRange = .empty) { (self.kind, self.text) = (kind, text) }

    init(_ kind: Kind, _ padding: DatePart.Padding) { (self.kind, self.padding) = (kind, padding) }

    init(_ kind: Kind, _ names: LanguageNames) { (self.kind, self.names) = (kind, names) }

    /// A field of a CLDR pattern.
    init(letter: UInt8, count: Int) {
        switch Unicode.Scalar(letter) {
        case "y": self.init(count == 2 ? .shortYear : .year)
        case "M" where count < 3: self.init(.month, count == 2 ? .zero : .none)
        case "M": self.init(.monthName, count == 3 ? .shortMonths : .months)
        case "L" where count < 3: self.init(.month, count == 2 ? .zero : .none)
        case "L": self.init(.monthName, count == 3 ? .shortMonthsAlone : .monthsAlone)
        case "d": self.init(.day, count == 2 ? .zero : .none)
        case "E": self.init(.weekdayName, count < 4 ? .shortWeekdays : .weekdays)
        case "c": self.init(.weekdayName, count < 4 ? .shortWeekdaysAlone : .weekdaysAlone)
        case "G": self.init(.era)
        default: preconditionFailure("a pattern has an unknown letter")
        }
    }

    /// A directive.
    /// - Parameters:
    ///   - hasDay: whether there is a day next to the month, which changes the month's form in many
    ///     languages.
    ///   - text: keeps a text among the payload's own.
    init(_ part: DatePart, hasDay: Bool, keeping text: (String) -> TextRange) {
        switch part {
        case .text(let constant): self.init(.own, text(constant))
        case .year: self.init(.year)
        case .shortYear: self.init(.shortYear)
        case .month(let padding): self.init(.month, padding)
        case .day(let padding): self.init(.day, padding)
        case .hour(let padding): self.init(.hour, padding)
        case .hour12(let padding): self.init(.hour12, padding)
        case .minute(let padding): self.init(.minute, padding)
        case .second(let padding): self.init(.second, padding)
        case .dayOfYear(let padding): self.init(.dayOfYear, padding)
        case .monthName: self.init(.monthName, hasDay ? .months : .monthsAlone)
        case .shortMonthName: self.init(.monthName, hasDay ? .shortMonths : .shortMonthsAlone)
        case .weekday: self.init(.weekdayName, hasDay ? .weekdays : .weekdaysAlone)
        case .shortWeekday: self.init(.weekdayName, hasDay ? .shortWeekdays : .shortWeekdaysAlone)
        case .dayPeriod: self.init(.dayPeriod)
        case .capitals: self.init(.capitals)
        }
    }
}
