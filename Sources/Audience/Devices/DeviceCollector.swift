import Base

/// Puts the rows of block results together: one device per token, the newest row of each. In
/// memory, or on disk when they exceed the allowed memory.
struct DeviceCollector: ~Copyable {
    private let plan: ScanLayout
    private let recordLimit: Int
    private(set) var classes: ClassTable
    private(set) var languages = LanguageNames()
    private var devices = DeviceTable()
    private var aliasMembers = AliasMembers()
    /// Kept only where rows may name users.
    private var users = NewestRows<TokenFingerprint>()
    /// Kept only where pushes go to the tokens of Live Activities.
    private var links = NewestRows<ActivityLinks>()
    private var spilled: SpilledDevices?
    /// Whether texts of new devices are wanted.
    private(set) var isRecording: Bool

    /// How far ahead devices are looked for.
    private static let prefetched = 20

    /// - Parameter recordLimit: the number of slots for which the sink wants texts.
    init(_ plan: ScanLayout, recordLimit: Int) {
        self.plan = plan
        self.recordLimit = recordLimit
        isRecording = recordLimit > 0
        classes = ClassTable(uniting: plan.selectors.unitesRows ? RowFacts(plan.selectors) : nil)
    }

    /// Devices found so far with a selected row; once they are on disk, an upper bound.
    var count: Int {
        switch spilled {
        case .some(let spilled): spilled.places
        case .none: devices.slots
        }
    }

    // MARK: - Rows

    /// Maps the numbers of a block result's selections and languages to the numbers here.
    private struct Numbers {
        var selections: [Int]
        var languages: [Int]
        /// By reason, + 1, the class of rows that were not judged and have no facts.
        var unjudged: [Int]

        @inline(__always) func deviceClass(of row: DeviceRow) -> DeviceClass {
            DeviceClass(
                selection: selections[Int(row.selection)], language: row.hasRecord ? languages[Int(row.language)] : 0,
                payloadBytes: Int(row.payloadBytes), group: Int(row.group), wave: Int(row.wave),
                sending: Int(row.sending),
                reason: row.reason == 0 ? nil : SkipReason.allCases[Int(row.reason) - 1])
        }
    }

    private mutating func numbers(of blockResult: BlockResult) throws -> Numbers {
        let reasons: [SkipReason] =
            [.notMatched, .filtered, .excluded]
            + (plan.query.hasSeveralTargets ? [.missingToken, .badToken, .noService, .duplicateToken] : [])
        var unjudged = Array(repeating: -1, count: SkipReason.allCases.count + 1)
        for reason in reasons {
            unjudged[reason.ordinal + 1] = try classes.number(
                of: DeviceClass(selection: SelectionSets.none, language: 0, payloadBytes: 0, reason: reason))
        }
        return Numbers(
            selections: blockResult.selections.map { classes.selections.number(of: $0) },
            languages: blockResult.languages.map { languages.number(of: $0) }, unjudged: unjudged)
    }

    @inline(__always) private mutating func classNumber(of row: DeviceRow, _ numbers: Numbers) throws -> Int {
        if !row.hasRecord, row.reason > 0, row.group == 0 { return numbers.unjudged[Int(row.reason)] }
        return try classes.number(of: numbers.deviceClass(of: row))
    }

    /// The texts of rows that the sink wants.
    enum Wanted {
        case none
        /// The block result's texts, which now have their slots.
        case all(RecipientBatch)
        /// Only these, which the block result may not have, by their places among those that have
        /// texts.
        case some([(index: Int, slot: Int)])
    }

    /// Reserves room for this many devices, as far as memory allows: growing step by step would
    /// take longer.
    mutating func reserve(_ count: Int) {
        if spilled == nil { devices.reserve(min(count, plan.limits.deviceMemory / DeviceTable.bytesPerDevice)) }
    }

    /// Adds the rows of the next block result.
    mutating func add(_ blockResult: BlockResult) throws -> Wanted {
        let numbers = try numbers(of: blockResult)
        let wanted = spilled == nil ? try collect(blockResult, numbers) : try spill(blockResult, numbers)
        let bytes = devices.count * DeviceTable.bytesPerDevice + aliasMembers.bytes + users.bytes + links.bytes
        if bytes > plan.limits.deviceMemory, spilled == nil { try beginSpilling() }
        return wanted
    }

