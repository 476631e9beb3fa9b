import Base

/// The devices of exports that do not fit into memory. Every row is written to the partition of its
/// token's fingerprint, so that all rows of a device meet again in one partition, which is small;
/// and a recipient's texts go to a spool. Places count rows that have texts: a device's first one
/// determines its place among the slots, so that the result is the same as in memory.
struct SpilledDevices: ~Copyable {
    /// A row, or what was known of a device when spilling began.
    private struct Row: BitwiseCopyable {
        private var word: UInt64
        private var momentAndClass: UInt64
        private var placeAndClass: UInt64
        private var rest: UInt32

        private static let undatedExclusion: UInt64 = 1 << 63

        /// - Parameters:
        ///   - place: nil without texts.
        ///   - hasUndatedExclusion: as in `DeviceTable`, of a device that was in memory.
        init(
            _ fingerprint: TokenFingerprint, _ moment: ActivityMoment, class number: Int, place: Int?,
            hasUndatedExclusion: Bool = false
        ) {
            word = fingerprint.word
            rest = fingerprint.rest
            momentAndClass = moment.bits << 16 | UInt64(truncatingIfNeeded: number & 0xFFFF)
            placeAndClass =
                UInt64(truncatingIfNeeded: place.map { $0 + 1 } ?? 0) << 8 | UInt64(truncatingIfNeeded: number >> 16)
            if hasUndatedExclusion { placeAndClass |= Self.undatedExclusion }
        }

        var fingerprint: TokenFingerprint { TokenFingerprint(word: word, rest: rest) }
        var moment: ActivityMoment { ActivityMoment(bits: momentAndClass >> 16) }
        var classNumber: Int { Int(momentAndClass & 0xFFFF) | Int(placeAndClass & 0xFF) << 16 }
        /// -1 without texts.
        var place: Int { Int((placeAndClass & ~Self.undatedExclusion) >> 8) - 1 }
        var hasUndatedExclusion: Bool { placeAndClass & Self.undatedExclusion != 0 }
    }

    /// A row with texts that replace an older row's.
    private struct Replacement: BitwiseCopyable {
        var place: Int
        /// Of the device's first row that has texts; -1 when none has.
        var first: Int
    }

    /// Rows that have texts, so far.
    private(set) var places: Int
    /// Rows of recipients that the sink already has, each in its own slot.
    private let placesBefore: Int
    private var rows = PartitionedFile()
    private var aliases = SpilledAliases()
    /// The user that each of `rows` names in addition to its target, in their order; nil if rows
    /// cannot name users.
    private var users: PartitionedFile?
    /// The users that devices stand for, by the partitions of the users.
    private var reachedUsers: PartitionedFile?
    /// The links of each of `rows`, in their order; nil if no push goes to the token of a Live
    /// Activity.
    private var links: PartitionedFile?
    /// What rows claim, by the partitions of the keys.
    private var claims = PartitionedFile()
    /// Those of the claims that are of no use, by the partitions of the devices.
    private var outdatedClaims = PartitionedFile()
    /// nil when only the first devices' texts are wanted.
    private var spool: RecipientSpool?
    /// The first devices, when only their texts are wanted.
    private var firstDevices = DeviceTable()
    private let wantedDevices: Int

    // What the partitions come to, by place.
    private var deviceCount = 0
    private var decidedByOthers = 0
    private var undatedExclusions = 0
    private var hasDates = false
    private var firsts = BitSet()
    private var dropped = BitSet()
    private var first = FirstRecipients(limit: AudienceResult.mostSamples)
    private var renewals = PartitionedFile()

