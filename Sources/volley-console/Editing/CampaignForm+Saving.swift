import Accounts
import Automation
import Base
import Campaigns
import HTTPTypes

/// What the form's fields ask for, and how it gets into the source.
extension CampaignForm {
    // MARK: - Values

    /// A value as its field holds it.
    static func text(of value: YAMLEdit.Value?) -> String {
        switch value {
        case nil: ""
        case .text(let text): text
        case .list(let texts): texts.joined(separator: "\n")
        case .truth(let truth): truth ? "true" : ""
        }
    }

    /// What a field asks for; nil for nothing.
    static func value(of text: String, _ field: Field, like present: YAMLEdit.Value?) -> YAMLEdit.Value? {
        switch field.kind {
        case .line, .lines, .moment, .rule, .zone: return trimmed(text).isEmpty ? nil : .text(trimmed(text))
        case .choice where field.path == ["app"]: return text.isEmpty ? nil : .text(text)
        case .choice: return text == "true" ? .truth(true) : nil
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
    /// - Throws: it says only half of what is needed.
    static func text(of field: Field, in form: [String: String]) throws(Mistake) -> String? {
        let shown = form[shown(field)] ?? ""
        switch field.kind {
        case .moment: return try MomentControl.text(field.name, form, shown: shown)
        case .rule: return try RepeatControl.text(field.name, form, shown: shown)
        case .tags: return TagsControl.text(form, shown: shown)
        case .line, .lines, .list, .choice, .zone: return form[field.name]
        }
    }

    /// The source with what a form asks for: only values that differ from what stands there are written.
    static func apply(_ form: [String: String], to edit: inout YAMLEdit) -> [String: Mistake] {
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
        if mistakes.isEmpty, let mistake = unselected(form, edit) { mistakes[TagsControl.path.joined(separator: ".")] = mistake }
        return mistakes
    }

    /// Tags that are taken away never leave everyone: that must be chosen.
    private static func unselected(_ form: [String: String], _ edit: YAMLEdit) -> Mistake? {
        let selectors = ["tags", "everyone", "aliases", "registration_ids"]
        func isMissing(_ key: String) -> Bool {
            do throws(Mistake) { return text(of: try edit.value(at: ["audience", key])).isEmpty } catch { return false }
        }
        guard TagsControl.isInForm(form), selectors.allSatisfy(isMissing) else { return nil }
        return Mistake(
            "no tag is chosen, and everyone is not", remedy: "Choose a tag; or, if every device is meant, choose that under Everyone.")
    }

    /// The values of a form, a line each, so that nothing is lost where they cannot be saved.
    static func written(in form: [String: String]) -> String {
        let lines = fields.compactMap { field -> String? in
            // Of what is only half there, each half.
            guard let text = try? text(of: field, in: form) else {
                let parts = parts(of: field).compactMap { form[$0] }.filter { !$0.isEmpty }
                return parts.isEmpty ? nil : "\(field.label): \(parts.joined(separator: " "))"
            }
            return "\(field.label): \(text)"
        }
        return lines.joined(separator: "\n")
    }

    private static func parts(of field: Field) -> [String] {
        switch field.kind {
        case .moment: MomentControl.names(field.name)
        case .rule: RepeatControl.names(field.name)
        case .line, .lines, .list, .choice, .tags, .zone: []
        }
    }

    /// The name of the hidden field with what the page showed: what nobody touched is not written, whatever somebody else made of it meanwhile.
    static func shown(_ field: Field) -> String { "shown." + field.name }

    // MARK: - Saving

    static func save(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        let bytes = try read(item)
        let base = visit.form[OrderForm.digest] ?? ""
        var trial = Trial(typed: visit.form)
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
        guard trial.mistakes.isEmpty else {
            return try again("<p class=\"stop\" role=\"alert\">Not saved: see below.</p>", .unprocessableContent)
        }
        let draft = CampaignSaving.draft(
            CampaignSaving.bytes(of: edit.text, like: bytes), file: item.path, try site.project(), at: visit.now)
        if draft.campaign == nil, visit.form["anyway"] == nil {
            trial.edit = edit
            return try again(
                "<p class=\"stop\" role=\"alert\">Not saved: there are mistakes, which stand at their fields. Nothing is sent from a file with mistakes.</p>",
                .unprocessableContent)
        }
        if let question = try ChangeQuestion(from: bytes, to: edit.text, of: item, visit, site) {
            trial.buttons = question.buttons(linksSource: true, visit)
            return try again(question.notice, .unprocessableContent)
        }
        switch try site.saving.save(edit.text, as: item.file, base: base, visit, site) {
        case .saved: return .redirect(ChangeQuestion.page(after: visit, item.file))
        case .conflict: return try again(changed, .conflict)
        case .refused(let objections): return try again(CampaignEditor.refusal(objections), .unprocessableContent)
        }
    }
}
