import Base

/// A value of the source, as its control on the form shows it.
struct ShownValue {
    var field: CampaignForm.Field
    /// What the source holds; blank for nothing.
    var present: String
    /// What the control shows: what the person wrote, if they changed it; otherwise what the source holds.
    var text: String
    /// The form that was refused, if the person changed this value in it; empty otherwise.
    var typed: [String: String] = [:]
    /// What is wrong with it, below the control.
    var mistake: HTML = ""

    var name: String { field.name }

    /// Below the control.
    var hint: HTML { field.hint.isEmpty ? "" : "<span class=\"note\" id=\"\(name)-hint\">\(field.hint)</span>" }

    /// The attribute that names the hint.
    var described: HTML { field.hint.isEmpty ? "" : " aria-describedby=\"\(name)-hint\"" }

    /// One input with its label.
    /// - Parameter attributes: further ones of the input.
    func line(attributes: HTML = "", note: HTML = "") -> HTML {
        let required: HTML = field.isRequired ? " required" : ""
        return """
            <p class="field"><label for="\(name)">\(field.label)</label>\
            <input id="\(name)" name="\(name)" value="\(text)" dir="auto" autocomplete="off"\(described)\(required)\(attributes)>\
            \(hint)\(note)\(mistake)</p>
            """
    }

    /// Several inputs below one heading.
    func group(_ content: HTML, look: String = "") -> HTML {
        """
        <fieldset class="\(look.isEmpty ? "" : look + " ")field controls" id="\(name)"\(described)><legend>\(field.label)</legend>\
        \(hint)\(content)\(mistake)</fieldset>
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

    /// A check box with its label behind it.
    static func box(_ label: HTML, name: String, value: String, isChecked: Bool, note: HTML = "") -> HTML {
        """
        <label class="box"><input type="checkbox" name="\(name)" value="\(value)"\(isChecked ? " checked" : "" as HTML)>\
        <span><span dir="auto">\(label)</span> \(note)</span></label>
        """
    }
}
