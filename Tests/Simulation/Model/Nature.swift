import Base

@testable import Delivery
import PushServices

/// The nature of a campaign: its size, its settings, and how often each thing goes wrong.
/// Everything is drawn from the seed. Rates are per thousand.
struct Nature {
    // The campaign.
    var pushes: Int
    var claimSize: Int
    var batchSize: Int
    var queuedBatches: Int
    var settings: MachineSettings
    var service = SimulatedService()
    /// The number of texts, for a service with one text in a request.
    var texts = 1
    /// A pace of devices in addition to that of the settings; nil for none.
    var devicePace: Pace?
    var deadlineAfter: Int64?
    var loops: Int
    var helperAfter: Int64

    // Requests.
    var temporary: Int
    var final: Int
    /// Which of them, as indices of ServerAnswer.all.
    var finalAnswers: Range<Int>
    /// Tokens that are good but refused, because environment or topic is wrong: more than a fifth
    /// of them; 0 if the settings are right.
    var refusedBySettings: Int
    /// Whether the accepted ones come first, as test devices may in an export.
    var acceptedComeFirst: Bool
    /// Indices of ServerAnswer.all.
    var settingsAnswer: Int
    var fatal: Int
    var unanswered: Int
    var slow: Int
    var reset: Int
    var refused: Int
    /// Answered by something in front of APNs, or cut off.
    var doubtful: Int
    /// Refused as all others would be, if none was accepted yet.
    var likeAll = 0
    /// Refused because the sender's quota is used up.
    var quota = 0
    /// The text of which the service takes nothing, without naming a device; nil for none.
    var badText: UInt8?
    /// From when on it takes nothing because of the settings; true time.
    var settingsFailFrom = Int64.max

    // Connections.
    var connectRefused: Int
    var connectSlow: Int
    var connectHopeless: Int
    var dies: Int
    var goesAway: Int
    /// How many requests a connection takes before the server leaves it; nil for any number.
    var requestsPerConnection: Int?
    /// The most pushes that fit into the connection's window in addition; nil for any number.
    var freeWindow: Int?
    var fallsSilent: Int
    var changesLimit: Int
    var fallsBack: Int
    var limit: Int
    var latency: Int64
    var processing: Int64

    // The service as a whole.
    var outage: Range<Int64>
    var outageIsUnreachable: Bool
    /// Whether something in front of APNs answers in its place, if it can be reached.
    var outageIsOfGateway: Bool
    /// When the quota is used up for every push.
    var quotaOutage: Range<Int64> = 0..<0
    /// When nothing may be submitted, counted from the beginning of an epoch; nil for never.
    var gateClosed: Range<Int64>?
    var serverSkewSeconds: Int64
    var expiresTokens: Int
    /// On some connections a token of this age, 15 to 45 minutes, is called expired.
    var expiresEarly: Int
    var earlyAge: Int64
    /// A server that gives out the tokens; nil if they are signed.
    var fetching: FetchNature?
    /// How the service gives out names of requests; nil if it recognizes no repeats.
    var naming: NameNature?

    // The sender's machine.
    var interruptAfter: Int64?
    var killAfterTicks: Int?
    var secondKillAfterTicks: Int?
    var resumesAfterStop: Bool
    /// The outcomes that are retried once the run is over; nil for none.
    var retriedOutcomes: Set<Outcome>?
    var wallSteps: Int
    var sleeps: Int
    var heldUp: Int
    var sourcePauses: Int
    var longestPause: Int64
    /// Wakes every 50 ms as the real loop does, instead of when something is due.
    var wakesOften: Bool

