import Base

/// The devices of an audience that does not fit into memory. Every row is written to the partition of its token's fingerprint, so that
/// all rows of a device meet again in one partition, which is small; and a recipient's texts go to a spool. Places count rows that have a
/// device: a device's first row says where it stands among the slots, so that all comes out as it would have in memory.
struct SpilledDevices: ~Copyable {
    /// A row, or what was known of a device when spilling began.
    private struct Row: BitwiseCopyable {
        var fingerprint: UInt64
        private var momentAndClass: UInt64
        private var placeAndClass: UInt64

        init(_ fingerprint: UInt64, _ moment: ActivityMoment, class number: Int, place: Int) {
            self.fingerprint = fingerprint
            momentAndClass = moment.bits << 16 | UInt64(truncatingIfNeeded: number & 0xFFFF)
            placeAndClass = UInt64(truncatingIfNeeded: place) << 8 | UInt64(truncatingIfNeeded: number >> 16)
        }

        var moment: ActivityMoment { ActivityMoment(bits: momentAndClass >> 16) }
        var classNumber: Int { Int(momentAndClass & 0xFFFF) | Int(placeAndClass & 0xFF) << 16 }
        var place: Int { Int(placeAndClass >> 8) }
    }

    /// A row whose texts take the place of an older row's.
    private struct Renewal: BitwiseCopyable {
        var place: Int
        /// Of the device's first row.
        var first: Int
    }

    /// Rows that have a device, so far.
    private(set) var places: Int
    /// Those whose recipients the sink has already: each in a slot of its own.
    private let placesBefore: Int
    private var rows = PartitionedFile()
    private var exclusions = PartitionedFile()
    private var aliases = SpilledAliases()
    /// nil when only the first devices' texts are wanted.
    private var spool: RecipientSpool?
    /// The devices whose texts are wanted, when not all are: the first so many.
    private var firstDevices = DeviceTable()
    private let wantedDevices: Int

    // What the partitions come to, by place.
    private var firsts = BitSet()
    private var dropped = BitSet()
    private var first = FirstRecipients(limit: AudienceResult.mostSamples)
    private var renewals = PartitionedFile()

    /// Takes over what is in memory.
    /// - Parameter recordLimit: slots whose texts the sink wants.
    init(
        _ devices: borrowing DeviceTable, _ exclusionMarks: borrowing ExclusionMarks, _ members: AliasMembers, recordLimit: Int
    ) throws {
        spool = recordLimit == .max ? RecipientSpool() : nil
        wantedDevices = recordLimit == .max ? 0 : recordLimit
        (places, placesBefore) = (devices.count, devices.count)
        for slot in 0..<devices.count {
            let (fingerprint, moment, number) = (devices.fingerprint(of: slot), devices.moment(of: slot), devices.classNumber(of: slot))
            try rows.append(Row(fingerprint, moment, class: number, place: slot), to: PartitionedFile.of(fingerprint))
            if slot < wantedDevices { firstDevices.append(fingerprint, moment, class: number) }
        }
        try exclusionMarks.forEach { try add($0) }
        try members.forEach { alias, slot, token in try aliases.add(alias: alias, devices.fingerprint(of: slot), token) }
    }

    // MARK: - Rows

    /// Whether the texts of new devices are wanted.
    var isRecording: Bool { spool != nil || firstDevices.count < wantedDevices }

    /// Adds a row.
    /// - Returns: the slot that wants this row's texts now; -1 for none.
    mutating func add(_ fingerprint: UInt64, _ moment: ActivityMoment, class number: Int) throws -> Int {
        try rows.append(Row(fingerprint, moment, class: number, place: places), to: PartitionedFile.of(fingerprint))
        places += 1
        let slot = firstDevices.find(fingerprint)
        if slot >= 0 { return firstDevices.renew(slot, moment) ? slot : -1 }
        guard firstDevices.count < wantedDevices else { return -1 }
        // While not all of the first are found, every device is among them.
        firstDevices.append(fingerprint, moment, class: number)
        return firstDevices.count - 1
    }

    mutating func add(_ mark: ExclusionMarks.Mark) throws { try exclusions.append(mark, to: PartitionedFile.of(mark.fingerprint)) }

    mutating func addAlias(_ alias: Int, _ fingerprint: UInt64, _ token: some Collection<UInt8>) throws {
        try aliases.add(alias: alias, fingerprint, token)
    }

