import Base

/// What is allowed in a push, but rarely meant. Only what a campaign says is looked at; what templates come to is looked at when they are
/// rendered.
struct ContentLint {
    private let content: MessageContent
    private var findings: [Diagnostic] = []

    /// Everything about one content. Its languages are not looked at.
    static func warnings(_ content: MessageContent) -> [Diagnostic] {
        var lint = ContentLint(content)
        lint.checkTexts()
        lint.checkLink()
        lint.checkSound()
        lint.checkImage()
        if case .object(let data, _)? = content.data { lint.checkMedia(data) }
        if case .object(let members, _)? = content.payload { lint.checkByHand(members) }
        return lint.findings
    }

    private init(_ content: MessageContent) { self.content = content }

    private mutating func warn(_ name: WarningName, _ message: String, at place: SourcePosition, _ remedy: String) {
        findings.append(.warning(name, message, at: place, remedy: remedy))
    }

    // MARK: - Texts

    private mutating func checkTexts() {
        let texts = [("title", content.title), ("subtitle", content.subtitle), ("body", content.body)]
        for case (let key, let text?) in texts {
            findings += ShownText.warnings(key, template: text)
        }
    }

    /// iOS plays these: Apple, "Preparing custom alert sounds".
    private static let soundEndings = ["aiff", "aif", "wav", "caf"]

    /// A file of the app under another name is no sound, and phones play their usual one.
    private mutating func checkSound() {
        guard let sound = content.sound, sound.value != "default", !sound.value.contains("{") else { return }
        let ending = sound.value.lowercased().split(separator: ".", omittingEmptySubsequences: false).dropFirst().last
        let isAddress = sound.value.contains("://")
        if !isAddress, let ending, Self.soundEndings.contains(String(ending)) { return }
        let isDefault = sound.value.lowercased() == "default"
        let message =
            isAddress ? "is an address and no file of the app" : ending == nil ? "has no ending" : "is in no format that iOS plays"
        warn(
            .soundNotPlayable,
            isDefault
                ? "the sound '\(sound.value)' is read as a file's name"
                : "the sound '\(sound.value)' \(message), so phones play their usual one",
            at: sound.position,
            isDefault ? "Write sound: default." : "Name a file of the app with its ending: .caf, .aiff or .wav; or write sound: default.")
    }

    private mutating func checkLink() {
        if let link = content.link {
            checkWebScheme(link)
            checkHost(link, "link")
        }
        guard let link = content.link, ShownText.constant(link.value).count == link.value.count, !Self.hasScheme(link.value) else { return }
        warn(
            .linkWithoutScheme, "the link '\(link.value)' has no scheme, so the app may not know what to open", at: link.position,
            "Write, for example, https://\(link.value.drop { $0 == "/" }) or shop://sale.")
    }

    /// `htps://…`, `https:/…`, `https//…`: no app calls its own scheme so.
    private mutating func checkWebScheme(_ link: SourceText) {
        let scheme = link.value.prefix { $0.isASCII && $0.isLetter }.lowercased()
        let rest = link.value.dropFirst(scheme.count)
        let isWeb = scheme == "https" || scheme == "http"
        let isNear =
            scheme.hasPrefix("h") && scheme.contains("t") && scheme.contains("p")
            && nearestName(to: scheme, among: ["https", "http"]) != nil
        let slashes = rest.dropFirst().prefix { $0 == "/" }.count
        let isMisspelt =
            isWeb ? rest.first.map { ":;/".contains($0) } ?? false && !(rest.first == ":" && slashes == 2) : isNear && slashes > 0
        guard isMisspelt else { return }
        findings.append(
            Diagnostic(
                "the link '\(link.value)' is no web address", at: link.position,
                remedy: "Did you mean https://\(rest.drop { ":;/".contains($0) })?"))
    }

