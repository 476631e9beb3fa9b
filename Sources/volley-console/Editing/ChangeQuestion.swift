import Accounts
import Automation
import Base
import Campaigns
import Content
import HTTPTypes
import PushServices
import Runs
import Reports

/// The question before a change is saved that gives the main content a new text, while languages,
/// variants or services keep the old one: what happens to them. It has a page of its own, which
/// holds everything that was typed.
struct ChangeQuestion {
    /// What happens to a text that stayed.
    private enum Answer: String, CaseIterable {
        case keep, mark, remove
    }

    /// The button of the page: its value is the digest of the text that the question was about.
    private static let answer = "kept"
    /// Before the number of a text that stayed.
    private static let choice = "kept.text."
    /// Back to the form or the source, without an answer.
    static let back = "kept.back"

    private let changes: [PartialChange]
    private let text: String
    private let readers: TextReaders
    /// Devices of the campaign's last run that got texts that stay, and all of them; nil when that
    /// is not known.
    private let reach: (kept: Int, all: Int)?

    private var digest: String { ShownFile.digest(of: Array(text.utf8)) }
    private var kept: [(change: PartialChange, kept: PartialChange.Kept)] {
        changes.flatMap { change in change.kept.map { (change, $0) } }
    }

    /// - Parameters:
    ///   - present: the present bytes of the file; nil for a new one.
    ///   - text: what it would hold.
    /// - Returns: nil when there is nothing to ask.
    init?(from present: [UInt8]?, to text: String, of item: CampaignCache.Item, _ visit: Visit, _ site: Site) throws {
        guard let present else { return nil }
        self.text = text
        let project = try site.project()
        func draft(_ bytes: [UInt8]) -> CampaignDraft {
            CampaignSaving.draft(bytes, file: item.path, project, at: visit.now)
        }
        let new = draft(CampaignSaving.bytes(of: text, like: present))
        readers = TextReaders(draft: new, services: CampaignSaving.services(of: new.app?.value, project))
        changes = PartialChange.all(from: draft(present), to: new)
        guard !changes.isEmpty else { return nil }
        reach = Self.reach(changes, item, site)
    }

    private static func reach(_ changes: [PartialChange], _ item: CampaignCache.Item, _ site: Site) -> (
        kept: Int, all: Int
    )? {
        guard let name = item.name, let app = item.app,
            let run = try? site.catalog.lastStarted(of: name, app: app, limit: 1).first
        else { return nil }
        defer { run.close() }
        guard case .array(let messages)? = run.plan.preview["messages"] else { return nil }
        let kept = messages.filter { message in
            changes.contains { change in message[change.key.rawValue]?.stringValue.map(change.isKept) ?? false }
        }
        let devices = kept.reduce(0) { $0 + Int($1["recipients"]?.integerValue ?? 0) }
        return devices > 0 ? (devices, run.plan.audience) : nil
    }

    // MARK: - The answer

    /// The text with what was answered; nil if the form does not answer this question, or not for
    /// each text.
    /// - Throws: `Mistake`: a text cannot be removed without changing what stands around it.
    func answered(by form: [String: String]) throws(Mistake) -> String? {
        guard form[Self.answer] == digest else { return nil }
        guard var edit = YAMLEdit(text) else { return text }
        let answers = kept.indices.compactMap { form["\(Self.choice)\($0)"].flatMap(Answer.init) }
        // Not every browser makes a person choose.
        guard answers.count == kept.count else { return nil }
        for (old, answer) in zip(kept, answers) {
            let path = old.kept.path
            switch answer {
            case .keep: break
            case .remove:
                try edit.set(nil, at: path)
                try TranslationMark.confirm(Array(path.dropLast()), in: &edit, only: path.last)
            case .mark: try TranslationMark.add(path, to: &edit)
            }
        }
        return edit.text
    }

    // MARK: - The page

    /// How many places of a text are named at the top: each has a question below.
    private static let mostPlaces = 3

