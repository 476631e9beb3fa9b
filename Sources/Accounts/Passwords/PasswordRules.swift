/// Why a password is refused.
public enum PasswordFlaw: Hashable, Sendable {
    /// It has fewer characters than `PasswordRules.leastCharacters`.
    case short
    /// It has more bytes than `PasswordRules.mostBytes`.
    case long
    /// It has a tab, a line break or another character that people do not type.
    case control
    /// It is little else than the name of the person, of the account or of the product.
    case name
    /// The same few characters or the same piece again and again.
    case repeated
    /// Characters in their order in the alphabet, among the digits or on the keyboard.
    case sequence
    /// One of the passwords that attackers try first.
    case common

    var words: (message: String, remedy: String?) {
        let remedy = "Four or five words that have nothing to do with one another make a good password."
        return switch self {
        case .short:
            ("the password is too short", "Use at least \(PasswordRules.leastCharacters) characters. \(remedy)")
        case .long: ("the password is too long", "Use at most \(PasswordRules.mostBytes) bytes.")
        case .control:
            (
                "the password holds a tab, a line break or another character that is not typed",
                "Type it, or copy it alone."
            )
        case .name: ("the password is little else than a name that everybody knows", remedy)
        case .repeated: ("the password repeats a few characters", remedy)
        case .sequence: ("the password is a sequence of characters", remedy)
        case .common: ("the password is one of those that are tried first", remedy)
        }
    }
}

/// Which passwords are accepted. Source: NIST SP 800-63B section 5.1.1.2 (length instead of classes
/// of characters, comparison with common and expected values, no regular change); the least length
/// is that of OWASP ASVS 4.0.3, 2.1.1.
public enum PasswordRules {
    /// Unicode characters (scalars).
    public static let leastCharacters = 12
    /// Bytes of UTF-8, so that hashing takes the same time for all.
    public static let mostBytes = 256
    /// What must remain of a password without names and common words.
    private static let leastOwnCharacters = 6

    /// Why a new password is refused; nil if it is accepted.
    public static func flaw(in password: String, name: AccountName, displayName: DisplayName?) -> PasswordFlaw? {
        if password.utf8.count > mostBytes { return .long }
        let scalars = Array(password.unicodeScalars)
        if scalars.contains(where: { $0.properties.generalCategory == .control }) { return .control }
        if scalars.count < leastCharacters { return .short }
        let lowered = Array(password.lowercased().unicodeScalars)
        if isRepeated(lowered) { return .repeated }
        if isSequence(lowered) { return .sequence }
        if isCommon(password.lowercased()) { return .common }
        return isName(password.lowercased(), name: name, displayName: displayName) ? .name : nil
    }

    /// Fewer than four different characters, or a piece of less than eight that repeats over and
    /// over.
    private static func isRepeated(_ scalars: [Unicode.Scalar]) -> Bool {
        if Set(scalars).count < 4 { return true }
        return (1..<8).contains { length in
            scalars.indices.dropFirst(length).allSatisfy { scalars[$0] == scalars[$0 - length] }
        }
    }

    /// Whether all but a few characters follow the one before, upwards, downwards or as on a row of
    /// the keyboard.
    private static func isSequence(_ scalars: [Unicode.Scalar]) -> Bool {
        let steps = zip(scalars, scalars.dropFirst()).count { before, after in
            abs(Int(before.value) - Int(after.value)) <= 1 || CommonPasswords.areNeighbours(before, after)
        }
        return steps >= scalars.count - 1 - 2
    }

    private static func isCommon(_ lowered: String) -> Bool {
        if CommonPasswords.whole.contains(lowered) { return true }
        // `Welcome2026!` is the word with a year: attackers try the same additions to a word that
        // people use.
        let plain = String(String.UnicodeScalarView(lowered.unicodeScalars.map { CommonPasswords.letters[$0] ?? $0 }))
        return own(in: plain, without: CommonPasswords.words) < leastOwnCharacters
            || own(in: lowered, without: CommonPasswords.words) < leastOwnCharacters
    }

