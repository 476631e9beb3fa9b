import Accounts
import Automation
import Base
import Campaigns
import HTTPTypes
import Runs

/// The values of the form's fields, and how they are written into the source.
extension CampaignForm {
    // MARK: - Values

    /// A value as its field holds it.
    static func text(of value: YAMLEdit.Value?) -> String {
        switch value {
        case nil: ""
        case .text(let text): text
        case .list(let texts): texts.joined(separator: "\n")
        case .truth(let truth): truth ? "true" : ""
        case .number(let number): number
        }
    }

    /// A text as the page has it for a field: saving another field does not change characters that
    /// no page can hold, nor line breaks of what is one line there.
    static func inPage(_ text: String, for field: Field) -> String {
        switch field.kind {
        case .line, .number, .zone: HTML.shown(text).replacing("\n", with: "")
        default: HTML.shown(text)
        }
    }

    /// The value of a field; nil for none.
    static func value(of text: String, _ field: Field, like present: YAMLEdit.Value?) -> YAMLEdit.Value? {
        switch field.kind {
        case .oneOf where text == "true": return .truth(true)
        case .line, .lines, .moment, .rule, .zone, .oneOf, .notation, .group:
            return trimmed(text).isEmpty ? nil : .text(trimmed(text))
        case .number: return trimmed(text).isEmpty ? nil : .number(trimmed(text))
        case .choice where field.path == ["app"]: return text.isEmpty ? nil : .text(text)
        case .choice, .box: return text == "true" ? .truth(true) : nil
        case .list, .tags:
            let items = text.split(separator: "\n").map { trimmed(String($0)) }.filter { !$0.isEmpty }
            if items.isEmpty { return nil }
            // One name may be written without a list.
            if case .text = present, items.count == 1 { return .text(items[0]) }
            return .list(items)
        }
    }

    /// Without white space around it.
    static func trimmed(_ text: String) -> String {
        guard let first = text.firstIndex(where: { !$0.isWhitespace }),
            let last = text.lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(text[first...last])
    }

    /// What a form holds for a field, as text; nil when it has no such field.
    /// - Parameter present: what the source holds.
    /// - Throws: it has only half of the values that are needed.
    static func text(of field: Field, in form: [String: String], present: String = "") throws(Mistake) -> String? {
        switch field.kind {
        case .moment: return try MomentControl.text(field.name, form, shown: present)
        case .rule: return try RepeatControl.text(field.name, form, shown: present)
        case .tags: return TagsControl.text(field.name, form, shown: present)
        case .notation(let notation): return try NotationControl.text(field.name, notation, form, shown: present)
        case .box: return form[boxed(field)] == nil ? form[field.name] : form[field.name] ?? ""
        case .line, .lines, .list, .choice, .zone, .number, .oneOf: return form[field.name]
        case .group: return nil
        }
    }

    /// The source with the values of a form.
    static func apply(_ form: [String: String], to edit: inout YAMLEdit) -> [String: Mistake] {
        sections.reduce(into: apply(form, to: &edit, head)) { mistakes, section in
            mistakes.merge(section.apply(form, to: &edit)) { first, _ in first }
        }
    }

    /// Writes the values of fields that differ from the source.
    /// - Returns: why a value was not written, by the names of fields.
    static func apply(_ form: [String: String], to edit: inout YAMLEdit, _ fields: [Field]) -> [String: Mistake] {
        var mistakes: [String: Mistake] = [:]
        for field in fields {
            do throws(Mistake) {
                // A field that the page did not have stays as it is, also if its value is more than
                // a form can show.
                guard try text(of: field, in: form) != nil else { continue }
                let present = try edit.value(at: field.path), held = inPage(text(of: present), for: field)
                guard let typed = try text(of: field, in: form, present: held), typed != held,
                    typed != text(of: present)
                else { continue }
                try edit.set(value(of: typed, field, like: present), at: field.path)
            } catch { mistakes[field.name] = error }
        }
        return mistakes
    }

