import Audience
import Base
import Campaigns

/// The conditions of an audience as rows: a column of the exports, a comparison and a value. A row
/// without a column is no condition.
enum ConditionsControl {
    static let path = ["audience", "where"]
    /// How many rows the form has.
    private static let count = "where.rows"
    private static func part(_ row: Int, _ part: String) -> String { "where.\(row).\(part)" }
    /// The mistakes of a row are kept under this name.
    private static func place(_ row: Int) -> CampaignForm.Field {
        .init(path: ["where", "\(row)"], label: "", kind: .line)
    }
    private static let blankRows = 2, mostRows = FormFields.mostOfCampaign / parts.count

    /// How a cell is compared.
    enum Test: String, CaseIterable {
        case equal = "is", oneOf, notEqual = "not", atLeast = "ge", greater = "gt", atMost = "le", less = "lt", within,
            olderThan, present,
            missing

        /// - Parameter kind: what the column holds; nil if that is not known.
        func words(_ kind: ColumnFacts.Kind?) -> String {
            switch self {
            case .equal: "is"
            case .oneOf: "is one of"
            case .notEqual: "is not"
            case .atLeast: kind == .date ? "is on or after" : "is at least"
            case .greater: kind == .date ? "is after" : "is more than"
            case .atMost: kind == .date ? "is on or before" : "is at most"
            case .less: kind == .date ? "is before" : "is less than"
            case .within: "is within the last days:"
            case .olderThan: "is longer ago than days:"
            case .present: "is filled in"
            case .missing: "is blank"
            }
        }

        /// Whether it says something about such cells.
        func fits(_ kind: ColumnFacts.Kind?) -> Bool {
            switch (self, kind) {
            case (_, nil), (.present, _), (.missing, _): true
            case (.within, let kind), (.olderThan, let kind): kind == .date
            case (.atLeast, let kind), (.greater, let kind), (.atMost, let kind), (.less, let kind): kind != .text
            case (.equal, let kind), (.oneOf, let kind), (.notEqual, let kind): kind != .date
            }
        }

        /// The sign that the source has for it; nil for others.
        var sign: String? {
            switch self {
            case .notEqual: "!="
            case .atLeast: ">="
            case .greater: ">"
            case .atMost: "<="
            case .less: "<"
            case .equal, .oneOf, .within, .olderThan, .present, .missing: nil
            }
        }

        var hasValue: Bool { self != .present && self != .missing }
    }

    /// One row.
    struct Row: Equatable {
        var column = ""
        var test = Test.equal
        var value = ""

        var isBlank: Bool { column.isEmpty && value.isEmpty }

        /// As a hidden field keeps what the source held.
        var kept: String { [column, test.rawValue, value].joined(separator: "\n") }

        init(column: String = "", test: Test = .equal, value: String = "") {
            (self.column, self.test, self.value) = (column, test, value)
        }

        init?(kept: String) {
            let parts = kept.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, let test = Test(rawValue: parts[1]) else { return nil }
            self.init(column: parts[0], test: test, value: parts[2])
        }

        /// A condition of the source; nil for one that a row cannot show.
        init?(_ column: String, _ value: YAMLEdit.Value?) {
            switch value {
            case .list(let texts): self.init(column: column, test: .oneOf, value: Self.listed(texts))
            case .truth(let truth): self.init(column: column, value: truth ? "true" : "false")
            case .text(let text), .number(let text):
                if text == "present" || text == "missing" {
                    self.init(column: column, test: text == "present" ? .present : .missing)
                } else if let match = text.wholeMatch(of: /(within|older than) +(.+)/) {
                    let length = String(match.2), days = length.wholeMatch(of: /([0-9]+) ?(?:d|days?)/)
                    self.init(
                        column: column, test: match.1 == "within" ? .within : .olderThan,
                        value: days.map { String($0.1) } ?? length)
                } else {
                    let sign = String(text.prefix { "<>=!~≥≤≠".contains($0) })
                    if sign.isEmpty {
                        self.init(column: column, value: text)
                    } else {
                        guard let test = Test.allCases.first(where: { $0.sign == sign }) else { return nil }
                        self.init(column: column, test: test, value: String(text.dropFirst(sign.count)).trimming)
                    }
                }
            case nil: return nil
            }
        }

        /// As a person types them.
        private static func listed(_ texts: [String]) -> String {
            texts.map { TagsControl.typed($0) == [$0] ? $0 : "\"\($0)\"" }.joined(separator: ", ")
        }

