import Base
import Cryptography

/// The controls of a page with what a browser sends for each of them if no person touches anything.
/// They are read from the markup, so that no kind of control can be left out.
struct FormControls {
    /// By the names of controls. A box that is not checked has no value.
    var values: [String: String] = [:]
    /// What a person reads next to a value that was chosen, by the names of controls.
    private(set) var words: [String: String] = [:]

    init(_ page: String) {
        let markup = Array(page.utf8)
        var place = 0, list: String?
        while let open = markup[place...].firstIndex(of: UInt8(ascii: "<")) {
            let tag = Tag(markup, at: open)
            place = tag.end
            func text(until end: String) -> String { Self.text(markup, from: place, until: end) }
            switch (tag.name, tag["name"]) {
            case ("select", let name): list = name
            case ("/select", _): list = nil
            case ("option", _):
                // Without a choice, the first one counts.
                guard let list, values[list] == nil || tag["selected"] != nil else { break }
                (values[list], words[list]) = (tag["value"] ?? "", text(until: "</option>").trimming)
            case ("textarea", let name?):
                let text = text(until: "</textarea>")
                // A line break right after the tag does not count (HTML Standard, section
                // 13.1.2.5).
                values[name] = text.hasPrefix("\n") ? String(text.dropFirst()) : text
            case ("input", let name?):
                guard ["radio", "checkbox"].contains(tag["type"]) else {
                    let value = tag["value"] ?? ""
                    // What a person sees in one line has no line breaks (HTML Standard, section
                    // 4.10.5.1.2).
                    values[name] = tag["type"] == "hidden" ? value : value.replacing("\n", with: "")
                    break
                }
                guard tag["checked"] != nil else { break }
                (values[name], words[name]) = (tag["value"] ?? "on", text(until: "</label>").trimming)
            default: break
            }
        }
    }

    /// The text up to a tag, without the tags in it.
    private static func text(_ markup: [UInt8], from start: Int, until end: String) -> String {
        let end = Array(end.utf8)
        var text: [UInt8] = [], place = start, isInTag = false
        while place < markup.count {
            if markup[place] == UInt8(ascii: "<") {
                if markup[place...].starts(with: end) { break }
                isInTag = true
            }
            if !isInTag { text.append(markup[place]) }
            if markup[place] == UInt8(ascii: ">") { isInTag = false }
            place += 1
        }
        return plain(String(decoding: text, as: UTF8.self))
    }

    /// What `HTML` made markup of.
    private static func plain(_ markup: String) -> String {
        guard markup.utf8.contains(UInt8(ascii: "&")) else { return markup }
        return [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")].reduce(markup) {
            $0.replacing($1.0, with: $1.1)
        }
    }

    private struct Tag {
        let name: String
        private let attributes: [String: String]
        /// Behind its last character.
        let end: Int

        subscript(_ attribute: String) -> String? { attributes[attribute] }

        init(_ markup: [UInt8], at open: Int) {
            var place = open + 1, found: [String: String] = [:]
            func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A }
            func word(until isEnd: (UInt8) -> Bool) -> String {
                let start = place
                while place < markup.count, !isEnd(markup[place]) { place += 1 }
                return String(decoding: markup[start..<place], as: UTF8.self)
            }
            name = word { isBlank($0) || $0 == UInt8(ascii: ">") }
            while place < markup.count, markup[place] != UInt8(ascii: ">") {
                let key = word { isBlank($0) || $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ">") }
                if markup[place...].starts(with: Array("=\"".utf8)) {
                    place += 2
                    found[key] = FormControls.plain(word { $0 == UInt8(ascii: "\"") })
                } else if !key.isEmpty {
                    found[key] = ""
                    continue
                }
                place += 1
            }
            (attributes, end) = (found, min(place + 1, markup.count))
        }
    }
}

/// A form that was made from an earlier file, brought onto the file as it is now, by one rule for
/// every control: what the person did not touch is as the file has it now, and what they touched is
/// theirs.
struct FormMerge {
    /// What the form sends now.
    private(set) var fields: [String: String]
    /// What others saved where this person wrote something else, by the names under which fields
    /// show their mistakes.
    private(set) var others: [String: String] = [:]
    /// What the person wrote into controls that the file's form does not have any more, a line
    /// each.
    private(set) var lost: [String] = []

    /// The field with what a page showed: it goes with the form, as the file of that time may be
    /// gone.
    static let shown = "shown"

    /// The same as a value of that field. Long texts are not sent twice.
    static func written(_ controls: FormControls) -> String {
        JSONValue.object(
            pairs: controls.values.sorted { $0.key < $1.key }.map { ($0.key, .string(compared($0.value))) }
        ).text
    }

    /// What a value is compared by: a long one by its digest.
    private static func compared(_ value: String) -> String {
        value.utf8.count < 1_000 ? value : "sha256 \(SHA256.hex(SHA256.digest(of: Array(value.utf8))))"
    }

