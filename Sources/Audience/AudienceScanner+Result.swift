import Base

extension AudienceScanner {
    /// Settles what only the end of the scan can: alias limits, counts, warnings.
    /// - Returns: the result, and the slots that did not become recipients.
    mutating func finish() throws(Diagnostics) -> (result: AudienceResult, dropped: [Int]) {
        try checkBadRows()
        markExcluded()
        markAliasLimit()
        var skipped = skipped
        skipped[SkipReason.duplicateToken.ordinal] += rowsWithToken - devices.count
        var dropped: [Int] = []
        var selectedBy = [Int](repeating: 0, count: selector.selectors.names.count)
        var bySelection: [Int] = []
        var byLanguage = [Int](repeating: 0, count: languages.names.count)
        for slot in 0..<devices.count {
            let device = devices[slot]
            if device.verdict != 0 {
                dropped.append(slot)
                skipped[Int(device.verdict) - 1] += 1
                continue
            }
            byLanguage[Int(device.language)] += 1
            let selection = Int(device.selection)
            while bySelection.count <= selection { bySelection.append(0) }
            bySelection[selection] += 1
        }
        for (selection, count) in bySelection.enumerated() {
            for number in selections[UInt32(selection)] { selectedBy[Int(number)] += count }
        }
        let reasons = SkipReason.allCases.filter { skipped[$0.ordinal] > 0 }.map { ($0, skipped[$0.ordinal]) }
        let spoken = zip(languages.names, byLanguage).filter { $0.1 > 0 }
        let result = AudienceResult(
            rows: rows, audience: devices.count - dropped.count, skipped: Dictionary(uniqueKeysWithValues: reasons),
            selectedBy: Array(zip(selector.selectors.names, selectedBy)).map { (selector: $0.0, recipients: $0.1) },
            languages: Dictionary(spoken, uniquingKeysWith: +), badRows: badRows, warnings: allWarnings(),
            selectorsOfFirstSlots: selectorsOfFirstSlots())
        return (result, dropped)
    }

    private func checkBadRows() throws(Diagnostics) {
        guard badRowCount > 0, Double(badRowCount) > query.maximumBadRowShare * Double(rows) else { return }
        let share = Double(badRowCount) * 100 / Double(rows)
        let summary = Diagnostic(
            "\(badRowCount) of \(rows) rows cannot be read (\(percent(share)) %, at most \(percent(query.maximumBadRowShare * 100)) % are allowed)",
            remedy: "Repair the export, or allow more in the campaign: `audience: {max_bad_rows: \(Int(share.rounded(.up)))%}`.")
        throw Diagnostics([summary] + badRows)
    }

    private func percent(_ share: Double) -> String {
        let hundredths = Int((share * 100).rounded())
        return hundredths % 100 == 0 ? "\(hundredths / 100)" : "\(Double(hundredths) / 100)"
    }

    /// Devices whose newest row is excluded are excluded, also when an older row of theirs is not.
    private mutating func markExcluded() {
        var found: [Int] = []
        exclusionMarks.forEach { token, lastActive in
            if let slot = devices.find(token), lastActive >= devices[slot].lastActive { found.append(slot) }
        }
        for slot in found { devices[slot].verdict = UInt8(SkipReason.excluded.ordinal + 1) }
    }

    /// Devices beyond the limits of all their aliases, and selected by nothing else, become `aliasLimit`, whatever the sink said of
    /// them later in the order of reasons; a device that was suppressed before that takes no place.
    private mutating func markAliasLimit() {
        guard let aliasSelector = selector.selectors.alias, !aliasMembers.isEmpty else { return }
        let limit = SkipReason.aliasLimit.ordinal
        func isDecidedBefore(_ device: DeviceTable.Device) -> Bool { device.verdict != 0 && Int(device.verdict) - 1 < limit }
        aliasMembers.keep(limit: query.aliasLimit, in: &devices) { devices, slot in !isDecidedBefore(devices[slot]) }
        for slot in aliasMembers.slots {
            let device = devices[slot]
            guard !device.isKeptByAlias, !isDecidedBefore(device), selections[device.selection].elementsEqual([aliasSelector]) else {
                continue
            }
            devices[slot].verdict = UInt8(limit + 1)
        }
    }

    private func selectorsOfFirstSlots() -> [[String]] {
        (0..<min(devices.count, AudienceResult.namedSlots)).map { slot in
            selections[devices[slot].selection].map { selector.selectors.names[Int($0)] }
        }
    }

    // MARK: - Warnings

    private func allWarnings() -> [Diagnostic] {
        let tags = unseen(selector.tags.names, selector.tags.wasSeen, "tag", among: selector.sampledTags)
        let aliases = unseen(selector.aliases.names, selector.aliases.wasSeen, "alias")
        let ids = unseen(selector.registrationIDs.names, selector.registrationIDs.wasSeen, "registration id")
        return warnings + tags + aliases + ids + filter.warnings
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
