import Base

/// Whether the words beside a number are there in all forms that a translation's language has.
enum PluralLint {
    /// Numbers that people mostly read: what only millions need (French and Spanish `many`) is not missed.
    private static let usualNumbers: ClosedRange<UInt64> = 0...200

    /// Of the texts that a translation has of its own.
    static func warnings(_ translation: Translation) -> [Diagnostic] {
        let needed = forms(of: translation.language.value)
        guard !needed.isEmpty else { return [] }
        let content = translation.content
        return [content.title, content.subtitle, content.body].compactMap { $0 }.flatMap { (text: SourceText) -> [Diagnostic] in
            var parser = TemplateParser(text, isShown: true)
            return outputs(of: parser.parse()).compactMap { output in
                guard let written = written(output) else { return nil }
                let missing = PluralForm.allCases.filter { needed.contains($0) && !written.contains($0) }
                guard !missing.isEmpty else { return nil }
                let names = missing.map(\.name).joined(separator: ", ")
                return .warning(
                    .pluralFormMissing,
                    "\(translation.language.value) has words of their own for some numbers, and this one takes the word for 'other' there: \(names)",
                    at: output.column.position,
                    remedy:
                        "Write all of them: pluralize: \(needed.sorted { $0.rawValue < $1.rawValue }.map { "\($0.name): '…'" }.joined(separator: ", "))."
                )
            }
        }
    }

    /// Forms that whole numbers take in a language; none when it is not known.
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
