import Base

extension HarvestMerger {
    /// Settles what only the end of the scan can: alias limits, counts, warnings.
    /// - Returns: the result, and the slots that did not become recipients.
    mutating func finish() throws -> (result: AudienceResult, dropped: [Int]) {
        try checkBadRows()
        try markExcluded()
        try markAliasLimit()
        var skipped = skipped
        skipped[.duplicateToken] += rowsWithToken - devices.count
        let names = plan.selectors.selectors.names
        var selectedBy = [Int](repeating: 0, count: names.count)
        var byLanguage = [Int](repeating: 0, count: languages.names.count)
        var byPayloadBytes: [Int: Int] = [:]
        var audience = 0
        classes.forEach { deviceClass, count in
            if let reason = deviceClass.reason {
                skipped[reason] += count
                return
            }
            audience += count
            byLanguage[deviceClass.language] += count
            byPayloadBytes[deviceClass.payloadBytes, default: 0] += count
            for number in selections[deviceClass.selection] { selectedBy[Int(number)] += count }
        }
        let dropped = audience == devices.count ? [] : droppedSlots()
        let spoken = zip(languages.names, byLanguage).filter { $0.1 > 0 }
        let result = AudienceResult(
            rows: rows, audience: audience, skipped: skipped.byReason,
            selectedBy: Array(zip(names, selectedBy)).map { (selector: $0.0, recipients: $0.1) },
            languages: Dictionary(spoken, uniquingKeysWith: +), payloadBytes: byPayloadBytes, badRows: badRows,
            warnings: warnings + duplicateKeys + unseenNames() + conditions.warnings(plan.query.conditions),
            selectorsOfFirstSlots: selectorsOfFirstSlots(),
            digest: digestWords(dropped))
        return (result, dropped)
    }

    private func droppedSlots() -> [Int] {
        (0..<devices.count).filter { classes[devices.classNumber(of: $0)].reason != nil }
    }

    /// What two audiences share only when the same rows were selected in the same order, and the same of them dropped.
    private func digestWords(_ dropped: [Int]) -> [UInt64] {
        var ends = SequenceDigest()
        for slot in dropped { ends.append(UInt64(slot)) }
        return digest.words + ends.words + [UInt64(devices.count)]
    }

    private func checkBadRows() throws(Diagnostics) {
        let count = skipped[.badRow]
        guard count > 0, Double(count) > plan.query.maximumBadRowShare * Double(rows) else { return }
        let share = Double(count) * 100 / Double(rows)
        let summary = Diagnostic(
            "\(count) of \(rows) rows cannot be read (\(percent(share)) %, at most \(percent(plan.query.maximumBadRowShare * 100)) % are allowed)",
            remedy: "Repair the export, or allow more in the campaign: `audience: {max_bad_rows: \(Int(share.rounded(.up)))%}`.")
        throw Diagnostics([summary] + badRows)
    }

    private func percent(_ share: Double) -> String {
        let hundredths = Int((share * 100).rounded())
        return hundredths % 100 == 0 ? "\(hundredths / 100)" : "\(Double(hundredths) / 100)"
    }

    /// Devices whose newest row is excluded are excluded, also when an older row of theirs is not.
    private mutating func markExcluded() throws {
        var found: [Int] = []
        exclusions.forEach { mark in
            let slot = devices.find(mark.fingerprint)
            if slot >= 0, devices.isAtLeastAsNew(mark.lastActive, as: slot) { found.append(slot) }
        }
        for slot in found { try drop(slot, .excluded) }
    }

    private mutating func drop(_ slot: Int, _ reason: SkipReason) throws {
        var deviceClass = classes[devices.classNumber(of: slot)]
        deviceClass.reason = reason
        try move(slot, to: deviceClass)
    }

    /// Devices beyond the limits of all their aliases, and selected by nothing else, become `aliasLimit`, whatever was judged of
    /// them later in the order of reasons; a device that was suppressed before that takes no place.
    private mutating func markAliasLimit() throws {
        guard let aliasSelector = plan.selectors.selectors.alias, !aliasMembers.isEmpty else { return }
        let slots = Array(aliasMembers.slots)
        let decidedBefore = Set(
            slots.filter { slot in
                classes[devices.classNumber(of: slot)].reason.map { $0.ordinal < SkipReason.aliasLimit.ordinal } ?? false
            })
        let kept = aliasMembers.kept(limit: plan.query.aliasLimit, in: devices) { !decidedBefore.contains($0) }
        for slot in slots where !kept.contains(slot) && !decidedBefore.contains(slot) {
            guard selections[classes[devices.classNumber(of: slot)].selection] == [aliasSelector] else { continue }
            try drop(slot, .aliasLimit)
        }
    }

    private func selectorsOfFirstSlots() -> [[String]] {
        (0..<min(devices.count, AudienceResult.namedSlots)).map { slot in
            selections[classes[devices.classNumber(of: slot)].selection].map { plan.selectors.selectors.names[Int($0)] }
        }
    }

    // MARK: - Warnings

    private var duplicateKeys: [Diagnostic] {
        guard rowsWithDuplicateKeys > 0 else { return [] }
        let objects = rowsWithDuplicateKeys == 1 ? "1 object of the exports names" : "\(rowsWithDuplicateKeys) objects of the exports name"
        return [Diagnostic("\(objects) a key twice; the last value counts", severity: .warning)]
    }

    private func unseenNames() -> [Diagnostic] {
        unseen(plan.selectors.tags.names, seen.tags, "tag", among: sampledTags)
            + unseen(plan.selectors.aliases.names, seen.aliases, "alias")
            + unseen(plan.selectors.registrationIDs.names, seen.registrationIDs, "registration id")
    }

    /// Names of the query that no row carries; of a long list the first ten and a count.
    private func unseen(_ names: [String], _ wasSeen: [Bool], _ kind: String, among valid: Set<String> = []) -> [Diagnostic] {
        let missing = zip(names, wasSeen).filter { !$0.1 }.map(\.0)
        var warnings = missing.prefix(10).map { name in
            let nearest = nearestName(to: name, among: valid.sorted())
            return Diagnostic(
                "no row of the exports carries the \(kind) '\(name)'", remedy: nearest.map { "Did you mean '\($0)'?" }, severity: .warning)
        }
        if missing.count > 10 {
            let rest = missing.count - 10
            warnings.append(
                Diagnostic("nor \(rest) more of the campaign's \(kind == "alias" ? "aliases" : kind + "s")", severity: .warning))
        }
        return warnings
    }
}
