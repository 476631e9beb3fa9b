import Base
import PushServices

/// What people and lists leave out: devices on lists, suppressed ones and those that got enough
/// pushes, under any of the targets of a row.
extension BlockScanner where Targets: ~Copyable {
    /// The fingerprint by which a list of excluded devices has the device of a row, under any of
    /// its targets; and those of the targets that are not used. Called before the row is added to
    /// the block's devices.
    @inline(__always) func otherTargets(
        _ row: CellRow, _ columns: ColumnPlan, of reading: TargetReading, _ own: TokenFingerprint,
        _ blockResult: inout BlockResult
    ) -> (listed: TokenFingerprint?, others: [TokenFingerprint]) {
        var listed = hasExcludedDevices && isListed(own, &blockResult) ? own : nil
        if hasExcludedDevices, reading.owner != nil, let sent = reading.target.map(plan.hash.fingerprint) {
            if isListed(sent, &blockResult), listed == nil { listed = sent }
        }
        var others: [TokenFingerprint] = []
        let place = blockResult.devices.count
        targets.forEachOther(of: row, columns, besides: reading.service) { other, service in
            foreignForms.note(other, of: service, &blockResult.foreignTargets)
            let fingerprint = plan.hash.fingerprint(other)
            others.append(fingerprint)
            if areUsers[service], blockResult.users.last?.row != place {
                blockResult.users.append(.init(row: place, value: fingerprint))
            }
            if hasExcludedDevices, isListed(fingerprint, &blockResult), listed == nil { listed = fingerprint }
        }
        return (listed, others)
    }

    /// Whether a list of excluded devices has the token. This is noted for every row, even one that
    /// nothing selects: lines of lists that are not a device at all cause a warning.
    @inline(__always) private func isListed(_ fingerprint: TokenFingerprint, _ blockResult: inout BlockResult) -> Bool {
        let place = plan.excluded.place(ofToken: fingerprint.word)
        if place >= 0 { blockResult.listedDevices.append(UInt32(truncatingIfNeeded: place)) }
        return place >= 0
    }

    /// The same of the row's registration id.
    @inline(__always) func isIDListed(_ row: CellRow, _ columns: ColumnPlan, _ blockResult: inout BlockResult)
        -> Bool
    {
        let place = plan.excluded.place(ofID: row.bytes(columns.registrationID), targets)
        if place >= 0 {
            blockResult.listedDevices.append(UInt32(truncatingIfNeeded: place))
        } else if Spelling.mayBeDisguised(row.bytes(columns.registrationID)) {
            lookForListed(row.bytes(columns.registrationID), &blockResult)
        }
        return place >= 0
    }

    /// Notes a registration id that a list would have without the quotes or the blanks around it.
    @inline(never) private func lookForListed(_ id: UnsafeBufferPointer<UInt8>, _ blockResult: inout BlockResult) {
        let text = String(decoding: id, as: UTF8.self)
        let place = Array(Spelling.core(text[...]).utf8).withUnsafeBufferPointer {
            plan.excluded.place(ofID: $0, targets)
        }
        if place >= 0 { blockResult.listedInDisguise.add(text, of: 0, rows: 1) }
    }

    /// Everything that excludes an excluded row.
    func exclusions(_ row: CellRow, _ columns: ColumnPlan, _ fingerprint: TokenFingerprint) -> Exclusions {
        let lists = plan.excluded.lists(
            of: fingerprint.word, registrationID: row.bytes(columns.registrationID), targets)
        return selector.exclusions.union(.lists(lists))
    }

    /// Why a person or a list leaves out another target of the row; nil for no such reason.
    func otherReason(
        _ others: [TokenFingerprint], _ reading: TargetReading, _ fingerprint: TokenFingerprint, _ row: CellRow,
        _ columns: ColumnPlan
    ) -> SkipReason? {
        let others = reading.owner == nil ? others : others + [fingerprint]
        return others.isEmpty ? nil : reasonOfOthers(others, row, columns)
    }

    /// What a person complained of holds for a phone whatever reaches it, and so do the pushes that
    /// it got. What a service called gone does not.
    private func reasonOfOthers(_ others: [TokenFingerprint], _ row: CellRow, _ columns: ColumnPlan) -> SkipReason? {
        let isSuppressed = others.contains { other in
            suppressed?.entry(other.word).map {
                $0.isByPerson && !registered(after: $0.invalidSince, row, columns, latest: latestActivity)
            } ?? false
        }
        if isSuppressed { return .suppressed }
        return others.contains { capped?.contains($0.word) ?? false } ? .frequency : nil
    }

    /// Whether a device that was suppressed still is: the row has no later registration. What the
    /// device's newest row says counts in the end, as with all that is judged here.
    func isStillSuppressed(
        _ entry: (invalidSince: Int64, isByPerson: Bool), _ cell: UnsafeBufferPointer<UInt8>,
        _ blockResult: inout BlockResult
    ) -> Bool {
        guard let registered = registration(cell, latest: entry.isByPerson ? latestActivity : .max) else {
            if !Blank.isCell(cell) { blockResult.unreadRegistrations.note(cell) }
            return true
        }
        return registered <= entry.invalidSince
    }
}
