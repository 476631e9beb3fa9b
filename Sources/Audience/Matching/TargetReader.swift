import Base
import CSIMD
import PushServices

/// Finds targets in cells. Which reader does that is chosen once for a scan, by the service's form,
/// so that rows cost what they cost with a single form.
protocol TargetReader: ~Copyable {
    /// The target of a cell in the form in which it is kept, valid until the next call; nil when it
    /// cannot be one. Judges as `TargetForm.normalize`.
    func normalize(_ cell: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>?
    /// How the device of a row is reached.
    func target(of row: CellRow, _ columns: ColumnPlan) -> TargetReading
    /// Calls `body` with the targets of a row that are not used, as the device is reached through
    /// another service, and with the numbers of their services.
    func forEachOther(
        of row: CellRow, _ columns: ColumnPlan, besides service: UInt8,
        _ body: (UnsafeBufferPointer<UInt8>, Int) -> Void)
}

/// When a device registered at the latest, in milliseconds since 1970; nil for a cell that is not a
/// date.
/// - Parameter latest: dates after this one count as none. For devices that a person suppressed it
///   is the latest that any clock may show (`AudienceQuery.latestActivity`); what a service found
///   out does no harm when it is tried again.
func registration(_ cell: UnsafeBufferPointer<UInt8>, latest: Int64) -> Int64? {
    guard let moment = dateMilliseconds(cell), moment <= latest else { return nil }
    return latestMilliseconds(cell)
}

/// Whether a row says that its device registered later than a moment, in milliseconds since 1970:
/// then it has the app again.
func registered(after moment: Int64, _ row: CellRow, _ columns: ColumnPlan, latest: Int64) -> Bool {
    registration(row.bytes(columns.registeredAt), latest: latest).map { $0 > moment } ?? false
}

/// How the device of a row is reached, as its cells say.
struct TargetReading {
    /// In the form in which it is kept, valid until the next row; nil if the row has none.
    let target: UnsafeBufferPointer<UInt8>?
    /// The device of the row, valid as long, if something else is needed for a push: the token of a
    /// Live Activity.
    var owner: UnsafeBufferPointer<UInt8>?
    /// The row's registration id, if it has one and a push goes to the token of a Live Activity.
    var registrationID: UnsafeBufferPointer<UInt8>?
    /// The cell that was read.
    let cell: UnsafeBufferPointer<UInt8>
    /// Whether that is the cell of an activity's token.
    var isOfActivity = false
    /// The number of the service that the cell belongs to.
    var service: UInt8 = 0
    /// Whether a service of the app reaches the device. There may be a target even so: then the
    /// device is known, and counts.
    var isReached = true

    /// What identifies the device, whatever its target is; nil if the row has none.
    var device: UnsafeBufferPointer<UInt8>? { owner ?? target }

    /// The token of a Live Activity that a push goes to.
    var activity: UnsafeBufferPointer<UInt8>? { owner == nil ? nil : target }

    /// Why nothing can be sent by a row without a target.
    var reason: SkipReason { isReached ? cell.isEmpty ? .missingToken : .badToken : .noService }

    /// The same before tags and conditions are judged: nil for a row that has a device or means
    /// none. A row with a device that cannot be read is never counted as if it had decided for that
    /// device.
    var earlyReason: SkipReason? { device == nil && reason == .badToken && !Blank.isCell(cell) ? .badToken : nil }
}

extension TargetReader where Self: ~Copyable {
    /// With one service: what its column holds.
    @inline(__always) func target(of row: CellRow, _ columns: ColumnPlan) -> TargetReading {
        let cell = row.bytes(columns.token)
        return TargetReading(target: normalize(cell), cell: cell)
    }

    /// With one service, rows have no others.
    @inline(__always) func forEachOther(
        of row: CellRow, _ columns: ColumnPlan, besides service: UInt8,
        _ body: (UnsafeBufferPointer<UInt8>, Int) -> Void
    ) {}
}

/// Reads targets in hex digits. Holds room for one, lower-cased.
struct HexTargets: TargetReader, ~Copyable {
    private let form: TargetForm
    private let lengths: ClosedRange<Int>
    private let digits: UnsafeMutablePointer<UInt8>

    init(_ form: TargetForm) {
        self.form = form
        lengths = form.lengths
        digits = .allocate(capacity: lengths.upperBound)
    }

    deinit { digits.deallocate() }

    @inline(__always) func normalize(_ cell: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard lengths.contains(cell.count), cell.count & 1 == 0, let base = cell.baseAddress else {
            return normalizeDecorated(cell)
        }
        var place = 0
        var isValid: Int32 = 1
        while place + 16 <= cell.count {
            isValid &= volley_lower_hex(base + place, digits + place)
            place += 16
        }
        while place < cell.count {
            let byte = cell[place]
            let isDigit = byte &- UInt8(ascii: "0") <= 9 || (byte | 0x20) &- UInt8(ascii: "a") <= 5
            if !isDigit { isValid = 0 }
            digits[place] = byte | 0x20
            place += 1
        }
        return isValid != 0 ? UnsafeBufferPointer(start: digits, count: cell.count) : normalizeDecorated(cell)
    }

    @inline(never) private func normalizeDecorated(_ cell: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard let target = form.undecorated(cell) else { return nil }
        for (place, byte) in target.enumerated() { digits[place] = byte }
        return UnsafeBufferPointer(start: digits, count: target.count)
    }
}

/// Reads targets that are kept as they are written.
struct TextTargets: TargetReader {
    private let form: TargetForm
    private let characters: ASCIISet
    private let lengths: ClosedRange<Int>
    private let exceptedLengths: ClosedRange<Int>?

    init(_ form: TargetForm) {
        self.form = form
        (characters, lengths, exceptedLengths) = (form.characters, form.lengths, form.exceptedLengths)
    }

    @inline(__always) func normalize(_ cell: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard lengths.contains(cell.count), exceptedLengths?.contains(cell.count) != true,
            cell.allSatisfy(characters.contains)
        else {
            return normalizeDecorated(cell)
        }
        return cell
    }

    /// Nothing is removed within the target, so it is a part of the cell.
    @inline(never) private func normalizeDecorated(_ cell: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard let target = form.undecorated(cell), let start = cell.firstIndex(where: characters.contains) else {
            return nil
        }
        return UnsafeBufferPointer(rebasing: cell[start..<start + target.count])
    }
}

/// Either of them behind a call, for lists and traces, where a call is nothing.
struct ChosenTargets: TargetReader {
    private let read: (UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>?

    private final class Box {
        let targets: HexTargets

        init(_ targets: consuming HexTargets) { self.targets = targets }
    }

    init(_ form: TargetForm) {
        switch form.notation {
        case .hex:
            let box = Box(HexTargets(form))
            read = { box.targets.normalize($0) }
        case .text: read = TextTargets(form).normalize
        }
    }

    func normalize(_ cell: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? { read(cell) }
}

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
