import Base
import Campaigns

/// The values that the app reads (`data`) as rows of a name and a value. Groups, lists and truths
/// stay in the source, and are listed at the form's end.
enum DataControl {
    private static let path = ["content", "data"]
    private static let add = "add.data"
    private static let newRows = 2
    private static func added(_ number: Int, _ key: String) -> String { "\(add).\(number).\(key)" }

    static func fields(in edit: YAMLEdit) -> [CampaignForm.Field] {
        edit.keys(at: path).compactMap { key in
            let path = path + [key]
            return switch try? edit.value(at: path) {
            case .text, .number:
                .init(path: path, label: "\(key) for the app", kind: edit.isNumber(at: path) ? .number : .line)
            case .truth, .list, nil: nil
            }
        }
    }

    /// Whether it needs a look.
    static func isUsed(_ context: ComposerContext) -> Bool {
        !fields(in: context.edit).isEmpty || (1...newRows).contains { AddedMistake("\(add).\($0)", context).isThere }
    }

    static func html(_ context: ComposerContext) -> HTML {
        let rows: [HTML] = (1...newRows).map { number in
            let mistake = AddedMistake("\(add).\(number)", context)
            func typed(_ key: String) -> String { context.trial.typed[added(number, key)] ?? "" }
            let name = Form.text(
                "Name of a new value", name: added(number, "name"), value: typed("name"),
                attributes: " dir=\"auto\" autocomplete=\"off\"\(mistake.attributes)")
            let value = Form.text(
                "Its value", name: added(number, "value"), value: typed("value"),
                attributes: " dir=\"auto\" autocomplete=\"off\"")
            return
                "<div class=\"parts\"><span class=\"part\">\(name)</span><span class=\"part\">\(value)</span></div>\(mistake.html)"
        }
        return """
            <fieldset class="field controls" id="content.data"><legend>Values for the app</legend>\
            <p class="note">What the app reads and no person sees, such as what a silent push is about. A blank value is removed.</p>\
            \(HTML(joined: fields(in: context.edit).map(context.control)))\(rows)</fieldset>
            """
    }

    static func apply(_ form: [String: String], to edit: inout YAMLEdit) -> [String: Mistake] {
        var mistakes: [String: Mistake] = [:]
        // What is blank now may be all that there is, so new values are written before.
        let present = fields(in: edit)
        for number in 1...newRows {
            do throws(Mistake) { try applyAdding(number, form, to: &edit) } catch {
                mistakes["\(add).\(number)"] = error
            }
        }
        return mistakes.merging(CampaignForm.apply(form, to: &edit, present)) { first, _ in first }
    }

    private static func applyAdding(_ number: Int, _ form: [String: String], to edit: inout YAMLEdit) throws(Mistake) {
        func typed(_ key: String) -> String { CampaignForm.trimmed(form[added(number, key)] ?? "") }
        let name = typed("name"), value = typed("value")
        guard !name.isEmpty || !value.isEmpty else { return }
        guard !name.isEmpty else {
            throw Mistake("a value for the app has no name", remedy: "Write the name by which the app reads it.")
        }
        guard !value.isEmpty else {
            throw Mistake("'\(name)' for the app has no value", remedy: "Write one, or clear its name.")
        }
        guard !edit.keys(at: path).contains(name) else {
            throw Mistake(
                "there is a value '\(name)' already", remedy: "Change that one, or give the new one another name.")
        }
        try edit.set(.text(value), at: path + [name])
    }
}
