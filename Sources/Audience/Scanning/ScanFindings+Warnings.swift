import Base
import PushServices

/// What only the end of a scan can say of its findings.
extension ScanFindings {
    var servicesWithoutColumn: Set<Int> {
        guard plan.query.services.count > 1 else { return [] }
        return Set(
            plan.query.services.indices.filter { number in
                plan.files.allSatisfy { $0.plan.targets[number] == $0.plan.blankCell }
            })
    }

    /// The most frequent first.
    var unreachedCells: [(cell: String, rows: Int)] {
        unreached.map { (cell: String(decoding: $0.key, as: UTF8.self), rows: $0.value) }
            .sorted { ($1.rows, $0.cell) < ($0.rows, $1.cell) }
    }

    /// - Parameter groups: excluded devices by the bits of `Exclusions`.
    func exclusions(_ groups: [Int: Int]) -> [ExclusionCount] {
        func devices(_ part: Exclusions) -> Int {
            groups.reduce(0) { Exclusions(rawValue: $1.key).isDisjoint(with: part) ? $0 : $0 + $1.value }
        }
        let query = plan.query
        let names: [(ExclusionCount.Kind, [String], Exclusions)] = [
            (.tags, query.excludedTags, .tags), (.aliases, query.excludedAliases, .aliases),
            (.registrationIDs, query.excludedRegistrationIDs, .registrationIDs),
        ]
        var counts = names.filter { !$0.1.isEmpty }.map {
            ExclusionCount(kind: $0.0, list: nil, entries: $0.1.count, devices: devices($0.2))
        }
        let lists = plan.excluded.lists
        let unmatched = plan.excluded.unmatched(listedDevices)
        for (number, list) in lists.enumerated().prefix(Exclusions.mostLists) {
            let isShared = number == Exclusions.mostLists - 1 && lists.count > Exclusions.mostLists
            let last = isShared ? lists.count - 1 : number
            counts.append(
                ExclusionCount(
                    kind: .devices, list: isShared ? nil : list.path,
                    entries: lists[number...last].reduce(0) { $0 + $1.lines },
                    unmatched: unmatched[number...last].reduce(0, +), devices: devices(.lists(1 << number))))
        }
        return counts
    }

    func checkBadRows() throws(Diagnostics) {
        let count = skipped[.badRow]
        guard count > 0, Double(count) > plan.query.maximumBadRowShare * Double(rows) else { return }
        let share = Double(count) * 100 / Double(rows)
        let summary = Diagnostic(
            "\(count) of \(rows) rows cannot be read (\(percent(share)) %, at most \(percent(plan.query.maximumBadRowShare * 100)) % are allowed)",
            remedy: remedyForBadRows(share))
        throw Diagnostics([summary] + badRows.map(\.mistake))
    }

    private func remedyForBadRows(_ share: Double) -> String {
        if let position = longBadRow?.position {
            return "The quote left open at line \(position.line) of \(position.file) hides the rows after it: "
                + "close it, or export the file again."
        }
        if badRows.allSatisfy({ !$0.isUTF8 }) {
            return
                "The export seems to be written in an older encoding, such as Windows-1252. Save it again as UTF-8; spreadsheet programs call that 'CSV UTF-8'."
        }
        // This many are not a small mistake, and allowing them would leave out as many devices.
        guard share <= Self.mostAllowedPercent else { return "Repair the export, or export it again." }
        return
            "Repair the export, or allow more bad rows in the campaign: `audience: {max_bad_rows: \(Int(share.rounded(.up)))%}`."
    }

    /// A share of unreadable rows above which allowing them is not a remedy.
    private static let mostAllowedPercent = 5.0

    private func percent(_ share: Double) -> String {
        let hundredths = Int((share * 100).rounded())
        return hundredths % 100 == 0 ? "\(hundredths / 100)" : "\(Double(hundredths) / 100)"
    }

    // MARK: - Warnings

    /// - Parameters:
    ///   - rowsOfSeveral: whether some device has several rows.
    ///   - undatedExclusions: as in `DeviceResults`.
    func allWarnings(rowsOfSeveral: Bool, undatedExclusions: Int) -> [Diagnostic] {
        let early =
            warnings + foreignTargets.warnings(plan) + duplicateKeys + lookalikes + rowsForTags + tagSeparators
            + hashedNames
        let names = unseenNames() + spellings + uselessNames + plan.excluded.warnings(listedDevices)
        let cells =
            conditionWarnings + comparisonWarnings + unreadDates(rowsOfSeveral: rowsOfSeveral) + unreadRegistrationDates
        let lost = lostExclusions(undated: undatedExclusions)
        return early + names + lost + cells + tagsOfNone + otherActivity(rowsOfSeveral: rowsOfSeveral)
    }

