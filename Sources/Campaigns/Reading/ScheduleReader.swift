import Base

/// Reads `schedule`: when a campaign is sent.
struct ScheduleReader {
    static let example = "schedule: {at: 2026-12-01 09:00, timezone: Europe/Berlin}"

    let section: Section
    /// A time before this is in the past.
    let now: Timestamp

    /// The schedule; nil when something needed is missing or wrong, which was reported.
    func read() -> Schedule? {
        let zone = ScheduleZoneReader(section: section).read()
        let at = section.parsed("at", example: "at: 2026-12-01 09:00") { text throws(Mistake) in
            try Self.localTime(text, in: zone)
        }
        let quietHours = notation("quiet_hours", example: "quiet_hours: 21:00-08:00", QuietHours.init)
        let rule = notation("repeat", example: "repeat: \"0 9 * * mon,thu\"", CronRule.init)
        let late = section.parsed("late", example: "late: skip after 2h", Self.latePolicy) ?? .usual
        if !["at", "repeat", "quiet_hours"].contains(where: section.mentions) {
            section.findings.error(
                "'schedule' does not say when: it has neither 'at' nor 'repeat' nor 'quiet_hours'",
                at: section.position,
                remedy: "For example: \(Self.example).")
        }
        guard let zone else { return nil }
        let schedule = Schedule(at: at, zone: zone, quietHours: quietHours, repeat: rule, late: late)
        warn(about: schedule)
        return schedule
    }

    private func notation<Value>(_ key: String, example: String, _ read: (String) throws(Mistake) -> Value) -> Value? {
        guard let text = section.text(key, example: example) else { return nil }
        do throws(Mistake) {
            return try read(text.value)
        } catch {
            section.findings.error(
                error.message, at: text.position(atUTF8Offset: error.utf8Offset), remedy: error.remedy)
            return nil
        }
    }

    /// `2026-12-01 09:00`
    /// - Parameter zone: the zone of the clock, for times written with an offset from UTC; nil
    ///   where that is not known.
    static func localTime(_ text: String, in zone: Schedule.Zone?) throws(Mistake) -> LocalTime {
        let text = text.trimmingSpaces()
        if let time = LocalTime(text) { return time }
        if let mistake = WrittenDash.mistake(in: text, isRight: { LocalTime($0) != nil }, remedy: { "Write at: \($0)" })
        {
            throw mistake
        }
        let usual = "Write it like 2026-12-01 09:00."
        if text.utf8.count == 19, text.hasSuffix(":00"), let time = LocalTime(String(text.dropLast(3))) { return time }
        // An hour without its zero, seconds, an offset: it is clear what was meant.
        let words = text.split { $0 == " " || $0 == "T" || $0 == "t" }
        let clock = words.dropFirst().first ?? ""
        let isDate = words.first.map { LocalTime("\($0) 00:00") != nil } ?? false
        if isDate, words.count == 1 {
            throw Mistake("the date \(quoted(text)) lacks a time", remedy: "For example: at: \(text) 09:00.")
        }
        if isDate, let date = words.first, let time = TwelveHourClock.time(in: words.dropFirst().joined(separator: " "))
        {
            throw Mistake("\(quoted(text)) is written in the 12-hour clock", remedy: "Write at: \(date) \(time).")
        }
        let digits = clock.prefix { $0.isASCII && ($0.isNumber || $0 == ":") }
        let time = digits.utf8.prefix(2).last == UInt8(ascii: ":") ? "0\(digits)" : String(digits)
        guard isDate, let date = words.first, let meant = LocalTime("\(date) \(time.prefix(5))") else {
            let forms = OperandRule.dates(meantBy: text).filter { LocalTime($0) != nil }
            if !forms.isEmpty {
                throw Mistake(
                    "\(quoted(text)) is not written the way Volley reads times",
                    remedy: "Write at: \(forms.joined(separator: " or ")).")
            }
            let looksLikeDate =
                text.utf8.count >= 10 && text.utf8.prefix(10).filter { $0 == UInt8(ascii: "-") }.count == 2
            throw Mistake(
                looksLikeDate
                    ? "\(quoted(text)) is not a date and time that exists" : "\(quoted(text)) is not a date and time",
                remedy: usual)
        }
        if clock.count > digits.count || words.count > 2 {
            // What follows the time moves it: 09:00Z is 10:00 in Berlin.
            if case .named(let zone)? = zone, let moment = Timestamp(text) {
                throw Mistake(
                    "\(quoted(text)) has an offset from UTC; 'timezone' says whose clock is meant",
                    remedy: "For that moment in \(zone.name) write at: \(zone.localTime(at: moment).words).")
            }
            throw Mistake(
                "\(quoted(text)) says more than a date and a time; 'timezone' says whose clock is meant",
                remedy: "Write at: \(meant.words), and in 'timezone' write the place whose clock shows that.")
        }
        throw Mistake(
            time.utf8.count > 5
                ? "\(quoted(text)) has seconds, but schedules go by the minute"
                : "\(quoted(text)) is not a date and time",
            remedy: "Write at: \(meant.words).")
    }

