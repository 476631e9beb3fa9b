import Base

/// Every number of a JSON report by the names that lead to it, separated by slashes.
func figures(of json: JSONValue, _ path: String = "") -> [String: Int] {
    switch json {
    case .integer(let number): return [path: Int(number)]
    case .object(let members):
        return members.reduce(into: [:]) { all, member in
            all.merge(figures(of: member.value, path.isEmpty ? member.name : "\(path)/\(member.name)")) { $1 }
        }
    case .array(let values):
        return values.reduce(into: [:]) { all, value in
            guard let name = (value["run"] ?? value["service"])?.stringValue else { return }
            all.merge(figures(of: value, "\(path)/\(name)")) { $1 }
        }
    default: return [:]
    }
}

/// The marked figures of a page: the numbers for programs, and the texts that people see.
func figures(ofPage page: String) -> [(path: String, value: Int?, text: String)] {
    page.components(between: "<span data-figure=\"", and: "</span>").map { piece in
        let path = piece.prefix { $0 != "\"" }
        let value = piece.components(between: "data-value=\"", and: "\"").first.flatMap { Int($0) }
        let text = piece.drop { $0 != ">" }.dropFirst()
        return (unescaped(String(path)), value, String(text))
    }
}

/// The text of HTML's escapes.
func unescaped(_ text: String) -> String {
    var text = text
    for (escape, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
        text = text.replacing(escape, with: character)
    }
    return text
}

extension String {
    func components(between start: String, and end: String) -> [String] {
        var parts: [String] = []
        var rest = self[...]
        while let begin = rest.firstRange(of: start) {
            rest = rest[begin.upperBound...]
            guard let finish = rest.firstRange(of: end) else { break }
            parts.append(String(rest[..<finish.lowerBound]))
            rest = rest[finish.upperBound...]
        }
        return parts
    }
}

/// Elements of a page that are opened and not closed, or vice versa.
func unbalancedElements(_ page: String) -> [String] {
    let elements = [
        "p", "div", "section", "table", "thead", "tbody", "tr", "td", "th", "ul", "li", "dl", "dt", "dd", "details",
        "summary", "main",
        "h1", "h2",
        "h3", "span", "svg", "g", "title", "desc", "figure", "figcaption", "code", "header", "footer", "pattern",
        "defs", "b",
    ]
    return elements.filter { element in
        func count(_ text: String) -> Int { page.ranges(of: text).count }
        return count("<\(element)>") + count("<\(element) ") != count("</\(element)>")
    }
}
