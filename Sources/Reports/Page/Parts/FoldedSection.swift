public import Base

/// A part of a page that is folded until the reader opens it. Print leaves out what is folded.
public struct FoldedSection {
    let title: HTML
    let content: HTML

    /// - Parameter title: says what is inside, so that readers need not open it to know.
    public init(_ title: HTML, _ content: HTML) { (self.title, self.content) = (title, content) }

    /// The folded part; empty without content.
    public var html: HTML {
        content.markup.isEmpty
            ? "" : "<details><summary>\(title)</summary><div class=\"folded\">\(content)</div></details>"
    }

    static let style: HTML = """

        details { margin-top: .6rem; }
        summary { cursor: pointer; color: var(--link); font-size: .875rem; padding: .15rem 0; }
        .folded { margin: .5rem 0 1rem; }
        .folded > * + * { margin-top: .8rem; }
        .when-printed { display: none; }
        @media print { details:not([open]) { display: none; } summary { color: var(--ink); } .when-printed { display: inline; } }

        """
}
