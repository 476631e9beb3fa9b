import Base
import Campaigns

/// A zone of the machine's database, found by typing a part of its name.
enum ZoneControl {
    /// - Parameter mayBeRecipient: whether each device's own clock may be chosen.
    static func html(_ value: ShownValue, mayBeRecipient: Bool, at now: Timestamp) -> HTML {
        let list = value.name + "-list"
        let own: HTML =
            mayBeRecipient ? "<option value=\"\(ScheduleZoneNames.ownClock)\" label=\"\(Self.ownClock)\"></option>" : ""
        let options: [HTML] = ScheduleZoneNames.ofThisMachine().map { "<option value=\"\($0)\"></option>" }
        return """
            \(value.line(attributes: " list=\"\(list)\" spellcheck=\"false\"", note: clock(value.text, at: now)))
            <datalist id="\(list)">\(own)\(HTML(joined: options))</datalist>
            """
    }

    private static let ownClock = "each device’s own clock"

    /// The present time of clocks there, by which a person notices a zone that they did not mean.
    private static func clock(_ name: String, at now: Timestamp) -> HTML {
        if name == ScheduleZoneNames.ownClock { return "<span class=\"note\">Each device gets it by its own clock.</span>" }
        guard let zone = try? ZoneDatabase.system.zone(named: name) else { return "" }
        let local = zone.localTime(at: now)
        return """
            <span class="note">Clocks there show \(local.timeOfDay) now, \(DateWords.day(of: local)): \
            \(DateWords.offset(seconds: zone.offset(at: now))).</span>
            """
    }
}