    /// Keeps the texts of the rows that were added last.
    mutating func keep(_ records: RecipientBatch) throws { try spool?.append(records) }

    // MARK: - At the end

    /// Settles every device, and hands on the recipients that the sink does not have yet.
    /// - Parameters:
    ///   - aliasSelector: the selector that aliases are; nil when there are none.
    ///   - tick: called often, with the share that is done.
    mutating func settle(
        _ classes: inout ClassTable, aliasSelector: UInt32?, aliasLimit: Int, into sink: any RecipientSink, tick: (Double) throws -> Void
    ) throws -> SettledDevices {
        // Handing on takes about twice as long as settling.
        let settling = spool == nil ? 1 : 1.0 / 3
        classes.forgetCounts()
        for partition in 0..<PartitionedFile.partitions {
            try tick(settling * Double(partition) / Double(PartitionedFile.partitions))
            try settle(partition, &classes, aliasSelector)
        }
        try aliases.drop(beyond: aliasLimit, &classes, { try tick(settling) }) { place, kept in
            if let kept { first.note(place: place, kept) } else { dropped.insert(place) }
        }
        let ranks = firsts.ranks
        try handOn(ranks, to: sink) { try tick(settling + (1 - settling) * $0) }
        var droppedSlots = BitSet()
        dropped.forEach { droppedSlots.insert(ranks[$0]) }
        return SettledDevices(
            count: firsts.count, dropped: droppedSlots, first: first.inOrder().mapValues { $0.map { (ranks[$0.place], $0.selection) } })
    }

    private mutating func settle(_ partition: Int, _ classes: inout ClassTable, _ aliasSelector: UInt32?) throws {
        var devices = DeviceTable()
        var placesOfDevices = Blocks<Renewal>()
        var contents = rows.contents(of: partition)
        while let row = try contents.next(Row.self) {
            let (slot, isNewest) = try devices.add(row.fingerprint, row.moment, classes[row.classNumber], &classes)
            if slot == placesOfDevices.count {
                placesOfDevices.append(Renewal(place: row.place, first: row.place))
            } else if isNewest {
                placesOfDevices[slot].place = row.place
            }
        }
        var marks = exclusions.contents(of: partition)
        while let mark = try marks.next(ExclusionMarks.Mark.self) { try devices.exclude(mark, &classes) }
        for slot in 0..<devices.count {
            let found = placesOfDevices[slot]
            let deviceClass = classes[devices.classNumber(of: slot)]
            firsts.insert(found.first)
            if deviceClass.reason != nil {
                dropped.insert(found.first)
            } else if aliasSelector.map({ classes.selections[deviceClass.selection] != [$0] }) ?? true {
                // Whom only aliases select is a recipient when their limits say so.
                first.note(place: found.first, deviceClass)
            }
            if found.place != found.first, spool != nil { try renewals.append(found, to: rangeOfPlaces(found.place)) }
        }
        guard let aliasSelector else { return }
        try aliases.resolve(partition, classes, aliasSelector) { fingerprint in
            let slot = devices.find(fingerprint)
            return .init(place: placesOfDevices[slot].first, moment: devices.moment(of: slot), classNumber: devices.classNumber(of: slot))
        }
    }

    /// Partitions of renewals are ranges of places.
    private func rangeOfPlaces(_ place: Int) -> Int { place / (places / PartitionedFile.partitions + 1) }

    /// Gives the spooled recipients their slots.
    private mutating func handOn(_ ranks: BitSet.Ranks, to sink: any RecipientSink, _ tick: (Double) throws -> Void) throws {
        guard let spool = spool.take() else { return }
        var place = placesBefore
        var range = -1
        var renewed: [Int: Int] = [:]
        try spool.forEach { batch in
            try tick(Double(place - placesBefore) / Double(places - placesBefore))
            for index in 0..<batch.count {
                if rangeOfPlaces(place) != range {
                    range = rangeOfPlaces(place)
                    renewed = try renewals(in: range)
                }
                if firsts.contains(place) { batch.setSlot(ranks[place], of: index) }
                if let first = renewed[place] { batch.setSlot(ranks[first], of: index) }
                place += 1
            }
            try sink.take(batch)
        }
    }

    /// First rows' places by those of the rows that renew them.
    private func renewals(in range: Int) throws -> [Int: Int] {
        var found: [Int: Int] = [:]
        var contents = renewals.contents(of: range)
        while let renewal = try contents.next(Renewal.self) { found[renewal.place] = renewal.first }
        return found
    }
}