    /// - Parameter action: where the form goes.
    func page(_ item: CampaignCache.Item, action: String, _ visit: Visit) -> Page {
        let own: Set = [CSRFProtection.field, Self.answer, Self.back]
        let typed: [HTML] = visit.form.filter { !own.contains($0.key) && !$0.key.hasPrefix(Self.choice) }.sorted {
            $0.key < $1.key
        }.map {
            "<input type=\"hidden\" name=\"\($0.key)\" value=\"\($0.value)\">"
        }
        let lines: [HTML] = changes.map { change in
            let places = change.kept.map { TextPlace.name($0.path) }, more = places.count - Self.mostPlaces
            let names = places.prefix(Self.mostPlaces).joined(separator: "; ")
            let rest = more > 0 ? " and \(TextFormat.count(more)) more" : ""
            return "<li dir=\"auto\">You changed the \(change.noun), but not that of \(names)\(rest).</li>"
        }
        let devices: HTML =
            reach.map {
                "<p>In the last run, \(TextFormat.count($0.kept)) of \(TextFormat.devices($0.all)) got such a text.</p>"
            } ?? ""
        let questions: [HTML] = kept.enumerated().map { place, old in
            let name = "\(Self.choice)\(place)"
            let options: [HTML] = Answer.allCases.map { answer in
                """
                <label class="box"><input type="radio" name="\(name)" value="\(answer.rawValue)" required>\
                <span>\(words(answer, old.kept, of: old.change))</span></label>
                """
            }
            return """
                <fieldset class="field controls"><legend>The \(old.change.noun) of \(TextPlace.name(old.kept.path))</legend>\
                <p dir="auto">“\(old.kept.text.value)”</p>\(options)</fieldset>
                """
        }
        let content: HTML = """
            \(Words.head("What happens to the other texts?", "<p>\(Words.file(of: item))</p>"))
            <div class="stop" role="alert"><p><b>Not saved yet.</b> Some devices would still get the old text:</p><ul>\(lines)</ul>\(devices)</div>
            <form class="panel editor" method="post" action="\(action)">
            \(Form.token(visit))\(typed)
            \(questions)
            <p><button class="main" name="\(Self.answer)" value="\(digest)">Save</button> \
            <button name="\(Self.back)" value="1" formnovalidate>Back to the texts</button></p>
            </form>
            <p class="note"><a href="\(Words.path(ofCampaign: item.file))">Back without saving</a></p>
            """
        return Page(
            status: .unprocessableContent, title: "What happens to the other texts?", place: .campaigns,
            content: content, help: .composer)
    }

    /// An answer, with what devices then read.
    private func words(_ answer: Answer, _ kept: PartialChange.Kept, of change: PartialChange) -> HTML {
        let reads: HTML =
            readers.places(of: kept, change).isEmpty ? "no device reads it" : "these devices read “\(kept.text.value)”"
        return switch answer {
        case .keep: "<b>Keep it</b>, because it is still right: \(reads)."
        case .mark: "<b>Mark it</b>: \(reads), and the form shows that it is older until a person confirms it."
        case .remove: "<b>Remove it</b>: \(readers.afterRemoval(of: kept, change))."
        }
    }
}

/// What devices read before and after a text is removed, as the sender chooses it.
struct TextReaders {
    let draft: CampaignDraft
    let services: [any PushService]

    /// The most groups of devices that are named.
    private static let most = 3

    /// The messages that have a text that stayed.
    func places(of kept: PartialChange.Kept, _ change: PartialChange) -> [Int] {
        let now = sources(change, without: [])
        return now.indices.filter { change.text(in: now[$0].content) == kept.text }
    }

    /// What its devices then read.
    func afterRemoval(of kept: PartialChange.Kept, _ change: PartialChange) -> HTML {
        let places = places(of: kept, change)
        return places.isEmpty ? "nothing changes, as no device reads it" : outcome(places, change, without: [kept.text])
    }

    private func sources(_ change: PartialChange, without removed: Set<SourceText>) -> [MessageCatalog.Source] {
        let rest = change.removing(removed, from: draft)
        return rest.content.map { MessageCatalog.sources(of: $0, for: services, variants: rest.variants) } ?? []
    }

    private func outcome(_ places: [Int], _ change: PartialChange, without removed: Set<SourceText>) -> HTML {
        let sources = sources(change, without: removed)
        var groups: [(text: SourceText?, places: [Int])] = []
        for place in places {
            let text = change.text(in: sources[place].content)
            if let known = groups.firstIndex(where: { $0.text == text }) {
                groups[known].places.append(place)
            } else {
                groups.append((text, [place]))
            }
        }
        let parts: [HTML] = groups.map { text, places in
            let who: HTML = groups.count == 1 ? "these devices" : "<i>\(names(places.map { sources[$0] }))</i>"
            guard let text else { return "\(who) get no \(change.noun)" }
            if text == draft.content.flatMap(change.text) {
                return "\(who) get the new \(change.noun), “\(text.value)”"
            }
            let place = TextPlace.name(change.place(of: text, in: draft) ?? [])
            guard change.kept.contains(where: { $0.text == text }) else {
                return "\(who) read the \(change.noun) of \(place), “\(text.value)”"
            }
            let next = outcome(places, change, without: removed.union([text]))
            return
                "\(who) read the \(change.noun) of \(place), “\(text.value)”, which is as it was (without that one, too, \(next))"
        }
        return HTML(joined: parts.enumerated().map { $0 == 0 ? $1 : "; \($1)" })
    }