    init(from random: inout SplitMix) {
        let size = random.below(100)
        pushes =
            size < 84
            ? random.between(1, 14)
            : size < 88
                ? [1, 2, 60, 99][random.below(4)] : size < 98 ? random.between(15, 50) : random.between(100, 350)
        claimSize = random.between(1, 24)
        batchSize = random.between(1, 12)
        queuedBatches = random.between(1, 4)
        settings = Self.settings(from: &random)
        let isLong = random.oneIn(8)
        if isLong, random.oneIn(2) { settings.pace = Pace(pushes: random.between(6, 120), intervalSeconds: 3600) }
        if pushes > 100, settings.pace?.perSecond ?? 1000 < 0.1 {
            settings.pace = Pace(pushes: 100, intervalSeconds: 60)
        }
        deadlineAfter = random.oneIn(8) ? random.span(0, isLong ? Span.hour : 8 * Span.second) : nil
        if settings.pace != nil || !random.oneIn(3) { loops = 1 } else { loops = random.between(2, 6) }
        helperAfter = random.span(0, 800 * Span.millisecond)

        let isCalm = random.oneIn(4)
        func rate(_ count: Int, _ most: Int) -> Int { isCalm ? 0 : random.rate(oneIn: count, upTo: most) }
        temporary = rate(2, 600)
        final = random.rate(oneIn: 2, upTo: 400)
        finalAnswers = ServerAnswer.final
        if pushes > 100, random.oneIn(8) {
            // Most of the pushes are permanently refused: the payload is wrong.
            final = random.between(500, 1000)
            finalAnswers = ServerAnswer.rejections
        }
        refusedBySettings = random.oneIn(pushes > 50 ? 5 : 10) ? random.between(pushes / 5 + 1, pushes) : 0
        acceptedComeFirst = random.oneIn(2)
        settingsAnswer = ServerAnswer.badTokens.lowerBound + random.below(ServerAnswer.badTokens.count)
        fatal = rate(9, 40)
        unanswered = rate(4, 150)
        slow = rate(6, 150)
        reset = rate(6, 100)
        refused = rate(6, 300)
        doubtful = rate(8, 500)
        connectRefused = rate(4, 800)
        connectSlow = rate(6, 500)
        connectHopeless = rate(30, 300)
        dies = rate(3, 800)
        goesAway = rate(4, 800)
        requestsPerConnection = isCalm || !random.oneIn(6) ? nil : random.between(1, 12)
        freeWindow = !random.oneIn(6) ? nil : random.between(1, 8)
        fallsSilent = rate(5, 500)
        changesLimit = rate(3, 900)
        fallsBack = rate(4, 500)
        limit = random.oneIn(4) ? random.between(1, 3) : random.between(4, 60)
        latency = random.span(Span.millisecond, 150 * Span.millisecond)
        processing = random.span(Span.millisecond, 300 * Span.millisecond)

        let outageStart = 1000 * Span.second + random.span(0, 2 * Span.second)
        let outageLength =
            isCalm || !random.oneIn(10) ? 0 : random.span(Span.second, (random.oneIn(4) ? 1200 : 40) * Span.second)
        outage = outageStart..<outageStart + outageLength
        outageIsUnreachable = random.oneIn(2)
        outageIsOfGateway = random.oneIn(2)
        serverSkewSeconds = isCalm || !random.oneIn(10) ? 0 : Int64(random.between(-4000, 4000))
        expiresTokens = rate(10, 200)
        expiresEarly = isLong && random.oneIn(2) ? random.between(300, 1000) : 0
        earlyAge = random.span(15 * Span.minute, 45 * Span.minute)

        let span = isLong ? Span.hour : 4 * Span.second
        interruptAfter = random.oneIn(9) ? random.span(0, span) : nil
        killAfterTicks = random.oneIn(4) ? random.between(1, 12 + 6 * min(pushes, 60)) : nil
        secondKillAfterTicks = random.oneIn(3) ? random.between(1, 12 + 4 * min(pushes, 60)) : nil
        resumesAfterStop = random.oneIn(2)
        retriedOutcomes = random.oneIn(4) ? (random.oneIn(2) ? Outcome.retriable : [.failed, .unknown]) : nil
        wallSteps = isCalm || !random.oneIn(6) ? 0 : random.between(1, 3)
        sleeps = isCalm || !random.oneIn(12) ? 0 : random.between(1, 2)
        heldUp = rate(8, 30)
        sourcePauses = isLong && settings.pace == nil ? random.between(100, 500) : random.rate(oneIn: 6, upTo: 200)
        longestPause = isLong ? 25 * Span.minute : 4 * Span.second
        wakesOften = !isLong && random.oneIn(24) && pushes < 40 && settings.pace?.perSecond ?? 1000 > 1
        if random.oneIn(3) { sendTogether(&random) }
        settings.service = service
        // Numbers of its own: campaigns with signed tokens stay as they were.
        var own = SplitMix(seed: settings.jitterSeed &+ 0xF37C)
        if settings.usesProviderToken, own.oneIn(3) { fetching = FetchNature(from: &own, isLong: isLong) }
        drawQuota(from: &own)
        if own.oneIn(4) { recognizeRepeats(&own) }
        if own.oneIn(service.batching.isPacedByCalls ? 3 : 12) { paceDevices(&own) }
        if !service.batching.hasOwnTexts, !service.batching.keepsTexts, own.oneIn(4) {
            badText = UInt8(own.below(texts))
        }
        if own.oneIn(12) { settingsFailFrom = 1000 * Span.second + own.span(0, 4 * Span.second) }
        if own.oneIn(10) {
            let start = own.span(0, own.oneIn(4) ? Span.minute : 2 * Span.second)
            gateClosed = start..<start + own.span(Span.millisecond, (own.oneIn(3) ? 1200 : 10) * Span.second)
        }
    }

    /// A pace that counts devices, whatever the service's own counts. A sender with a pace has one
    /// loop.
    private mutating func paceDevices(_ random: inout SplitMix) {
        devicePace =
            random.oneIn(3)
            ? Pace(pushes: random.between(pushes > 100 ? 200 : 20, 2000), intervalSeconds: 60)
            : Pace(pushes: random.oneIn(2) ? random.between(2, 20) : random.between(21, 300), intervalSeconds: 1)
        loops = 1
    }

    /// All paces that requests keep.
    var paces: RequestPaces {
        var paces = settings.paces
        paces.keep(devicePace, counting: .targets)
        return paces
    }

