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

    /// The value of a field; nil for none.
    static func value(of text: String, _ field: Field, like present: YAMLEdit.Value?) -> YAMLEdit.Value? {
        switch field.kind {
        case .oneOf where text == "true": return .truth(true)
        case .line, .lines, .moment, .rule, .zone, .oneOf, .notation, .group: return trimmed(text).isEmpty ? nil : .text(trimmed(text))
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
        String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }

    /// What a form holds for a field, as text; nil when it has no such field.
    /// - Throws: it has only half of the values that are needed.
    static func text(of field: Field, in form: [String: String]) throws(Mistake) -> String? {
        let shown = form[shown(field)] ?? ""
        switch field.kind {
        case .moment: return try MomentControl.text(field.name, form, shown: shown)
        case .rule: return try RepeatControl.text(field.name, form, shown: shown)
        case .tags: return TagsControl.text(field.name, form, shown: shown)
        case .notation(let notation): return try NotationControl.text(field.name, notation, form, shown: shown)
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
                // A field that the page did not have stays as it is.
                guard let typed = try text(of: field, in: form), typed != form[shown(field)] else { continue }
                let present = try edit.value(at: field.path)
                guard typed != text(of: present) else { continue }
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
        return (lines + ConditionsControl.typed(in: form) + more.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }).joined(
            separator: "\n")
    }

    private static func parts(of field: Field) -> [String] {
        switch field.kind {
        case .moment: MomentControl.names(field.name)
        case .rule: RepeatControl.names(field.name)
        case .notation(let notation): NotationControl.names(field.name, notation)
        case .line, .lines, .list, .choice, .tags, .zone, .number, .box, .oneOf, .group: []
        }
    }

    /// The name of the hidden field with what the page showed: untouched values are not written, so that another
    /// person's changes to them remain.
    static func shown(_ field: Field) -> String { "shown." + field.name }

    /// The name of the hidden field that says that the form had a box, as browsers send nothing for one that is not checked.
    static func boxed(_ field: Field) -> String { "boxed." + field.name }

    // MARK: - Saving

    /// The button that counts what the fields describe, and saves nothing. So do those that choose a device.
    static let counts = "count"

    static func save(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        let bytes = try read(item)
        let base = visit.form[OrderForm.digest] ?? ""
        var trial = RejectedInput(typed: visit.form)
        guard var edit = YAMLEdit(CampaignSaving.text(of: bytes)) else { throw Refusal.outdated("The file cannot be read any more.") }
        func again(_ notice: HTML, _ status: HTTPResponse.Status) throws -> Answer {
            trial.notice = notice
            trial.status = status
            return .page(try page(item, bytes, visit, site, trial))
        }
        let changed: HTML = """
            <p class="stop" role="alert">This file was saved by others while you were writing, so nothing was saved. Below are your values; look at \
            <a href="/campaign/history\(FormFields.query([("file", item.file)]))">what changed</a> in another window, and save again if yours are still right. \
            Only the fields of this form are changed.</p>
            """
        guard base == ShownFile.digest(of: bytes) else { return try again(changed, .conflict) }
        trial.mistakes = apply(visit.form, to: &edit)
        try RunsControl.writeLists(of: edit, item, visit, site)
        let isLook = visit.form[counts] != nil || visit.form[PhoneControl.device] != nil
        // What could be written counts, so that nothing is said of values that are chosen by now.
        guard !isLook, trial.mistakes.isEmpty else {
            trial.counted = edit
            return isLook ? try again("", .ok) : try again("<p class=\"stop\">Nothing was saved.</p>", .unprocessableContent)
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
                return .page(question.page(item, action: "/campaign/form" + FormFields.query([("file", item.file)]), visit))
            }
            text = answered
        }
        switch try site.saving.save(text, as: item.file, base: base, visit, site) {
        case .saved: return .redirect(Words.path(ofCampaign: item.file) + "&saved=1")
        case .conflict: return try again(changed, .conflict)
        case .refused(let objections): return try again(CampaignEditor.refusal(objections), .unprocessableContent)
        }
    }
}
