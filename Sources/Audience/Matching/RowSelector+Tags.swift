import Base
import CSIMD

/// The tags of a row. A cell counts as volley.yaml separates it, or as a list; where a tag of the
/// query would be found with another separator, or in another spelling, that is noted for the end
/// (`TagFormats`).
extension RowSelector {
    /// The tags of a row that count, as often as they appear.
    func tags(of row: CellRow, cell: Int) -> [[UInt8]] {
        var tags: [[UInt8]] = []
        if row.isArray(cell) {
            row.forEachElement(cell) { tags.append(Array(trimmed($0))) }
            return tags
        }
        let text = row.bytes(cell)
        if TagListText.mayBe(text), list.read(text) {
            list.forEach { tags.append(Array($0)) }
            return tags
        }
        forEachPart(of: text, separator: compiled.separator) { tags.append(Array($0)) }
        return tags
    }

    /// What the tags of the current row have shown so far.
    struct TagFindings {
        var isAny = false
        var all = 0
        var isNone = false
    }

    @inline(__always) mutating func lookAtTags(_ row: CellRow, cell: Int) {
        var findings = TagFindings()
        if row.isArray(cell) {
            var hasMarks = false
            row.forEachElement(cell) { if lookAtElement(trimmed($0), &findings) { hasMarks = true } }
            if hasMarks { row.forEachElement(cell) { lookForMarks(inTag: trimmed($0), isElement: true) } }
        } else {
            lookAtText(row.bytes(cell), &findings)
        }
        carriesNone = findings.isNone
        guard compiled.selectsByTags else { return }
        guard !findings.isNone, findings.all == compiled.allCount, findings.isAny || !compiled.hasAny else {
            if !selected.isEmpty { selected.removeAll(keepingCapacity: true) }
            return
        }
        for number in compiled.allSelectors where !selected.contains(number) { selected.append(number) }
        if let number = compiled.selectors.noneOnly { selected.append(number) }
        if selected.count > 1 { selected.sort() }
    }

    @inline(__always) private mutating func lookAtText(
        _ cell: UnsafeBufferPointer<UInt8>, _ findings: inout TagFindings
    ) {
        if TagListText.mayBe(cell), list.read(cell) { return lookAtListText(&findings) }
        if compiled.separator.count == 1 {
            lookAtList(cell, separator: compiled.separator[0], &findings)
        } else {
            lookAtList(cell, separator: compiled.separator[...], &findings)
            lookForMarks(cell)
        }
    }

    private mutating func lookAtListText(_ findings: inout TagFindings) {
        let list = list
        var hasMarks = false
        list.forEach { if lookAtElement($0, &findings) { hasMarks = true } }
        if hasMarks { list.forEach { lookForMarks(inTag: $0, isElement: true) } }
    }

    @inline(__always)
    private mutating func lookAtList(
        _ cell: UnsafeBufferPointer<UInt8>, separator: UInt8, _ findings: inout TagFindings
    ) {
        guard let base = cell.baseAddress, !cell.isEmpty else { return }
        var (start, block) = (0, 0)
        var (separators, marks): (UInt64, UInt64) = (0, 0)
        while block < cell.count {
            var found = volley_equal(base + block, separator)
            if cell.count - block < 64 { found &= 1 &<< UInt64(truncatingIfNeeded: cell.count - block) &- 1 }
            separators |= found
            var usual = found
            while found != 0 {
                let place = block + found.trailingZeroBitCount
                found &= found &- 1
                lookAtTag(trimmed(UnsafeBufferPointer(start: base + start, count: place - start)), &findings)
                start = place + 1
                // A blank after a separator is not a mark.
                if base[start] == 0x20 { usual |= 1 << UInt64(start - block) }
            }
            marks |= volley_list_marks(base + block, Int64(truncatingIfNeeded: cell.count - block)) & ~usual
            block += 64
        }
        lookAtTag(trimmed(UnsafeBufferPointer(start: base + start, count: cell.count - start)), &findings)
        if separators != 0 { tagForms.usesSeparator = true }
        if marks != 0 { lookForMarks(cell) }
    }