    private mutating func collect(_ blockResult: BlockResult, _ numbers: Numbers) throws -> Wanted {
        let rows = blockResult.devices
        var records = blockResult.records
        var record = -1
        var hits = blockResult.aliasHits[...]
        var (namedUsers, namedLinks) = (RowNotes(blockResult.users), RowNotes(blockResult.activityLinks))
        let (namesUsers, hasLinks) = (plan.query.mayNameUsers, plan.query.sendsToActivities)
        var renewed: [(index: Int, slot: Int)] = []
        for index in rows.indices {
            if index + Self.prefetched < rows.count { devices.prefetch(rows[index + Self.prefetched].fingerprint) }
            let row = rows[index]
            let (device, isNewest) = try devices.add(
                row.fingerprint, row.moment, class: try classNumber(of: row, numbers), &classes)
            if namesUsers { users.note(namedUsers.next(ofRow: index) ?? .nobody, of: device, isNewest: isNewest) }
            if hasLinks { links.note(namedLinks.next(ofRow: index) ?? .none, of: device, isNewest: isNewest) }
            guard row.hasRecord else { continue }
            record += 1
            if let hit = hits.first, hit.row == index {
                aliasMembers.add(alias: hit.alias, device: device, row.moment, token: hit.token)
                hits.removeFirst()
            }
            var slot = devices.slot(of: device)
            if slot < 0 {
                devices.takeSlot(device)
                slot = devices.slots - 1
            } else if !isNewest {
                continue
            }
            if isRecording {
                records.setSlot(slot, of: record)
            } else if slot < recordLimit {
                renewed.append((record, slot))
            }
        }
        guard isRecording else { return renewed.isEmpty ? .none : .some(renewed) }
        isRecording = devices.slots < recordLimit
        return .all(records)
    }

    private mutating func spill(_ blockResult: BlockResult, _ numbers: Numbers) throws -> Wanted {
        var wanted: [(index: Int, slot: Int)] = []
        var record = -1
        var (namedUsers, namedLinks) = (RowNotes(blockResult.users), RowNotes(blockResult.activityLinks))
        for (index, row) in blockResult.devices.enumerated() {
            let number = try classNumber(of: row, numbers)
            try spilled?.keep(user: namedUsers.next(ofRow: index) ?? .nobody, of: row.fingerprint)
            try spilled?.keep(namedLinks.next(ofRow: index) ?? .none, of: row.fingerprint)
            guard row.hasRecord else {
                try spilled?.add(row.fingerprint, row.moment, class: number)
                continue
            }
            record += 1
            if let slot = try spilled?.addRecipient(row.fingerprint, row.moment, class: number), slot >= 0 {
                wanted.append((record, slot))
            }
        }
        for hit in blockResult.aliasHits {
            let row = blockResult.devices[hit.row]
            try spilled?.addAlias(hit.alias, row.fingerprint, row.moment, hit.token)
        }
        try spilled?.keep(blockResult.records)
        defer { isRecording = spilled?.isRecording ?? false }
        guard isRecording, recordLimit != .max else { return wanted.isEmpty ? .none : .some(wanted) }
        var records = blockResult.records
        for (index, slot) in wanted { records.setSlot(slot, of: index) }
        return .all(records)
    }

    private mutating func beginSpilling() throws {
        let onDisk = try SpilledDevices(
            devices, aliasMembers, plan.query.mayNameUsers ? users : nil, plan.query.sendsToActivities ? links : nil,
            recordLimit: recordLimit)
        spilled = consume onDisk
        devices = DeviceTable()
        aliasMembers = AliasMembers()
        users = NewestRows()
        links = NewestRows()
    }

    // MARK: - At the end

    /// Concludes what only the end of the scan can: the combined result of a device's rows, and
    /// alias limits.
    /// - Parameter tick: called often, with the share that is done.
    mutating func settle(into sink: any RecipientSink, tick: (Double) throws -> Void) throws -> DeviceResults {
        let (aliasSelector, aliasLimit) = (plan.selectors.selectors.alias, plan.query.aliasLimit)
        if var spilled = spilled.take() {
            return try spilled.settle(
                &classes, aliasSelector: aliasSelector, aliasLimit: aliasLimit, into: sink, tick: tick)
        }
        if plan.selectors.unitesRows { for device in 0..<devices.count { try devices.conclude(device, &classes) } }
        if plan.query.mayNameUsers { try dropReachedUsers() }
        if plan.query.sendsToActivities { try dropOutdated() }
        let undatedExclusions = devices.recipientsWithUndatedExclusion(classes)
        if let aliasSelector, !aliasMembers.isEmpty { try dropBeyondAliasLimit(aliasSelector, limit: aliasLimit) }
        var dropped = BitSet()
        var first = FirstRecipients(limit: AudienceResult.mostSamples)
        for device in 0..<devices.count {
            let slot = devices.slot(of: device)
            guard slot >= 0 else { continue }
            let deviceClass = deviceClass(of: device)
            if deviceClass.reason == nil { first.note(place: slot, deviceClass) } else { dropped.insert(slot) }
        }
        return DeviceResults(
            devices: devices.count, decidedByOthers: links.count(where: \.isOfAnother),
            undatedExclusions: undatedExclusions,
            hasDates: devices.hasDates, count: devices.slots,
            dropped: dropped, first: first.inOrder())
    }

