import Base

/// How often a campaign is repeated, without cron; a repetition that needs cron stays a rule.
enum RepeatControl {
    /// The choices, by the values of the field.
    private enum Choice: String, CaseIterable {
        case never, daily, workdays, weekly, monthly, other

        var words: String {
            switch self {
            case .never: "Never"
            case .daily: "Every day"
            case .workdays: "Every working day, Monday to Friday"
            case .weekly: "Every week, on the days below"
            case .monthly: "Every month, on the day below"
            case .other: "By another rule, in cron’s notation"
            }
        }
    }

    private static func choice(_ name: String) -> String { name + ".choice" }
    private static func time(_ name: String) -> String { name + ".time" }
    private static func weekday(_ name: String, _ day: String) -> String { "\(name).\(day)" }
    private static func day(_ name: String) -> String { name + ".day" }
    private static func rule(_ name: String) -> String { name + ".rule" }

    /// The names of the fields.
    static func names(_ name: String) -> [String] {
        [choice(name), time(name), day(name), rule(name)] + RegularTimes.weekdays.map { weekday(name, $0.name) }
    }

    // MARK: - The control

    /// What the fields show.
    private struct Values {
        var choice = Choice.never
        var time = ""
        var weekdays: Set<String> = []
        var day = ""
        var rule = ""

        /// A rule as the source has it.
        init(rule text: String) {
            guard !text.isEmpty else { return }
            guard let times = regular(text) else {
                (choice, rule) = (.other, text)
                return
            }
            time = LocalTime(minutes: times.minuteOfDay).timeOfDay
            switch times.days {
            case .everyDay: choice = .daily
            case .workingDays: choice = .workdays
            case .weekdays(let days):
                (choice, weekdays) = (
                    .weekly, Set(RegularTimes.weekdays.filter { days.contains($0.number) }.map(\.name))
                )
            case .dayOfMonth(let number): (choice, day) = (.monthly, String(number))
            }
        }

        /// What a person chose.
        init?(_ name: String, _ form: [String: String]) {
            guard let choice = form[RepeatControl.choice(name)].flatMap(Choice.init) else { return nil }
            self.choice = choice
            time = form[RepeatControl.time(name)]?.trimming ?? ""
            weekdays = Set(RegularTimes.weekdays.map(\.name).filter { form[weekday(name, $0)] != nil })
            day = form[RepeatControl.day(name)]?.trimming ?? ""
            rule = form[RepeatControl.rule(name)]?.trimming ?? ""
        }
    }

    static func html(_ value: ShownValue) -> HTML {
        let values = Values(value.name, value.typed) ?? Values(rule: value.text)
        let options: [HTML] = Choice.allCases.map { choice in
            "<option value=\"\(choice.rawValue)\"\(choice == values.choice ? " selected" : "" as HTML)>\(choice.words)</option>"
        }
        let name = choice(value.name)
        let time = GroupInput.labelled(
            "At", name: time(value.name), value: values.time, attributes: " type=\"time\"", look: "timed")
        return value.group(
            """
            <div class="parts"><span class="part"><label for="\(name)">How often</label>\
            <select id="\(name)" name="\(name)">\(options)</select></span>\
            \(time)</div>
            \(details(value.name, values))
            """, look: "repeat")
    }

    /// The fields of single choices. Where the browser can, only those of the present choice are
    /// seen (`ConsoleStyle`).
    private static func details(_ name: String, _ values: Values) -> HTML {
        let boxes: [HTML] = RegularTimes.weekdays.map { day in
            GroupInput.box(
                "\(DateWords.weekdays[day.number])", name: weekday(name, day.name), value: "1",
                isChecked: values.weekdays.contains(day.name))
        }
        let dayField = GroupInput.labelled(
            "Day of the month", name: day(name), value: values.day, attributes: " type=\"number\" min=\"1\" max=\"31\"",
            look: "monthly")
        let ruleField = GroupInput.labelled(
            "Rule: minute, hour, day of the month, month, day of the week", name: rule(name), value: values.rule,
            attributes: " dir=\"auto\"", look: "other")
        return """
            <fieldset class="weekly"><legend>Days of the week</legend><div class="boxes">\(boxes)</div></fieldset>
            \(dayField)\(ruleField)
            """
    }

    // MARK: - What was chosen

    /// The values of a form's fields, as a cron rule; blank for never.
    /// - Parameter shown: what the source held.
    /// - Returns: `shown` where both mean the same; nil when the form has no such fields.
    /// - Throws: something that the choice needs is missing.
    static func text(_ name: String, _ form: [String: String], shown: String) throws(Mistake) -> String? {
        guard let values = Values(name, form) else { return form[name] }
        switch values.choice {
        case .never: return ""
        case .other:
            guard !values.rule.isEmpty else {
                throw Mistake(
                    "the rule is missing",
                    remedy: "Write one such as 0 9 * * mon,thu, or choose another line of the list.")
            }
            return values.rule
        default:
            let rule = RegularTimes(try days(values), minuteOfDay: try minute(values)).rule
            return regular(rule) == regular(shown) ? shown : rule
        }
    }

    private static func minute(_ values: Values) throws(Mistake) -> Int {
        guard !values.time.isEmpty else {
            throw Mistake("the repeated time has no time of day", remedy: "Choose the time in “At”.")
        }
        guard let time = LocalTime("1970-01-01 \(values.time.prefix(5))"),
            values.time.utf8.count == 5 || values.time.hasSuffix(":00")
        else {
            throw Mistake("'\(values.time)' is not a time of day", remedy: "Write it like 09:00.")
        }
        return time.minuteOfDay
    }

    private static func days(_ values: Values) throws(Mistake) -> RegularTimes.Days {
        switch values.choice {
        case .weekly:
            let days = Set(RegularTimes.weekdays.filter { values.weekdays.contains($0.name) }.map(\.number))
            guard !days.isEmpty else {
                throw Mistake("no day of the week is chosen", remedy: "Check at least one day.")
            }
            return .weekdays(days)
        case .monthly:
            guard let day = Int(values.day), (1...31).contains(day) else {
                throw Mistake("the day of the month is missing", remedy: "Write a number from 1 to 31.")
            }
            return .dayOfMonth(day)
        case .workdays: return .workingDays
        default: return .everyDay
        }
    }

    private static func regular(_ rule: String) -> RegularTimes? { (try? CronRule(rule)).flatMap(RegularTimes.init) }
}