    /// Rows that `exclude` names and that exclude no device: another row of the device may be sent
    /// to.
    private func lostExclusions(undated: Int) -> [Diagnostic] {
        var found: [Diagnostic] = []
        if excludedWithoutDevice > 0 {
            let rows = TextFormat.counted(
                excludedWithoutDevice, one: "row that 'exclude' names has", many: "rows that 'exclude' names have")
            let noun = TextFormat.withArticle(plan.query.services.shortTargetNoun)
            let effect = TextFormat.plural(
                excludedWithoutDevice, one: "it excludes no device", many: "they exclude no device")
            found.append(
                .warning(
                    .exclusionNotFound,
                    message:
                        "\(rows) something other than \(noun), so \(effect): other rows may select the same devices",
                    remedy: "Correct these cells in the export; under bad_token the preview shows where they are."))
        }
        if undated > 0, hasColumnOfActivity {
            let rows =
                TextFormat.counted(undated, one: "device has a row", many: "devices have rows")
                + " that \(whatLeavesOut())"
            let effect = TextFormat.plural(
                undated, one: "another of its rows decides", many: "other rows of theirs decide")
            found.append(
                .warning(
                    .exclusionNotFound,
                    message: "\(rows), without a past date in '\(shownName(of: .lastActive))', so \(effect), "
                        + "which \(whatLeavesOut(isDone: false)): \(undated == 1 ? "it gets" : "they get") the push",
                    remedy:
                        "Write the date into each row of the export, or list these devices: exclude: {devices: FILE}."))
        }
        return found
    }

    /// The parts of the campaign that leave out devices by their cells, as far as it has them.
    /// - Parameter isDone: whether they do, or do not.
    private func whatLeavesOut(isDone: Bool = true) -> String {
        let hasWords = plan.query.conditions.contains { !$0.test.texts.isEmpty }
        let (exclude, whereCells) =
            isDone
            ? ("'exclude' names", "'where' leaves out") : ("'exclude' does not name", "'where' does not leave out")
        guard hasWords else { return exclude }
        return exclusions([:]).isEmpty ? whereCells : "\(exclude) \(isDone ? "or" : "and") \(whereCells)"
    }

    private var hasColumnOfActivity: Bool { plan.files.contains { $0.plan.lastActive != $0.plan.blankCell } }

    /// - Throws: no row has a date that can be read, so the order of the rows would decide about
    ///   devices that `exclude` names, unless the campaign allows it.
    func checkDates(_ settled: DeviceResults) throws(Diagnostics) {
        let count = settled.undatedExclusions
        guard count > 0, !settled.hasDates, unreadDates.rows > 0, !plan.query.allowed.contains(.exclusionNotFound)
        else { return }
        let devices = TextFormat.counted(
            count, one: "device that \(whatLeavesOut()) in another row",
            many: "devices that \(whatLeavesOut()) in other rows")
        var mistake = unreadDates.warning(
            shownName(of: .lastActive),
            effect: "and none holds one, so the row that is read last would decide, and \(devices) would get the push")
        (mistake.severity, mistake.name) = (.error, nil)
        let allowance =
            "If the last row of each device is its newest, write in the campaign: "
            + "`allow: [{warning: \(WarningName.exclusionNotFound.rawValue), reason: \"…\"}]`."
        mistake.remedy = [mistake.remedy, allowance].compactMap(\.self).joined(separator: " ")
        throw Diagnostics(mistake)
    }

    private var duplicateKeys: [Diagnostic] {
        guard rowsWithDuplicateKeys > 0 else { return [] }
        let objects =
            "\(rowsWithDuplicateKeys) \(TextFormat.plural(rowsWithDuplicateKeys, one: "object of the exports names", many: "objects of the exports name"))"
        return [.warning(.keyTwice, message: "\(objects) a key twice; the last value is used")]
    }

    /// Objects with keys that resemble a used one, and are not read.
    private var lookalikes: [Diagnostic] {
        rowsWithLookalikes.sorted { $0.key < $1.key }.map { key, rows in
            .warning(
                .columnTwice,
                message:
                    "\(TextFormat.counted(rows, one: "object names", many: "objects name")) the key '\(TargetRedaction.cell(key, maximumBytes: 60))', which is not read, "
                    + "and \(TextFormat.plural(rows, one: "lacks", many: "lack")) the similar one that other objects have",
                remedy: "Use the same key names in all objects of the export.")
        }
    }