    /// `send`, `skip`, `skip after 2h`
    static func latePolicy(_ text: String) throws(Mistake) -> LatePolicy {
        let words = text.split(separator: " ").map(String.init)
        if words == ["send"] { return .send }
        if words == ["skip"] { return .skip(afterSeconds: LatePolicy.shortestSeconds) }
        guard words.starts(with: ["skip", "after"]), words.count > 2 else {
            throw Mistake(
                "'late' must be send, skip or skip after a time, not \(quoted(text))",
                remedy: "For example: late: skip after 2h.")
        }
        let length = words.dropFirst(2).joined(separator: " ")
        guard length.contains(where: { "123456789".contains($0) }) || !length.contains("0") else {
            throw Mistake(
                "\(quoted(text)) names no time",
                remedy: "Write late: skip to send only on time, or for example late: skip after 2h.")
        }
        return .skip(afterSeconds: max(LatePolicy.shortestSeconds, try DurationNotation.seconds(length)))
    }

    // MARK: - What is allowed but rarely meant

    private func warn(about schedule: Schedule) {
        if let at = schedule.at {
            warnOfPast(at, schedule)
            warnOfFar(at, schedule)
            warnOfGap(at, schedule)
        }
        if let rule = schedule.repeat {
            warnOfUnitedDays(rule)
            warnOfGaps(in: rule)
            warnOfUnevenSteps(in: rule)
        }
        guard let quiet = schedule.quietHours else { return }
        let end = LocalTime(minutes: quiet.end).timeOfDay
        if let at = schedule.at, quiet.contains(minuteOfDay: at.minuteOfDay) {
            let free = at.startOfDay.adding(minutes: quiet.end + (quiet.end > at.minuteOfDay ? 0 : 24 * 60))
            section.findings.warning(
                .timeInQuietHours,
                message: "\(at.timeOfDay) is in the quiet hours \(quiet), so everything is held until \(end)",
                at: place("at"), remedy: "Write at: \(free.words), or change the hours.")
        }
        if let times = schedule.repeat?.timesOfDay(where: quiet.contains), let first = times.first {
            section.findings.warning(
                .timeInQuietHours,
                message: times.count == 1
                    ? "\(LocalTime(minutes: first).timeOfDay) is in the quiet hours \(quiet), so everything is held until \(end)"
                    : "\(times.count) of its times of day are in the quiet hours \(quiet): pushes held then are sent at \(end), one after the other",
                at: place("repeat"), remedy: "Leave these times out, or change the hours.")
        }
    }

