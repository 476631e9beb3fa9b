import Accounts
import Audience
import Automation
import Base
import Campaigns

/// Tags as check boxes: those of the campaign, and those that the devices of its exports have.
enum TagsControl {
    static let path = ["audience", "tags"]
    /// A mark that the form has the boxes: unchecked boxes are not sent.
    private static func marker(_ name: String) -> String { name + ".boxes" }
    private static func more(_ name: String) -> String { name + ".more" }
    /// Before the tag. The value is its place among the boxes.
    private static func box(_ name: String) -> String { name + ".box." }
    static func isBox(_ name: String) -> Bool { name.contains(".box.") }
    /// How many tags are seen without opening the rest.
    private static let mostSeen = 20

    // MARK: - The control

    /// Whether a tag is offered: one of devices that want no pushes is offered where devices are
    /// left out, and never to choose devices.
    private static func isOffered(_ tag: String, _ name: String) -> Bool { isExclusion(name) || !OptOutWords.mean(tag) }

    private static func isExclusion(_ name: String) -> Bool { name.contains("exclude") || name.hasSuffix(".none") }

    static func html(_ value: ShownValue, _ known: KnownTags) -> HTML {
        let name = value.name
        let present = list(value.present), chosen = Set(list(value.text))
        let own = present + list(value.text).filter { !present.contains($0) }
        let boxes: [HTML] = own.enumerated().map { place, tag in
            let fill: HTML = place < present.count ? " data-fill=\"\(name)-\(place)\"" : ""
            let note: HTML = "<span class=\"note\"\(fill)>\(note(tag, known))</span>"
            return box(name, tag, place: place, note: note, isChecked: chosen.contains(tag))
        }
        let further = GroupInput.labelled(
            "Other tags, with commas between them", name: more(name), value: "", attributes: " dir=\"auto\"")
        return value.group(
            """
            <input type="hidden" name="\(marker(name))" value="1">
            \(boxes.isEmpty ? "" : "<div class=\"boxes\">\(boxes)</div>" as HTML)
            <div data-fill="\(name)-suggestions">\(suggestions(name, known, besides: Set(own)))</div>
            \(further)
            """, look: "tags")
    }

    /// What is filled in when the tags are counted, by its places.
    static func pieces(_ name: String, _ known: KnownTags, present: [String]) -> [(place: String, content: HTML)] {
        present.enumerated().map { ("\(name)-\($0)", note($1, known)) }
            + [("\(name)-suggestions", suggestions(name, known, besides: Set(present)))]
    }

    /// - Parameter form: the address of the form, for those without scripts.
    static func waiting(_ known: KnownTags, _ form: (page: String, live: String)) -> HTML {
        guard case .counting = known else { return "" }
        return """
            <p class="note" data-live="\(form.live)" data-mark="" data-keep role="status">The devices of each tag are being counted. \
            <span data-without-script><a href="\(form.page)">Refresh</a> to see them; save first what you have changed.</span></p>
            """
    }

    private static func note(_ tag: String, _ known: KnownTags) -> HTML {
        guard case .counted(let tags, _) = known, let devices = tags.devices(with: tag) else { return "" }
        return devices == 0 ? "<b class=\"doubt\">no device has it now</b>" : "\(TextFormat.devices(devices))"
    }

    private static func suggestions(_ name: String, _ known: KnownTags, besides own: Set<String>) -> HTML {
        switch known {
        case .counting: return ""
        case .unknown(let mistakes): return "<p class=\"note\">Which tags the devices have is not known:</p>\(mistakes)"
        case .counted(let counted, let moment):
            let others = counted.tags.filter { !own.contains($0.name) && $0.devices > 0 && isOffered($0.name, name) }
            // Those of devices that want no pushes come first where devices are left out.
            let tags = others.filter { OptOutWords.mean($0.name) } + others.filter { !OptOutWords.mean($0.name) }
            let boxes: [HTML] = tags.enumerated().map { place, tag in
                box(
                    name, tag.name, place: own.count + place,
                    note: "<span class=\"note\">\(TextFormat.devices(tag.devices))</span>",
                    isChecked: false)
            }
            let (seen, rest) = (boxes.prefix(mostSeen), boxes.dropFirst(mostSeen))
            let folded: HTML =
                rest.isEmpty
                ? ""
                : """
                <details><summary>\(TextFormat.counted(rest.count, one: "further tag"))</summary>\
                <div class="boxes many">\(Array(rest))</div></details>
                """
            let more: HTML = counted.hasMore ? "These are the most frequent tags; the exports have more. " : ""
            let about: HTML =
                tags.isEmpty && own.isEmpty
                ? "The devices of the exports have no tags."
                : "\(more)The numbers count devices of the exports, as of \(Words.moment(moment))."
            return """
                \(seen.isEmpty ? "" : "<div class=\"boxes\">\(Array(seen))</div>" as HTML)\(folded)
                <p class="note">\(about)</p>
                """
        }
    }

    private static func box(_ name: String, _ tag: String, place: Int, note: HTML, isChecked: Bool) -> HTML {
        GroupInput.box("\(tag)", name: box(name) + tag, value: "\(place)", isChecked: isChecked, note: note)
    }

    // MARK: - What was chosen

