import Base

/// Makes a service's payload of content, and notes what is wrong with the content on the way.
protocol ContentFindings {
    /// The service's name in sentences.
    static var service: String { get }
    /// Mistakes and warnings, each at its place in the campaign.
    var findings: [Diagnostic] { get set }
}

extension ContentFindings {
    typealias Member = (name: String, value: PayloadNode)

    mutating func error(_ message: String, at place: SourcePosition, remedy: String? = nil) {
        findings.append(Diagnostic(message, at: place, remedy: remedy))
    }

    mutating func warning(_ name: WarningName, message: String, at place: SourcePosition, remedy: String? = nil) {
        findings.append(.warning(name, message: message, at: place, remedy: remedy))
    }

    /// The most that the service takes of a part of the payload.
    static func limit(_ most: Int, _ unit: PayloadPart.Unit, of noun: String, at place: SourcePosition) -> PayloadLimit {
        PayloadLimit(most, unit, of: noun, service: service, at: place)
    }

    /// A text that people see, of which the service takes only so many characters.
    static func shown(_ text: SourceText, _ key: ContentKey, atMost most: Int) -> PayloadNode {
        .limited(
            .shown(text, mustShow: true),
            PayloadLimit(most, .characters, of: key.rawValue, key: key, service: service, at: text.position))
    }

    // MARK: - What services have in common

    /// The texts of an alert on iPhones, in the order of their lines.
    /// - Parameter subtitleMustShow: whether a push in which the subtitle is blank is not sent.
    static func alert(_ content: MessageContent, subtitleMustShow: Bool = false) -> [Member] {
        let texts = [("title", content.title, true), ("subtitle", content.subtitle, subtitleMustShow), ("body", content.body, true)]
        return texts.compactMap { name, text, mustShow in text.map { (name, .shown($0, mustShow: mustShow)) } }
    }

    /// The app's own keys, and `link` among them: what the app gets, whatever shows the push.
    /// - Parameter onlyTexts: whether the service carries nothing but texts there.
    mutating func ownKeys(_ content: MessageContent, onlyTexts: Bool) -> [Member] {
        let link: [Member] = content.link.map { [("link", .address($0))] } ?? []
        guard case .object(let data, _) = content.data else { return link }
        findings += data.repeatedNames
        refuseTwice("link", content.link, in: data)
        if onlyTexts { findings += data.compactMap { $0.mistakeUnlessText(in: "data", of: Self.service) } }
        return link + data.map { ($0.name.value, .content($0.value)) }
    }

    /// Reports a key of `data` that `content` sets as well.
    mutating func refuseTwice(_ name: String, _ text: SourceText?, in data: [ContentMember]) {
        guard text != nil else { return }
        for member in data where member.name.value == name {
            error("'data' holds '\(name)', which 'content' sets too", at: member.name.position, remedy: "Keep one of them.")
        }
    }

    mutating func checkBadge(_ content: MessageContent, highest: Int) {
        guard let badge = content.badge, badge > highest else { return }
        error(
            "the badge \(badge) is higher than \(Self.service) takes, which is \(highest)", at: content.position,
            remedy: "Write a badge from 0 to \(highest).")
    }

    /// Android has no subtitle, and its badges count notifications: what a push without title and body is there.
    mutating func checkInvisible(_ content: MessageContent) {
        guard let subtitle = content.subtitle else { return warnInvisible(content, remedy: "Add a title or a body.") }
        error(
            "Android shows no subtitle, so a push through \(Self.service) needs a title or a body, too", at: subtitle.position,
            remedy: "Write the text as 'title' or 'body'.")
    }

    mutating func warnInvisible(_ content: MessageContent, remedy: String) {
        warning(
            .nothingVisible, message: "a push without title and body does nothing on Android; iPhones get its badge and its sound",
            at: content.position, remedy: remedy)
    }
}