    /// Takes over what is in memory.
    /// - Parameters:
    ///   - users: the users that the devices' newest rows name; nil if rows cannot name users.
    ///   - links: those of the devices' newest rows; nil if no push goes to the token of a Live
    ///     Activity.
    ///   - recordLimit: the number of slots for which the sink wants texts.
    init(
        _ devices: borrowing DeviceTable, _ members: AliasMembers, _ users: NewestRows<TokenFingerprint>?,
        _ links: NewestRows<ActivityLinks>?, recordLimit: Int
    ) throws {
        if users != nil { self.users = PartitionedFile() }
        if links != nil { self.links = PartitionedFile() }
        spool = recordLimit == .max ? RecipientSpool() : nil
        wantedDevices = recordLimit == .max ? 0 : recordLimit
        places = devices.slots
        placesBefore = devices.slots
        var firstDevices: [(device: Int, slot: Int)] = []
        for device in 0..<devices.count {
            let (fingerprint, slot) = (devices.fingerprint(of: device), devices.slot(of: device))
            try rows.append(
                Row(
                    fingerprint, devices.moment(of: device), class: devices.classNumber(of: device),
                    place: slot < 0 ? nil : slot,
                    hasUndatedExclusion: devices.hasUndatedExclusion(device)),
                to: PartitionedFile.of(fingerprint))
            if let users { try keep(user: users[device], of: fingerprint) }
            if let links { try keep(links[device], of: fingerprint) }
            if slot >= 0, slot < wantedDevices { firstDevices.append((device, slot)) }
        }
        // If a device's first row was not selected, its slot may come after later ones.
        for (device, _) in firstDevices.sorted(by: { $0.slot < $1.slot }) {
            self.firstDevices.append(devices.fingerprint(of: device), devices.moment(of: device), class: 0)
        }
        try members.forEach { alias, device, moment, token in
            try aliases.add(alias: alias, devices.fingerprint(of: device), moment, token)
        }
    }

    // MARK: - Rows

    /// Whether the texts of new devices are wanted.
    var isRecording: Bool { spool != nil || firstDevices.count < wantedDevices }

    /// Keeps the user that a row names in addition to its target, if rows may name users. Called
    /// for every row, once.
    mutating func keep(user: TokenFingerprint, of fingerprint: TokenFingerprint) throws {
        try users?.append(user, to: PartitionedFile.of(fingerprint))
    }

    /// Keeps the links of a row, if pushes go to the tokens of Live Activities. Called for every
    /// row, once.
    mutating func keep(_ links: ActivityLinks, of fingerprint: TokenFingerprint) throws {
        guard self.links != nil else { return }
        try self.links?.append(links, to: PartitionedFile.of(fingerprint))
        for claim in links.claims(of: fingerprint) { try claims.append(claim, to: PartitionedFile.of(claim.key)) }
    }

    /// Adds a row without texts.
    mutating func add(_ fingerprint: TokenFingerprint, _ moment: ActivityMoment, class number: Int) throws {
        try rows.append(Row(fingerprint, moment, class: number, place: nil), to: PartitionedFile.of(fingerprint))
    }

    /// Adds a row that has texts.
    /// - Returns: the slot that wants these now; -1 for none.
    mutating func addRecipient(_ fingerprint: TokenFingerprint, _ moment: ActivityMoment, class number: Int) throws
        -> Int
    {
        try rows.append(Row(fingerprint, moment, class: number, place: places), to: PartitionedFile.of(fingerprint))
        places += 1
        let slot = firstDevices.find(fingerprint)
        if slot >= 0 { return firstDevices.renew(slot, moment) ? slot : -1 }
        guard firstDevices.count < wantedDevices else { return -1 }
        // Until all of the first devices are found, every device is one of them.
        firstDevices.append(fingerprint, moment, class: 0)
        return firstDevices.count - 1
    }

    mutating func addAlias(
        _ alias: Int, _ fingerprint: TokenFingerprint, _ moment: ActivityMoment, _ token: some Collection<UInt8>
    ) throws {
        try aliases.add(alias: alias, fingerprint, moment, token)
    }

    /// Keeps the texts of the rows that were added last.
    mutating func keep(_ records: RecipientBatch) throws { try spool?.append(records) }

    // MARK: - At the end