    /// The checked tags of a form, one on each line.
    /// - Parameter shown: what the source held.
    /// - Returns: nil when the form has no boxes.
    static func text(_ name: String, _ form: [String: String], shown: String) -> String? {
        guard form[marker(name)] != nil else {
            // A field of text, with commas, semicolons or lines between tags.
            guard let text = form[name], text != shown else { return form[name] }
            // A tag that was there stays, whatever signs are in it.
            let present = Set(list(shown))
            return list(text).flatMap { present.contains($0) ? [$0] : typed($0) }.joined(separator: "\n")
        }
        let checked = form.compactMap { key, place in
            key.hasPrefix(box(name)) ? (tag: String(key.dropFirst(box(name).count)), place: Int(place) ?? .max) : nil
        }
        .sorted { ($0.place, $0.tag) < ($1.place, $1.tag) }.map(\.tag)
        var known: Set<String> = []
        let tags = (checked + typed(form[more(name)] ?? "")).filter { known.insert($0).inserted }
        return tags == list(shown) ? shown : tags.joined(separator: "\n")
    }

    /// Controls with the names that another page has for them: the tags of which a device needs one
    /// may have a key of their own.
    static func renamed(_ form: [String: String], like page: [String: String]) -> [String: String] {
        let names = [path, path + ["any"]].map { $0.joined(separator: ".") }
        guard let name = names.first(where: { page[marker($0)] != nil }), let other = names.first(where: { $0 != name })
        else {
            return form
        }
        return Dictionary(
            form.map { key, value in
                let isOther = [marker(other), more(other)].contains(key) || key.hasPrefix(box(other))
                return (isOther ? name + key.dropFirst(other.count) : key, value)
            }
        ) { first, _ in first }
    }

    /// Whether a form says anything about tags.
    static func isInForm(_ name: String, _ form: [String: String]) -> Bool {
        form[marker(name)] != nil || form[name] != nil
    }

    /// The tags of a text, one in a line.
    static func list(_ text: String) -> [String] {
        text.split(separator: "\n").map { CampaignForm.trimmed(String($0)) }.filter { !Blank.isText($0) }
    }

    /// The tags that a person typed, with commas or semicolons of any script or lines between them.
    /// As in a file, quotes around a tag do not belong to it, and keep the signs in it together.
    /// Invisible characters are not a tag.
    static func typed(_ text: String) -> [String] {
        func isSeparator(_ character: Character) -> Bool { ",，、;；".contains(character) || character.isNewline }
        func isBlank(_ character: Character) -> Bool {
            !character.isNewline && character.unicodeScalars.allSatisfy(Blank.isInvisible)
        }
        var (tags, rest): ([Substring], Substring) = ([], text[...])
        while !rest.isEmpty {
            let start = rest.drop(while: isBlank)
            if let first = start.first, let ends = closingQuotes[first],
                let end = start.dropFirst().firstIndex(where: ends.contains)
            {
                let after = start[end...].dropFirst().drop(while: isBlank)
                if after.first.map(isSeparator) ?? true {
                    tags.append(start[..<end].dropFirst())
                    rest = after.dropFirst()
                    continue
                }
            }
            let part = start.prefix { !isSeparator($0) }
            tags.append(part)
            rest = start[part.endIndex...].dropFirst()
        }
        return tags.map { part in
            let scalars = part.unicodeScalars.drop(while: Blank.isInvisible).reversed().drop(while: Blank.isInvisible)
            return String(String.UnicodeScalarView(scalars.reversed()))
        }.filter { !$0.isEmpty }
    }

    /// The closing quotation mark for each opening one: in English, German, French, Swedish,
    /// Chinese and Japanese.
    private static let closingQuotes: [Character: String] = [
        "\"": "\"", "'": "'", "“": "”", "„": "“”", "”": "”", "‘": "’", "‚": "‘’", "’": "’", "«": "»", "»": "«",
        "「": "」", "『": "』",
    ]
}

/// What is known of the tags of a campaign's exports while its form is open: a child counts them
/// (`PlanningChild`), and the form does not wait.
enum KnownTags {
    case counting
    case counted(CountedTags, at: Timestamp)
    /// The exports cannot be read; what is wrong.
    case unknown(HTML)

    /// The columns of the exports; empty while they are not known.
    var facts: [ColumnFacts] { if case .counted(let counted, _) = self { counted.facts } else { [] } }

    static var route: Route {
        Route(method: .get, path: "/campaign/form/live.json", right: .right(.edit), subject: .campaign, answer: live)
    }

    /// The values that are known so far.
    static func of(_ item: CampaignCache.Item, _ edit: YAMLEdit, _ visit: Visit, _ site: Site) -> KnownTags {
        let exports = CampaignForm.text(of: (try? edit.value(at: ["audience", "devices"])) ?? nil)
        let question = PlanningJobs.Question(
            kind: .tags, file: item.path, exports: [item.app ?? "", exports],
            stamps: [FileStamp(path: site.projectFile)])
        // When the console is busy, the form tries again.
        guard let result = (try? site.jobs.answer(to: question, for: visit.person?.account)) ?? nil else {
            return .counting
        }
        guard !result.hasMistakes else { return .unknown(result.piece) }
        guard let counted = CountedTags(result.output) else { return .unknown(PlanningJobs.unreadable) }
        return .counted(counted, at: result.at)
    }

    /// For the open form: only unknown values are filled in, so that nothing that the person has
    /// done since is lost.
    private static func live(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        let bytes = try FilePaths.read(item.path, atMost: Route.campaignBodyLimit)
        guard let edit = YAMLEdit(CampaignSaving.text(of: bytes)) else { throw Refusal.notFound }
        let known = of(item, edit, visit, site)
        let isCounting = if case .counting = known { true } else { false }
        let pieces =
            isCounting
            ? []
            : WhoSection.pieces(known, edit)
                + ColumnsControl.pieces(known, DraftPreview.devices(of: item, text: edit.text, site))
        return .json(
            .object(pairs: [
                ("is_live", .bool(isCounting)), ("mark", .string("")),
                ("pieces", .object(pairs: pieces.map { ($0.place, .string($0.content.markup)) })),
            ]))
    }
}
