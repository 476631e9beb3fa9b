import Base

/// Puts the candidates of harvests together: one device per token, the newest row of each. In memory, and on disk when they are more than
/// may be in memory.
struct DeviceCollector: ~Copyable {
    private let plan: ScanPlan
    private let recordLimit: Int
    private(set) var classes = ClassTable()
    private(set) var languages = LanguageNames()
    private var devices = DeviceTable()
    private var aliasMembers = AliasMembers()
    private var exclusions = ExclusionMarks()
    private var spilled: SpilledDevices?
    /// Whether texts of new devices are wanted.
    private(set) var isRecording: Bool

    /// How far ahead devices are looked for.
    private static let prefetched = 12

    /// - Parameter recordLimit: slots whose texts the sink wants.
    init(_ plan: ScanPlan, recordLimit: Int) {
        self.plan = plan
        self.recordLimit = recordLimit
        isRecording = recordLimit > 0
    }

    /// Devices found so far; once they are on disk at most so many.
    var count: Int {
        switch spilled {
        case .some(let spilled): spilled.places
        case .none: devices.count
        }
    }

    // MARK: - Candidates

    /// The numbers that a harvest's selections and languages have here.
    private struct Numbers {
        var selections: [Int]
        var languages: [Int]

        @inline(__always) func deviceClass(of candidate: Candidate) -> DeviceClass {
            DeviceClass(
                selection: selections[Int(candidate.selection)], language: languages[Int(candidate.language)],
                payloadBytes: Int(candidate.payloadBytes), group: Int(candidate.group), wave: Int(candidate.wave),
                reason: candidate.reason == 0 ? nil : SkipReason.allCases[Int(candidate.reason) - 1])
        }
    }

    /// The texts of candidates that the sink wants.
    enum Wanted {
        case none
        /// The harvest's, which have their slots now.
        case all(RecipientBatch)
        /// Only these, which the harvest may not have.
        case some([(index: Int, slot: Int)])
    }

    /// Adds the candidates of the next harvest.
    mutating func add(_ harvest: Harvest) throws -> Wanted {
        let numbers = Numbers(
            selections: harvest.selections.map { classes.selections.number(of: $0) },
            languages: harvest.languages.map { languages.number(of: $0) })
        let wanted = spilled == nil ? try collect(harvest, numbers) : try spill(harvest, numbers)
        let bytes = devices.count * DeviceTable.bytesPerDevice + exclusions.bytes + aliasMembers.bytes
        if bytes > plan.limits.deviceMemory, spilled == nil { try beginSpilling() }
        return wanted
    }

    private mutating func collect(_ harvest: Harvest, _ numbers: Numbers) throws -> Wanted {
        for mark in harvest.exclusions { exclusions.add(mark) }
        let candidates = harvest.candidates
        var records = harvest.records
        var hits = harvest.aliasHits[...]
        var renewed: [(index: Int, slot: Int)] = []
        for index in candidates.indices {
            if index + Self.prefetched < candidates.count { devices.prefetch(candidates[index + Self.prefetched].fingerprint) }
            let candidate = candidates[index]
            let (slot, isNewest) = try devices.add(
                candidate.fingerprint, candidate.moment, numbers.deviceClass(of: candidate), &classes)
            if let hit = hits.first, hit.candidate == index {
                aliasMembers.add(alias: hit.alias, slot: slot, token: hit.token)
                hits.removeFirst()
            }
            guard isNewest else { continue }
            if isRecording { records.setSlot(slot, of: index) } else if slot < recordLimit { renewed.append((index, slot)) }
        }
        guard isRecording else { return renewed.isEmpty ? .none : .some(renewed) }
        isRecording = devices.count < recordLimit
        return .all(records)
    }

    private mutating func spill(_ harvest: Harvest, _ numbers: Numbers) throws -> Wanted {
        for mark in harvest.exclusions { try spilled?.add(mark) }
        var wanted: [(index: Int, slot: Int)] = []
        for (index, candidate) in harvest.candidates.enumerated() {
            let number = try classes.number(of: numbers.deviceClass(of: candidate))
            if let slot = try spilled?.add(candidate.fingerprint, candidate.moment, class: number), slot >= 0 {
                wanted.append((index, slot))
            }
        }
        for hit in harvest.aliasHits {
            try spilled?.addAlias(hit.alias, harvest.candidates[hit.candidate].fingerprint, hit.token)
        }
        try spilled?.keep(harvest.records)
        defer { isRecording = spilled?.isRecording ?? false }
        guard isRecording, recordLimit != .max else { return wanted.isEmpty ? .none : .some(wanted) }
        var records = harvest.records
        for (index, slot) in wanted { records.setSlot(slot, of: index) }
        return .all(records)
    }

    private mutating func beginSpilling() throws {
        let onDisk = try SpilledDevices(devices, exclusions, aliasMembers, recordLimit: recordLimit)
        spilled = consume onDisk
        devices = DeviceTable()
        exclusions = ExclusionMarks()
        aliasMembers = AliasMembers()
    }

    // MARK: - At the end

    /// Settles what only the end of the scan can: exclusion by newer rows, and alias limits.
    /// - Parameter tick: called often, with the share that is done.
    mutating func settle(into sink: any RecipientSink, tick: (Double) throws -> Void) throws -> SettledDevices {
        let (aliasSelector, aliasLimit) = (plan.selectors.selectors.alias, plan.query.aliasLimit)
        if var spilled = spilled.take() {
            return try spilled.settle(&classes, aliasSelector: aliasSelector, aliasLimit: aliasLimit, into: sink, tick: tick)
        }
        try exclusions.forEach { try devices.exclude($0, &classes) }
        if let aliasSelector, !aliasMembers.isEmpty { try dropBeyondAliasLimit(aliasSelector, aliasLimit) }
        var dropped = BitSet()
        var first = FirstRecipients(limit: AudienceResult.mostSamples)
        for slot in 0..<devices.count {
            let deviceClass = deviceClass(of: slot)
            if deviceClass.reason == nil { first.note(place: slot, deviceClass) } else { dropped.insert(slot) }
        }
        return SettledDevices(count: devices.count, dropped: dropped, first: first.inOrder())
    }

    private func deviceClass(of slot: Int) -> DeviceClass { classes[devices.classNumber(of: slot)] }

    /// Devices beyond the limits of all their aliases, and selected by nothing else, become `aliasLimit`, whatever was judged of
    /// them later in the order of reasons; a device that was suppressed before that takes no place.
    private mutating func dropBeyondAliasLimit(_ selector: UInt32, _ limit: Int) throws {
        var members = AliasMembers()
        swap(&members, &aliasMembers)
        let kept = members.kept(
            limit: limit, moment: { devices.moment(of: $0) }, takesPlace: { deviceClass(of: $0).takesPlaceInAlias })
        // Dropped once it has the reason, a device is dropped again to no effect.
        for slot in members.slots where !kept.contains(slot) {
            let deviceClass = deviceClass(of: slot)
            guard deviceClass.takesPlaceInAlias, classes.selections[deviceClass.selection] == [selector] else { continue }
            try devices.drop(slot, .aliasLimit, &classes)
        }
    }
}