    /// Concludes every device, and hands over the recipients that the sink does not have yet.
    /// - Parameters:
    ///   - aliasSelector: the selector of aliases; nil without aliases.
    ///   - tick: called often, with the share that is done.
    mutating func settle(
        _ classes: inout ClassTable, aliasSelector: UInt32?, aliasLimit: Int, into sink: any RecipientSink,
        tick: (Double) throws -> Void
    ) throws -> DeviceResults {
        // Handing over takes about twice as long as concluding.
        let settling = spool == nil ? 1 : 1.0 / 3
        try findReachedUsers(&classes, tick)
        try findOutdatedClaims(tick)
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
        return DeviceResults(
            devices: deviceCount, decidedByOthers: decidedByOthers, undatedExclusions: undatedExclusions,
            hasDates: hasDates,
            count: firsts.count, dropped: droppedSlots,
            first: first.inOrder().mapValues { $0.map { (ranks[$0.place], $0.selection) } })
    }

    private mutating func settle(_ partition: Int, _ classes: inout ClassTable, _ aliasSelector: UInt32?) throws {
        var devices = DeviceTable()
        var placesOfDevices = Blocks<Replacement>()
        var contents = rows.contents(of: partition)
        while let row = try contents.next(Row.self) {
            let (device, isNewest) = try devices.add(row.fingerprint, row.moment, class: row.classNumber, &classes)
            if row.hasUndatedExclusion { devices.noteUndatedExclusion(of: device) }
            if device == placesOfDevices.count {
                placesOfDevices.append(Replacement(place: row.place, first: row.place))
            } else if row.place >= 0, isNewest || placesOfDevices[device].first < 0 {
                placesOfDevices[device].place = row.place
                if placesOfDevices[device].first < 0 { placesOfDevices[device].first = row.place }
            }
        }
        deviceCount += devices.count
        hasDates = hasDates || devices.hasDates
        for device in 0..<devices.count { try devices.conclude(device, &classes) }
        if var reached = reachedUsers?.contents(of: partition) {
            while let user = try reached.next(TokenFingerprint.self) { try devices.drop(user: user, &classes) }
        }
        try dropOutdated(partition, &devices, &classes)
        undatedExclusions += devices.recipientsWithUndatedExclusion(classes)
        for device in 0..<devices.count {
            let found = placesOfDevices[device]
            if found.first < 0 { continue }
            let deviceClass = classes[devices.classNumber(of: device)]
            firsts.insert(found.first)
            if deviceClass.reason != nil {
                dropped.insert(found.first)
            } else if aliasSelector.map({ classes.selections[deviceClass.selection] != [$0] }) ?? true {
                // A device that only aliases select is a recipient if their limits allow it.
                first.note(place: found.first, deviceClass)
            }
            if found.place != found.first, spool != nil { try renewals.append(found, to: rangeOfPlaces(found.place)) }
        }
        guard let aliasSelector else { return }
        try aliases.resolve(partition, classes, selector: aliasSelector, devices: devices.count) { fingerprint in
            let device = devices.find(fingerprint)
            return (
                device,
                .init(
                    place: placesOfDevices[device].first, moment: devices.moment(of: device),
                    classNumber: devices.classNumber(of: device))
            )
        }
    }

    /// A user is in another partition than the devices, so all of these are concluded once before.
    private mutating func findReachedUsers(_ classes: inout ClassTable, _ tick: (Double) throws -> Void) throws {
        guard let users = users.take() else { return }
        var reached = PartitionedFile()
        for partition in 0..<PartitionedFile.partitions {
            try tick(0)
            var devices = DeviceTable()
            var usersOfDevices = NewestRows<TokenFingerprint>()
            var rows = rows.contents(of: partition)
            var named = users.contents(of: partition)
            while let row = try rows.next(Row.self), let user = try named.next(TokenFingerprint.self) {
                let (device, isNewest) = try devices.add(row.fingerprint, row.moment, class: row.classNumber, &classes)
                usersOfDevices.note(user, of: device, isNewest: isNewest)
            }
            for device in 0..<devices.count where usersOfDevices[device] != .nobody {
                try devices.conclude(device, &classes)
                let (user, number) = (usersOfDevices[device], devices.classNumber(of: device))
                if classes[number].standsForUser { try reached.append(user, to: PartitionedFile.of(user)) }
            }
        }
        reachedUsers = consume reached
    }