    /// A choice that decides whether other controls count, by the beginnings of their names.
    private static let choices: [(name: String, parts: [String])] = [
        ("audience.choice", ["audience.tags", "audience.aliases", "audience.registration_ids", "where"]),
        ("schedule.way", ["schedule.at", "schedule.repeat", "schedule.late"]),
        ("schedule.clock", ["schedule.timezone", "schedule.fallback_timezone"]),
    ]

    /// Before the name of what a box removes.
    private static let removal = "remove."

    /// - Parameters:
    ///   - sent: with what its page showed.
    ///   - present: the controls of the file as it is now.
    ///   - parts: the fields that have several controls, by the names of these: they are one value.
    init(_ sent: [String: String], onto present: FormControls, parts: [String: String]) {
        func named(_ form: [String: String], of page: [String: String]) -> [String: String] {
            TagsControl.renamed(ConditionsControl.byColumn(form, of: page), like: present.values)
        }
        let before = Self.before(sent)
        let mine = named(sent, of: sent), base = named(before, of: before)
        let theirs = named(present.values, of: present.values), words = named(present.words, of: present.values)
        func unit(_ name: String) -> String { parts[name] ?? Self.unit(name) }
        let units = Dictionary(grouping: Set(mine.keys).union(base.keys).union(theirs.keys), by: unit)
        fields = [:]
        var own: Set<String> = [], foreign: Set<String> = []
        func said(_ unit: String) -> String {
            let names = (units[unit] ?? []).sorted().filter { !$0.hasSuffix(".\(Self.shown)") }
            let values = names.compactMap { name in theirs[name].map { words[name] ?? $0 } }.filter { !$0.isEmpty }
            let text = values.joined(separator: " ")
            return text.isEmpty ? "nothing" : text
        }
        for (unit, names) in units {
            func value(_ form: [String: String]) -> [String: String] { Self.value(of: names, in: form) }
            let (m, b, t) = (value(mine), value(base), value(theirs))
            if t != b { foreign.insert(unit) }
            let isOwn = m != b
            for name in names { fields[name] = isOwn ? mine[name] : theirs[name] }
            guard isOwn else { continue }
            own.insert(unit)
            let text = m.keys.sorted().compactMap { mine[$0] }.filter { !$0.isEmpty }.joined(separator: " ")
            if !b.isEmpty, t.isEmpty, !text.isEmpty, !ConditionsControl.isRow(unit) {
                lost.append(
                    "\(unit.split(separator: ".").map { FieldWords.label(String($0)) }.joined(separator: " › ")): \(text)"
                )
            } else if t != b, m != t {
                others[unit] = said(unit)
            }
        }
        let removals = mine.keys.filter { $0.hasPrefix(Self.removal) }.map {
            ($0, [String($0.dropFirst(Self.removal.count))])
        }
        for (choice, parts) in Self.choices + removals {
            func isPart(_ unit: String) -> Bool { parts.contains { unit == $0 || unit.hasPrefix($0 + ".") } }
            let changed = foreign.filter { isPart($0) && others[$0] == nil }.sorted()
            guard foreign.contains(choice) ? own.contains(where: isPart) : own.contains(choice) && !changed.isEmpty
            else { continue }
            others[choice] = ([choice] + changed).filter { units[$0] != nil }.map(said).filter { $0 != "nothing" }
                .joined(separator: "; ")
        }
        lost.sort()
        let (numbered, rows) = ConditionsControl.numbered(fields, like: present.values)
        fields = numbered
        func place(_ unit: String) -> String {
            if unit.hasPrefix(Self.removal) { return String(unit.dropFirst(Self.removal.count)) }
            return unit == "audience.choice" ? "audience.everyone" : rows[unit] ?? unit
        }
        others = Dictionary(others.map { (place($0.key), $0.value) }) { "\($0); \($1)" }
    }

    /// What the page of a form showed. Drafts of earlier versions have a field for each value of
    /// the file.
    private static func before(_ sent: [String: String]) -> [String: String] {
        guard let text = sent[shown], case .object(let members)? = try? JSONValue(parsing: text) else {
            let old = sent.compactMap { name, value in
                name.hasPrefix("shown.") ? (String(name.dropFirst("shown.".count)), value) : nil
            }
            return Dictionary(old) { first, _ in first }
        }
        return Dictionary(members.compactMap { member in member.value.stringValue.map { (member.name, $0) } }) {
            first, _ in first
        }
    }

    /// Controls that are one value: those of something new, and those of a condition.
    private static func unit(_ name: String) -> String {
        guard name.hasPrefix("add.") || ConditionsControl.isRow(name), let end = name.lastIndex(of: ".") else {
            return name
        }
        return String(name[..<end])
    }

    /// The place of a tag among the boxes is no value.
    private static func value(of names: [String], in form: [String: String]) -> [String: String] {
        let values = names.compactMap { name in
            form[name].map { (name, TagsControl.isBox(name) ? "1" : compared($0)) }
        }
        return Dictionary(values) { first, _ in first }
    }
}
