import Base
import PushServices

extension BlockMerger {
    /// Concludes what only the end of the scan can: alias limits, counts, warnings.
    /// - Parameter tick: called often, with the share that is done.
    mutating func finish(
        into sink: any RecipientSink, tick: (Double) throws -> Void
    ) throws -> (result: AudienceResult, devices: ConcludedDevices) {
        try findings.checkBadRows()
        try findings.checkTagSeparators()
        try findings.checkExclusions()
        let settled = try devices.settle(into: sink, tick: tick)
        var skipped = findings.skipped
        skipped[.duplicateToken] += findings.rowsWithDevice - settled.devices
        let names = plan.selectors.selectors.names
        var selectedBy = [Int](repeating: 0, count: names.count)
        var byLanguage = [Int](repeating: 0, count: devices.languages.names.count)
        var byPayloadBytes: [Int: [Int: Int]] = [:]
        var byGroup: [Int: Int] = [:]
        var byWave: [Int: Int] = [:]
        var bySending: [Int: Int] = [:]
        var skippedByGroup: [SkipReason: [Int: Int]] = [:]
        var (audience, largestSkipped) = (0, 0)
        devices.classes.forEach { deviceClass, count in
            if let reason = deviceClass.reason {
                skipped[reason] += count
                skippedByGroup[reason, default: [:]][deviceClass.group, default: 0] += count
                if reason == .payloadTooLarge { largestSkipped = max(largestSkipped, deviceClass.payloadBytes) }
                return
            }
            audience += count
            byLanguage[deviceClass.language] += count
            byPayloadBytes[deviceClass.group, default: [:]][deviceClass.payloadBytes, default: 0] += count
            byGroup[deviceClass.group, default: 0] += count
            byWave[deviceClass.wave, default: 0] += count
            if deviceClass.sending > 0 { bySending[deviceClass.sending - 1, default: 0] += count }
            for number in devices.classes.selections[deviceClass.selection] { selectedBy[Int(number)] += count }
        }
        let spoken = zip(devices.languages.names, byLanguage).filter { $0.1 > 0 }
        try findings.checkDates(settled)
        let result = AudienceResult(
            rows: findings.rows, audience: audience, skipped: skipped.byReason,
            selectedBy: Array(zip(names, selectedBy)).map { (selector: $0.0, recipients: $0.1) },
            languages: Dictionary(spoken, uniquingKeysWith: +), payloadBytesOfGroups: byPayloadBytes, groups: byGroup, waves: byWave,
            reachedBySending: bySending,
            skippedGroups: skippedByGroup, exclusions: findings.exclusions(skippedByGroup[.excluded] ?? [:]),
            conditions: findings.conditionCounts, badTokens: findings.badTokens.list, unreachedCells: findings.unreachedCells,
            servicesWithoutColumn: findings.servicesWithoutColumn, badRows: findings.badRows.map(\.mistake),
            warnings: findings.allWarnings(
                rowsOfSeveral: findings.rowsWithDevice > settled.devices, undatedExclusions: settled.undatedExclusions),
            firstRecipients: settled.first.mapValues { recipients in
                recipients.map {
                    FirstRecipient(slot: $0.place, selectors: devices.classes.selections[$0.selection].map { names[Int($0)] })
                }
            },
            largestSkippedPayload: largestSkipped,
            digest: digestWords(settled))
        return (result, settled)
    }

    /// Equal for two audiences only when the same rows were selected in the same order, and the same devices dropped.
    private func digestWords(_ settled: ConcludedDevices) -> [UInt64] {
        var ends = SequenceDigest()
        settled.dropped.forEach { ends.append(UInt64($0)) }
        return findings.digest.words + ends.words + [UInt64(settled.count)]
    }
}
