import Base

/// The addresses of a push: where it leads, and where its image is loaded from.
struct AddressLint {
    private var findings: [Diagnostic] = []

    /// - Parameters:
    ///   - link: as written in the campaign; nil for none.
    ///   - image: the same.
    static func warnings(link: SourceText?, image: SourceText?) -> [Diagnostic] {
        var lint = AddressLint()
        if let link { lint.check(link: link) }
        if let image { lint.check(image: image) }
        return lint.findings
    }

    private mutating func warn(_ name: WarningName, message: String, at place: SourcePosition, remedy: String) {
        findings.append(.warning(name, message: message, at: place, remedy: remedy))
    }

    private mutating func report(_ message: String, at place: SourcePosition, remedy: String) {
        findings.append(Diagnostic(message, at: place, remedy: remedy))
    }

    // MARK: - Links

    private mutating func check(link: SourceText) {
        checkWebScheme(link)
        checkBackslashes(link)
        checkHost(link, key: "link")
        checkPlaces(link)
        checkCopied(link)
        guard ShownText.constant(link.value).count == link.value.count, !Self.hasScheme(link.value) else { return }
        warn(
            .linkWithoutScheme, message: "the link '\(link.value)' has no scheme, so the app may not know what to open",
            at: link.position,
            remedy: Self.withScheme(link.value).map { "Write, for example, \($0) or shop://sale." }
                ?? "Write, for example, https://www.example.com/sale or shop://sale.")
    }

