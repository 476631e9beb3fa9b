import Base

/// Checks that a word next to a number has all forms of the translation's language.
enum PluralLint {
    /// Numbers that people usually read: a form that only millions need (French and Spanish `many`)
    /// may be missing.
    private static let usualNumbers: ClosedRange<UInt64> = 0...200

    /// For the translation's own texts.
    static func warnings(_ translation: Translation) -> [Diagnostic] {
        let needed = forms(of: translation.language.value)
        guard !needed.isEmpty else { return [] }
        let content = translation.content
        return [content.title, content.subtitle, content.body].compactMap { $0 }.flatMap {
            (text: SourceText) -> [Diagnostic] in
            var parser = TemplateParser(text, isShown: true)
            return outputs(of: parser.parse()).compactMap { output in
                guard let written = written(output) else { return nil }
                let missing = PluralForm.allCases.filter { needed.contains($0) && !written.contains($0) }
                guard !missing.isEmpty else { return nil }
                let names = missing.map(\.name).joined(separator: ", ")
                return .warning(
                    .pluralFormMissing,
                    message:
                        "\(translation.language.value) has its own words for some numbers, but this filter takes the word for 'other' there: \(names)",
                    at: output.column.position,
                    remedy:
                        "Write all of them: pluralize: \(needed.sorted { $0.rawValue < $1.rawValue }.map { "\($0.name): '…'" }.joined(separator: ", "))."
                )
            }
        }
    }

    /// Forms that whole numbers take in a language; empty if it is not known.
    private static func forms(of language: String) -> Set<PluralForm> {
        var tag = language
        guard let number = tag.withUTF8({ LanguageTables.shared.find($0) }) else { return [] }
        let rule = LanguageTables.shared.languages[number].pluralRule
        return Set(usualNumbers.map { PluralOperands(i: $0, f: 0, v: 0).form(rule) }).union([.other])
    }

    private static func written(_ output: TemplateOutput) -> Set<PluralForm>? {
        for filter in output.filters {
            switch filter {
            case .pluralize(let forms): return Set(forms.keys)
            case .pluralizePair: return [.one, .other]
            default: continue
            }
        }
        return nil
    }

    private static func outputs(of nodes: [TemplateNode]) -> [TemplateOutput] {
        nodes.flatMap { node -> [TemplateOutput] in
            switch node {
            case .text: []
            case .output(let output): [output]
            case .choice(let branches): branches.flatMap { outputs(of: $0.body) }
            }
        }
    }
}
