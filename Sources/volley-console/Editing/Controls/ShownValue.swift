import Base

/// A value of the source, as its control on the form shows it.
struct ShownValue {
    var field: CampaignForm.Field
    /// What the source holds; blank for nothing.
    var present: String
    /// What the control shows: what the person wrote, if they changed it; otherwise what the source
    /// holds.
    var text: String
    /// The form that was refused, if the person changed this value in it; empty otherwise.
    var typed: [String: String] = [:]
    /// What is wrong with it, below the control.
    var mistake: HTML = ""

    var name: String { field.name }

    /// Below the control.
    var hint: HTML { field.hint.isEmpty ? "" : "<span class=\"note\" id=\"\(name)-hint\">\(field.hint)</span>" }

    /// What is wrong with it, where the control's description finds it.
    var mistakes: HTML {
        mistake.markup.isEmpty ? "" : "<span class=\"mistakes\" id=\"\(name)-mistake\">\(mistake)</span>"
    }

    /// The attributes of an input that name hint and mistakes.
    var described: HTML {
        let invalid: HTML = mistake.markup.contains("class=\"stop\"") ? " aria-invalid=\"true\"" : ""
        return "\(places)\(invalid)"
    }

    /// The same of a group, which cannot be invalid itself (ARIA 1.2, aria-invalid).
    private var places: HTML {
        let places = (field.hint.isEmpty ? [] : [name + "-hint"]) + (mistake.markup.isEmpty ? [] : [name + "-mistake"])
        return places.isEmpty ? "" : " aria-describedby=\"\(places.joined(separator: " "))\""
    }

    /// Several lines of text.
    func area() -> HTML {
        let rows = max(2, min(8, text.split(separator: "\n", omittingEmptySubsequences: false).count + 1))
        return labelled(
            "<textarea id=\"\(name)\" name=\"\(name)\" rows=\"\(rows)\" dir=\"auto\"\(described)>\n\(text)</textarea>")
    }

    /// One of several values. One that is not among them is offered too.
    func choice(_ options: [(value: String, words: String)]) -> HTML {
        let known = options.contains { $0.value == text } ? options : options + [(text, text)]
        let items: [HTML] = known.map { option in
            "<option value=\"\(option.value)\"\(option.value == text ? " selected" : "" as HTML)>\(option.words)</option>"
        }
        return labelled("<select id=\"\(name)\" name=\"\(name)\"\(described)>\(items)</select>")
    }

    private func labelled(_ input: HTML) -> HTML {
        "<p class=\"field\"><label for=\"\(name)\">\(field.label)</label>\(input)\(hint)\(mistakes)</p>"
    }

    /// One input with its label.
    /// - Parameter attributes: further ones of the input.
    func line(attributes: HTML = "", note: HTML = "") -> HTML {
        let required: HTML = field.isRequired ? " required" : ""
        return """
            <p class="field"><label for="\(name)">\(field.label)</label>\
            <input id="\(name)" name="\(name)" value="\(text)" dir="auto" autocomplete="off"\(described)\(required)\(attributes)>\
            \(hint)\(note)\(mistakes)</p>
            """
    }

    /// Several inputs below one heading.
    func group(_ content: HTML, look: String = "") -> HTML {
        """
        <fieldset class="\(look.isEmpty ? "" : look + " ")field controls" id="\(name)"\(places)><legend>\(field.label)</legend>\
        \(hint)\(content)\(mistakes)</fieldset>
        """
    }
}

/// Inputs inside a group.
enum GroupInput {
    /// An input with its label above it.
    /// - Parameter look: more classes.
    static func labelled(_ label: HTML, name: String, value: String, attributes: HTML, look: String = "") -> HTML {
        """
        <span class="\(look.isEmpty ? "" : look + " ")part"><label for="\(name)">\(label)</label>\
        <input id="\(name)" name="\(name)" value="\(value)" autocomplete="off"\(attributes)></span>
        """
    }

    /// One of several values, with its label above it. One that is not among them is offered too.
    static func choice(
        _ label: HTML, name: String, value: String, _ options: [(value: String, words: String)], look: String = ""
    ) -> HTML {
        let known = value.isEmpty || options.contains { $0.value == value } ? options : options + [(value, value)]
        let items: [HTML] = known.map { option in
            "<option value=\"\(option.value)\"\(option.value == value ? " selected" : "" as HTML)>\(option.words)</option>"
        }
        return """
            <span class="\(look.isEmpty ? "" : look + " ")part"><label for="\(name)">\(label)</label>\
            <select id="\(name)" name="\(name)">\(items)</select></span>
            """
    }

    /// One of several choices, each with its words.
    static func radio(_ label: HTML, name: String, value: String, isChecked: Bool) -> HTML {
        """
        <label class="box"><input type="radio" name="\(name)" value="\(value)"\(isChecked ? " checked" : "" as HTML)>\
        <span>\(label)</span></label>
        """
    }

    /// A check box with its label behind it.
    static func box(_ label: HTML, name: String, value: String, isChecked: Bool, note: HTML = "") -> HTML {
        """
        <label class="box"><input type="checkbox" name="\(name)" value="\(value)"\(isChecked ? " checked" : "" as HTML)>\
        <span><span dir="auto">\(label)</span> \(note)</span></label>
        """
    }
}