        /// As the source has it.
        /// - Throws: its value is missing.
        func written() throws(Mistake) -> YAMLEdit.Value {
            guard !test.hasValue || !value.isEmpty else {
                throw Mistake(
                    "the condition on \(column) has no value",
                    remedy: "Write one, or choose “is filled in” or “is blank”.")
            }
            switch test {
            case .present, .missing: return .text(test.rawValue)
            case .oneOf: return .list(TagsControl.typed(value))
            case .within, .olderThan:
                let length = value.allSatisfy(\.isNumber) ? "\(value) \(value == "1" ? "day" : "days")" : value
                return .text((test == .within ? "within " : "older than ") + length)
            case .equal:
                // What reads like another condition is a value where it is in a list.
                return Row(column, .text(value)) == self ? .text(value) : .list([value])
            case .notEqual where value.contains(where: { ",，、|[".contains($0) }) && !value.contains("'"):
                return .text("!= '\(value)'")
            case .notEqual, .atLeast, .greater, .atMost, .less: return .text("\(test.sign ?? "") \(value)")
            }
        }
    }

    /// The conditions of a source; a nil row for one that the form cannot show.
    static func rows(_ edit: YAMLEdit) -> [(column: String, row: Row?)] {
        edit.keys(at: path).map { column in
            do throws(Mistake) { return (column, Row(column, try edit.value(at: path + [column]))) } catch {
                return (column, nil)
            }
        }
    }

    /// Where mistakes of conditions are.
    static func fields(in edit: YAMLEdit) -> [CampaignForm.Field] {
        edit.keys(at: path).map { .init(path: path + [$0], label: "Condition", kind: .line) }
    }

    // MARK: - The control

    static func html(_ context: ComposerContext) -> HTML {
        let held = rows(context.edit), known = context.tags.facts
        let typed = form(context.trial.typed)
        let present = held.compactMap(\.row)
        let shown: [(kept: Row, row: Row)] =
            typed ?? (present.map { ($0, $0) } + Array(repeating: (Row(), Row()), count: blankRows))
        let rows: [HTML] = shown.enumerated().map { place, row in html(place, row.kept, row.row, known, context) }
        let others: [HTML] = held.filter { $0.row == nil }.map { other in
            """
            <p class="field"><b dir="auto">\(other.column)</b> <span class="note">This condition is more than a row can show. It stays as it is in the source.</span>\
            \(context.mistake(of: .init(path: path + [other.column], label: "", kind: .line)))</p>
            """
        }
        return """
            <fieldset class="field controls conditions" id="where"><legend>Only devices for which all of this holds</legend>
            <input type="hidden" name="\(count)" value="\(rows.count)">\(rows)\(others)
            <p class="note">Clear the column to remove a condition. Several values go with commas between them. Save to get more rows.</p>
            <div data-fill="where-lists">\(lists(known))</div></fieldset>
            """
    }

    private static func html(_ place: Int, _ kept: Row, _ row: Row, _ known: [ColumnFacts], _ context: ComposerContext)
        -> HTML
    {
        let kind = known.first { $0.name == row.column }?.kind
        let own =
            kept.column.isEmpty
            ? "" as HTML : context.mistake(of: .init(path: path + [kept.column], label: "", kind: .line))
        let mistakes: HTML = "\(context.mistake(of: self.place(place)))\(own)"
        let described: HTML = mistakes.markup.isEmpty ? "" : " aria-describedby=\"where.\(place)-mistake\""
        let tests = Test.allCases.filter { $0.fits(kind) || $0 == row.test }.map {
            (value: $0.rawValue, words: $0.words(kind))
        }
        let isDay =
            [.atLeast, .greater, .atMost, .less].contains(row.test)
            && row.value.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil
        let look: HTML = isDay ? "type=\"date\"" : "list=\"values-of-\(row.column)\""
        return """
            <div class="parts condition" role="group" aria-label="Condition \(place + 1)"\(described)>
            <input type="hidden" name="\(part(place, "shown"))" value="\(kept.kept)">
            \(GroupInput.labelled("Column", name: part(place, "column"), value: row.column, attributes: " list=\"columns\" dir=\"auto\" spellcheck=\"false\""))
            \(GroupInput.choice("Comparison", name: part(place, "test"), value: row.test.rawValue, tests))
            \(GroupInput.labelled("Value", name: part(place, "value"), value: row.value, attributes: " \(look) dir=\"auto\"\(described)", look: "value"))
            \(mistakes.markup.isEmpty ? "" as HTML : "<span class=\"mistakes\" id=\"where.\(place)-mistake\">\(mistakes)</span>")</div>
            """
    }