    /// What has a key is in another partition than the newest row with the key, so this is found
    /// out before.
    private mutating func findOutdatedClaims(_ tick: (Double) throws -> Void) throws {
        guard links != nil else { return }
        for partition in 0..<PartitionedFile.partitions {
            try tick(0)
            var devices = DeviceTable()
            let newest = try newestLinks(partition, &devices)
            var claims = claims.contents(of: partition)
            while let claim = try claims.next(ActivityLinks.Claim.self) {
                guard newest[devices.find(claim.key)].outdates(claim) else { continue }
                try outdatedClaims.append(claim, to: PartitionedFile.of(claim.device))
            }
        }
    }

    /// As in memory (`DeviceCollector`).
    private mutating func dropOutdated(_ partition: Int, _ devices: inout DeviceTable, _ classes: inout ClassTable)
        throws
    {
        guard links != nil else { return }
        var again = DeviceTable()
        let newest = try newestLinks(partition, &again)
        decidedByOthers += newest.count(where: \.isOfAnother)
        var outdated = outdatedClaims.contents(of: partition)
        while let claim = try outdated.next(ActivityLinks.Claim.self) {
            let device = devices.find(claim.device)
            if newest[device].makes(claim) { try devices.drop(outdated: device, &classes) }
        }
    }

    /// The links of the newest row of each device of a partition.
    /// - Parameter devices: gets them, with the numbers that they have wherever the partition is
    ///   read.
    private func newestLinks(_ partition: Int, _ devices: inout DeviceTable) throws -> NewestRows<ActivityLinks> {
        var newest = NewestRows<ActivityLinks>()
        var rows = rows.contents(of: partition)
        guard var links = links?.contents(of: partition) else { return newest }
        while let row = try rows.next(Row.self), let linksOfRow = try links.next(ActivityLinks.self) {
            let device = devices.find(row.fingerprint)
            if device >= 0 {
                newest.note(linksOfRow, of: device, isNewest: devices.renew(device, row.moment))
            } else {
                devices.append(row.fingerprint, row.moment, class: 0)
                newest.note(linksOfRow, of: devices.count - 1, isNewest: true)
            }
        }
        return newest
    }

    /// Partitions of renewals are ranges of places.
    private func rangeOfPlaces(_ place: Int) -> Int { place / (places / PartitionedFile.partitions + 1) }

    /// Gives the spooled recipients their slots.
    private mutating func handOn(_ ranks: BitSet.Ranks, to sink: any RecipientSink, _ tick: (Double) throws -> Void)
        throws
    {
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
            try sink.receive(batch)
        }
    }

    /// The places of first rows, by the places of the rows that replace them.
    private func renewals(in range: Int) throws -> [Int: Int] {
        var found: [Int: Int] = [:]
        var contents = renewals.contents(of: range)
        while let renewal = try contents.next(Replacement.self) { found[renewal.place] = renewal.first }
        return found
    }
}

/// Recipients on disk, in the order in which they were found, until it is known which of them
/// count.
struct RecipientSpool: ~Copyable {
    private var file = ScratchFile()
    private var buffer: [UInt8] = []

    mutating func append(_ batch: RecipientBatch) throws {
        buffer.removeAll(keepingCapacity: true)
        batch.store(into: &buffer)
        var size = UInt64(buffer.count)
        try withUnsafeBytes(of: &size) { _ = try file.append($0) }
        try buffer.withUnsafeBytes { _ = try file.append($0) }
    }

    /// Calls `body` with every batch, in order; none of the recipients has a slot.
    func forEach(_ body: (inout RecipientBatch) throws -> Void) throws {
        let reader = file.reader
        var place = 0
        var bytes: [UInt8] = []
        while place < file.count {
            var size: UInt64 = 0
            try withUnsafeMutableBytes(of: &size) { try reader.read(from: place, into: $0) }
            place += MemoryLayout<UInt64>.size
            bytes = [UInt8](repeating: 0, count: Int(size))
            try bytes.withUnsafeMutableBytes { try reader.read(from: place, into: $0) }
            place += bytes.count
            var batch = RecipientBatch(stored: bytes)
            try body(&batch)
        }
    }
}
