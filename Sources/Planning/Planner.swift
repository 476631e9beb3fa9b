import Workspace
import Audience
import Base
import Campaigns
import Content
import Cryptography
import PushServices
import Runs

/// Reads the exports once to find a campaign's audience, for a preview or a run file.
struct Planner {
    let context: CampaignContext
    let options: PlanOptions
    package let now: Timestamp
    /// When the campaign will go out.
    var sendingTime = SendingTime.now
    /// Since when it has waited to be planned.
    var queuedAt: Timestamp
    /// Whether `volley schedule` plans, so that no one sees the preview: then a run whose audience
    /// dropped is held back even if the campaign sets no limit.
    var isUnattended = false
    /// Whether the preview keeps some devices with the cells of all columns.
    var carriesAllColumns = false
    /// The warning that the store did not answer when its time was asked for.
    private var storeAway: Diagnostic?
    /// Warnings about keys and certificates; nil when they were not checked.
    var credentialWarnings: [Diagnostic]?

    /// - Throws: `Diagnostic` when `memory` is too little.
    package init(context: CampaignContext, _ options: PlanOptions, now: Timestamp) throws(Diagnostic) {
        self.context = context
        self.options = options
        self.now = now
        queuedAt = now
        _ = try options.memory?.forDevices()
    }

    /// Previews which devices would get it. Writes nothing.
    /// - Parameters:
    ///   - samples: how many for each text that a device gets.
    ///   - catalog: earlier runs and the list of suppressed devices, if there are any.
    func preview(samples: Int, in catalog: RunsFolder) throws -> Preview {
        return try scan(samples: samples, sendTimes(), writer: nil, in: catalog).preview
    }

    /// Explains why a device would get it or not.
    func explanation(of subject: TraceSubject, in catalog: RunsFolder) throws -> Explanation {
        var query = try context.audienceQuery(now: now)
        let known = try KnownDevices(context, history(), in: catalog)
        (query.suppressed, query.capped) = (known.suppressed, known.capped)
        let export = try QueriedExport.of(context.databaseQuery, for: &query, in: catalog, options)
        let messages = context.messages
        options.observer(.readingSomewhere)
        defer { options.observer(.readingEnds) }
        let trace = try QueriedExport.placing(export) {
            try query.trace(
                subject,
                checking: {
                    let judge = PayloadChecker(messages)
                    return { judge.judge($0) }
                }, isCancelled: { options.cancellation.isRequested })
        }
        return Explainer(context: context, query: query).explanation(of: subject, export?.placed(trace) ?? trace)
    }

    /// Freezes the audience into a run file. When this throws, nothing of the run remains.
    /// - Parameter id: an id that was chosen before; nil makes one.
    func plan(_ settings: RunSettings, in catalog: RunsFolder, id: String? = nil) throws -> (
        run: RunFile, preview: Preview
    ) {
        let begin = SuspendingClock.now
        let place = try catalog.history.order().last
        let beside = try catalog.idsSendingNow(of: context.campaign.name.value)
        let inStore = try context.project.storeTime(for: settings, asked: options.cancellation)
        var scanner = self
        scanner.storeAway = inStore.away
        let seed = RunSeed.random()
        let id = id ?? RunID.make(campaign: context.campaign.name.value, now: now, seed: seed)
        let times = try sendTimes()
        let writer = try catalog.create(id, variants: context.messages.variantsOfDevices, sorter: sorter(times))
        let (preview, fields) = try scanner.scan(samples: 1, times, writer: writer, in: catalog)
        var settings = settings.fingerprinted
        (settings.schedule, settings.place, settings.beside, settings.plannedInStore) = (
            frozenSchedule, place, beside, inStore.time
        )
        settings.runsFolder = FilePaths.absolute(catalog.place)
        settings.realCampaignFile = FilePaths.absolute(context.campaign.file)
        // An approval that is required now stays required, even if the file that requires it moves
        // later.
        settings.needsApproval =
            settings.needsApproval
            || ApprovalDemand(
                app: context.app.name.value, campaignFile: context.campaign.file,
                realFile: FilePaths.absolute(context.campaign.file)
            ).binds
        // The time that the machine sleeps does not count as planning.
        settings.schedule?.planning =
            min(queuedAt, now)..<now.adding(seconds: (SuspendingClock.now - begin) / .seconds(1))
        let plan = RunPlan(
            id: id, campaign: context.campaign.name.value, app: context.app.name.value,
            campaignFile: FilePaths.named(context.campaign.file), campaignSource: context.campaign.source,
            projectFile: FilePaths.anchored(context.project.file), seed: seed, fields: fields, plannedAt: now,
            planHash: preview.planHash, rows: preview.audience.rows, audience: preview.audience.audience,
            skipped: preview.audience.skipped, settings: .success(settings), preview: preview.json,
            previewText: preview.text(width: 100, colour: false, cards: Preview.cardsBesidePlan),
            waves: times?.runWaves(preview.audience.waves) ?? [], serviceSegments: writer.segments)
        return (try writer.finish(plan), preview)
    }