    private mutating func lookAtList(
        _ cell: UnsafeBufferPointer<UInt8>, separator: ArraySlice<UInt8>, _ findings: inout TagFindings
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

    @inline(__always) private mutating func lookAtTag(_ tag: UnsafeBufferPointer<UInt8>, _ findings: inout TagFindings)
    {
        if rowsToSample > 0 { sample(tag) }
        let number = compiled.tags.find(tag)
        if number >= 0 {
            noteTag(number, &findings)
        } else if !tag.isEmpty {
            if !compiled.tagParts.isEmpty { notePart(tag: tag) }
            if compiled.nearTags.mayHold(tag) { nearTags.note(tag, compiled.nearTags) }
        }
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
        if role.isExcluded { exclusions.insert(.tags) }
    }

    private mutating func sample(_ tag: UnsafeBufferPointer<UInt8>) {
        guard sampledTags.count < Self.sampledTagLimit, !tag.isEmpty else { return }
        sampledTags.insert(String(decoding: tag, as: UTF8.self))
    }

    // MARK: - Other forms

    /// - Returns: whether the element may contain separators that other exports use. Whether it
    ///   does is only of interest when all elements are read: a tag that is one of them counts.
    private mutating func lookAtElement(_ tag: UnsafeBufferPointer<UInt8>, _ findings: inout TagFindings) -> Bool {
        lookAtTag(tag, &findings)
        guard let base = tag.baseAddress else { return false }
        return stride(from: 0, to: tag.count, by: 64).contains {
            volley_list_marks(base + $0, Int64(truncatingIfNeeded: tag.count - $0)) != 0
        }
    }

    /// Looks for tags of the query in other forms.
    @inline(never) private mutating func lookForMarks(_ cell: UnsafeBufferPointer<UInt8>) {
        let hash = TagAnomalies.hash(cell)
        if odd.isPlain(hash) { return }
        if TagListText.mayBe(cell), lookForMarks(inTag: cell, isElement: false, onlyObject: true) { return }
        let separator = compiled.separator
        var (isPlain, start) = (true, 0)
        while start <= cell.count {
            let end = end(ofPart: start, of: cell, separator: separator)
            if lookForMarks(inTag: trimmed(UnsafeBufferPointer(rebasing: cell[start..<end])), isElement: false) {
                isPlain = false
            }
            start = end + max(separator.count, 1)
        }
        // The semicolon of a reference (`&#117;`) may have cut a tag.
        let mayBeCut = separator == [UInt8(ascii: ";")] && cell.contains(UInt8(ascii: "&"))
        if isPlain, mayBeCut, lookForMarks(inTag: cell, isElement: false) { isPlain = false }
        if isPlain { odd.notePlain(hash) }
    }

    /// - Returns: whether there was something to note.
    @discardableResult
    private mutating func lookForMarks(inTag tag: UnsafeBufferPointer<UInt8>, isElement: Bool, onlyObject: Bool = false)
        -> Bool
    {
        guard !tag.isEmpty, compiled.tags.find(tag) < 0 else { return false }
        switch odd.finding(tag, isElement: isElement) {
        case .nothing: return false
        case .mark(let mark, let number):
            if onlyObject, mark != .object { return false }
            // The row also has the tag.
            if lastRowOfTag[number] == rowNumber { return true }
            tagForms.note(mark, tag: number, cell: tag, isElement: isElement)
        case .near:
            if onlyObject { return false }
            // A text that begins like a name was noted when it was looked up.
            if !compiled.nearTags.mayHold(tag) { nearTags.note(tag, compiled.nearTags) }
        }
        return true
    }

    private func forEachPart(
        of cell: UnsafeBufferPointer<UInt8>, separator: [UInt8], _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        var start = 0
        while start <= cell.count {
            let end = end(ofPart: start, of: cell, separator: separator)
            body(trimmed(UnsafeBufferPointer(rebasing: cell[start..<end])))
            start = end + max(separator.count, 1)
        }
    }

    /// The end of the part of a cell that begins at a place.
    private func end(ofPart start: Int, of cell: UnsafeBufferPointer<UInt8>, separator: [UInt8]) -> Int {
        guard let first = separator.first else { return cell.count }
        var place = start
        while place + separator.count <= cell.count {
            if cell[place] == first,
                separator.count == 1 || cell[place..<place + separator.count].elementsEqual(separator)
            {
                return place
            }
            place += 1
        }
        return cell.count
    }
}
