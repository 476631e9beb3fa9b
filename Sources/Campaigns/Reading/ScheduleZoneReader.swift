import Base

/// Reads `timezone` and `fallback_timezone` of a schedule.
struct ScheduleZoneReader {
    static let ownClock = "recipient"

    let section: Section

    /// The clock that counts; nil when that is missing or wrong, which was reported.
    func read() -> Schedule.Zone? {
        // Nothing is guessed: servers mostly run on UTC, but the campaign's author does not.
        let node = section.required("timezone", example: "timezone: Europe/Berlin, or timezone: recipient")
        let text = node.flatMap { section.text($0, subject: "'timezone'", example: "timezone: Europe/Berlin") }
        if let text, text.value == Self.ownClock { return clocksOfDevices() }
        let named: ZoneRules? = text.flatMap { zone($0, key: "timezone", mayBeRecipient: true) }
        if section.has("fallback_timezone"), named != nil {
            section.findings.error(
                "'fallback_timezone' is only for timezone: recipient; here one clock counts for all devices",
                at: section.place(of: "fallback_timezone"), remedy: "Remove it, or write timezone: recipient.")
        }
        return named.map { .named($0) }
    }

    private func clocksOfDevices() -> Schedule.Zone? {
        guard let node = section.node("fallback_timezone") else {
            if !section.mentions("fallback_timezone") {
                section.findings.error(
                    "the key 'fallback_timezone' is missing: timezone: recipient needs the zone of devices whose own is not known",
                    at: section.node("timezone")?.position ?? section.position,
                    remedy: "Add, for example: fallback_timezone: Europe/Berlin.")
            }
            return nil
        }
        guard let text = section.text(node, subject: "'fallback_timezone'", example: "fallback_timezone: Europe/Berlin")
        else { return nil }
        return zone(text, key: "fallback_timezone", mayBeRecipient: false).map { .recipient(fallback: $0) }
    }

    private func zone(_ text: SourceText, key: String, mayBeRecipient: Bool) -> ZoneRules? {
        let name = text.value.trimmingSpaces()
        if let mistake = Self.mistake(about: name, key: key, mayBeRecipient: mayBeRecipient) {
            section.findings.error(mistake, at: text.position)
            return nil
        }
        do throws(Mistake) {
            let zone = try ZoneDatabase.system.zone(named: name)
            if ZoneAbbreviation.isGreenwich(name) {
                section.findings.warning(
                    .oddTimezone,
                    message: "\(quoted(name)) is UTC all year: in summer the clocks of London are an hour ahead of it",
                    at: text.position,
                    remedy: "For London write \(key): Europe/London; if you mean UTC, write \(key): UTC.")
            }
            return zone
        } catch {
            section.findings.error(error.message, at: text.position, remedy: error.remedy)
            return nil
        }
    }

    fileprivate static func mistake(about name: String, key: String, mayBeRecipient: Bool) -> Mistake? {
        let small = name.lowercased()
        let meansOwnClock =
            nearestName(to: small, among: [ownClock]) != nil || ["local", "device", "user"].contains(small)
        if meansOwnClock {
            return mayBeRecipient
                ? Mistake(
                    "there is no time zone \(quoted(name))",
                    remedy: "Did you mean '\(ownClock)', each device by its own clock?")
                : Mistake(
                    "'\(key)' must be a zone, not \(quoted(name)): it is for devices whose own is not known",
                    remedy: "For example: \(key): Europe/Berlin.")
        }
        if let places = ZoneAbbreviation.places(name) {
            return Mistake(
                "\(quoted(name)) is an abbreviation, not a place; abbreviations leave open whether summer time counts",
                remedy: "Write \(key): \(orList(places)).")
        }
        let place = ZoneAbbreviation.place(ofOffset: name)
        let remedy = "Write the place, for example \(key): \(place ?? "Europe/Berlin")."
        let offset = small.hasPrefix("etc/gmt") ? small.dropFirst("etc/gmt".count) : ""
        if let sign = offset.first, let hours = Int(offset.dropFirst()), hours > 0, sign == "+" || sign == "-" {
            return Mistake(
                "\(quoted(name)) is \(hours) \(TextFormat.plural(hours, one: "hour")) \(sign == "+" ? "behind" : "ahead of") UTC, as these names reverse the sign",
                remedy: remedy)
        }
        if ZoneAbbreviation.isOffset(name) || place != nil && !name.contains("/") && !ZoneAbbreviation.isGreenwich(name)
        {
            return Mistake("\(quoted(name)) is an offset from UTC, which has no summer time", remedy: remedy)
        }
        return nil
    }
}

/// What `timezone` of a schedule may hold.
public enum ScheduleZoneNames {
    /// Each device's own clock.
    public static let ownClock = ScheduleZoneReader.ownClock

    /// The zones of this machine that a campaign may name; empty without a database.
    public static func ofThisMachine() -> [String] {
        ZoneDatabase.system.names().filter {
            ScheduleZoneReader.mistake(about: $0, key: "timezone", mayBeRecipient: true) == nil
        }
    }
}