    /// The values of a form, a line each, so that nothing is lost where they cannot be saved.
    static func written(in form: [String: String]) -> String {
        // The form is all that is known here.
        let fields = YAMLEdit("name:\n").map { self.fields(in: $0) } ?? []
        let lines = fields.compactMap { field -> String? in
            // If a pair has only one half, that half.
            guard let text = try? text(of: field, in: form) else {
                let parts = parts(of: field).compactMap { form[$0] }.filter { !$0.isEmpty }
                return parts.isEmpty ? nil : "\(field.label): \(parts.joined(separator: " "))"
            }
            return text.isEmpty ? nil : "\(field.label): \(text)"
        }
        // Which languages and variants there are, the file would say.
        let known = Set(fields.map(\.name))
        let more = form.filter { name, text in
            !known.contains(name) && !text.isEmpty && ["content.", "variants.", "add."].contains { name.hasPrefix($0) }
        }
        return
            (lines + ConditionsControl.typed(in: form)
            + more.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }).joined(
                separator: "\n")
    }

    /// The names of the controls of a field that has several.
    private static func parts(of field: Field) -> [String] {
        switch field.kind {
        case .moment: MomentControl.names(field.name)
        case .rule: RepeatControl.names(field.name)
        case .notation(let notation): NotationControl.names(field.name, notation)
        case .line, .lines, .list, .choice, .tags, .zone, .number, .box, .oneOf, .group: []
        }
    }

    /// The fields that have several controls, by the names of these.
    static func parts(in edit: YAMLEdit) -> [String: String] {
        Dictionary(fields(in: edit).flatMap { field in (parts(of: field) + [field.name]).map { ($0, field.name) } }) {
            first, _ in first
        }
    }

    /// The name of the hidden field that says that the form had a box, as browsers send nothing for
    /// one that is not checked.
    static func boxed(_ field: Field) -> String { "boxed." + field.name }

    // MARK: - Forms of earlier files

    /// What the form of a file holds before a person touches it.
    static func controls(_ item: CampaignCache.Item, _ edit: YAMLEdit, _ visit: Visit, _ site: Site) throws
        -> FormControls
    {
        let context = try ComposerContext(untouched: item, edit, visit, site)
        return FormControls(HTML(head.map(context.control) + sections.map { section($0, context) }).markup)
    }

    /// A form that was made from an earlier file, on the page of the file as it is now.
    /// - Parameter base: the digest of that file.
    static func merged(
        _ old: (form: [String: String], base: String), _ item: CampaignCache.Item, _ edit: YAMLEdit, _ visit: Visit,
        _ site: Site
    ) throws -> RejectedInput {
        let merge = try FormMerge(old.form, onto: controls(item, edit, visit, site), parts: parts(in: edit))
        let saves = LaterSaves(of: item, since: old.base, now: edit, visit, site)
        let notes = merge.others.mapValues { words in
            """
            <span class="note doubt">\(saves.people) saved here: “<span dir="auto">\(words)</span>”. The form has what you wrote.</span>
            """ as HTML
        }
        let lost: HTML =
            merge.lost.isEmpty
            ? ""
            : "<p class=\"stop\" role=\"alert\">The campaign has no place for this any more: <span dir=\"auto\">\(merge.lost.joined(separator: "; "))</span></p>"
        let labels = fields(in: edit).reduce(into: [String: String]()) { $0[$1.name] = $1.label }
        let names = merge.others.keys.sorted().map { name in
            labels[name].flatMap { $0.isEmpty ? nil : $0 }
                ?? name.split(separator: ".").map { FieldWords.label(String($0)) }.joined(separator: " › ")
        }
        let both: HTML =
            names.isEmpty
            ? ""
            : " Changed twice, with both values at the field: <span dir=\"auto\">\(names.joined(separator: ", "))</span>."
        return RejectedInput(
            typed: merge.fields, others: notes,
            notice: """
                <p class="stop" role="alert">\(saves.sentence) Fields that you did not touch are as they are now; the others hold what you wrote.\(both) See \
                <a href="/campaign/history\(FormFields.query([("file", item.file)]))">what changed</a>.</p>\(lost)
                """)
    }

    // MARK: - Saving

    /// The button that counts what the fields describe, and saves nothing. So do those that choose
    /// a device.
    static let counts = "count"

    static func save(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        let visit = DraftPages.adopting(item.file, visit, site)
        let bytes = try read(item)
        let base = visit.form[OrderForm.digest] ?? ""
        var trial = RejectedInput(typed: visit.form)
        guard var edit = YAMLEdit(CampaignSaving.text(of: bytes)) else {
            throw Refusal.outdated("The file cannot be read any more.")
        }
        func again(_ notice: HTML, _ status: HTTPResponse.Status) throws -> Answer {
            trial.notice = notice
            trial.status = status
            return .page(try page(item, bytes, visit, site, trial))
        }
        func conflict(_ bytes: [UInt8]) throws -> Answer {
            guard let edit = YAMLEdit(CampaignSaving.text(of: bytes)) else {
                throw Refusal.outdated("The file cannot be read any more.").holding(visit.form)
            }
            trial = try merged((visit.form, base), item, edit, visit, site)
            trial.status = .conflict
            trial.notice =
                "<p class=\"stop\" role=\"alert\"><b>Not saved yet.</b> Look at the form, and save again if it is right.</p>\(trial.notice)"
            return .page(try page(item, bytes, visit, site, trial))
        }
        guard base == ShownFile.digest(of: bytes) else { return try conflict(bytes) }
        trial.mistakes = apply(visit.form, to: &edit)
        if visit.form[counts] != nil { try RunsControl.writeLists(of: edit, item, visit, site) }
        let isLook = visit.form[counts] != nil || visit.form[PhoneControl.device] != nil
        // What could be written counts, so that nothing is said of values that are chosen by now.
        guard !isLook, trial.mistakes.isEmpty else {
            trial.counted = edit
            return isLook
                ? try again("", .ok) : try again("<p class=\"stop\">Nothing was saved.</p>", .unprocessableContent)
        }
        let draft = CampaignSaving.draft(
            CampaignSaving.bytes(of: edit.text, like: bytes), file: item.path, try site.project(), at: visit.now)
        if draft.campaign == nil, visit.form["anyway"] == nil {
            trial.edit = edit
            return try again(
                "<p class=\"stop\">Nothing was saved. A campaign with mistakes can be kept as it is, but is not sent.</p>",
                .unprocessableContent)
        }
        var text = edit.text
        if let question = try ChangeQuestion(from: bytes, to: text, of: item, visit, site) {
            if visit.form[ChangeQuestion.back] != nil { return try again("", .ok) }
            let answered: String?
            do throws(Mistake) { answered = try question.answered(by: visit.form) } catch {
                return try again(CampaignEditor.refusal([Diagnostic(error)]), .unprocessableContent)
            }
            guard let answered else {
                return .page(
                    question.page(item, action: "/campaign/form" + FormFields.query([("file", item.file)]), visit))
            }
            text = answered
        }
        // Before the campaign that names them, so that none of its times comes before they are
        // there.
        try RunsControl.writeLists(of: edit, item, visit, site)
        switch try site.saving.save(text, as: item.file, base: base, visit, site) {
        case .saved: return .redirect(Words.path(ofCampaign: item.file) + "&saved=1")
        case .conflict(let present): return try conflict(present ?? bytes)
        case .refused(let objections): return try again(CampaignEditor.refusal(objections), .unprocessableContent)
        }
    }
}
