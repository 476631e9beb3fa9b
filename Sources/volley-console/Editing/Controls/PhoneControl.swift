import Accounts
import Base
import Campaigns
import Planning
import PushServices
import Reports

/// What devices see, as an iPhone or an Android phone shows it: devices of the exports, with the
/// text as it is on the page. The server renders it; where scripts run, the page sends its fields
/// when they change.
enum PhoneControl {
    static let path = "/campaign/form/phone.json"
    /// The name of the buttons that choose a device.
    static let device = "phone"
    private static let mostShown = 8

    static var route: Route {
        Route(
            method: .post, path: path, right: .right(.edit), subject: .campaign, changes: true,
            bodyLimit: Route.campaignBodyLimit,
            answer: answer)
    }

    /// For the script: what the fields of a form would send. Nothing is saved.
    private static func answer(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        guard var edit = YAMLEdit(CampaignSaving.text(of: try CampaignForm.read(item))) else { throw Refusal.notFound }
        // Fields with mistakes stay as the file has them.
        let mistakes = CampaignForm.apply(visit.form, to: &edit)
        let unlisted: [RunSummary]
        (edit, unlisted) = try RunsControl.countable(edit, item, visit, site)
        var state = try DraftPreview.of(item, text: edit.text, visit, site)
        if case .mistakes(let why) = state, why.markup.isEmpty {
            state = .mistakes(try problems(edit, of: item, visit, site))
        }
        let isCounting = if case .counting = state { true } else { false }
        let written = try written(edit, of: item, visit, site)
        let phone = ("phone", phones(state, app: item.app ?? "", written: written, shown: visit.form[device] ?? ""))
        let pieces =
            isCounting
            ? [phone]
            : [
                ("audience", audience(state, unlisted)), phone,
                ("skipped", SkippedDevices.html(state, ignoresMistakes: !mistakes.isEmpty, unlisted)),
                ("duration", HowSection.duration(state, edit, site)),
            ] + columns(KnownTags.of(item, edit, visit, site), DraftPreview.devices(of: item, text: edit.text, site))
        return .json(
            .object(pairs: [
                ("is_live", .bool(isCounting)),
                ("pieces", .object(pairs: pieces.map { ($0.0, .string($0.1.markup)) })),
            ]))
    }

    /// What is wrong with a text that is not saved: the list at the top of the form is as old as
    /// the page.
    private static func problems(_ edit: YAMLEdit, of item: CampaignCache.Item, _ visit: Visit, _ site: Site) throws
        -> HTML
    {
        let found = try CampaignFindings(file: item.path, text: edit.text, visit, site).all.filter {
            $0.severity == .error
        }
        let lines: [HTML] = found.map { "<li dir=\"auto\">\(FieldWords.text($0, in: item.path))</li>" }
        return lines.isEmpty ? "" : "<ul>\(lines)</ul>"
    }

    /// Columns that are being counted again stay on the page.
    private static func columns(_ known: KnownTags, _ devices: SampledDevices?) -> [(place: String, content: HTML)] {
        if case .counted = known { ColumnsControl.pieces(known, devices) } else { [] }
    }

    /// How many devices get it.
    /// - Parameter unlisted: the runs whose devices are counted although the fields leave them out.
    static func audience(_ state: DraftPreview.State, _ unlisted: [RunSummary]) -> HTML {
        switch state {
        case .counting: "Devices are being counted"
        case .mistakes: "Devices are not known"
        case .known(let preview): "\(unlisted.isEmpty ? "" : "At most " as HTML)\(TextFormat.devices(preview.audience))"
        }
    }