    /// `https://`, `https://example,com/x`, `https://example..com`: the host of a web address is labels of letters, digits and hyphens, with single
    /// points between. Source: RFC 3986 3.2.2, with letters of all scripts, which apps take.
    private mutating func checkHost(_ address: SourceText, _ key: String) {
        guard let match = address.value.firstMatch(of: /(?i)^https?:\/\/([^\/?#\s]*)/) else { return }
        let authority = match.output.1
        // A cell may be any host, and a host in brackets is a number.
        guard !authority.contains("{"), !authority.contains("[") else { return }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last?.prefix { $0 != ":" } ?? ""
        let labels = (host.hasSuffix(".") ? host.dropLast() : host).split(separator: ".", omittingEmptySubsequences: false)
        func isAllowed(_ letter: Character) -> Bool {
            letter.isLetter || letter.isNumber || "-_%".contains(letter) || !letter.isASCII && !letter.isPunctuation
        }
        let isHost = labels.allSatisfy { !$0.isEmpty && $0.allSatisfy(isAllowed) }
        guard !isHost else { return }
        let isMissing = host.isEmpty
        findings.append(
            Diagnostic(
                isMissing ? "the \(key) '\(address.value)' names no host" : "the \(key)'s host '\(host)' is no name of a server",
                at: address.position,
                remedy: "Write it with letters, digits, hyphens and single points, as in https://www.example.com/sale."))
    }

    /// What iOS shows beside a push: Apple, "UNNotificationAttachment": JPEG, GIF and PNG, and some films and sounds. Pages that show a picture
    /// are none.
    private mutating func checkImage() {
        guard let image = content.image, !content.isSilent else { return }
        checkHost(image, "image")
        let address = image.value.lowercased()
        let path = address.prefix { $0 != "?" && $0 != "#" }
        let ending = [".svg", ".pdf", ".html", ".htm"].first { path.hasSuffix($0) }
        let isPage =
            address.contains("drive.google.com/file/") || address.contains("dropbox.com/") && address.hasSuffix("dl=0")
        guard ending != nil || isPage else { return }
        warn(
            .imageNotShown,
            ending.map { "phones show no \($0) as a push's image" } ?? "this is the address of a page, not of the image on it",
            at: image.position,
            ending != nil ? "Use a .jpg, .png or .gif." : "Upload the image to your own server, and write its address there.")
    }

    /// RFC 3986 3.1: a letter, then letters, digits, `+`, `-` and `.`, up to a colon.
    private static func hasScheme(_ link: String) -> Bool {
        guard let colon = link.utf8.firstIndex(of: UInt8(ascii: ":")), let first = link.utf8.first else { return false }
        func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z") }
        // A host with a port looks like a scheme, but what follows is a number.
        let afterColon = link.utf8[colon...].dropFirst().prefix { $0 != UInt8(ascii: "/") }
        let isPort = !afterColon.isEmpty && afterColon.allSatisfy { (0x30...0x39).contains($0) }
        return isLetter(first) && !isPort
            && link.utf8[..<colon].allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0) }
    }

    // MARK: - Media

    /// Own keys with the address of a picture, film or sound: the app's extension can load it only in a mutable push.
    private mutating func checkMedia(_ members: [ContentMember]) {
        guard !content.isSilent, content.image == nil, content.title != nil || content.subtitle != nil || content.body != nil else {
            return
        }
        for member in members {
            checkMedia(member, isMutable: false, remedy: "Write it as 'image' under 'content', which sets mutable-content.")
        }
    }

    private mutating func checkMedia(_ member: ContentMember, isMutable: Bool, remedy: String) {
        guard case .text(let address) = member.value, let scheme = Self.mediaScheme(address.value) else { return }
        if !isMutable {
            warn(
                .mediaNotMutable, "'\(member.name.value)' looks like media, but without mutable-content no app can show it in the push",
                at: member.name.position, remedy)
        }
        if scheme == "http" {
            warn(.mediaNotHTTPS, "'\(member.name.value)' is loaded over http, which iOS refuses", at: address.position, "Write https://.")
        }
    }

    private static let mediaEndings = ["jpg", "jpeg", "png", "gif", "webp", "heic", "mp4", "mov", "m4v", "mp3", "m4a", "wav", "aiff"]

    /// `http` or `https` when this looks like the address of media.
    private static func mediaScheme(_ text: String) -> String? {
        let text = text.lowercased()
        guard let scheme = ["https", "http"].first(where: { text.hasPrefix("\($0)://") }) else { return nil }
        let path = text.prefix { $0 != "?" && $0 != "#" }
        return mediaEndings.contains { path.hasSuffix(".\($0)") } ? scheme : nil
    }

    // MARK: - By hand

    private mutating func checkByHand(_ members: [ContentMember]) {
        guard case .object(let aps, _)? = members.first(where: { $0.name.value == "aps" })?.value else { return }
        let names = Set(aps.map(\.name.value))
        if names.contains("alert") {
            let isMutable = names.contains("mutable-content")
            for member in members { checkMedia(member, isMutable: isMutable, remedy: "Write mutable-content: 1 into 'aps'.") }
        }
        for member in aps { checkByHand(member, names) }
    }

    private mutating func checkByHand(_ member: ContentMember, _ names: Set<String>) {
        switch (member.name.value, member.value) {
        case ("alert", .text(let text)):
            findings += ShownText.warnings("alert", template: text)
        case ("alert", .object(let texts, _)):
            for text in texts {
                guard ["title", "subtitle", "body"].contains(text.name.value), case .text(let value) = text.value else { continue }
                findings += ShownText.warnings(text.name.value, template: value)
            }
        // Source: Apple, "Pushing background updates to your App": such a push has no alert, sound or badge.
        case ("content-available", _) where !names.contains("alert") && !names.isDisjoint(with: ["sound", "badge"]):
            let visible = ["sound", "badge"].filter(names.contains).joined(separator: " and ")
            warn(
                .silentAndVisible, "with \(visible) this goes out as a visible push, though it looks like a silent one",
                at: member.name.position, "Remove \(visible) for a silent push, or add an alert.")
        case ("interruption-level", .text(let level)) where level.value == "time-sensitive":
            warn(
                .timeSensitive, "a time-sensitive push breaks through Focus, and people can turn it off for the whole app",
                at: level.position, "Keep it for what needs attention at once; otherwise leave interruption-level out.")
        case ("interruption-level", .text(let level)) where level.value == "critical": warnCritical(at: level.position)
        case ("sound", .object(let keys, _)):
            for key in keys where key.name.value == "critical" {
                if case .integer(1, _) = key.value { warnCritical(at: key.name.position) }
            }
        default: break
        }
    }

    private mutating func warnCritical(at place: SourcePosition) {
        warn(
            .criticalAlert, "a critical alert sounds on muted phones, and only apps with Apple's permission may send one", at: place,
            "Unless people's safety is at stake, leave it out.")
    }
}