    /// Returns the first recipient of each text that a device gets, with the cells that templates
    /// name. Writes nothing.
    func examples(in catalog: RunsFolder) throws -> [Recipient] {
        return try scan(samples: 1, nil, writer: nil, in: catalog, compares: false).preview.samples.map(\.recipient)
    }

    /// Brings recipients into sending order; nil if they stay in that of the exports.
    private func sorter(_ times: SendTimes?) -> SegmentSorter? {
        let services = context.app.services.map(\.service)
        let waves = times.map { max(1, $0.waves.count) } ?? 1
        let buckets = TextBuckets(context.messages, services, dividing: waves * services.count)
        guard waves > 1 || services.count > 1 || buckets != nil else { return nil }
        return SegmentSorter(
            waves: waves, services: services.count, buckets: buckets?.count ?? 1, wave: times?.waveOfRecipients(),
            bucket: buckets.map { buckets in { buckets.bucket(of: $0) } })
    }

    /// - Parameter compares: whether the audience is compared with that of the last run.
    private func scan(
        samples: Int, _ times: SendTimes?, writer: RunWriter?, in catalog: RunsFolder, compares: Bool = true
    ) throws -> (preview: Preview, fields: [String]) {
        if let own = context.ownAudience {
            return try scanCalls(own, samples: samples, times, writer: writer, in: catalog)
        }
        let opened = try openAudience(deviceClocks(times), in: catalog)
        var query = opened.query
        let (clocks, deviceMemory) = (opened.clocks, opened.deviceMemory)
        if carriesAllColumns { try carryAllColumns(&query) }
        let messages = context.messages
        // Rendered texts are checked even when no sample will be shown.
        let finder = SampleFinder(messages: messages, wanted: max(1, samples))
        let keeping = carriesAllColumns ? max(finder.slotsToKeep, SampledDevices.mostLooked) : finder.slotsToKeep
        let sink = RecipientCollector(keeping: keeping, writer: try writer.map { try RecipientWriter($0) })
        let tally = RequestTextCounts(messages, context.app.services.map(\.service))
        let result = try opened.placing {
            try scan(query, into: sink, deviceMemory: deviceMemory) {
                let judge = PayloadChecker(messages, clocks, tally: tally)
                return { judge.judge($0) }
            }
        }
        var found = try finder.samples(of: result, kept: sink.kept) { sink in
            options.observer(.readingAgain)
            _ = try scan(query, into: sink, deviceMemory: deviceMemory) { { _ in RecipientCheck() } }
        }
        if carriesAllColumns {
            for place in found.indices { found[place].recipient.fields.removeSubrange(messages.columns.count...) }
        }
        // A file that changes during planning must not give a mix of old and new.
        try withExtendedLifetime(opened) { try query.sources.checkUnchanged() }
        let earlier = try compares ? earlierRuns(catalog) : nil
        defer { earlier?.close() }
        let comparison = earlier?.last.map { RunComparison($0, result) }
        if writer != nil { try checkShrinking(comparison) }
        let lately = RecentlyReached(opened.recent, result, now: now)
        let schedule = previewSchedule(times ?? clocks, result.waves)
        let services = try PreviewService.all(of: context, result, tally)
        let lint = try lint(
            query, result, samples: found, schedule: schedule,
            further: comparisonWarnings(comparison) + historyWarnings(earlier, lately)
                + ChangeLint(context: context, now: now).warnings(
                    since: earlier?.last, (result.groups, result.audience))
                + paceWarnings(services, schedule) + (MakerLint(context)?.warnings(result) ?? [])
                + TextLint(context: context, services: services).warnings + [opened.storeAway].compactMap(\.self))
        options.observer(.lint(lint))
        let preview = Preview(
            campaign: context.campaign.name.value, app: context.app.name.value, services: services,
            destination: context.app.destination,
            words: PreviewWords(context, try RunSettings(context), exports: opened.sources), audience: result,
            payloadBytes: PayloadBytes(counts: result.payloadBytes),
            groups: PreviewGroups(messages, result), samples: samples == 0 ? [] : found,
            notes: SkipNotes(context: context, result: result).all, comparison: comparison, lately: lately,
            schedule: schedule, lint: lint,
            planHash: planHash(result, times, result.waves),
            devices: carriesAllColumns ? SampledDevices(columns: query.fields.map(\.value), kept: sink.kept) : nil)
        return (
            preview,
            query.fields.map(\.value) + (query.carriesTimezone ? [ExportColumns.Standard.timezone.rawValue] : [])
        )
    }

