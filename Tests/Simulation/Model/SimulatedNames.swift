import Base

@testable import Delivery
import PushServices

/// How a service gives out names of requests. Rates are per thousand.
struct NameNature {
    /// How many at a time, and for how long it remembers them.
    var most: Int
    var lifetimeSeconds: Double
    var longestAnswer: Int64
    var longestCommit: Int64
    /// No answer, or one without names.
    var fails: Int
    /// It takes the app for another.
    var refuses: Int
    /// For how long it gives out nothing, from the first question on.
    var outage: Int64

    /// - Parameter isLong: whether clocks may show hours that never were.
    init(from random: inout SplitMix, isLong: Bool) {
        most = random.between(1, 10)
        lifetimeSeconds = Double(isLong || random.oneIn(2) ? 86_400 : random.between(60, 7200))
        longestAnswer = random.oneIn(3) ? 15 * Span.second : 500 * Span.millisecond
        longestCommit = random.oneIn(4) ? Span.second : 20 * Span.millisecond
        fails = random.rate(oneIn: 3, upTo: 900)
        refuses = random.rate(oneIn: 12, upTo: 100)
        outage = random.oneIn(8) ? random.span(Span.minute, 40 * Span.minute) : 0
    }

    var names: FetchedNames {
        FetchedNames(
            mostAtATime: most, lifetimeSeconds: lifetimeSeconds, path: { "/names?count=\($0)" }, read: { _ in nil })
    }
}

extension Wire {
    /// What the service recognizes its pushes by, or the name of their text, by which it recognizes
    /// nothing.
    var recognizedBy: String { name.isEmpty ? "\(generation)" : name }

    /// The generation by which the service recognizes its pushes; nil if it names a text.
    var recognizedGeneration: UInt16? { Self.isText(name) ? nil : generation }

    /// Whether a name is that of a text.
    static func isText(_ name: String) -> Bool { name.hasPrefix("text") }
}

/// The namer, as its thread does it.
extension SimulatedCampaign {
    func openNamer() {
        namer = nature.naming == nil ? nil : CallSchedule(nature.service.repeatProtection)
        namerAnswers = [:]
        isNamerBusy = false
        nameOutageEnds = nil
    }

    /// Something has changed: the namer looks around.
    func planNamer() {
        guard namer != nil, !isNamerBusy else { return }
        namerPlan += 1
        agenda.add(.namerLooks(plan: namerPlan), at: clock.now + random.span(0, 2 * Span.millisecond))
    }

    func look() {
        guard !isNamerBusy, let nature = nature.naming, let step = namer?.next(at: clock.moment) else { return }
        switch step {
        case .commit(let answers):
            isNamerBusy = true
            agenda.add(.namesCommitted(answers), at: clock.now + random.span(0, nature.longestCommit))
        case .fetch:
            isNamerBusy = true
            agenda.add(.namesFetched(askedAt: clock.moment.wall), at: clock.now + random.span(0, nature.longestAnswer))
        case .keep(let text):
            isNamerBusy = true
            agenda.add(
                .textKept(text, askedAt: clock.moment.wall), at: clock.now + random.span(0, nature.longestAnswer))
        case .wait(let until?):
            namerPlan += 1
            agenda.add(.namerLooks(plan: namerPlan), at: max(clock.now + 1000, until + clock.asleep))
        case .wait(nil): break
        }
    }

    func commit(_ answers: [NameReply]) {
        isNamerBusy = false
        let calls = answers.compactMap(\.call)
        account.name(calls)
        for call in calls { trace("\(call.recipients) are named \(call.name)") }
        tick()
        agenda.add(.namesDelivered(answers), at: clock.now + random.span(0, 5 * Span.millisecond))
        planNamer()
    }

    func deliver(_ answers: [NameReply]) {
        for answer in answers {
            let client = answer.question.client
            namerAnswers[client, default: []].append(answer)
            loops[client].wake(by: clock.now + random.span(0, SimulatedLoop.wakeDelay))
        }
        tick()
    }

    func endFetch(askedAt: Timestamp) {
        guard let nature = nature.naming else { return }
        isNamerBusy = false
        nameOutageEnds = nameOutageEnds ?? clock.now + nature.outage
        if clock.now < nameOutageEnds ?? 0 || random.happens(nature.fails) {
            tally.note(.namesNotFetched)
            trace("no names come")
            namer?.failed(
                NameFailure(text: "no answer", retryAfterSeconds: random.oneIn(4) ? 7 : nil), at: clock.moment)
            wakeAll(within: SimulatedLoop.wakeDelay)
        } else if random.happens(nature.refuses) {
            namer?.failed(NameFailure(text: "wrong secret", status: 401, isFinal: true), at: clock.moment)
            wakeAll(within: SimulatedLoop.wakeDelay)
        } else {
            tally.note(.namesFetched)
            let names = (0..<nature.most).map { _ in
                nameCount += 1
                return "name\(nameCount)"
            }
            // By the server's clock, which continues whatever this machine's clock shows.
            for name in names { givenNames[name] = clock.now }
            namer?.given(names, askedAt: askedAt)
        }
        planNamer()
    }

