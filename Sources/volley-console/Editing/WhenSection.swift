import Automation
import Base
import Campaigns

/// When a campaign goes out: by hand, or at a time on one clock or on each person's.
enum WhenSection: ComposerSection {
    static let title = "When"

    private static let group = ["schedule"]
    /// No key of the source: it says whether there are times.
    private static let way = CampaignForm.Field(path: group + ["way"], label: "When it is sent", kind: .line)
    private static let whose = CampaignForm.Field(path: group + ["clock"], label: "Whose clock counts", kind: .line)
    private static let at = CampaignForm.Field(
        path: group + ["at"], label: "Date and time", kind: .moment,
        hint: "If it is repeated, this is the first time; it may be blank then.")
    private static let rule = CampaignForm.Field(path: group + ["repeat"], label: "Repeated", kind: .rule)
    private static let zone = CampaignForm.Field(
        path: group + ["timezone"], label: "Time zone", kind: .zone,
        hint: "Whose clock counts, for example Europe/Berlin. Typing a part of the name finds it.")
    private static let fallback = CampaignForm.Field(
        path: group + ["fallback_timezone"], label: "Time zone of people whose own is not known", kind: .zone)
    private static let quiet = CampaignForm.Field(
        path: group + ["quiet_hours"], label: "Quiet hours", kind: .notation(.hours),
        hint:
            "Nothing is sent in these hours; it waits until they end. They need a time zone, also where it is sent by hand."
    )
    private static let late = CampaignForm.Field(
        path: group + ["late"], label: "If it could not be sent at that time",
        kind: .oneOf([
            ("", "Send it up to 2 hours late"), ("skip after 30min", "Send it up to 30 minutes late"),
            ("skip after 6h", "Send it up to 6 hours late"), ("skip after 1d", "Send it up to a day late"),
            ("skip", "Leave it out"),
            ("send", "Send it however late it is"),
        ]))

    static func fields(in edit: YAMLEdit) -> [CampaignForm.Field] { [at, rule, zone, fallback, quiet, late] }

    private static func isTimed(_ edit: YAMLEdit) -> Bool {
        edit.keys(at: group).contains { $0 == "at" || $0 == "repeat" }
    }

    private static func held(_ field: CampaignForm.Field, _ edit: YAMLEdit) -> String {
        CampaignForm.text(of: (try? edit.value(at: field.path)) ?? nil)
    }

    // MARK: - The page

    static func html(_ context: ComposerContext) -> HTML {
        let isTimed = context.trial.typed[way.name].map { $0 == "time" } ?? isTimed(context.edit)
        let isOwn =
            context.trial.typed[whose.name].map { $0 == "own" }
            ?? (held(zone, context.edit) == ScheduleZoneNames.ownClock)
        let chosenWay = ShownValue(field: way, present: "", text: "", mistake: context.mistake(of: way))
        let ways: HTML = """
            \(GroupInput.radio("By hand, when a person sends it", name: way.name, value: "hand", isChecked: !isTimed))
            \(GroupInput.radio("At a time", name: way.name, value: "time", isChecked: isTimed))
            """
        return """
            <div class="when">\(chosenWay.group(ways))
            <div class="timed">\(moment(context, isOwn: isOwn))\(context.control(rule))</div>
            <fieldset class="field controls"><legend>\(whose.label)</legend>\(context.mistake(of: whose))
            \(GroupInput.radio("One time zone: all at the same moment", name: whose.name, value: "one", isChecked: !isOwn))
            \(GroupInput.radio("Each person’s clock: at that time where they are", name: whose.name, value: "own", isChecked: isOwn))
            <div class="one-zone">\(oneZone(context))</div><div class="own-zone">\(context.control(fallback))</div></fieldset>
            \(context.control(quiet))
            <div class="timed">\(context.control(lateField(context.edit)))</div>
            \(NextTimes.html(context.item, context.visit, context.site))</div>
            """
    }