    /// The cells of further columns follow those that texts name.
    private func carryAllColumns(_ query: inout AudienceQuery) throws(Diagnostics) {
        let named = Set(query.fields.map(\.value))
        query.fields += try query.commonColumns().filter { !named.contains($0) }.map {
            SourceText($0, at: context.campaign.audience.position)
        }
    }

    /// An audience that is ready to be read.
    private struct OpenAudience {
        var query: AudienceQuery
        var clocks: SendTimes?
        /// Bytes for devices.
        var deviceMemory: Int
        /// The rows from a database; nil if the devices come from files.
        var export: QueriedExport?
        /// What was sent to the app's devices in the last hours; nil if no message needs it.
        var recent: RecentSendings?
        /// Where the devices come from, in words.
        var sources: [String]
        /// The warning that the store of several machines cannot be reached; nil if it was, or
        /// without a store.
        var storeAway: Diagnostic?

        /// Names the query where errors and warnings name the file of its rows.
        func placing(_ scan: () throws -> AudienceResult) throws -> AudienceResult {
            guard let export else { return try scan() }
            var result = try export.placing(scan)
            result.warnings = result.warnings.map(export.placed)
            result.badRows = result.badRows.map(export.placed)
            return result
        }
    }

    /// Reads lists, and queries the database if the devices come from one.
    private func openAudience(_ clocks: SendTimes?, in catalog: RunsFolder) throws -> OpenAudience {
        var query = try context.audienceQuery(now: now)
        query.carriesTimezone = clocks != nil
        // A run that is sent without a preview needs no warnings.
        let known = try KnownDevices(
            context, history(), away: storeAway, countsRecent: !isUnattended || context.app.needsApproval,
            day: MakerLint(context)?.history(sendingTime, now: now, RunSettings(context)), in: catalog)
        let (suppressed, reached) = (known.suppressed, known.recent?.devices)
        (query.suppressed, query.capped, query.reached, query.today) = (suppressed, known.capped, reached, known.today)
        let bytes = (suppressed?.bytes ?? 0) + [known.capped, reached, known.today].reduce(0) { $0 + ($1?.bytes ?? 0) }
        let deviceMemory = try options.memory?.forDevices(besides: bytes) ?? .max
        if let suppressed { options.observer(.suppressed(suppressed.count, list: known.place)) }
        let sources = context.databaseQuery.map { [PreviewWords.query(to: $0.database.name)] } ?? query.files
        options.observer(.sources(project: context.project.file, exports: sources))
        let export = try QueriedExport.of(context.databaseQuery, for: &query, in: catalog, options)
        return OpenAudience(
            query: query, clocks: clocks, deviceMemory: deviceMemory, export: export, recent: known.recent,
            sources: sources,
            storeAway: known.storeAway)
    }

    /// The limit that applies when this planner plans or, for a preview, when the campaign will be
    /// planned.
    private func shrinkLimit(isUnattended: Bool) -> StopShare? {
        switch context.campaign.audience.shrinkLimit ?? (isUnattended ? .ofSchedules : .off) {
        case .atMost(let share): share
        case .off: nil
        }
    }

    private func checkShrinking(_ comparison: RunComparison?) throws(Diagnostic) {
        guard let comparison, let limit = shrinkLimit(isUnattended: isUnattended), comparison.selected.passes(limit)
        else { return }
        throw Diagnostic(comparison.dropMessage(limit), at: shrinkPosition, remedy: RunComparison.dropRemedy)
    }

    private var shrinkPosition: SourcePosition {
        context.campaign.audience.shrinkLimitPosition ?? context.campaign.audience.position
    }

    /// Warnings about how the audience differs from the last one.
    private func comparisonWarnings(_ comparison: RunComparison?) -> [Diagnostic] {
        guard let comparison else { return [] }
        let isScheduled = context.campaign.schedule?.hasTimes ?? false
        guard let limit = shrinkLimit(isUnattended: isScheduled), comparison.selected.passes(limit) else {
            return comparison.warnings
        }
        return [
            .warning(
                .audienceDropped, message: "\(comparison.dropMessage(limit)): it will not be planned",
                at: shrinkPosition,
                remedy: RunComparison.dropRemedy)
        ]
    }

    /// Warnings about earlier runs. For a time of a schedule, the campaign's own runs are what its
    /// author intended.
    private func historyWarnings(_ earlier: EarlierRuns?, _ lately: RecentlyReached) -> [Diagnostic] {
        let name = context.campaign.name.value
        return isUnattended
            ? lately.warnings(context) { $0.campaign == name } : earlier?.warnings(context, lately) ?? []
    }

