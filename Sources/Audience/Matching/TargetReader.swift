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