    /// In cron, `1-7 * mon` is not the first Monday.
    private func warnOfUnitedDays(_ rule: CronRule) {
        guard rule.unitesDays else { return }
        let fields = rule.description.split { $0 == " " || $0 == "\t" }
        var remedy = "Leave one of the two free (*), or allow the warning if that is what you want."
        if fields[2] == "1-7" {
            remedy =
                "To send only on days 1 to 7 that are also that day of the week, write \"\(fields[0]) \(fields[1]) */31,1-7 \(fields[3]) \(fields[4])\": where a field begins with *, both must hold."
        }
        section.findings.warning(
            .daysUnited,
            message:
                "cron adds days of the week to days of the month: this is sent on day\(Int(fields[2]) == nil ? "s" : "") \(fields[2]) of a month, and also on every \(Self.days(fields[4]))",
            at: place("repeat"), remedy: remedy)
    }

    /// Days that some months do not have, and steps that start again with each month or year: they
    /// look more even than they are.
    private func warnOfGaps(in rule: CronRule) {
        let fields = rule.description.split { $0 == " " || $0 == "\t" }
        let (days, months, weekdays) = (fields[2], fields[3], fields[4])
        func warn(_ message: String, remedy: String) {
            section.findings.warning(
                .repeatUneven, message: message, at: place("repeat"),
                remedy: "\(remedy) If this is what you want, allow the warning.")
        }
        // A range is not checked: it may end with the month on purpose.
        if weekdays == "*", let day = days.split(separator: ",").compactMap({ Int($0) }).max() {
            let without = rule.months(without: day)
            let names = Self.list(without.map { Self.monthNames[$0 - 1] })
            if day == 29, !without.isEmpty {
                warn(
                    "February has a day 29 only in leap years",
                    remedy: "Write 28, a day that every month has, or 1 for the next morning.")
            } else if months == "*", !without.isEmpty {
                warn(
                    "only \(12 - without.count) months of the year have a day \(day)",
                    remedy: "Write 28, a day that every month has, or 1 for the next morning.")
            } else if !without.isEmpty {
                warn(
                    "\(names) \(without.count == 1 ? "has" : "have") no day \(day): there, that day is left out",
                    remedy: "Write a day that each of the months has.")
            }
        }
        if weekdays == "*", let step = Self.step(of: days, 1...31), step > 2 {
            warn(
                step > 30
                    ? "a step of \(step) days is longer than a month: this is sent only on the 1st of each month"
                    : "steps of days start again each month: this is sent on days \(Self.list(stride(from: 1, through: 31, by: step))) of a month, however close the last of them is to the next 1st",
                remedy: "To send every week, write a day of the week: \"\(fields[0]) \(fields[1]) * \(months) mon\".")
        }
        if days == "*", weekdays == "*", let step = Self.step(of: months, 1...12), step > 1 {
            warn(
                "this is sent on every day of the months that \(months) names",
                remedy: "To send once in each of them, write a day: \"\(fields[0]) \(fields[1]) 1 \(months) *\".")
        }
    }

    /// The step of `*/5`, also written with the whole range: `1-31/5`.
    private static func step(of field: some StringProtocol, _ range: ClosedRange<Int>) -> Int? {
        let parts = field.split(separator: "/")
        guard parts.count == 2, parts[0] == "*" || parts[0] == "\(range.lowerBound)-\(range.upperBound)" else {
            return nil
        }
        return Int(parts[1])
    }