    /// Warnings about how long sending takes, and about the hours of the day at which pushes go
    /// out.
    func paceWarnings(_ services: [PreviewService], _ schedule: PreviewSchedule?) -> [Diagnostic] {
        let pace = PaceLint(context: context, services: services, schedule: schedule, now: now)
        return pace.warnings + (MakerLint(context)?.warnings(pace) ?? [])
    }

    func earlierRuns(_ catalog: RunsFolder) throws -> EarlierRuns {
        try EarlierRuns(
            of: context.campaign.name.value, app: context.app.name.value, in: RunSettings(context), catalog: catalog,
            now: now
        )
    }

    private func history() throws -> FrequencyHistory {
        FrequencyHistory(
            app: context.app.name.value, lists: try RunSettings(context).lists,
            caps: context.messages.pushType == .background ? [] : context.frequencyCaps,
            now: now)
    }

    private func scan(
        _ query: AudienceQuery, into sink: any RecipientSink, deviceMemory: Int,
        checking makeChecker: @escaping @Sendable () -> RecipientChecker
    ) throws -> AudienceResult {
        let clock = ContinuousClock()
        let start = clock.now
        defer { options.observer(.readingEnds) }
        return try query.scan(
            into: sink, deviceMemory: deviceMemory, checking: makeChecker,
            progress: { options.observer(.reading($0, seconds: (clock.now - start) / .seconds(1))) },
            isCancelled: { options.cancellation.isRequested })
    }

    private func lint(
        _ query: AudienceQuery, _ result: AudienceResult, samples: [PreviewSample], schedule: PreviewSchedule?,
        further: [Diagnostic]
    ) throws -> Lint {
        let age = ExportAge.warnings(of: query.files, isRehearsal: try RunSettings(context).isRehearsal, now: now)
        let rows =
            unknownLanguages(result) + result.warnings + result.badRows.map(asWarning)
            + AudienceLint(context: context, result: result).warnings
            + ServiceLint(app: context.app).withoutDevices(result, in: context.messages)
            + RenderedLint(context: context, samples: samples, known: Set(result.warnings.compactMap(\.name))).warnings
            + further
            + (schedule?.warnings(context.campaign) ?? [])
        // For devices that would be due after the expiry, the schedule's warning, from the rows,
        // says more than the campaign's own.
        let repeats = context.campaign.schedule?.repeat != nil
        let files = context.warnings.filter { schedule == nil || repeats || $0.name != .expiresBeforeSchedule }
        return Lint(
            files + age + rows + (credentialWarnings ?? []), allowed: context.campaign.allowed,
            lookedAt: credentialWarnings == nil ? [.files, .headers, .rows] : Set(WarningName.Source.allCases))
    }

    /// A warning about recipients that get English dates, numbers and plural forms, because Volley
    /// does not have those of their language.
    private func unknownLanguages(_ result: AudienceResult) -> [Diagnostic] {
        let tags = context.messages.unknownLanguages(among: result.languages.keys)
        guard !tags.isEmpty else { return [] }
        let devices = tags.reduce(0) { $0 + (result.languages[$1] ?? 0) }
        let list =
            tags.prefix(10).map { "'\(TargetRedaction.cell($0, maximumBytes: 20))'" }.joined(separator: ", ")
            + (tags.count > 10 ? " and others" : "")
        return [
            .warning(
                .languageFormsUnknown,
                message:
                    "\(TextFormat.counted(devices, one: "device has", many: "devices have")) the language \(list), whose dates, numbers and plural forms Volley does not know",
                at: context.campaign.content.position,
                remedy: "They get the English forms. If the tag is misspelt, correct it in the export.")
        ]
    }

    /// A hash that identifies a plan: equal when the campaign, the rules, and all facts in the
    /// exports about the selected devices are equal.
    func planHash(_ result: AudienceResult, _ times: SendTimes?, _ counts: [Int: Int]) -> String {
        var hash = SHA256()
        for part in [Self.rules, context.campaign.source, context.app.main.topic.value, context.app.main.destination]
            + furtherParts
        {
            hash.update(Array(part.utf8) + [0])
        }
        hash.update(
            result.digest.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) } })
        for wave in times?.runWaves(counts) ?? [] { hash.update("\(wave.ids.lowerBound) \(wave.zone) \(wave.due)\n") }
        return hash.finalizeHex()
    }

    /// What else identifies the plan of an app with several services.
    private var furtherParts: [String] {
        if context.ownAudience != nil { return [context.app.main.service.name] }
        guard context.app.services.count > 1 else { return [] }
        return [context.app.main.service.name]
            + context.app.services.dropFirst().flatMap { [$0.service.name, $0.topic.value, $0.destination] }
    }

    /// Must change whenever the rules of planning do.
    private static let rules = "volley plan 6"

    private func asWarning(_ mistake: Diagnostic) -> Diagnostic {
        var warning = mistake
        (warning.severity, warning.name) = (.warning, .badRow)
        return warning
    }
}