    private func deviceClass(of device: Int) -> DeviceClass { classes[devices.classNumber(of: device)] }

    /// Users that a device stands for are not recipients of their own. Called before the alias
    /// limits, so that such users do not count there.
    private mutating func dropReachedUsers() throws {
        let reached = (0..<devices.count).filter { users[$0] != .nobody && deviceClass(of: $0).standsForUser }
        for device in reached { try devices.drop(user: users[device], &classes) }
    }

    /// Devices whose activity, or whose registration id, a newer row has give way to the device of
    /// that row.
    private mutating func dropOutdated() throws {
        for device in 0..<devices.count {
            let claims = links[device].claims(of: devices.fingerprint(of: device))
            if claims.contains(where: { links[devices.find($0.key)].outdates($0) }) {
                try devices.drop(outdated: device, &classes)
            }
        }
    }

    /// Devices beyond the limit of their alias, and selected by nothing else, become `aliasLimit`,
    /// whatever later checks decided about them; a device that was suppressed before that takes no
    /// place.
    private mutating func dropBeyondAliasLimit(_ selector: UInt32, limit: Int) throws {
        var members = AliasMembers()
        swap(&members, &aliasMembers)
        members.keepNewest(moment: { devices.moment(of: $0) }) { device in
            let deviceClass = deviceClass(of: device)
            return deviceClass.takesPlaceInAlias && classes.selections[deviceClass.selection].contains(selector)
        }
        let kept = members.kept(limit: limit)
        for device in members.devices where !kept.contains(device) {
            if classes.selections[deviceClass(of: device).selection] == [selector] {
                try devices.drop(device, .aliasLimit, &classes)
            }
        }
    }
}

/// The results for the devices of an audience.
struct DeviceResults {
    /// Devices of the exports.
    var devices: Int
    /// Those of them that are what the newest row that has them calls its activity, or its
    /// registration id, and not its device.
    var decidedByOthers = 0
    /// Devices that another row selects although `exclude` names one of theirs, or `where` leaves
    /// it out, which has no date. Alias limits do not count.
    var undatedExclusions = 0
    /// Whether any row has a date.
    var hasDates = false
    /// Devices that have slots, 0 ..< count: some row of them was selected.
    var count: Int
    /// The slots that did not become recipients.
    var dropped: BitSet
    /// By group, the slots of the first recipients and their selections: numbers of
    /// `SelectionSets`.
    var first: [Int: [(place: Int, selection: Int)]]
}

/// The recipients of each group that were found first: previews show them as samples.
struct FirstRecipients {
    private var found: [[Found]]
    private let limit: Int
    /// By group: places from here on are too late.
    private var ends: [Int]

    private struct Found {
        let place: Int
        let selection: Int
    }

    /// - Parameter limit: how many of a group are wanted.
    init(limit: Int) {
        self.limit = limit
        found = Array(repeating: [], count: RecipientCheck.groupLimit)
        ends = Array(repeating: .max, count: RecipientCheck.groupLimit)
    }

    /// - Parameters:
    ///   - place: tells which of two devices was found first; a device comes once.
    ///   - deviceClass: of a recipient.
    @inline(__always) mutating func note(place: Int, _ deviceClass: DeviceClass) {
        if place < ends[deviceClass.group] { add(place, deviceClass) }
    }

    private mutating func add(_ place: Int, _ deviceClass: DeviceClass) {
        let group = deviceClass.group
        found[group].append(Found(place: place, selection: deviceClass.selection))
        if found[group].count >= 2 * limit { prune(group) }
    }

    private mutating func prune(_ group: Int) {
        found[group].sort { $0.place < $1.place }
        found[group] = Array(found[group].prefix(limit))
        if found[group].count == limit, let last = found[group].last { ends[group] = last.place }
    }

    /// By group the places of the first recipients and their selections (numbers of
    /// `SelectionSets`), in order.
    mutating func inOrder() -> [Int: [(place: Int, selection: Int)]] {
        var groups: [Int: [(place: Int, selection: Int)]] = [:]
        for group in found.indices where !found[group].isEmpty {
            prune(group)
            groups[group] = found[group].map { ($0.place, $0.selection) }
        }
        return groups
    }
}

/// Distinct sets of selectors, numbered. The empty one is 0.
struct SelectionSets {
    private var numbers: [[UInt32]: Int] = [[]: 0]
    private var sets: [[UInt32]] = [[]]

    /// The number of the empty set.
    static let none = 0

    /// The selectors of a set, ascending.
    subscript(number: Int) -> [UInt32] { sets[number] }

    /// The number of a set.
    mutating func number(of set: [UInt32]) -> Int {
        if let number = numbers[set] { return number }
        numbers[set] = sets.count
        sets.append(set)
        return sets.count - 1
    }
}