    /// - Parameters:
    ///   - written: what is shown where no devices are known.
    ///   - shown: the device that was chosen, or blank for the first of each text; nil where none
    ///     can be chosen.
    static func phones(_ state: DraftPreview.State, app: String, written: HTML = "", shown: String? = nil) -> HTML {
        switch state {
        case .counting(let samples) where !samples.isEmpty:
            return
                "\(cards(samples, app: app, shown))<p class=\"note\">The devices are being counted for this text.</p>"
        case .counting:
            return
                "\(written)<p class=\"note\">The exports are being read. This takes some seconds for millions of devices.</p>"
        case .mistakes(let why):
            let when: HTML = why.markup.isEmpty ? "the problems of the form are mended." : "this is mended:"
            return
                "\(written)<p class=\"note\">Which devices get it, and with which values, is known when \(when)</p>\(why)"
        case .known(let preview):
            return preview.samples.isEmpty
                ? "<p class=\"note\">No device gets it.</p>" : cards(preview.samples, app: app, shown)
        }
    }

    /// The first device, with the others below a fold, for a page that is read; nil without any.
    static func glance(_ samples: [DraftPreview.Sample], app: String) -> (first: HTML, others: HTML)? {
        guard !samples.isEmpty else { return nil }
        let cards: [HTML] = chosen(samples).map { card($0.sample, note: $0.note, app: app) }
        let others: HTML =
            cards.count > 1
            ? """
            <details class="others"><summary>\(TextFormat.counted(cards.count - 1, one: "other device"))</summary>\
            <div class="phones" tabindex="0" role="group" aria-label="What other devices see">\(Array(cards.dropFirst()))</div></details>
            """ : ""
        return ("\(cards[0])\(model)", others)
    }

    private static let model: HTML =
        "<p class=\"note\">How much a phone shows depends on its model and its text size.</p>"

    /// The text as it is written, with its columns.
    static func written(_ edit: YAMLEdit, of item: CampaignCache.Item, _ visit: Visit, _ site: Site) throws -> HTML {
        let draft = CampaignSaving.draft(Array(edit.text.utf8), file: item.path, try site.project(), at: visit.now)
        guard let content = draft.content else { return "" }
        let push: HTML =
            content.isSilent
            ? "<p class=\"silent\">Nothing is shown: it wakes the app in the background.</p>"
            : """
            <div class="banner"><p class="from"><b dir="auto">\(draft.app?.value ?? "")</b> <span>now</span></p>\
            <p class="title" dir="auto">\(content.title?.value ?? "")</p><p class="body" dir="auto">\(content.body?.value ?? "")</p></div>
            """
        return """
            <figure class="phone"><div class="screen"><p class="clock" aria-hidden="true">9:41</p>\(push)</div>\
            <figcaption>As it is written</figcaption></figure>
            """
    }

    private static func cards(_ samples: [DraftPreview.Sample], app: String, _ shown: String?) -> HTML {
        let place = shown.flatMap { Self.place(of: $0, samples) }
        var chosen = Self.chosen(samples)
        if let place {
            chosen = [
                (samples[place], "\(notes(place, samples)) · device \(place + 1) of \(samples.count) that were read")
            ]
        }
        let cards: [HTML] = chosen.map { card($0.sample, note: $0.note, app: app) }
        return """
            <div class="phones" tabindex="0" role="group" aria-label="What devices see">\(cards)</div>
            \(shown == nil ? "" : buttons(samples, from: place))
            <p class="note">\(chosen.count > 1 ? "Further devices are to the right. " : "" as HTML)\
            How much a phone shows depends on its model and its text size.</p>
            """
    }

    /// The buttons that show another device, each with its place.
    private static func buttons(_ samples: [DraftPreview.Sample], from place: Int?) -> HTML {
        guard samples.count > 1 else { return "" }
        let order = samples.indices.map { ((place ?? 0) + 1 + $0) % samples.count }
        let blank = order.first { samples[$0].hasBlanks }.map { [(String($0), "Blank values")] } ?? []
        let offered =
            [(String(order[0]), "Next device"), (longest, "Longest text")] + blank
            + (place == nil ? [] : [("", "All texts")])
        let buttons: [HTML] = offered.map {
            "<button form=\"composer\" name=\"\(device)\" value=\"\($0)\">\($1)</button> "
        }
        return "<p class=\"devices\" role=\"group\" aria-label=\"Which device\">\(buttons)</p>"
    }