    /// The address that a link names in another form: in brackets of another notation, or only by
    /// its host; nil if it names none.
    private static func withScheme(_ link: String) -> String? {
        if let address = link.firstMatch(of: /(?i)https?:\/\/[^\s<>()\[\]"']+/) { return String(address.output) }
        let rest = link.drop { $0 == "/" }
        return rest.firstMatch(of: /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*(?:\.\p{L}{2,}|:[0-9]+)(?=[\/?#:]|$)/).map {
            _ in "https://\(rest)"
        }
    }

    /// `htps://…`, `https:/…`, `https//…`: no app has a scheme like these.
    private mutating func checkWebScheme(_ link: SourceText) {
        let scheme = link.value.prefix { $0.isASCII && $0.isLetter }.lowercased()
        let rest = link.value.dropFirst(scheme.count)
        let isWeb = scheme == "https" || scheme == "http"
        let isNear =
            scheme.hasPrefix("h") && scheme.contains("t") && scheme.contains("p")
            && nearestName(to: scheme, among: ["https", "http"]) != nil
        let slashes = rest.dropFirst().prefix { $0 == "/" }.count
        let isMisspelt =
            isWeb
            ? rest.first.map { ":;/".contains($0) } ?? false && !(rest.first == ":" && slashes == 2)
            : isNear && slashes > 0
        guard isMisspelt else { return }
        report(
            "the link '\(link.value)' is not a web address", at: link.position,
            remedy: "Did you mean https://\(rest.drop { ":;/\\".contains($0) })?")
    }

    /// `shop:\\sale`
    private mutating func checkBackslashes(_ link: SourceText) {
        guard let match = link.value.firstMatch(of: /^([A-Za-z][A-Za-z0-9+.-]*):\\+/),
            !["http", "https"].contains(match.output.1.lowercased())
        else { return }
        report(
            "the link '\(link.value)' has backslashes, which no app opens", at: link.position,
            remedy: "Write \(match.output.1)://\(link.value[match.range.upperBound...]).")
    }

    /// `https://x.y/[id]`, `https://x.y/?id=<id>`: places that should have been filled in, as tools
    /// write them.
    private mutating func checkPlaces(_ link: SourceText) {
        guard let match = link.value.firstMatch(of: /[\/=]([\[<][A-Za-z][A-Za-z0-9_]*[\]>])/) else { return }
        warn(
            .textNotReady, message: "'\(match.output.1)' is sent as written", at: link.position,
            remedy: "For a column write its name, as in {{ first_name }}.")
    }

    /// `?a=1&amp;b=2`, as HTML writes it, and `%7B%7Bcity%7D%7D`, as browsers write it.
    private mutating func checkCopied(_ link: SourceText) {
        if link.value.contains("&amp;") {
            warn(
                .textNotReady,
                message: "'&amp;' in the link '\(link.value)' is sent as written; only HTML writes & like that",
                at: link.position,
                remedy: "Write \(link.value.replacing("&amp;", with: "&")).")
        }
        if let match = link.value.firstMatch(of: /(?i)%7B(?:%7B)?\s*([A-Za-z_][A-Za-z0-9_]*)\s*%7D(?:%7D)?/) {
            warn(
                .textNotReady, message: "'\(match.output.0)' is sent as written; this is how browsers write braces",
                at: link.position,
                remedy: "For a column write {{ \(match.output.1) }}.")
        }
    }

    /// RFC 3986 3.1: a letter, then letters, digits, `+`, `-` and `.`, up to a colon.
    private static func hasScheme(_ link: String) -> Bool {
        guard let colon = link.utf8.firstIndex(of: UInt8(ascii: ":")), let first = link.utf8.first else { return false }
        func isLetter(_ byte: UInt8) -> Bool {
            (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
        }
        // A host with a port looks like a scheme, but what follows is a number.
        let afterColon = link.utf8[colon...].dropFirst().prefix { $0 != UInt8(ascii: "/") }
        let isPort = !afterColon.isEmpty && afterColon.allSatisfy { (0x30...0x39).contains($0) }
        return isLetter(first) && !isPort
            && link.utf8[..<colon].allSatisfy {
                isLetter($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0)
            }
    }

    // MARK: - Hosts

    /// `https://`, `https://example,com/x`, `https://example..com`: the host of a web address
    /// consists of labels of letters, digits and hyphens, separated by single dots. Source: RFC
    /// 3986 3.2.2, RFC 1123 2.1.
    private mutating func checkHost(_ address: SourceText, key: String) {
        guard let match = address.value.firstMatch(of: /(?i)^(https?:\/\/)([^\/?#]*)/) else { return }
        let authority = match.output.2
        // A cell may be any host.
        guard !authority.contains("{") else { return }
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let host = place.first == "[" ? place.prefix { $0 != "]" }.dropFirst() : place.prefix { $0 != ":" }
        let port = place[host.endIndex...].drop { $0 == "]" }
        if place.first != "[", let flaw = Self.flaw(ofHost: host) {
            return report(
                host.isEmpty
                    ? "the \(key) '\(address.value)' names no host"
                    : "the \(key)'s host '\(host)' is not a server name: \(flaw)",
                at: address.position,
                remedy: "Write it with letters, digits, hyphens and single dots, as in https://www.example.com/sale.")
        }
        guard port.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }), port.isEmpty || port.first == ":" else {
            return report(
                "the \(key)'s port '\(port.dropFirst())' is not a number", at: address.position,
                remedy: "Leave it out: \(match.output.1)\(host)\(address.value[match.range.upperBound...]).")
        }
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else { return reportLetters(host, address, key: key) }
        guard !Self.isReachable(host) else { return }
        warn(
            .hostNotReachable, message: "the \(key) leads to '\(host)', which people's phones cannot reach",
            at: address.position,
            remedy: "Write the address at which everyone can reach it, as in https://www.example.com/sale.")
    }

    /// What is wrong with a host name; nil for a valid one, in letters of any script.
    private static func flaw(ofHost host: Substring) -> String? {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        func isAllowed(_ letter: Character) -> Bool {
            letter.isLetter || letter.isNumber || "-_%".contains(letter)
                || !letter.isASCII && !letter.isPunctuation && !letter.isWhitespace
        }
        if host.contains(where: \.isWhitespace) { return "it holds a space" }
        if labels.first?.isEmpty ?? true { return "it begins with a dot" }
        if labels.last?.isEmpty ?? true { return "it ends with a dot" }
        if labels.contains(where: \.isEmpty) { return "it has two dots in a row" }
        if labels.contains(where: { $0.first == "-" || $0.last == "-" }) {
            return "a part of it begins or ends with a hyphen"
        }
        return host.first { $0 != "." && !isAllowed($0) }.map { "it holds '\($0)'" }
    }

    /// Not every program that opens links handles letters beyond ASCII as browsers do, so such a
    /// link may open nothing.
    private mutating func reportLetters(_ host: Substring, _ address: SourceText, key: String) {
        let spelling = Punycode.host(host)
        let whole = spelling.map {
            "Write \(address.value.replacing(host, with: $0, maxReplacements: 1)), which is the same host."
        }
        report(
            "the \(key)'s host '\(host)' has letters beyond ASCII, which not everything that opens links understands",
            at: address.position,
            remedy: whole ?? "Copy the address from a browser, which writes it with xn-- at its beginning.")
    }

    /// Whether a name or number can be reached from anywhere. Source: RFC 1918, 3927, 6761, 6762;
    /// for IPv6, RFC 4193 and 4291.
    private static func isReachable(_ host: Substring) -> Bool {
        let host = host.lowercased()
        if host.contains(":") {
            return host != "::1" && !["fc", "fd", "fe8", "fe9", "fea", "feb"].contains(where: host.hasPrefix)
        }
        let labels = host.split(separator: ".")
        let numbers = labels.compactMap { UInt8($0) }
        if labels.count == 4, numbers.count == 4 {
            switch (numbers[0], numbers[1]) {
            case (0, _), (10, _), (127, _), (192, 168), (169, 254), (172, 16...31): return false
            default: return true
            }
        }
        return labels.count > 1
            && !["localhost", "local", "internal", "lan", "home", "corp", "invalid"].contains(labels.last ?? "")
    }

    // MARK: - Images

    /// Formats that neither iOS nor Android show next to a push (Apple,
    /// "UNNotificationAttachment").
    private static let otherEndings = [
        ".svg", ".pdf", ".html", ".htm", ".heic", ".heif", ".tif", ".tiff", ".bmp", ".psd",
    ]

    private mutating func check(image: SourceText) {
        checkHost(image, key: "image")
        let path = image.value.lowercased().prefix { $0 != "?" && $0 != "#" }
        guard let ending = Self.otherEndings.first(where: { path.hasSuffix($0) }) else { return }
        warn(
            .imageNotShown, message: "phones do not show \(ending) as a push's image", at: image.position,
            remedy: "Use a .jpg, .png or .gif.")
    }
}
