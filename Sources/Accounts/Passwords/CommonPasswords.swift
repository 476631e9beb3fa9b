/// Passwords that are tried first, as far as they are long enough to be accepted otherwise. A small list: the brake on failures lets few
/// guesses pass. Source: the most frequent entries of at least 12 characters in the published lists of leaked passwords (SecLists), and the
/// words that most of the others are made of.
enum CommonPasswords {
    /// In small letters.
    static let whole: Set<String> = [
        "1q2w3e4r5t6y", "1q2w3e4r5t6y7u8i", "q1w2e3r4t5y6", "q1w2e3r4t5y6u7i8", "1qaz2wsx3edc", "1qaz2wsx3edc4rfv", "zaq12wsxcde3",
        "zaq1xsw2cde3", "123qweasdzxc", "qweasdzxc123", "qwerty123456", "123456qwerty", "qwertyuiop123", "qwertyuiop[]", "asdfghjkl123",
        "a123456789012", "abc123456789", "abcd12345678", "123456789abc", "123456789qwe", "1234567890qwertyuiop", "qazwsxedcrfv",
        "qazwsxedc123", "1a2b3c4d5e6f", "a1b2c3d4e5f6", "aa123456789a", "11223344556677", "112233445566", "111222333444", "147258369147",
        "147258369000", "789456123000", "789456123789", "159357159357", "987654321000", "woaini1314520", "woaini520131", "5201314520131",
        "5201314woaini", "zxcvbnm123456", "unbelievable", "thisisapassword", "correcthorsebatterystaple", "correct horse battery staple",
        "trustno1trustno1", "nevermind123", "tobeornottobe", "maythe4thbewithyou", "maytheforcebewithyou", "onetwothreefour",
        "manchesterunited", "liverpoolfc1", "harrypotter1", "spongebob123", "mynameis1234", "idontknow123", "dontknow1234", "default12345",
    ]

    /// Words of which little more than themselves is no password, in small letters.
    static let words: Set<String> = [
        "password", "passwort", "passwd", "motdepasse", "contrasena", "kennwort", "mima", "secret", "welcome", "willkommen", "bienvenue",
        "administrator", "admin", "root", "letmein", "changeme", "iloveyou", "woaini", "qwertyuiop", "qwerty", "qwertz", "azerty",
        "asdfghjkl", "zxcvbnm", "monkey", "dragon", "sunshine", "princess", "football", "baseball", "superman", "batman", "starwars",
        "pokemon", "summer", "winter", "spring", "autumn", "january", "february", "october", "november", "december", "test", "guest",
        "login", "marketing", "company", "campaign", "console", "hello", "master", "shadow", "michael", "jennifer", "charlie",
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
