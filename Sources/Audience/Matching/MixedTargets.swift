import Base
import PushServices

/// Reads targets of several services. Either a column says which service reaches a device, or the
/// best service for which the row has a target does.
struct MixedTargets: TargetReader {
    private let readers: [ChosenTargets]
    /// Numbers of services by the cells of the column that says which, in lower case; nil if
    /// targets say so.
    private let named: [[UInt8]: Int]?
    /// Numbers of services, the best first.
    private let order: [Int]
    private let suppressed: SuppressedDevices?
    private let latestActivity: Int64
    /// How each service is told of the campaign's Live Activity; nil where it needs no token of
    /// one.
    private let activities: [ActivityForm?]
    /// Reads these tokens: they are Apple's, whichever service carries them. A device's own token
    /// may be read from the same row.
    private let activityTokens = ChosenTargets(PushServices.standard.target)

    init(_ query: AudienceQuery) {
        (suppressed, latestActivity) = (query.suppressed, query.latestActivity)
        activities = query.services.map(query.activityForm)
        readers = query.services.map { ChosenTargets($0.target) }
        let names = query.services.map(\.name)
        let preferred = query.columns.preference.compactMap { names.firstIndex(of: $0.value) }
        order = preferred + names.indices.filter { !preferred.contains($0) }
        named = query.columns.service.map { column in
            let own = names.enumerated().map { (Self.folded($1.utf8), $0) }
            let mapped = column.map.compactMap { entry in
                names.firstIndex(of: entry.service.value).map { (Self.folded(entry.cell.value.utf8), $0) }
            }
            return Dictionary(column.map.isEmpty ? own : mapped) { first, _ in first }
        }
    }

    /// In the form of the first service that has such targets.
    func normalize(_ cell: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        readers.lazy.compactMap { $0.normalize(cell) }.first
    }

    /// In the forms of all services, each once.
    func allForms(of cell: UnsafeBufferPointer<UInt8>) -> [[UInt8]] {
        readers.reduce(into: []) { forms, reader in
            if let form = reader.normalize(cell).map(Array.init), !forms.contains(form) { forms.append(form) }
        }
    }

    func target(of row: CellRow, _ columns: ColumnPlan) -> TargetReading {
        if readers.count == 1 { return read(row, columns, 0) }
        guard let named else { return best(of: row, columns) }
        guard let service = named[Self.folded(row.bytes(columns.service))] else {
            // It counts as a row of its device, which may be reached by what an older row says.
            var reading = best(of: row, columns)
            reading.isReached = false
            return reading
        }
        return read(row, columns, service)
    }

    func forEachOther(
        of row: CellRow, _ columns: ColumnPlan, besides service: UInt8,
        _ body: (UnsafeBufferPointer<UInt8>, Int) -> Void
    ) {
        for other in order where columns.devices[other] != columns.devices[Int(service)] {
            if let device = readers[other].normalize(row.bytes(columns.devices[other])) { body(device, other) }
        }
    }

    /// The best target that its service has not called gone; if all are gone, the best one.
    private func best(of row: CellRow, _ columns: ColumnPlan) -> TargetReading {
        var gone: TargetReading?, flawed: TargetReading?
        for service in order where !Blank.isCell(row.bytes(columns.targets[service])) {
            let reading = read(row, columns, service)
            guard let target = reading.target else {
                if flawed == nil { flawed = reading }
                continue
            }
            if !isGone(target, row, columns) { return reading }
            if gone == nil { gone = reading }
        }
        return gone ?? flawed ?? unreached(row, columns)
    }

    /// A row without a target. Its device may be known even so, if only the token of an activity is
    /// missing.
    private func unreached(_ row: CellRow, _ columns: ColumnPlan) -> TargetReading {
        let nothing = row.bytes(columns.blankCell)
        for service in order where activities[service] != nil {
            guard let device = readers[service].normalize(row.bytes(columns.devices[service])) else { continue }
            let id = activities[service] == .target ? registrationID(of: row, columns) : nil
            return TargetReading(
                target: nil, owner: device, registrationID: id, cell: nothing, service: UInt8(service), isReached: false
            )
        }
        return TargetReading(target: nil, cell: nothing, isReached: false)
    }

    /// Whether a service called the target gone, and the row does not say that it registered later.
    private func isGone(_ target: UnsafeBufferPointer<UInt8>, _ row: CellRow, _ columns: ColumnPlan) -> Bool {
        guard let suppressed, let entry = suppressed.entry(suppressed.hash.token(target)), !entry.isByPerson else {
            return false
        }
        return !registered(after: entry.invalidSince, row, columns, latest: latestActivity)
    }

    private func read(_ row: CellRow, _ columns: ColumnPlan, _ service: Int) -> TargetReading {
        let cell = row.bytes(columns.devices[service])
        let reading = TargetReading(target: readers[service].normalize(cell), cell: cell, service: UInt8(service))
        guard let form = activities[service] else { return reading }
        // A row with a device that cannot be read decides for none.
        if reading.target == nil, !Blank.isCell(cell) { return reading }
        return readActivity(row, columns, form, device: reading)
    }

    /// A row identifies its device by the device's token, then by its registration id, and only
    /// then by the activity's token: that one changes, and a row without one still decides for its
    /// device.
    private func readActivity(_ row: CellRow, _ columns: ColumnPlan, _ form: ActivityForm, device: TargetReading)
        -> TargetReading
    {
        let written = row.bytes(columns.activity)
        let cell = Blank.isCell(written) ? row.bytes(columns.blankCell) : written
        let token = activityTokens.normalize(cell)
        if form == .target {
            let id = registrationID(of: row, columns)
            return TargetReading(
                target: token, owner: device.target ?? id ?? token, registrationID: id, cell: cell, isOfActivity: true,
                service: device.service)
        }
        // The cell becomes a part of the payload as it is.
        if device.target == nil || token?.count == cell.count { return device }
        return TargetReading(target: nil, owner: device.target, cell: cell, isOfActivity: true, service: device.service)
    }

    /// nil for a blank one.
    private func registrationID(of row: CellRow, _ columns: ColumnPlan) -> UnsafeBufferPointer<UInt8>? {
        let cell = row.bytes(columns.registrationID)
        return Blank.isCell(cell) ? nil : cell
    }

    /// ASCII letters in lower case, without blanks at the ends.
    private static func folded(_ text: some Collection<UInt8>) -> [UInt8] {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let trimmed = text.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        return trimmed.map { $0 &- UInt8(ascii: "A") < 26 ? $0 | 0x20 : $0 }
    }
}