    private static let longest = "longest"

    /// The device that a button stands for; nil for none.
    private static func place(of shown: String, _ samples: [DraftPreview.Sample]) -> Int? {
        guard let place = shown == longest ? longestText(samples) : Int(shown), place >= 0, !samples.isEmpty else {
            return nil
        }
        return place % samples.count
    }

    private static func longestText(_ samples: [DraftPreview.Sample]) -> Int? {
        func length(_ sample: DraftPreview.Sample) -> Int {
            sample.push.texts.reduce(0) { $0 + TextWidth.columns($1.text) }
        }
        return samples.indices.max { length(samples[$0]) < length(samples[$1]) }
    }

    private static func notes(_ place: Int, _ samples: [DraftPreview.Sample]) -> HTML {
        let isLongest = samples.count > 1 && place == longestText(samples)
        let notes: [HTML] = (isLongest ? ["longest text"] : []) + (samples[place].hasBlanks ? ["a blank value"] : [])
        return HTML(joined: notes.map { " · \($0)" })
    }

    /// The first device of each text, the longest text, and a device without a value that a text
    /// prints.
    private static func chosen(_ samples: [DraftPreview.Sample]) -> [(sample: DraftPreview.Sample, note: HTML)] {
        let blank = samples.firstIndex(where: \.hasBlanks)
        var seen: Set<[String]> = []
        var places = samples.indices.filter {
            seen.insert([samples[$0].service, samples[$0].variant, samples[$0].language]).inserted
        }
        if places.count > mostShown { places.removeLast(places.count - mostShown) }
        for place in [longestText(samples), blank].compactMap(\.self) where !places.contains(place) {
            places.append(place)
        }
        // More devices of the first text, where there is room.
        for place in samples.indices where places.count < 4 && !places.contains(place) { places.append(place) }
        return places.map { (samples[$0], notes($0, samples)) }
    }

    private static func card(_ sample: DraftPreview.Sample, note: HTML, app: String) -> HTML {
        let names = [sample.variant, sample.language.isEmpty ? "" : LanguageName.words(sample.language)].filter {
            !$0.isEmpty
        }
        let title: HTML = names.isEmpty ? "The text" : "\(names.joined(separator: ", "))"
        let push = sample.push
        let image: HTML =
            push.image.isEmpty ? "" : "<p class=\"image\">Image: <span dir=\"auto\">\(push.image)</span></p>"
        let subtitle: HTML = push.subtitle.isEmpty ? "" : "<p class=\"subtitle\" dir=\"auto\">\(push.subtitle)</p>"
        let content: HTML =
            push.isSilent
            ? "<p class=\"silent\">Nothing is shown: it wakes the app in the background.</p>"
            : """
            <div class="banner"><p class="from"><b dir="auto">\(app)</b> <span>now</span></p>\
            \(push.title.isEmpty ? "" : "<p class=\"title\" dir=\"auto\">\(push.title)</p>" as HTML)\(subtitle)\
            \(push.body.isEmpty ? "" : "<p class=\"body\" dir=\"auto\">\(push.body)</p>" as HTML)\(image)</div>
            """
        return
            "<figure class=\"phone\" data-variant=\"\(sample.variant)\" data-language=\"\(sample.language)\"><div class=\"screen\"><p class=\"clock\" aria-hidden=\"true\">9:41</p>\(content)</div><figcaption>\(title)\(note)</figcaption></figure>"
    }
}

/// Why devices of the exports do not get it.
enum SkippedDevices {
    private static let shown = 3

