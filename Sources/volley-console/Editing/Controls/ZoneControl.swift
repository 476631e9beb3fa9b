import Base
import Campaigns

/// A zone of the machine's database, found by typing a part of its name.
enum ZoneControl {
    static func html(_ value: ShownValue, at now: Timestamp) -> HTML {
        let list = value.name + "-list"
        let options: [HTML] = ScheduleZoneNames.ofThisMachine().map { "<option value=\"\($0)\"></option>" }
        return """
            \(value.line(attributes: " list=\"\(list)\" spellcheck=\"false\"", note: clock(value.text, at: now)))
            <datalist id="\(list)">\(HTML(joined: options))</datalist>
            """
    }

    /// The present time of clocks there, by which a person notices a zone that they did not mean.
    private static func clock(_ name: String, at now: Timestamp) -> HTML {
        guard let zone = try? ZoneDatabase.system.zone(named: name) else { return "" }
        let local = zone.localTime(at: now)
        return """
            <span class="note">Clocks there show \(local.timeOfDay) now, \(DateWords.day(of: local)): \
            \(DateWords.offset(seconds: zone.offset(at: now))).</span>
            """
    }
}