    private func names(_ sources: [MessageCatalog.Source]) -> String {
        let names = sources.map { source in
            let language = source.language.isEmpty ? "other languages" : LanguageName.words(source.language)
            let service = services.count > 1 ? services[source.service].displayName : ""
            return [source.variant.isEmpty ? "" : "variant \(source.variant)", language, service].filter { !$0.isEmpty }
                .joined(
                    separator: ", ")
        }
        let more = names.count - Self.most
        return names.prefix(Self.most).joined(separator: " · ") + (more > 0 ? " and \(more) more" : "")
    }
}

/// A text that is older than the one that it translates, or varies: a comment above it in the file
/// says so, until a person confirms it. `# volley: translate content.languages.de (title, body)`
struct TranslationMark: Hashable {
    /// The keys that lead to the language, variant or service.
    var path: [String]
    /// Its texts that are older.
    var keys: [String]

    private static let start = "volley: translate "

    private var comment: String { Self.start + path.joined(separator: ".") + " (\(keys.joined(separator: ", ")))" }

    /// nil for other comments.
    private init?(_ comment: String) {
        guard comment.hasPrefix(Self.start), comment.hasSuffix(")"), let open = comment.firstIndex(of: "(") else {
            return nil
        }
        path = CampaignForm.trimmed(String(comment[..<open].dropFirst(Self.start.count))).split(separator: ".").map(
            String.init)
        keys = comment[open...].dropFirst().dropLast().split(separator: ",").map { CampaignForm.trimmed(String($0)) }
    }

    private init(path: [String], keys: [String]) { (self.path, self.keys) = (path, keys) }

    /// The marks of a source.
    static func all(in edit: YAMLEdit) -> [TranslationMark] {
        edit.comments(beginningWith: start).compactMap(TranslationMark.init)
    }

    /// What a person must know before such a campaign is approved; blank without a mark.
    static func doubt(in source: String) -> HTML {
        guard let edit = YAMLEdit(source) else { return "" }
        // A text that was removed by hand may have left its mark.
        let marks = all(in: edit).filter { edit.lines(at: $0.path) != nil && !$0.keys.isEmpty }
        guard !marks.isEmpty else { return "" }
        let count = marks.reduce(0) { $0 + $1.keys.count }
        let places: [HTML] = marks.map { mark in
            let name = TextFormat.capitalized(TextPlace.name(mark.path)),
                texts = mark.keys.map { FieldWords.label($0).lowercased() }
            return "<li dir=\"auto\">\(name): \(texts.joined(separator: ", "))</li>"
        }
        let words = TextFormat.plural(
            count, one: "One text is marked as older than the one that it belongs to",
            many: "\(TextFormat.count(count)) texts are marked as older than the ones that they belong to")
        return """
            <section class="warnings" aria-label="Older texts"><p><b>\(words)</b>, and sent as written:</p><ul>\(places)</ul>\
            <p>An author changes such a text, or confirms in the form that <i>It is right now</i>.</p></section>
            """
    }

    /// Marks the text at a path.
    static func add(_ path: [String], to edit: inout YAMLEdit) throws(Mistake) {
        let place = Array(path.dropLast())
        let known = all(in: edit).filter { $0.path == place }.flatMap(\.keys)
        guard let key = path.last, !known.contains(key) else { return }
        try edit.removeComments(beginningWith: start) { TranslationMark($0)?.path == place }
        try edit.addComment(TranslationMark(path: place, keys: known + [key]).comment, above: place)
    }

    /// Takes the mark of what is at a path, and not that of what is below it.
    static func confirmAlone(_ path: [String], in edit: inout YAMLEdit) throws(Mistake) {
        try edit.removeComments(beginningWith: start) { TranslationMark($0)?.path == path }
    }

    /// Takes the mark of what is at a path, and below it.
    /// - Parameter key: only of this text; nil for all.
    static func confirm(_ path: [String], in edit: inout YAMLEdit, only key: String? = nil) throws(Mistake) {
        let marked = all(in: edit).filter { $0.path.starts(with: path) }
        guard !marked.isEmpty else { return }
        try edit.removeComments(beginningWith: start) { TranslationMark($0)?.path.starts(with: path) ?? false }
        guard let key else { return }
        for mark in marked {
            let rest = mark.keys.filter { mark.path != path || $0 != key }
            // A language whose last text was removed has no line any more.
            guard !rest.isEmpty, edit.lines(at: mark.path) != nil else { continue }
            try edit.addComment(TranslationMark(path: mark.path, keys: rest).comment, above: mark.path)
        }
    }
}

/// Where a text is in a campaign, in words.
enum TextPlace {
    /// `German`, `variant short, German`
    static func name(_ path: [String]) -> String {
        var words: [String] = []
        for (group, name) in zip(path, path.dropFirst()) {
            switch group {
            case "languages": words.append(LanguageName.words(name))
            case "variants": words.append("variant \(name)")
            case "services": words.append("devices of \(name)")
            default: break
            }
        }
        return words.joined(separator: ", ")
    }
}