    /// The most frequent reasons.
    /// - Parameters:
    ///   - ignoresMistakes: whether fields have mistakes, so that the file's values count in their
    ///     place.
    ///   - unlisted: the runs whose devices are counted although the fields leave them out.
    static func html(_ state: DraftPreview.State, ignoresMistakes: Bool, _ unlisted: [RunSummary]) -> HTML {
        guard case .known(let preview) = state else { return "" }
        let lines: [HTML] = preview.skipped.filter { $0.rows > 0 }.prefix(shown).map { reason in
            "<li><b>\(TextFormat.count(reason.rows))</b> \(words(reason.reason))</li>"
        }
        let list: HTML = lines.isEmpty ? "" : "<p>Rows of the exports that get nothing:</p><ul>\(lines)</ul>"
        let doubt: HTML =
            ignoresMistakes ? "<p class=\"note doubt\">Fields with mistakes are counted as the file has them.</p>" : ""
        return "\(RunsControl.note(unlisted))\(list)\(doubt)"
    }

    private static func words(_ reason: String) -> String {
        guard let reason = SkipReason(rawValue: reason) else { return reason }
        return switch reason {
        case .badRow: "cannot be read"
        case .notMatched: "are not chosen"
        case .filtered: "do not meet the conditions"
        case .excluded: "are left out by “not to”"
        case .missingToken: "have no device"
        case .badToken: "have something that is no device"
        case .noService: "are reached by no service of the app"
        case .suppressed: "are known to have removed the app, or want no pushes"
        case .duplicateToken: "are older rows of a device"
        case .aliasLimit: "are further devices of one person"
        case .frequency: "got as many pushes as they may"
        case .holdout: "are held back to compare"
        case .renderError: "lack a value that the text needs"
        case .payloadTooLarge: "would get a text that is too long"
        }
    }
}

/// What is next to the sections: how many devices get it, and what they see. On a phone it is a bar
/// that opens.
enum ComposerSide {
    static func html(_ context: ComposerContext) -> HTML {
        let query = FormFields.query([("file", context.item.file)])
        let isCounting = if case .counting = context.previewState { true } else { false }
        let counting: HTML = isCounting ? "Devices are being counted: press this again in some seconds. " : ""
        return """
            <details class="side" data-phone="\(PhoneControl.path)\(query)"><summary><b data-fill="audience">\
            \(PhoneControl.audience(context.previewState, context.unlisted))</b> <span>· See what they get</span></summary>
            <div class="inner">
            <div data-fill="skipped">\(SkippedDevices.html(
                context.previewState, ignoresMistakes: !context.trial.mistakes.isEmpty, context.unlisted))</div>
            <p data-without-script>\(counting)<button form="composer" name="\(CampaignForm.counts)" value="1">Count</button> \
            <span class="note">Nothing is saved by it.</span></p>
            \(modes)
            <div data-fill="phone">\(PhoneControl.phones(
                context.previewState, app: context.item.app ?? "", written: context.written,
                shown: context.trial.typed[PhoneControl.device] ?? ""))</div>
            <p class="note" data-without-script>As of the \(context.trial.counted == nil ? "saved file" : "fields on this page" as HTML).</p>
            <p class="note"><a href="/campaign/preview\(query)">All texts and numbers in the preview</a></p>
            </div></details>
            """
    }

    /// Choices that the style sheet carries out.
    private static let modes: HTML = {
        let groups: [(name: String, words: String, options: [(String, String)])] = [
            ("kind", "Kind of phone", [("ios", "iPhone"), ("android", "Android")]),
            ("light", "Colours", [("day", "Light"), ("night", "Dark")]),
            ("look", "What is seen", [("locked", "Lock screen"), ("opened", "Opened")]),
        ]
        let sets: [HTML] = groups.map { group in
            let options: [HTML] = group.options.enumerated().map { place, option in
                """
                <label><input type="radio" name="phone-\(group.name)" id="phone-\(option.0)"\(place == 0 ? " checked" : "" as HTML)>\(option.1)</label>
                """
            }
            return "<div role=\"radiogroup\" aria-label=\"\(group.words)\">\(options)</div>"
        }
        return "<div class=\"modes\">\(sets)</div>"
    }()
}