    /// With what is odd about the time.
    private static func moment(_ context: ComposerContext, isOwn: Bool) -> HTML {
        guard var value = context.value(of: at) else { return context.control(at) }
        let repeated = context.value(of: rule)?.text ?? "", policy = context.value(of: late)?.text ?? ""
        let zoneText = isOwn ? "" : context.value(of: zone)?.text ?? ""
        var notes = doubts(at: value.text, rule: repeated, zone: zoneText)
        if repeated.isEmpty, policy == "send", let passed = passed(at: value.text, zone: zoneText, now: context.now) {
            notes.append(passed)
        }
        let doubts: [HTML] = notes.map { "<span class=\"note doubt\">\($0)</span>" }
        value.mistake = "\(value.mistake)\(HTML(joined: doubts))"
        return MomentControl.html(value)
    }

    /// Also with another delay that the source has.
    private static func lateField(_ edit: YAMLEdit) -> CampaignForm.Field {
        guard case .oneOf(let options) = late.kind, let match = held(late, edit).wholeMatch(of: /skip after +(.+)/),
            !options.contains(where: { $0.value == match.0 })
        else { return late }
        var field = late
        field.kind = .oneOf(options + [(String(match.0), "Send it up to \(match.1) late")])
        return field
    }

    private static func oneZone(_ context: ComposerContext) -> HTML {
        guard var value = context.value(of: zone) else { return context.control(zone) }
        if value.text == ScheduleZoneNames.ownClock { value.text = "" }
        return ZoneControl.html(value, at: context.now)
    }

    /// Hours in which most people sleep, as minutes of the day.
    private static let nightBegins = 22 * 60, nightEnds = 7 * 60

    private static func isNight(_ minute: Int) -> Bool { minute >= nightBegins || minute < nightEnds }

    /// Times that are at night where they count.
    /// - Parameter zone: blank for each person's clock.
    static func doubts(at: String, rule: String, zone: String) -> [String] {
        let place = zone.isEmpty ? "on each person’s clock" : "in \(zone)"
        let rest = "Between 22:00 and 07:00 most people sleep. If you mean that, leave it."
        var doubts: [String] = []
        if let time = LocalTime(String(at.prefix(16))), isNight(time.minuteOfDay) {
            doubts.append("\(time.timeOfDay) is at night \(place). \(rest)")
        }
        if let times = (try? CronRule(rule))?.timesOfDay(where: isNight), let first = times.first {
            let words = times.count == 1 ? LocalTime(minutes: first).timeOfDay : "\(times.count) of the repeated times"
            doubts.append(
                "\(words) \(times.count == 1 ? "is" : "are") at night \(place), each time it is repeated. \(rest)")
        }
        return doubts
    }

    /// A time that has passed is sent at once where lateness does not matter.
    private static func passed(at: String, zone: String, now: Timestamp) -> String? {
        guard let time = LocalTime(String(at.prefix(16))), let rules = try? ZoneDatabase.system.zone(named: zone) else {
            return nil
        }
        let occurrence = Schedule(at: time, zone: .named(rules)).occurrence(at: time)
        return occurrence.ends < now
            ? "This time has passed, so it would be sent at once. Choose a later one if you do not mean that." : nil
    }

    // MARK: - What was chosen

    static func apply(_ form: [String: String], to edit: inout YAMLEdit) -> [String: Mistake] {
        guard let way = form[way.name] else { return CampaignForm.apply(form, to: &edit, fields(in: edit)) }
        let wasTimed = isTimed(edit)
        if way == "hand" { return byHand(form, to: &edit, wasTimed: wasTimed) }
        var mistakes = CampaignForm.apply(form, to: &edit, [at, rule, quiet, late])
        mistakes.merge(writeZone(form, &edit)) { first, _ in first }
        if mistakes.isEmpty, !isTimed(edit) {
            mistakes[at.name] = Mistake(
                "no time is chosen",
                remedy: "Choose a date and a time, or how often it is repeated; or choose By hand above.")
        }
        return mistakes
    }