    private static let monthNames = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    /// Steps of minutes, hours and months that do not divide the hour, the day or the year.
    private func warnOfUnevenSteps(in rule: CronRule) {
        let fields = rule.description.split { $0 == " " || $0 == "\t" }.map(String.init)
        for (place, unit, at, first, count, whole) in [
            (0, "minute", "at", 0, 60, "hour"), (1, "hour", "at", 0, 24, "day"), (3, "month", "in", 1, 12, "year"),
        ] {
            guard let step = Self.step(of: fields[place], first...first + count - 1), step > 0, count % step != 0 else {
                continue
            }
            // At 9:00 and 9:40, if only 9 is named, is what it says.
            guard place != 0 || Int(fields[1]) == nil, place != 3 || fields[2] != "*" || fields[4] != "*" else {
                continue
            }
            let aWhole = "\(whole == "hour" ? "an" : "a") \(whole)"
            let message =
                step > count
                ? "a step of \(step) \(unit)s is longer than \(aWhole): this is sent only \(at) \(unit) \(first) of each \(whole)"
                : "steps of \(unit)s start again each \(whole): this is sent \(at) \(unit)s "
                    + "\(Self.list(stride(from: first, to: first + count, by: step))) of \(aWhole), "
                    + "however close the last of them is to the next \(whole)"
            var even = fields
            even[place] = "*/\((1..<min(step, count)).last { count % $0 == 0 } ?? 1)"
            // Two hours, written as minutes.
            if place == 0, step % 60 == 0, fields[1] == "*", step / 60 <= 12, 24 % (step / 60) == 0 {
                (even[0], even[1]) = ("0", "*/\(step / 60)")
            }
            section.findings.warning(
                .repeatUneven, message: message, at: self.place("repeat"),
                remedy:
                    "For equal steps, write \"\(even.joined(separator: " "))\". If this is what you want, allow the warning."
            )
        }
    }

    private static func list(_ items: some Sequence<some CustomStringConvertible>) -> String {
        let items = items.map(\.description)
        return items.dropLast().joined(separator: ", ") + (items.count > 1 ? " and " : "") + (items.last ?? "")
    }

    /// `1` is a Monday; anything more than a number is shown as written.
    private static func days(_ field: Substring) -> String {
        let names = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
        return Int(field).map { names[$0 % names.count] } ?? String(field)
    }

    private func warnOfPast(_ at: LocalTime, _ schedule: Schedule) {
        guard schedule.repeat == nil, case .skip = schedule.late else { return }
        let occurrence = schedule.occurrence(at: at)
        let seconds = Int(now.epochSeconds - occurrence.ends.epochSeconds)
        guard seconds >= LatePolicy.shortestSeconds else { return }
        let zone = schedule.zone.isRecipient ? "everywhere" : "in \(schedule.zone.fallback.name)"
        guard schedule.late.isTooLate(bySeconds: seconds) else {
            section.findings.warning(
                .schedulePast,
                message:
                    "\(at.words) \(zone) passed \(TextFormat.span(seconds: Int64(seconds))) ago, so it would be sent at once (late: \(schedule.late))",
                at: place("at"), remedy: "If you mean a later time, write that.")
            return
        }
        section.findings.warning(
            .schedulePast,
            message: "\(at.words) \(zone) has passed, and with late: \(schedule.late) nothing would be sent",
            at: place("at"), remedy: "Write a later time; `volley send FILE --now` sends it at once.",
            [.giveAnotherTime, .ask(.sendNow)])
    }

    /// Most likely a slip in the year.
    private func warnOfFar(_ at: LocalTime, _ schedule: Schedule) {
        let days = (schedule.occurrence(at: at).begins.epochSeconds - now.epochSeconds) / 86_400
        guard days > Self.farDays else { return }
        section.findings.warning(
            .scheduleFar, message: "\(at.words) is more than ten years ahead", at: place("at"),
            remedy: "Check the year.")
    }

    private static let farDays: Int64 = 10 * 365

    private func warnOfGap(_ at: LocalTime, _ schedule: Schedule) {
        let occurrence = schedule.occurrence(at: at)
        guard occurrence.isInGap else { return }
        let zone = schedule.zone.fallback
        section.findings.warning(
            .timeInGap,
            message:
                "\(at.words) does not exist in \(zone.name), where clocks go forward at that moment; it means \(zone.localTime(at: occurrence.begins).words)",
            at: place("at"), remedy: "Write the time that you mean.")
    }

    private func place(_ key: String) -> SourcePosition { section.node(key)?.position ?? section.position }
}