    /// A service that recognizes what it gets a second time.
    private mutating func recognizeRepeats(_ random: inout SplitMix) {
        let naming = NameNature(from: &random, isLong: wallSteps > 0 || sleeps > 0)
        self.naming = naming
        service.repeatProtection = random.oneIn(3) ? .derived(windowSeconds: 86_400) : .fetched(naming.names)
        if case .fetched = service.repeatProtection, service.answering == .each { service.answering = .together }
        // Enough crashes to see what they leave.
        if killAfterTicks == nil, random.oneIn(2) { killAfterTicks = random.between(1, 12 + 6 * min(pushes, 60)) }
        if case .derived = service.repeatProtection { keepTexts(&random) }
        settings.service = service
    }

    /// A service that keeps texts, so that larger requests name one.
    private mutating func keepTexts(_ random: inout SplitMix) {
        let batching = service.batching
        guard !batching.hasOwnTexts, batching.largestTargets > 2, !random.oneIn(4) else { return }
        service.batching = Batching(
            largestTargets: batching.largestTargets, hasOwnTexts: false, paceUnit: batching.paceUnit,
            largestWithOwnTexts: random.between(2, min(8, batching.largestTargets - 1)))
    }

    /// A service that counts what it is sent, and refuses messages for what they are.
    private mutating func drawQuota(from random: inout SplitMix) {
        if random.oneIn(6) { likeAll = random.oneIn(2) ? 1000 : random.between(1, 300) }
        guard random.oneIn(5) else { return }
        quota = random.rate(oneIn: 2, upTo: 200)
        guard random.oneIn(2) else { return }
        let start = 1000 * Span.second + random.span(0, 3 * Span.second)
        quotaOutage = start..<start + random.span(Span.second, (random.oneIn(4) ? 1200 : 200) * Span.second)
    }

    /// The single byte that represents a recipient's payload.
    func payload(of recipient: Int) -> UInt8 {
        service.batching.hasOwnTexts ? UInt8(truncatingIfNeeded: recipient) : UInt8(recipient % texts)
    }

    /// A service with several pushes in a request, and enough pushes to fill them.
    private mutating func sendTogether(_ random: inout SplitMix) {
        if pushes < 15, random.oneIn(2) { pushes = random.between(15, 60) }
        if refusedBySettings > 0 { refusedBySettings = random.between(pushes / 5 + 1, pushes) }
        batchSize = random.between(1, 60)
        claimSize = random.between(batchSize, 200)
        let largest = random.oneIn(2) ? random.between(1, 6) : random.between(7, 200)
        service.batching = Batching(
            largestTargets: largest, hasOwnTexts: random.oneIn(2), paceUnit: random.oneIn(2) ? .requests : .targets)
        service.answering = SimulatedService.Answering.allCases[random.below(3)]
        texts = random.oneIn(3) ? 1 : random.between(2, 5)
        // Suppression depends on the status of an answer, which is for the whole request here: no
        // target is known to be gone.
        finalAnswers = ServerAnswer.ofTargets
        // With many targets, a few refusals are enough.
        if random.oneIn(2) { final = min(final, 60) }
    }

    private static func settings(from random: inout SplitMix) -> MachineSettings {
        var settings = MachineSettings(endpoint: "apns.example:443", usesProviderToken: !random.oneIn(3))
        switch random.below(10) {
        case 0: settings.pace = Pace(pushes: 50, intervalSeconds: 1)
        case 1: settings.pace = Pace(pushes: 700, intervalSeconds: 60)
        case 2: settings.pace = Pace(pushes: 4, intervalSeconds: 1)
        case 3: settings.pace = Pace(pushes: random.between(1, 40), intervalSeconds: 60)
        default: break
        }
        settings.resendsUnknown = random.oneIn(2)
        settings.connections = random.between(1, 3)
        settings.streamsPerConnection = random.oneIn(3) ? random.between(1, 4) : random.between(5, 60)
        settings.retry.maximumAttempts = random.between(1, 7)
        if random.oneIn(6) { settings.retry.maximumTotalSeconds = Double(random.between(5, 300)) }
        if random.oneIn(6) { settings.retry.longestDelaySeconds = Double(random.between(1, 30)) }
        if random.oneIn(6) {
            settings.answerTimeoutSeconds = Double(random.between(2, 20))
            settings.connectTimeoutSeconds = Double(random.between(1, 10))
        }
        settings.pingAfterSeconds = min(5, settings.answerTimeoutSeconds / 6)
        settings.pingTimeoutSeconds = min(10, settings.answerTimeoutSeconds / 3)
        settings.smallestBudget = random.between(1, 6)
        if random.oneIn(6) { settings.openPushLimit = random.between(1, 30) }
        settings.canaryPushes = random.oneIn(2) ? random.between(0, 12) : Canary.usualSize
        if random.oneIn(8) {
            settings.stopLimits = StopLimits()
            settings.stopLimits?.after = random.between(1, 30)
            for outcome in StopLimits.outcomes where random.oneIn(2) {
                settings.stopLimits?.shares[outcome] = StopShare(millionths: random.between(1, 1_000_000))
            }
        }
        settings.jitterSeed = random.next()
        return settings
    }
}
