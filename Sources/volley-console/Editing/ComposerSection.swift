import Accounts
import Base
import Campaigns
import Planning
import Reports

/// One part of the composer: what it shows of a campaign, and how it writes what a person chose.
protocol ComposerSection: Sendable {
    /// The heading; in small letters, its anchor.
    static var title: String { get }
    /// Whether it is closed until a person opens it.
    static var isFolded: Bool { get }
    /// The values that it shows of a source: mistakes are shown at them, and what no section has is
    /// summarised.
    static func fields(in edit: YAMLEdit) -> [CampaignForm.Field]
    static func html(_ context: ComposerContext) -> HTML
    /// Writes the values of a form that differ from the source.
    /// - Returns: why a value was not written, by the names of fields.
    static func apply(_ form: [String: String], to edit: inout YAMLEdit) -> [String: Mistake]
}

extension ComposerSection {
    static var isFolded: Bool { false }
    static func html(_ context: ComposerContext) -> HTML { HTML(joined: fields(in: context.edit).map(context.control)) }
    static func apply(_ form: [String: String], to edit: inout YAMLEdit) -> [String: Mistake] {
        CampaignForm.apply(form, to: &edit, fields(in: edit))
    }
}

/// What the sections are made from: the source, what a person typed before, and what is wrong with
/// it.
struct ComposerContext {
    let item: CampaignCache.Item
    /// The file as it is.
    let edit: YAMLEdit
    let trial: CampaignForm.RejectedInput
    let visit: Visit
    let site: Site
    let apps: [String]
    let tags: KnownTags
    /// Devices of its audience, if they were read lately.
    let devices: SampledDevices?
    /// What the file would send; nil while that is not known.
    let preview: DraftPreview?
    let previewState: DraftPreview.State
    /// Runs whose devices it counts although the campaign leaves them out.
    let unlisted: [RunSummary]
    /// Of the form, and of what is filled into it later.
    let address: String, live: String
    /// The source whose findings are shown: as it would be, where a person wrote something.
    let tried: YAMLEdit
    /// A phone with its text, where no devices are known.
    let written: HTML
    /// What is wrong and belongs to no field.
    let otherFindings: [Diagnostic]
    private let findings: [String: [Diagnostic]]

    var now: Timestamp { visit.now }

    init(
        _ item: CampaignCache.Item, _ edit: YAMLEdit, _ trial: CampaignForm.RejectedInput, _ visit: Visit, _ site: Site
    ) throws {
        (self.item, self.edit, self.trial, self.visit, self.site) = (item, edit, trial, visit, site)
        apps = try site.project().apps.map(\.name.value).filter { visit.may(.edit, app: $0) }
        tags = KnownTags.of(item, edit, visit, site)
        let query = FormFields.query([("file", item.file)])
        (address, live) = ("/campaign/form" + query, "/campaign/form/live.json" + query)
        let counted = try RunsControl.countable(trial.counted ?? edit, item, visit, site)
        unlisted = counted.unlisted
        previewState = try DraftPreview.of(item, text: counted.edit.text, visit, site)
        devices = DraftPreview.devices(of: item, text: counted.edit.text, site)
        preview = if case .known(let known) = previewState { known } else { nil }
        tried = trial.edit ?? (trial.counted == nil ? edit : counted.edit)
        written = try PhoneControl.written(tried, of: item, visit, site)
        // A value that was not written leaves a source that is not meant: what is wrong with it
        // would mislead.
        let all = trial.mistakes.isEmpty ? try CampaignFindings(file: item.path, text: tried.text, visit, site).all : []
        (findings, otherFindings) = Self.sorted(all, tried, item.path)
    }

    /// The form of a file as it is before anything is known of its devices or mistakes: none of
    /// that changes what its controls hold.
    init(untouched item: CampaignCache.Item, _ edit: YAMLEdit, _ visit: Visit, _ site: Site) throws {
        (self.item, self.edit, self.visit, self.site) = (item, edit, visit, site)
        (trial, tags, devices, preview, previewState) = (
            CampaignForm.RejectedInput(), .counting, nil, nil, .counting([])
        )
        (tried, written, unlisted) = (edit, "", [])
        apps = try site.project().apps.map(\.name.value).filter { visit.may(.edit, app: $0) }
        (address, live, findings, otherFindings) = ("", "", [:], [])
    }