    private static func isName(_ lowered: String, name: AccountName, displayName: DisplayName?) -> Bool {
        var names: Set<String> = ["volley", name.text]
        for text in [name.text, displayName?.text.lowercased() ?? ""] {
            names.formUnion(text.split { !$0.isLetter && !$0.isNumber }.map(String.init))
        }
        return own(in: lowered, without: names.filter { $0.count >= 3 }) < leastOwnCharacters
    }

    /// How many characters are left without the words, the longest taken out first. Without any of
    /// the words, all count.
    private static func own(in text: String, without words: Set<String>) -> Int {
        var rest = text
        for word in words.sorted(by: { ($0.count, $0) > ($1.count, $1) }) { rest = rest.replacing(word, with: "") }
        return rest == text ? .max : rest.unicodeScalars.count
    }
}

/// Passwords that attackers try first and that are long enough to be accepted otherwise. A small
/// list: the brake on failures lets few guesses pass. Source: the most frequent entries of at least
/// 12 characters in the published lists of leaked passwords (SecLists), and the words that most of
/// the others are made of.
enum CommonPasswords {
    /// In small letters.
    static let whole: Set<String> = [
        "1q2w3e4r5t6y", "1q2w3e4r5t6y7u8i", "q1w2e3r4t5y6", "q1w2e3r4t5y6u7i8", "1qaz2wsx3edc", "1qaz2wsx3edc4rfv",
        "zaq12wsxcde3",
        "zaq1xsw2cde3", "123qweasdzxc", "qweasdzxc123", "qwerty123456", "123456qwerty", "qwertyuiop123", "qwertyuiop[]",
        "asdfghjkl123",
        "a123456789012", "abc123456789", "abcd12345678", "123456789abc", "123456789qwe", "1234567890qwertyuiop",
        "qazwsxedcrfv",
        "qazwsxedc123", "1a2b3c4d5e6f", "a1b2c3d4e5f6", "aa123456789a", "11223344556677", "112233445566",
        "111222333444", "147258369147",
        "147258369000", "789456123000", "789456123789", "159357159357", "987654321000", "woaini1314520", "woaini520131",
        "5201314520131",
        "5201314woaini", "zxcvbnm123456", "unbelievable", "thisisapassword", "correcthorsebatterystaple",
        "correct horse battery staple",
        "trustno1trustno1", "nevermind123", "tobeornottobe", "maythe4thbewithyou", "maytheforcebewithyou",
        "onetwothreefour",
        "manchesterunited", "liverpoolfc1", "harrypotter1", "spongebob123", "mynameis1234", "idontknow123",
        "dontknow1234", "default12345",
    ]

    /// Words that make no password with only a few more characters, in small letters.
    static let words: Set<String> = [
        "password", "passwort", "passwd", "motdepasse", "contrasena", "kennwort", "mima", "secret", "welcome",
        "willkommen", "bienvenue",
        "administrator", "admin", "root", "letmein", "changeme", "iloveyou", "woaini", "qwertyuiop", "qwerty", "qwertz",
        "azerty",
        "asdfghjkl", "zxcvbnm", "monkey", "dragon", "sunshine", "princess", "football", "baseball", "superman",
        "batman", "starwars",
        "pokemon", "summer", "winter", "spring", "autumn", "january", "february", "october", "november", "december",
        "test", "guest",
        "login", "marketing", "company", "campaign", "console", "hello", "master", "shadow", "michael", "jennifer",
        "charlie",
    ]

    /// What is written for letters.
    static let letters: [Unicode.Scalar: Unicode.Scalar] = [
        "@": "a", "4": "a", "3": "e", "1": "l", "!": "i", "0": "o", "$": "s", "5": "s", "7": "t",
    ]

    private static let rows = ["1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "azertyuiop"].map {
        Array($0.unicodeScalars)
    }

    /// Whether two keys are next to one another in a row of a keyboard.
    static func areNeighbours(_ one: Unicode.Scalar, _ other: Unicode.Scalar) -> Bool {
        rows.contains { row in
            guard let place = row.firstIndex(of: one), let next = row.firstIndex(of: other) else { return false }
            return abs(place - next) == 1
        }
    }
}
