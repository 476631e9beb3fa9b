import Base
import CSIMD

/// Decides which selectors name a row, and whether a tag, alias or registration id excludes it. One for each thread.
///
/// Every row that can be read comes by here, whatever becomes of it, so that the names no row carries are known at the end.
struct RowSelector {
    /// What the current row is selected by: numbers of selectors, ascending, each once.
    private(set) var selected: [UInt32] = []
    /// Whether a tag, alias or registration id of the current row is excluded.
    private(set) var isExcluded = false
    /// Whether its alias or registration id is.
    private(set) var isExcludedByName = false
    /// Where the tags of a device's rows are united, the `RowFacts` of the current row, ascending, but for what others must say.
    private(set) var facts: [UInt32] = []
    /// The number, among the query's aliases, of the alias that selects the current row; -1 for none.
    private(set) var selectingAlias = -1

    /// Tags of the block's first rows, to guess what a misspelt one means.
    private(set) var sampledTags: Set<String> = []
    /// Rows whose tags are still to be sampled.
    private var rowsToSample = 0
    private var seenTags: NameSightings
    private var seenAliases: NameSightings
    private var seenRegistrationIDs: NameSightings

    private let compiled: CompiledSelectors
    /// The last row that was seen with a tag, for tags that stand twice in a cell.
    private var lastRowOfTag: [Int]
    private var rowNumber = 0

    /// Rows whose tags are sampled, from the first on.
    static let sampledRows = 2000
    private static let sampledTagLimit = 10_000

    init(_ compiled: CompiledSelectors) {
        self.compiled = compiled
        lastRowOfTag = Array(repeating: 0, count: compiled.tags.names.count)
        seenTags = NameSightings(compiled.tags)
        seenAliases = NameSightings(compiled.aliases)
        seenRegistrationIDs = NameSightings(compiled.registrationIDs)
    }

    /// Names that some row of the block has carried, each once.
    var seen: SeenNames {
        SeenNames(tags: seenTags.numbers, aliases: seenAliases.numbers, registrationIDs: seenRegistrationIDs.numbers)
    }

    /// Forgets what was seen before.
    mutating func beginBlock(samplesTags: Bool) {
        seenTags.begin()
        seenAliases.begin()
        seenRegistrationIDs.begin()
        rowsToSample = samplesTags ? Self.sampledRows : 0
        if !sampledTags.isEmpty { sampledTags = [] }
    }

    /// Looks at a row; afterwards `selected`, `isExcluded`, `isExcludedByName`, `selectingAlias` and `facts` are about it.
    /// - Returns: whether anything selects it.
    @inline(__always) mutating func look(at row: CellRow, _ plan: ColumnPlan) -> Bool {
        rowNumber += 1
        if !selected.isEmpty { selected.removeAll(keepingCapacity: true) }
        (isExcluded, isExcludedByName) = (false, false)
        selectingAlias = -1
        if !facts.isEmpty { facts.removeAll(keepingCapacity: true) }
        if !compiled.tags.isEmpty { lookAtTags(row, plan.tags) }
        if facts.count > 1 { facts.sort() }
        if rowsToSample > 0 { rowsToSample -= 1 }
        if !compiled.aliases.isEmpty { lookAtAlias(row.bytes(plan.alias)) }
        if !compiled.registrationIDs.isEmpty { lookAtRegistrationID(row.bytes(plan.registrationID)) }
        if compiled.isEveryone, let selector = compiled.selectors.everyone {
            selected.append(selector)
            note(.everyone)
        }
        return !selected.isEmpty
    }

    private mutating func lookAtAlias(_ cell: UnsafeBufferPointer<UInt8>) {
        let number = compiled.aliases.look(up: cell)
        guard number >= 0 else { return }
        seenAliases.note(number)
        if number < compiled.selectingAliasCount {
            selectingAlias = number
            if let selector = compiled.selectors.alias { selected.append(selector) }
            note(.alias)
        }
        if compiled.isAliasExcluded[number] { (isExcluded, isExcludedByName) = (true, true) }
    }

