import Glibc

/// How words of volley.yaml and of campaigns are shown, as people paste secrets into the wrong
/// place: in a message, a log or a support bundle, at most four characters at either end of what
/// may be one are left.
///
/// ```swift
/// let shown = SecretText.hidden(in: "http://anna:secret@proxy:3128/")
/// ```
public enum SecretText {
    /// A text in which addresses keep only scheme and host, and everything that may be a key, a
    /// token or a password is shortened.
    /// - Parameter keepsPaths: for what devices get: of an address without a user, path and query
    ///   are no secret there.
    public static func hidden(in text: String, keepsPaths: Bool = false) -> String {
        guard text.utf8.count >= 8 else { return text }
        if keepsPaths, text.contains("://"), !text.contains("@") { return text }
        return withoutKeys(withoutPasswords(withoutAddresses(text)))
    }

    /// What is left of a text that is certainly in a place for secrets.
    public static func short(_ text: String) -> String { Target.redact(text) }

    // MARK: - Addresses

    /// Of an address, its scheme and host, and whether there is more: the rest may be a secret.
    /// - Returns: nil if it is not certain what of it is the host: a password may hold any
    ///   character.
    public static func address(_ text: some StringProtocol) -> (
        scheme: String, host: String, hasUser: Bool, hasPath: Bool
    )? {
        let pattern =
            /([A-Za-z][A-Za-z0-9+.-]*):\/\/([^@\/?#]*@)?((?:[A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?)([\/?#].*)?/
        guard let address = String(text).wholeMatch(of: pattern.dotMatchesNewlines()),
            !(address.output.4 ?? "").contains("@")
        else {
            return nil
        }
        let (_, scheme, user, host, rest) = address.output
        return (String(scheme), String(host), user != nil, rest != nil && rest != "/")
    }

    private static func withoutAddresses(_ text: String) -> String {
        guard text.contains("://"), let start = text.firstMatch(of: /[A-Za-z][A-Za-z0-9+.-]*:\/\//) else { return text }
        // A password may hold blanks: what comes before an @ may belong to the address.
        let rest = text[start.range.lowerBound...]
        let isEnd: (Character) -> Bool = { $0.isWhitespace || "\"'<>{}()，,".contains($0) }
        let afterUser = rest.lastIndex(of: "@") ?? rest.startIndex
        let end = rest[afterUser...].firstIndex(where: isEnd) ?? rest.endIndex
        let written = rest[..<end]
        let shown =
            switch address(written) {
            case let (scheme, host, hasUser, hasPath)? where hasUser || hasPath:
                "\(scheme)://\(hasUser ? "…@" : "")\(host)\(hasPath ? "/…" : "")"
            case nil: "\(start.output)…"
            default: String(written)
            }
        return text[..<start.range.lowerBound] + shown + withoutAddresses(String(rest[end...]))
    }

    // MARK: - Passwords

    /// `password=…` and the like, and what follows the name of a key file after a colon.
    private static func withoutPasswords(_ text: String) -> String {
        guard
            text.utf8.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: " ") })
        else {
            return text
        }
        let named =
            /((?:passw|passphrase|pwd|secret|authorization|bearer)[A-Za-z_]*["']?(?:\s*[:=]\s*|\s+))((?:(?:bearer|basic)\s+)?[^\s,;&…]\S*)/
            .ignoresCase()
        return text.replacing(named) { match in
            // Words of a sentence, and the names of variables, tell nothing.
            let isSet = match.output.1.contains { ":=".contains($0) } || match.output.1.lowercased().hasPrefix("bearer")
            return !isSet || isVariable(String(match.output.2)) ? String(match.output.0) : "\(match.output.1)…"
        }.replacing(keyFile) { "\($0.output.1):…" }
    }

    private static var keyFile: Regex<(Substring, Substring)> { /(\.(?:p12|pfx|pem|p8|key|json|txt)):\S.*/ }

    // MARK: - Keys

    /// From this many characters on, letters and digits without an order are a key rather than a
    /// name. The longest secrets of services that are short have 24; ids in the names of key files
    /// have ten to fifteen.
    private static let fewestOfKey = 20

    private static func withoutKeys(_ text: String) -> String {
        guard text.utf8.count >= fewestOfKey else { return text }
        return text.replacing(/[A-Za-z0-9+\/=_-]{20,}/) { run in
            isKey(run.output) ? short(String(run.output)) : String(run.output)
        }
    }

    /// Whether letters and digits in it have no order, other than in words, dates and numbers.
    private static func isKey(_ run: Substring) -> Bool {
        run.split { !($0.isLetter || $0.isNumber) }.filter(isDisordered).reduce(0) { $0 + $1.utf8.count } >= fewestOfKey
    }

    private enum Kind { case upper, lower, digit }

    /// Whether capitals, small letters and digits change so often that this is no word, `camelCase`
    /// or `Campaign2026`.
    private static func isDisordered(_ part: Substring) -> Bool {
        let kinds: [Kind] = part.map { $0.isNumber ? .digit : $0.isUppercase ? .upper : .lower }
        var changes = 0
        for (place, pair) in zip(kinds, kinds.dropFirst()).enumerated() where pair.0 != pair.1 {
            let isBeforeWord = pair.1 == .upper && place + 2 < kinds.count && kinds[place + 2] == .lower
            let isInWord = pair == (.upper, .lower) && (place == 0 || kinds[place - 1] != .upper)
            if !isBeforeWord, !isInWord { changes += 1 }
        }
        // Words of a name have more than two letters: `AbCdEfGhIjKl`.
        let words = zip(kinds, kinds.dropFirst()).count { $0 == (.upper, .lower) }
        return changes >= 2 && changes * 7 >= kinds.count || words >= 6 && words * 3 > kinds.count
    }

    /// Whether a text in the place of a path is the key itself, or a path and a password.
    public static func isNoPath(_ text: String) -> Bool {
        if text.contains("-----BEGIN") || text.drop(while: \.isWhitespace).first == "{" || text.contains("://") {
            return true
        }
        if withoutPasswords(text) != text { return true }
        let joined = text.filter { !$0.isWhitespace }
        guard joined.wholeMatch(of: /[A-Za-z0-9+\/=_-]+/) != nil, isKey(joined[...]) else { return false }
        let hasAll =
            joined.contains(where: \.isUppercase) && joined.contains(where: \.isLowercase)
            && joined.contains(where: \.isNumber)
        return !joined.contains("/") || hasAll && joined.utf8.count >= 40
    }

    /// Whether a name holds an address or a password: names are shown wherever what has them is
    /// meant.
    public static func isNoName(_ name: String) -> Bool { name.contains("://") || withoutPasswords(name) != name }

    /// The program of a command, as it may be shown: people write a whole command line as one word,
    /// with what is secret of it.
    public static func program(_ word: String) -> String {
        let name = word.prefix { !$0.isWhitespace }
        return hidden(in: String(name)) + (name.endIndex < word.endIndex ? " …" : "")
    }

    // MARK: - Device tokens

    /// A text with at least this many hex digits can only be a device token or a client id, or one
    /// that lost a few digits on its way.
    public static let fewestHexDigits = 28
    /// The same of letters, digits, `-`, `_` and `:` for the tokens of services that do not write
    /// them in hex.
    static let fewestOfToken = 100
    /// What tokens of one service have after the id of an installation, also those that are cut
    /// off.
    private static let markOfToken = Array(":APA91".utf8)

    /// A text in which everything that is written like a device's token, and as long as one, keeps
    /// its first and last four characters.
    ///
    /// A column of an export may hold tokens whatever it is called, so this is applied where words
    /// leave Volley, and not where values enter them: every `Diagnostic`, preview, explanation and
    /// report goes through it.
    public static func withoutTokens(_ text: String) -> String {
        guard text.utf8.count >= fewestHexDigits else { return text }
        let isHexDigit = { (byte: UInt8) in byte &- 0x30 <= 9 || (byte | 0x20) &- 0x61 < 6 }
        let isOfToken = { (byte: UInt8) in byte &- 0x30 <= 9 || (byte | 0x20) &- 0x61 < 26 || "-_:".utf8.contains(byte)
        }
        let shown = withoutRuns(text, of: isOfToken) {
            $0.count >= fewestOfToken || $0.firstRange(of: markOfToken) != nil
        }
        return withoutRuns(shown, of: isHexDigit) { _ in true }
    }

    private static func withoutRuns(
        _ text: String, of isDigit: (UInt8) -> Bool, where isToken: (ArraySlice<UInt8>) -> Bool
    ) -> String {
        let bytes = Array(text.utf8)
        var (shown, copied, start): ([UInt8], Int, Int) = ([], 0, 0)
        for end in 0...bytes.count where end == bytes.count || !isDigit(bytes[end]) {
            if end - start >= fewestHexDigits, isToken(bytes[start..<end]), !isFolder(start..<end, in: bytes) {
                shown += bytes[copied..<start]
                shown += short(String(decoding: bytes[start..<end], as: UTF8.self)).utf8
                copied = end
            }
            start = end + 1
        }
        return copied == 0 ? text : String(decoding: shown + bytes[copied...], as: UTF8.self)
    }

    /// Whether slashes enclose it, as in `/volumes/5f4d…/_data`: a path without it would lead
    /// nowhere. A token is at the end of a path.
    private static func isFolder(_ run: Range<Int>, in bytes: [UInt8]) -> Bool {
        run.lowerBound > 0 && run.upperBound < bytes.count && bytes[run.lowerBound - 1] == UInt8(ascii: "/")
            && bytes[run.upperBound] == UInt8(ascii: "/")
    }

    /// Whether a text is a token, or holds one.
    public static func holdsToken(_ text: String) -> Bool { withoutTokens(text) != text }

    // MARK: - Variables

    /// Whether a text certainly names a variable: people write the secret itself where its variable
    /// belongs, and that may be in capitals, too.
    public static func isVariable(_ text: String) -> Bool {
        guard text.wholeMatch(of: /[A-Z_][A-Z0-9_]*/) != nil else { return false }
        return text.firstMatch(of: /[A-Z0-9]_[A-Z0-9]/) != nil && hidden(in: text) == text
            || EnvironmentVariables[text] != nil
    }

    /// The name of a variable, as it may be shown.
    public static func variable(_ name: String) -> String {
        isVariable(name) || EnvironmentVariables[name] != nil ? name : short(name)
    }

    /// What to do about a variable that is not set.
    /// - Parameters:
    ///   - noun: what it should hold: "passphrase".
    ///   - remedy: for a variable with a name that may be shown.
    public static func remedy(forUnset name: String, noun: String, _ remedy: String) -> String {
        if isVariable(name) { return remedy }
        // `PGPASSWORD` cannot be told from a password in capitals.
        return
            "If that is the name of a variable, set it where Volley runs. If it is the \(noun) itself, write the name of a variable in "
            + "volley.yaml instead, such as VOLLEY_\(noun.uppercased().replacing(" ", with: "_")), and set that variable."
    }
}

extension JSONValue {
    /// A document in which device tokens are shortened, wherever they are (`SecretText`), but for
    /// what names a plan or a file.
    public var withoutTokens: JSONValue {
        switch self {
        case .string(let text): .string(SecretText.withoutTokens(text))
        case .array(let elements): .array(elements.map(\.withoutTokens))
        case .object(let members):
            .object(
                members.map { member in
                    let isKept = ["plan_hash", "file"].contains(member.name)
                    return JSONMember(
                        SecretText.withoutTokens(member.name), isKept ? member.value : member.value.withoutTokens)
                })
        default: self
        }
    }
}

extension HTML {
    /// The same of a piece of a page.
    public var withoutTokens: HTML { HTML(markup: SecretText.withoutTokens(markup)) }
}