    func endKeeping(_ text: [UInt8], askedAt: Timestamp) {
        guard let nature = nature.naming else { return }
        isNamerBusy = false
        nameOutageEnds = nameOutageEnds ?? clock.now + nature.outage
        if clock.now < nameOutageEnds ?? 0 || random.happens(nature.fails) {
            namer?.failed(
                NameFailure(text: "no answer", retryAfterSeconds: random.oneIn(4) ? 7 : nil), at: clock.moment)
            wakeAll(within: SimulatedLoop.wakeDelay)
        } else if random.happens(nature.refuses) {
            namer?.failed(NameFailure(text: "no right", status: 403, isFinal: true), at: clock.moment)
            wakeAll(within: SimulatedLoop.wakeDelay)
        } else if random.oneIn(6) {
            tally.note(.textRefused)
            namer?.kept(text, nil)
        } else {
            tally.note(.textKept)
            nameCount += 1
            let name = "text\(nameCount)"
            (givenNames[name], keptTexts[name]) = (clock.now, text.first)
            namer?.kept(text, RequestName(text: name, usableUntil: askedAt.adding(seconds: nature.names.usableSeconds)))
        }
        planNamer()
    }

    // MARK: A new process

    /// What a new process finds in the run's account.
    func resumeAccount() -> (toSend: [Int], unknown: [Int]) {
        guard nature.naming != nil else { return account.resume(resends: nature.settings.resendsUnknown) }
        let found = account.resume(
            nature.service.repeatProtection, resends: nature.settings.resendsUnknown, at: clock.moment.wall)
        (repeats, pasts) = (found.repeats, found.pasts)
        for recipient in found.unsent {
            tally.note(.unsentAfterCrash)
            if fates[recipient].accepted > 0 {
                violate(.ledger, "recipient \(recipient) is said to be unsent, and was accepted")
            }
        }
        let isForgetful =
            if case .fetched = nature.service.repeatProtection { true } else { nature.service.batching.keepsTexts }
        if nature.settings.resendsUnknown, isForgetful {
            for recipient in account.members where account.outcomes[recipient] == .unknown {
                fates[recipient].mayComeTwice = true
            }
        }
        return (found.toSend, found.unknown)
    }

    /// What is in doubt begins its life in doubt.
    func beginRepeats() {
        for call in repeats {
            tally.note(.callRepeated)
            trace("\(call.recipients) are sent again as \(call.name)")
            for recipient in call.recipients {
                fates[recipient].beginEpoch(carriesDoubt: true)
                fates[recipient].lose()
                fates[recipient].lastName = call.name
            }
        }
        for (recipient, past) in pasts where past.isInDoubt {
            tally.note(.doubtBegins)
            fates[recipient].lose()
            fates[recipient].lastName = "\(past.generation)"
        }
    }
}

/// Names, as a loop requests them and as they may be used.
extension SimulatedLoop {
    func askForName(of request: Int, _ question: Int) {
        campaign.tally.note(.requestNamed)
        let recipients = machine.pushes(of: request).map { machine.pushes[$0].recipient }
        campaign.trace("loop \(index) requests a name for \(recipients)")
        for recipient in recipients { noteFirst(recipient) }
        campaign.namer?.ask(
            NameRequest(
                client: index, request: request, number: question, recipients: recipients,
                generation: Int(machine.pushes[request].generation),
                text: machine.namesText(request) ? Array(store.bytes(of: request).payload) : nil))
        campaign.planNamer()
    }

    func forgetText(_ name: String) {
        campaign.namer?.forgetText(name: name)
        campaign.planNamer()
    }

    func takeNames(at now: Moment) {
        guard !machine.unnamed.isEmpty, let namer = campaign.namer else { return }
        let answers = campaign.namerAnswers.removeValue(forKey: index) ?? []
        for answer in answers.reversed() {
            if answer.call == nil {
                machine.textRefused(of: answer.request, question: answer.number, at: now)
            } else {
                machine.named(answer.request, question: answer.number, answer.name, at: now)
            }
        }
        guard let trouble = namer.trouble else { return }
        if trouble.isFinal {
            causes.namesRefused = true
            machine.namesRefused(trouble.text, status: trouble.status, at: now)
            noteEnding(at: now)
        } else {
            campaign.tally.note(.namesAwaited)
            machine.namesPending(because: trouble.text, at: now)
        }
    }

