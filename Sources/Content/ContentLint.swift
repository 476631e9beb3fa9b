import Base
import PushServices

/// What is allowed in a push, but rarely meant. Checks only what a campaign says; the results of
/// templates are checked when they are rendered.
struct ContentLint {
    private let content: MessageContent
    private let service: any PushService
    private var findings: [Diagnostic] = []

    /// All warnings about one content. Its languages are not checked.
    static func warnings(_ content: MessageContent, for service: any PushService) -> [Diagnostic] {
        var lint = ContentLint(content, service)
        lint.checkTexts()
        lint.checkSound()
        if let level = content.interruption {
            var found = PayloadLint()
            found.check(interruption: level, key: ContentKey.interruption.rawValue)
            lint.findings += found.findings
        }
        lint.findings += AddressLint.warnings(link: content.link, image: content.isSilent ? nil : content.image)
        if case .object(let data, _)? = content.data { lint.checkMedia(data) }
        if case .object(let members, _)? = content.payload { lint.checkByHand(members) }
        return lint.findings
    }

    private init(_ content: MessageContent, _ service: any PushService) {
        (self.content, self.service) = (content, service)
    }

    private mutating func warn(_ name: WarningName, message: String, at place: SourcePosition, remedy: String) {
        findings.append(.warning(name, message: message, at: place, remedy: remedy))
    }

    // MARK: - Texts

    private mutating func checkTexts() {
        let texts = [("title", content.title), ("subtitle", content.subtitle), ("body", content.body)]
        for case (let key, let text?) in texts {
            findings += ShownText.warnings(key, template: text)
        }
    }

    /// A name that is not a sound file of the app: phones play their usual sound instead.
    private mutating func checkSound() {
        guard let sound = content.sound, sound.value != "default", !sound.value.contains("{") else { return }
        let ending = sound.value.lowercased().split(separator: ".", omittingEmptySubsequences: false).dropFirst().last
        let isAddress = sound.value.contains("://")
        let isDefault = sound.value.lowercased() == "default"
        // Of other systems it is not known what they play.
        let mayPlay =
            service.system.map { system in ending.map { system.soundEndings.contains(String($0)) } ?? false }
            ?? !isDefault
        if !isAddress, mayPlay { return }
        let message =
            isAddress
            ? "is an address, not a file of the app"
            : ending == nil ? "has no ending" : "is not in a format that \(service.showing("play"))"
        warn(
            .soundNotPlayable,
            message: isDefault
                ? "the sound '\(sound.value)' is read as a file's name"
                : "the sound '\(sound.value)' \(message), so phones play their usual one",
            at: sound.position,
            remedy: isDefault
                ? "Write sound: default."
                : "Name a file of the app\(service.system == nil ? "" : " with its ending: .caf, .aiff or .wav"); or write sound: default."
        )
    }

    // MARK: - Media

    /// Custom keys with the address of a picture, film or sound: the app's extension can load it
    /// only in a mutable push.
    private mutating func checkMedia(_ members: [ContentMember]) {
        guard !content.isSilent, content.image == nil,
            content.title != nil || content.subtitle != nil || content.body != nil || !content.localized.isEmpty
        else {
            return
        }
        for member in members {
            // Of other systems it is not known what lets an app show it.
            checkMedia(
                member, isMutable: service.system == nil,
                remedy: "Write it as 'image' under 'content', which sets mutable-content.")
        }
    }

    private mutating func checkMedia(_ member: ContentMember, isMutable: Bool, remedy: String) {
        guard case .text(let address) = member.value, let scheme = Self.mediaScheme(address.value) else { return }
        if !isMutable {
            warn(
                .mediaNotMutable,
                message:
                    "'\(member.name.value)' looks like media, but without mutable-content no app can show it in the push",
                at: member.name.position, remedy: remedy)
        }
        if scheme == "http" {
            warn(
                .mediaNotHTTPS,
                message: "'\(member.name.value)' is loaded over http, which \(service.showing("refuse"))",
                at: address.position,
                remedy: "Write https://.")
        }
    }

    private static let mediaEndings = [
        "jpg", "jpeg", "png", "gif", "webp", "heic", "mp4", "mov", "m4v", "mp3", "m4a", "wav", "aiff",
    ]

    /// `http` or `https` if this looks like the address of media.
    private static func mediaScheme(_ text: String) -> String? {
        let text = text.lowercased()
        guard let scheme = ["https", "http"].first(where: { text.hasPrefix("\($0)://") }) else { return nil }
        let path = text.prefix { $0 != "?" && $0 != "#" }
        return mediaEndings.contains { path.hasSuffix(".\($0)") } ? scheme : nil
    }

    // MARK: - By hand

    private mutating func checkByHand(_ members: [ContentMember]) {
        let lint = service.lint(payload: members)
        if let isMutable = lint.showsMedia {
            for member in members { checkMedia(member, isMutable: isMutable, remedy: lint.mediaRemedy) }
        }
        for (key, text) in lint.texts { findings += ShownText.warnings(key, template: text) }
        findings += lint.findings
    }
}

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