    /// Dates that would say that a device registered since it was suppressed.
    private var unreadRegistrationDates: [Diagnostic] {
        guard unreadRegistrations.rows > 0 else { return [] }
        return [
            unreadRegistrations.warning(
                shownName(of: .registeredAt),
                effect: unreadRegistrations.rows == 1
                    ? "so its device stays suppressed" : "so their devices stay suppressed")
        ]
    }

    private var rowsForTags: [Diagnostic] {
        // Without the dates of its rows this cannot be known.
        guard let found = tagRows.found, plan.files[found.file].otherActivity == nil else { return [] }
        return [
            .warning(
                .rowForEachTag,
                message:
                    "the export seems to have a row for each tag: rows of the device \(found.token) differ in their tags and not in last_active, "
                    + "and only the last row counts",
                file: plan.files[found.file].path,
                remedy:
                    "To unite a device's tags, write in volley.yaml: `columns: {rows: merge}`. Otherwise give each device one row."
            )
        ]
    }

    /// - Parameter rowsOfSeveral: whether some device has several rows. `last_active` also decides
    ///   which devices exceed an alias's limit.
    private func unreadDates(rowsOfSeveral: Bool) -> [Diagnostic] {
        guard unreadDates.rows > 0, rowsOfSeveral || plan.selectors.selectors.alias != nil else { return [] }
        let effect =
            "and \(TextFormat.plural(unreadDates.rows, one: "counts", many: "count")) as older than rows with a date: another row of the device may decide"
        return [unreadDates.warning(shownName(of: .lastActive), effect: effect)]
    }

    /// What the first export calls a column.
    private func shownName(of standard: ExportColumns.Standard) -> String {
        (plan.files.first?.columns ?? plan.query.columns).candidates(for: standard)[0]
    }

    /// Exports that seem to have another column for which of a device's rows is the newest, where
    /// that matters.
    private func otherActivity(rowsOfSeveral: Bool) -> [Diagnostic] {
        guard rowsOfSeveral else { return [] }
        let name = plan.query.columns.candidates(for: .lastActive)[0]
        return plan.files.compactMap { file in
            file.otherActivity.map { other in
                .warning(
                    .columnNotFound,
                    message:
                        "it has no column '\(name)', but it has '\(other)': devices have several rows, and the row that is read last decides",
                    file: file.path,
                    remedy:
                        "If it says which row is the newest, name it in volley.yaml: `columns: {last_active: \(TextFormat.yaml(other))}`."
                )
            }
        }
    }

    /// Rows that an alias or a registration id selects although they carry a tag of `none`, which
    /// has no effect on those selectors.
    private var tagsOfNone: [Diagnostic] {
        let tags = plan.query.noneTags.filter { !plan.query.excludedTags.contains($0) }
        guard rowsDespiteNone > 0, let tag = tags.first else { return [] }
        let carry =
            rowsDespiteNone == 1
            ? "1 row that an alias or registration id names carries"
            : "\(TextFormat.count(rowsDespiteNone)) rows that aliases or registration ids name carry"
        let message = "\(carry) a tag of 'none', which only removes devices that tags select"
        let remedy =
            "To leave these out too, write under 'audience': exclude: {tags: [\(tags.prefix(3).map { TextFormat.yaml($0) }.joined(separator: ", "))\(tags.count > 3 ? ", …" : "")]}."
        guard let place = plan.query.places.tags[tag] else {
            return [.warning(.noneNotExcluded, message: message, remedy: remedy)]
        }
        return [.warning(.noneNotExcluded, message: message, at: place, remedy: remedy)]
    }

    private var conditionWarnings: [Diagnostic] {
        zip(plan.query.conditions, conditions).enumerated().flatMap { index, pair in
            let isLanguage = plan.files.contains {
                $0.plan.conditions[index] == $0.plan.language && $0.plan.language != $0.plan.blankCell
            }
            return pair.1.warnings(pair.0, now: plan.query.now, isLanguage: isLanguage)
        }
    }

    /// Warnings about cells that templates compare with and print.
    private var comparisonWarnings: [Diagnostic] {
        zip(plan.query.comparisons, comparisons).flatMap { $1.warnings($0, among: plan.query.comparisons) }
            + zip(plan.query.fields, flaws).flatMap { $1.warnings($0) }
    }

    var conditionCounts: [ConditionCount] {
        zip(plan.query.conditions, conditions).map { condition, found in
            ConditionCount(
                condition: condition, rows: found.rows, holdingRows: found.holdingRows,
                unreadableRows: found.unreadableRows,
                cells: found.unreadableCells)
        }
    }
}