    /// The columns, and the most frequent values of each.
    static func lists(_ known: [ColumnFacts]) -> HTML {
        let columns: [HTML] = known.map { "<option value=\"\($0.name)\" data-kind=\"\($0.kind.rawValue)\"></option>" }
        let values: [HTML] = known.filter { !$0.values.isEmpty }.map { column in
            "<datalist id=\"values-of-\(column.name)\">\(HTML(joined: column.values.map { "<option value=\"\($0)\"></option>" }))</datalist>"
        }
        return "<datalist id=\"columns\">\(HTML(joined: columns))</datalist>\(HTML(joined: values))"
    }

    // MARK: - What was chosen

    /// The rows of a form, each with what the source held in its place; nil when it has none.
    private static func form(_ form: [String: String]) -> [(kept: Row, row: Row)]? {
        guard let rows = form[count].flatMap({ Int($0) }), (0...mostRows).contains(rows) else { return nil }
        return (0..<rows).map { place in
            let kept = form[part(place, "shown")].flatMap(Row.init(kept:)) ?? Row()
            let test = form[part(place, "test")].flatMap(Test.init) ?? kept.test
            var row = Row(
                column: form[part(place, "column")]?.trimming ?? "", test: test,
                value: form[part(place, "value")]?.trimming ?? "")
            // What such a comparison has no need of was left in the field.
            if !test.hasValue { row.value = "" }
            return (kept, row)
        }
    }

    // MARK: - Forms of several files

    /// The beginnings of names of rows that are called by the column that they had, and of new
    /// ones.
    private static let old = "where.of.", new = "where.new."
    private static let parts = ["shown", "column", "test", "value"]

    /// Whether a name is one that `byColumn` gives.
    static func isRow(_ name: String) -> Bool { name.hasPrefix(old) || name.hasPrefix(new) }

    /// The controls of a form with columns in the names of rows instead of numbers, as others may
    /// have added or removed rows.
    /// - Parameter page: the form whose numbers they are.
    static func byColumn(_ form: [String: String], of page: [String: String]) -> [String: String] {
        guard let rows = self.form(page) else { return form }
        var named = form, blank = 0
        named[count] = nil
        for (place, row) in rows.enumerated() {
            let unit = row.kept.column.isEmpty ? "\(new)\(blank)" : old + row.kept.column
            if row.kept.column.isEmpty { blank += 1 }
            for name in parts {
                named[part(place, name)] = nil
                named["\(unit).\(name)"] = form[part(place, name)]
            }
        }
        return named
    }

    /// The same controls with numbers: first the rows of a page, in its order, then the others,
    /// which are new there.
    /// - Returns: the controls, and the places of mistakes by the names that rows had.
    static func numbered(_ form: [String: String], like page: [String: String]) -> (
        form: [String: String], places: [String: String]
    ) {
        guard let rows = self.form(page) else { return (form, [:]) }
        let kept = rows.map(\.kept).filter { !$0.column.isEmpty }
        let units = Set(
            form.keys.filter(isRow).compactMap { name in name.lastIndex(of: ".").map { String(name[..<$0]) } })
        let own = kept.filter { units.contains(old + $0.column) }
        let others = units.subtracting(own.map { old + $0.column }).sorted()
        var numbered = form, places: [String: String] = [:]
        for (place, (unit, row)) in (own.map { (old + $0.column, $0) } + others.map { ($0, Row()) }).enumerated() {
            places[unit] = self.place(place).name
            for name in parts {
                numbered["\(unit).\(name)"] = nil
                numbered[part(place, name)] = form["\(unit).\(name)"]
            }
            numbered[part(place, "shown")] = row.kept
        }
        numbered[count] = String(places.count)
        return (numbered, places)
    }

    /// The rows of a form, a line each, so that nothing is lost where they cannot be saved.
    static func typed(in form: [String: String]) -> [String] {
        (self.form(form) ?? []).map(\.row).filter { !$0.isBlank }.map {
            "Condition: \($0.column) \($0.test.words(nil)) \($0.value)"
        }
    }

    /// Writes the rows that a person changed.
    static func apply(_ form: [String: String], to edit: inout YAMLEdit) -> [String: Mistake] {
        guard let rows = self.form(form) else { return [:] }
        var mistakes: [String: Mistake] = [:]
        var seen = Set(self.rows(edit).filter { $0.row == nil }.map(\.column))
        for (place, (kept, row)) in rows.enumerated() where !row.isBlank {
            do throws(Mistake) {
                guard !row.column.isEmpty else {
                    guard kept.column.isEmpty else { continue }
                    throw Mistake(
                        "the value '\(row.value)' has no column",
                        remedy: "Choose the column that it is compared with, or clear it.")
                }
                guard seen.insert(row.column).inserted else {
                    throw Mistake(
                        "the column \(row.column) has two conditions, and takes one",
                        remedy: "Keep one of them; for several values choose “is one of”.")
                }
                guard row != kept else { continue }
                try edit.set(row.written(), at: path + [row.column])
            } catch { mistakes[self.place(place).name] = error }
        }
        // After the others, so that the group stays where it is.
        for (place, (kept, row)) in rows.enumerated()
        where !kept.column.isEmpty && kept.column != row.column && !seen.contains(kept.column) {
            do throws(Mistake) { try edit.set(nil, at: path + [kept.column]) } catch {
                mistakes[self.place(place).name] = error
            }
        }
        return mistakes
    }
}