    private mutating func lookAtRegistrationID(_ cell: UnsafeBufferPointer<UInt8>) {
        let number = compiled.registrationIDs.look(up: cell)
        guard number >= 0 else { return }
        seenRegistrationIDs.note(number)
        if number < compiled.selectingRegistrationIDCount, let selector = compiled.selectors.registrationID {
            selected.append(selector)
            note(.registrationID)
        }
        if compiled.isRegistrationIDExcluded[number] { (isExcluded, isExcludedByName) = (true, true) }
    }

    private mutating func note(_ fact: RowFacts.OfNewest) {
        if compiled.unitesRows { facts.append(fact.rawValue) }
    }

    // MARK: - Tags

    /// What the tags of a row have shown so far.
    private struct TagFindings {
        var isAny = false
        var all = 0
        var isNone = false
    }

    @inline(__always) private mutating func lookAtTags(_ row: CellRow, _ cell: Int) {
        var findings = TagFindings()
        if row.isArray(cell) {
            row.forEachElement(cell) { lookAtTag(trimmed($0), &findings) }
        } else if compiled.separator.count == 1 {
            lookAtList(row.bytes(cell), compiled.separator[0], &findings)
        } else {
            lookAtList(row.bytes(cell), compiled.separator[...], &findings)
        }
        guard compiled.selectsByTags else { return }
        guard !findings.isNone, findings.all == compiled.allCount, findings.isAny || !compiled.hasAny else {
            if !selected.isEmpty { selected.removeAll(keepingCapacity: true) }
            return
        }
        for number in compiled.allSelectors where !selected.contains(number) { selected.append(number) }
        if let number = compiled.selectors.noneOnly { selected.append(number) }
        if selected.count > 1 { selected.sort() }
    }

    @inline(__always)
    private mutating func lookAtList(_ cell: UnsafeBufferPointer<UInt8>, _ separator: UInt8, _ findings: inout TagFindings) {
        guard let base = cell.baseAddress, !cell.isEmpty else { return }
        var (start, block) = (0, 0)
        while block < cell.count {
            var found = volley_equal(base + block, separator)
            if cell.count - block < 64 { found &= 1 &<< UInt64(truncatingIfNeeded: cell.count - block) &- 1 }
            while found != 0 {
                let place = block + found.trailingZeroBitCount
                found &= found &- 1
                lookAtTag(trimmed(UnsafeBufferPointer(start: base + start, count: place - start)), &findings)
                start = place + 1
            }
            block += 64
        }
        lookAtTag(trimmed(UnsafeBufferPointer(start: base + start, count: cell.count - start)), &findings)
    }

    private mutating func lookAtList(
        _ cell: UnsafeBufferPointer<UInt8>, _ separator: ArraySlice<UInt8>, _ findings: inout TagFindings
    ) {
        let length = separator.count
        var (start, place) = (0, 0)
        while length > 0, place + length <= cell.count {
            guard cell[place..<place + length].elementsEqual(separator) else {
                place += 1
                continue
            }
            lookAtTag(trimmed(UnsafeBufferPointer(rebasing: cell[start..<place])), &findings)
            place += length
            start = place
        }
        lookAtTag(trimmed(UnsafeBufferPointer(rebasing: cell[start...])), &findings)
    }

    @inline(__always) private mutating func lookAtTag(_ tag: UnsafeBufferPointer<UInt8>, _ findings: inout TagFindings) {
        if rowsToSample > 0 { sample(tag) }
        let number = compiled.tags.look(up: tag)
        if number >= 0 { noteTag(number, &findings) }
    }

    private mutating func noteTag(_ number: Int, _ findings: inout TagFindings) {
        guard lastRowOfTag[number] != rowNumber else { return }
        lastRowOfTag[number] = rowNumber
        seenTags.note(number)
        if compiled.unitesRows { facts.append(UInt32(truncatingIfNeeded: number)) }
        let role = compiled.roles[number]
        if role.isAny {
            findings.isAny = true
            if let selector = role.selector { selected.append(selector) }
        }
        if role.isAll { findings.all += 1 }
        if role.isNone { findings.isNone = true }
        if role.isExcluded { isExcluded = true }
    }

    private mutating func sample(_ tag: UnsafeBufferPointer<UInt8>) {
        guard sampledTags.count < Self.sampledTagLimit, !tag.isEmpty else { return }
        sampledTags.insert(String(decoding: tag, as: UTF8.self))
    }
}