    /// Findings by the fields whose lines they are about, and those about something else.
    private static func sorted(_ all: [Diagnostic], _ edit: YAMLEdit, _ file: String) -> (
        [String: [Diagnostic]], others: [Diagnostic]
    ) {
        var own: [String: [Diagnostic]] = [:]
        var others: [Diagnostic] = []
        let lines = CampaignForm.fields(in: edit).compactMap { field in
            edit.lines(at: field.path).map { (field: field, lines: $0) }
        }
        for finding in all {
            var near: [CampaignForm.Field] = []
            // Which devices are meant is a question of its section, whatever else its first line
            // holds.
            if let place = finding.position, place.file == file, !finding.remedies.contains(.chooseDevices) {
                near = lines.filter { $0.lines.contains(place.line) }.map(\.field)
                if near.count > 1 {
                    near = near.filter { edit.holds(line: place.line, column: place.column, at: $0.path) }
                }
                // A field is nearer than the group that it belongs to.
                let deepest = near.map(\.path.count).max() ?? 0
                near = near.filter { $0.path.count == deepest }
            }
            if near.count == 1 { own[near[0].name, default: []].append(finding) } else { others.append(finding) }
        }
        return (own, others)
    }

    // MARK: - Fields

    /// What is wrong with the value that the source holds.
    func findings(of field: CampaignForm.Field) -> [Diagnostic] { findings[field.name] ?? [] }

    /// Why a value was not written, and what is wrong with the one that the source holds.
    func mistake(of field: CampaignForm.Field) -> HTML {
        let found = (trial.mistakes[field.name].map { [Diagnostic($0)] } ?? []) + findings(of: field)
        return HTML(
            joined: found.map { finding in
                "<span class=\"\(finding.severity == .error ? "stop" : "note")\">\(FieldWords.text(finding))</span>"
            } + [trial.others[field.name]].compactMap(\.self))
    }

    /// The value of a field as its control shows it.
    /// - Returns: nil where the source holds more than a form can show.
    func value(of field: CampaignForm.Field) -> ShownValue? {
        let held: YAMLEdit.Value?
        do throws(Mistake) { held = try edit.value(at: field.path) } catch {
            guard field.isAlternative else { return nil }
            held = nil
        }
        var value = ShownValue(field: field, present: CampaignForm.text(of: held), text: CampaignForm.text(of: held))
        let written: String?, isChanged: Bool
        do throws(Mistake) {
            let shown = CampaignForm.inPage(value.present, for: field)
            written = try CampaignForm.text(of: field, in: trial.typed, present: shown)
            isChanged = written != nil && written != shown
        } catch { (written, isChanged) = (nil, true) }
        if isChanged { (value.text, value.typed) = (written ?? value.text, trial.typed) }
        value.mistake = mistake(of: field)
        return value
    }

    /// A field with its label, hint and mistakes.
    func control(_ field: CampaignForm.Field) -> HTML {
        guard let value = value(of: field) else {
            return
                "<p class=\"field\"><b>\(field.label)</b><br><span class=\"note\">More than this form can show; it is in the source.</span></p>"
        }
        return control(value)
    }

    private func control(_ value: ShownValue) -> HTML {
        switch value.field.kind {
        case .line: return value.line()
        case .number: return value.line(attributes: " inputmode=\"decimal\"")
        case .moment: return MomentControl.html(value)
        case .rule: return RepeatControl.html(value)
        case .zone: return ZoneControl.html(value, at: now)
        case .tags: return TagsControl.html(value, tags)
        case .notation(let notation): return NotationControl.html(value, notation)
        case .lines, .list: return value.area()
        case .box:
            // The marker says that the form had the box, as browsers send nothing for one that is
            // not checked.
            let box = GroupInput.box(
                "\(value.field.label)", name: value.name, value: "true", isChecked: value.text == "true")
            return """
                <div class="field"><input type="hidden" name="\(CampaignForm.boxed(value.field))" value="1">\(box)\(value.hint)\(value.mistakes)</div>
                """
        case .oneOf(let options): return value.choice(options)
        case .choice where value.field.path == ["app"]:
            let names = apps.contains(value.text) ? apps : [value.text] + apps
            return value.choice(names.map { ($0, $0) })
        case .group: return ""
        case .choice: return value.choice([("", "No"), ("true", "Yes, every device of the export")])
        }
    }
}