    /// Adds what an earlier process left.
    func add(_ batch: SourceBatch, withPast now: Moment) {
        var bytes = PushBatch()
        for recipient in batch.recipients {
            bytes.append(
                recipient: recipient, token: String(recipient), payload: [campaign.nature.payload(of: recipient)])
        }
        let stored = store.insert(bytes)
        if let call = batch.call, case .fetched(let names) = campaign.nature.service.repeatProtection {
            let name = RequestName(text: call.name, usableUntil: call.namedAt.adding(seconds: names.usableSeconds))
            let slots = machine.add(call: Array(batch.recipients), name: name, at: now)
            for (index, slot) in slots.enumerated() { store.assign(slot, batch: stored, index: index) }
        } else {
            for (index, recipient) in batch.recipients.enumerated() { add(recipient, in: (stored, index), at: now) }
        }
        noteAdded(batch.recipients.count)
    }

    /// Compares a request with what is on record of its name.
    func judgeName(_ wire: Wire, at now: Moment) {
        var recipients: [Int] = []
        wire.forEachRecipient { recipients.append($0) }
        switch machine.nameRule {
        case .none: return
        case .calls:
            guard let call = campaign.account.calls.last(where: { $0.name == wire.name && !wire.name.isEmpty }) else {
                return campaign.violate(.named, "\(recipients) leave as '\(wire.name)', which is on no record")
            }
            if call.recipients.sorted() != recipients.sorted() {
                campaign.violate(.named, "\(recipients) leave as \(wire.name), which stands for \(call.recipients)")
            }
            if let given = campaign.givenNames[wire.name], let lifetime = campaign.nature.naming?.lifetimeSeconds,
                Double(campaign.clock.now - given) / 1e9 > lifetime
            {
                campaign.violate(.named, "\(recipients) leave as \(wire.name), which the service has forgotten")
            }
        case .generations where !wire.name.isEmpty: judgeText(of: wire, recipients)
        case .generations:
            if campaign.nature.service.batching.namesText(targets: wire.count) {
                campaign.violate(.requests, "\(wire.count) pushes in a request that holds their texts")
            }
            if wire.generation > 0 { campaign.tally.note(.generationRaised) }
            let recorded = CallReview.generations(of: campaign.account.calls)
            for recipient in recipients where recorded[recipient] ?? 0 != wire.generation {
                campaign.violate(
                    .named, "\(recipient) leaves as \(wire.generation), and \(recorded[recipient] ?? 0) is on record")
            }
        }
        for recipient in recipients {
            let fate = campaign.fates[recipient]
            // A text is no name to recognize it by: `judgeLeave` says whether it may leave at all.
            if fate.isInDoubt, Wire.isText(fate.lastName) { campaign.fates[recipient].mayComeTwice = true }
            if fate.isInDoubt, fate.lastName != wire.recognizedBy, !Wire.isText(fate.lastName) {
                campaign.violate(
                    .recognized, "\(recipient) may have arrived as \(fate.lastName), and leaves as \(wire.recognizedBy)"
                )
            }
            if case .refused = fate.state, wire.recognizedGeneration != nil, machine.nameRule == .generations,
                !fate.isInDoubt,
                fate.lastName == wire.recognizedBy
            {
                campaign.violate(.named, "\(recipient) was refused as \(wire.generation), and leaves as that again")
            }
        }
    }

    /// Compares a request that names a text with the text, and with what is on record.
    private func judgeText(of wire: Wire, _ recipients: [Int]) {
        campaign.tally.note(.textNamed)
        let nature = campaign.nature
        if !nature.service.batching.namesText(targets: wire.count) {
            campaign.violate(.requests, "\(wire.count) pushes name a text, and their request could hold it")
        }
        if recipients.contains(where: { nature.payload(of: $0) != campaign.keptTexts[wire.name] }) {
            campaign.violate(.bytes, "\(recipients) leave as \(wire.name), which is another text")
        }
        let isRecorded = campaign.account.calls.contains {
            $0.name == CallReview.textName && $0.recipients.sorted() == recipients.sorted()
        }
        if !isRecorded { campaign.violate(.named, "\(recipients) leave as \(wire.name), which is on no record") }
        let age = Double(campaign.clock.now - (campaign.givenNames[wire.name] ?? 0)) / 1e9
        if age > nature.naming?.lifetimeSeconds ?? 0 {
            campaign.violate(.named, "\(recipients) leave as \(wire.name), which the service has forgotten")
        }
    }

    /// Whether all pushes of a request go again because they are recognized.
    func isRepeat(_ wire: Wire) -> Bool {
        var isInDoubt = machine.nameRule == .calls
        wire.forEachRecipient { isInDoubt = isInDoubt && campaign.fates[$0].isInDoubt }
        return isInDoubt
    }

    /// Whether a name may be used no longer.
    func isForgotten(_ name: String, at now: Moment) -> Bool {
        guard case .fetched(let names) = campaign.nature.service.repeatProtection,
            let call = campaign.account.calls.last(where: { $0.name == name })
        else { return false }
        return call.namedAt.adding(seconds: names.usableSeconds) <= now.wall
    }
}
