/// The words of the template language, and what people write instead of them.
enum TemplateLanguage {
    /// In the order in which they are listed to people.
    static let filters = [
        "default", "upcase", "downcase", "capitalize", "strip", "truncate", "date", "number", "pluralize",
    ]

    /// How each filter is written; for remedies.
    static let filterExamples = [
        "default": "default: 'there'", "truncate": "truncate: 20", "date": "date: 'long'", "number": "number: 2",
        "pluralize": "pluralize: 'item', 'items'",
    ]

    /// Other languages' names of filters.
    static let filterSynonyms = [
        "upper": "upcase", "uppercase": "upcase", "toupper": "upcase", "lower": "downcase", "lowercase": "downcase",
        "tolower": "downcase",
        "title": "capitalize", "titlecase": "capitalize", "titleize": "capitalize", "capitalise": "capitalize",
        "ucfirst": "capitalize",
        "trim": "strip", "lstrip": "strip", "rstrip": "strip", "squish": "strip", "truncatewords": "truncate",
        "substr": "truncate",
        "slice": "truncate", "limit": "truncate", "fallback": "default", "else": "default", "or": "default",
        "ifempty": "default",
        "if_blank": "default", "plural": "pluralize", "time": "date", "strftime": "date", "date_format": "date",
        "format_date": "date",
        "number_format": "number", "round": "number", "floor": "number", "ceil": "number", "delimited": "number",
        "number_with_delimiter": "number",
    ]

    /// Filters of Liquid that are left out, with what to do instead.
    static let leftOut = [
        "append": "Write the text after the tag.", "prepend": "Write the text before the tag.",
        "money": "Use number: 2, and write the currency next to it.",
        "escape": "It is not needed: a push shows texts as they are.",
        "escape_once": "It is not needed: a push shows texts as they are.",
        "strip_html": "It is not needed: a push shows texts as they are.",
        "json": "It is not needed: values are escaped everywhere.",
        "url_encode": "Prepare the encoded value in a column of the export.",
    ]

    /// The words of blocks, in the order in which they are listed to people.
    static let blockWords = ["if", "elsif", "else", "endif", "comment", "endcomment", "raw", "endraw"]

    /// What people write for a block's word.
    static let blockSynonyms = [
        "elseif": "elsif", "elif": "elsif", "else-if": "elsif", "elsf": "elsif", "end": "endif", "fi": "endif",
        "end-if": "endif",
        "end_if": "endif", "endcond": "endif", "otherwise": "else", "noescape": "raw", "verbatim": "raw",
        "endverbatim": "endraw",
    ]

    /// Blocks of Liquid that are left out, with what to do instead.
    static let refusedBlocks = [
        "for": loops, "tablerow": loops, "cycle": loops, "break": loops, "continue": loops, "forelse": loops,
        "assign": variables, "capture": variables, "increment": variables, "decrement": variables, "set": variables,
        "let": variables,
        "include": includes, "render": includes, "section": includes, "layout": includes, "extends": includes,
        "block": includes,
        "import": includes,
        "case": "Write {% if column == 'x' %} … {% elsif column == 'y' %} … {% endif %}.",
        "when": "Write {% if column == 'x' %} … {% elsif column == 'y' %} … {% endif %}.",
        "switch": "Write {% if column == 'x' %} … {% elsif column == 'y' %} … {% endif %}.",
        "unless": "Write {% if column != 'x' %}, or put the text after {% else %}.",
        "echo": "Write {{ column }}.", "print": "Write {{ column }}.", "liquid": "Write each tag between {% and %}.",
    ]

    private static let loops = "A device is one row: put the finished text into a column of the export."
    private static let variables = "Put the value into a column of the export, or repeat the tag where it is needed."
    private static let includes = "Write the text in its place; YAML's anchors (&name and *name) repeat whole texts."

    /// Names that are values in a condition.
    static let blankWords = ["blank", "empty", "nil", "null"]

    /// The place of the number in `%d items` and `{n} items`, which other systems fill in; nil for
    /// a word on its own.
    static func placeOfNumber(in word: String) -> Substring? {
        word.firstMatch(of: /%[0-9$]*[dsi@]|\{[A-Za-z0-9_]*\}/)?.output
    }
}