/// Messages of the language in the words of the form, which has no keys.
enum FieldWords {
    /// The form's words for keys that messages name.
    private static let labels = [
        "title": "Title", "subtitle": "Subtitle", "body": "Text", "link": "Link", "image": "Image", "sound": "Sound",
        "badge": "Badge",
        "category": "Category", "thread": "Thread", "silent": "Silent", "wake_app": "Wake the app",
        "interruption": "Interruption",
        "relevance": "Relevance", "share": "Share", "schedule": "When", "audience": "Who", "content": "What",
        "delivery": "How",
        "tags": "Tags", "everyone": "Everyone", "aliases": "Aliases", "registration_ids": "Registration ids",
        "where": "Conditions",
        "exclude": "Not to", "devices": "Device exports", "alias_limit": "Devices of one alias", "at": "Date and time",
        "repeat": "Repeated", "timezone": "Time zone",
        "fallback_timezone": "Time zone of people whose own is not known",
        "quiet_hours": "Quiet hours", "late": "If it could not be sent at that time", "pace": "Pace",
        "expires": "How long it is worth delivering",
        "priority": "How urgent it is", "collapse": "Replaces earlier pushes", "frequency": "Pushes for one device",
        "unknown": "If it is not known whether a push arrived", "stop_when": "Stop",
        "track": "Say which campaign it is",
    ]

    /// Also with the name of the file, without its folder, where that is not the campaign's own.
    static func text(_ finding: Diagnostic, in campaign: String) -> HTML {
        "\(origin(finding, besides: campaign))\(text(finding))"
    }

    /// `volley.yaml: ` of a finding in another file than the campaign's own; blank for one in it or
    /// in none, and where the message names it.
    static func origin(_ finding: Diagnostic, besides campaign: String) -> HTML {
        func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }
        guard let file = finding.file.map(name), file != name(campaign), !finding.message(for: .console).contains(file)
        else { return "" }
        return "<b>\(TextFormat.printable(file))</b>: "
    }

    static func text(_ finding: Diagnostic) -> HTML {
        if finding.severity == .warning { return WarningWords(finding).sentence(nil, isAtField: true) }
        let message = plain(finding.message(for: .console))
        // A remedy that writes the key, or names a place of the source, helps only there.
        if let missing = message.firstMatch(of: /^the key (“.+?”) is missing(?:[: ].*)?$/) {
            return "\(String(missing.1)) is missing."
        }
        let remedy: HTML = finding.remedy(for: .console).map { " \(Prose.html(plain($0)))" } ?? ""
        return "\(Prose.html(Words.capitalized(message))).\(remedy)"
    }

    /// Labels instead of keys in quotes, and values without the key that a source has before them.
    static func plain(_ text: String) -> String {
        let text = labels.reduce(text) { $0.replacing("'\($1.key)'", with: "“\($1.value)”") }
        return text.replacing(/\b([a-z_]+): (?=\S)/) { labels[String($0.1)] == nil ? String($0.0) : "" }
            .replacing(/\ in line [0-9]+/, with: "")
    }

    /// A label for a key; without one, the key's own words.
    static func label(_ key: String) -> String { labels[key] ?? TextFormat.capitalized(key.replacing("_", with: " ")) }
}

/// What the file says and no section shows, in words, so that a person sees that it is there.
enum RestOfCampaign {
    /// Longer values are cut: the source has them.
    private static let longestValue = 60

    static func html(_ edit: YAMLEdit, _ source: HTML) -> HTML {
        let shown = CampaignForm.fields(in: edit).filter { if case .group = $0.kind { false } else { true } }.map(
            \.path)
        let lines: [HTML] = lines(below: [], edit, shown).map {
            "<li><b>\($0.name)</b>: <span dir=\"auto\">\($0.value)</span></li>"
        }
        guard !lines.isEmpty else { return "" }
        return """
            <section class="step rest" aria-labelledby="rest"><h2 id="rest">Also in this campaign</h2><ul>\(lines)</ul>\
            <p class="note">Saving leaves it alone. \(source)</p></section>
            """
    }

    private static func lines(below path: [String], _ edit: YAMLEdit, _ shown: [[String]]) -> [(
        name: String, value: String
    )] {
        edit.keys(at: path).flatMap { key -> [(name: String, value: String)] in
            let path = path + [key]
            if shown.contains(where: { path.starts(with: $0) }) { return [] }
            if shown.contains(where: { $0.starts(with: path) }) { return lines(below: path, edit, shown) }
            return [(path.map(FieldWords.label).joined(separator: " › "), value(at: path, edit))]
        }
    }

    private static func value(at path: [String], _ edit: YAMLEdit) -> String {
        let keys = edit.keys(at: path)
        if !keys.isEmpty { return keys.map(FieldWords.label).joined(separator: ", ") }
        guard let value = try? edit.value(at: path) else { return "see the source" }
        let text = CampaignForm.text(of: value).replacing("\n", with: ", ")
        return text.count > longestValue ? text.prefix(longestValue) + "…" : text
    }
}