    private static func byHand(_ form: [String: String], to edit: inout YAMLEdit, wasTimed: Bool) -> [String: Mistake] {
        if !wasTimed {
            let typed = [at, rule].map { (try? CampaignForm.text(of: $0, in: form) ?? "") ?? "?" }
            guard typed.allSatisfy(\.isEmpty) else {
                return [
                    way.name: Mistake(
                        "a time is filled in, and By hand is chosen", remedy: "Choose At a time, or clear the time.")
                ]
            }
        }
        do throws(Mistake) {
            let present = held(quiet, edit),
                quietHours = try CampaignForm.text(of: quiet, in: form, present: present) ?? present
            guard !quietHours.isEmpty else {
                // A zone alone says nothing.
                if !edit.keys(at: group).isEmpty { try edit.set(nil, at: group) }
                return [:]
            }
            var mistakes = CampaignForm.apply(form, to: &edit, [quiet])
            mistakes.merge(writeZone(form, &edit)) { first, _ in first }
            let keys = edit.keys(at: group)
            for field in [at, rule, late] where keys.contains(field.path[1]) { try edit.set(nil, at: field.path) }
            return mistakes
        } catch { return [quiet.name: error] }
    }

    /// One zone, or each person's clock with the zone of the others.
    private static func writeZone(_ form: [String: String], _ edit: inout YAMLEdit) -> [String: Mistake] {
        guard let clock = form[whose.name] else { return CampaignForm.apply(form, to: &edit, [zone, fallback]) }
        let isOwn = clock == "own", field = isOwn ? fallback : zone
        let typed = CampaignForm.trimmed(form[field.name] ?? "")
        do throws(Mistake) {
            guard !typed.isEmpty else {
                throw isOwn
                    ? Mistake(
                        "the zone of people whose own is not known is missing",
                        remedy: "Choose one, such as Europe/Berlin.")
                    : Mistake(
                        "it is not chosen whose clock counts", remedy: "Choose a time zone, such as Europe/Berlin.")
            }
            if typed != held(field, edit) {
                try checkZone(typed)
                try edit.set(.text(typed), at: field.path)
            }
            if isOwn {
                if held(zone, edit) != ScheduleZoneNames.ownClock {
                    try edit.set(.text(ScheduleZoneNames.ownClock), at: zone.path)
                }
            } else if edit.keys(at: group).contains(fallback.path[1]) {
                try edit.set(nil, at: fallback.path)
            }
            return [:]
        } catch { return [field.name: error] }
    }

    /// A zone that the list offers.
    private static func checkZone(_ name: String) throws(Mistake) {
        _ = try ZoneDatabase.system.zone(named: name)
        let known = ScheduleZoneNames.ofThisMachine()
        guard known.isEmpty || known.contains(name) else {
            throw Mistake(
                "'\(name)' is not the name of a place", remedy: "Choose the zone of a place, such as Europe/Berlin.")
        }
    }
}

/// The next times of a campaign according to its saved file: the lines of the calendar, in words.
enum NextTimes {
    private static let count = 5

    static func html(_ item: CampaignCache.Item, _ visit: Visit, _ site: Site) -> HTML {
        let found = try? site.campaigns.nextTimes(of: item, count: count, project: site.project(), now: visit.now)
        let times = found ?? []
        let lines: [HTML] = times.map(line)
        let none: HTML =
            item.mistakes.isEmpty
            ? (item.isScheduled ? "No more: its times have passed." : "It is sent by hand.")
            : "They are known when the file has no mistakes."
        let content: HTML =
            found == nil ? CalendarPage.unknown : times.isEmpty ? "<p class=\"note\">\(none)</p>" : "<ul>\(lines)</ul>"
        return """
            <section class="next" aria-labelledby="next-times"><h2 id="next-times">Next times, as saved</h2>\(content)</section>
            """
    }

    private static func line(_ time: ScheduleList.Time) -> HTML {
        // Not the viewer's own clock, which would be a third one here.
        let (begins, ends) = (DateWords.utc(time.begins), DateWords.utc(time.ends))
        let moment = begins == ends ? begins : "from \(begins) to \(ends)"
        let notes = CalendarPage.notes(time)
        return
            "<li><b>\(DateWords.time(time.occurrence))</b> \(CalendarPage.clock(time)) <span class=\"note\">\(moment)\(notes.isEmpty ? "" : "; \(notes)")</span></li>"
    }
}
