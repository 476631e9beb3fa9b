/// Words in a text that should have been replaced: names of columns, and what people call a text's parts before they are written.
enum PlaceName {
    /// Whether a word is more likely a column's name than anything else.
    static func isColumn(_ word: some StringProtocol) -> Bool {
        let plain = folded(word)
        return names.contains(plain) || others.contains(plain) || plain.hasSuffix("name") && plain.count <= 16
    }

    /// Whether a word asks for a person's name.
    static func isName(_ word: some StringProtocol) -> Bool { names.contains(folded(word)) }

    /// Whether a word can only be a program's name for something: `firstname`, `FirstName`, `FNAME`.
    static func isOfProgram(_ word: String) -> Bool { ["firstname", "lastname", "fname", "lname"].contains(word.lowercased()) }

    /// Whether words between signs are most likely a placeholder: `First Name`, `your name`, `Name here`, `insert text`, `CITY`.
    static func isPlace(_ words: [String]) -> Bool {
        guard let first = words.first else { return false }
        if words.count == 1 {
            let plain = folded(first)
            let isShouted = first == first.uppercased() && (isColumn(first) || parts.contains(plain))
            return plain == "placeholder" || isShouted || first.contains("_") && isColumn(first)
                || !first.utf8.elementsEqual(plain.utf8)
                    && first.utf8.contains { $0 > 0x7F } && isName(first)
        }
        let known = words.filter { !["your", "insert", "enter", "here"].contains($0.lowercased()) }
        guard !known.isEmpty else { return false }
        return first.lowercased() == "insert" || isColumn(known.joined())
            || known.count < words.count && known.allSatisfy { parts.contains(folded($0)) }
    }

    /// Whether a text for blank cells is the name of a column with people's names: `first name`, `Customer Name`. `your city` may be the
    /// intended text.
    static func isNameForBlank(_ text: String) -> Bool {
        let words = text.split(separator: " ")
        return words.count > 1 && words.count < 4 && (isName(words.joined()) || words.last?.lowercased() == "name")
    }

    /// What to write for a column that was named in another way. The name is unchanged only if an export may have it.
    static func remedy(for written: some StringProtocol) -> String {
        column(for: written).map { "Write {{ \($0) }}" } ?? suggestion(for: written)
    }

    /// The same if a column may not be meant.
    static func suggestion(for written: some StringProtocol) -> String {
        "For a column write \(column(for: written).map { "{{ \($0) }}" } ?? "its name, as in {{ first_name }}")"
    }

    /// The column that a word may name unchanged; nil for a word that is more likely not a column.
    static func column(for written: some StringProtocol) -> String? {
        let name = String(written)
        guard name.utf8.allSatisfy({ $0 < 0x80 }), !name.contains(" ") else { return nil }
        if name.contains("_") { return name == name.uppercased() ? name.lowercased() : name }
        return name.first?.isLowercase ?? false && isColumn(name) ? name : nil
    }

    /// Whether a word greets the person named next.
    static func isGreeting(_ word: some StringProtocol) -> Bool { greetings.contains(word.lowercased()) }

    private static func folded(_ word: some StringProtocol) -> String {
        word.lowercased().filter { $0 != "_" && $0 != " " }.replacing("é", with: "e")
    }

    /// In lower-case letters, without accents and without underscores between the words.
    private static let names: Set<String> = [
        "name", "firstname", "lastname", "fname", "lname", "fullname", "username", "nickname", "vorname", "nachname", "prenom", "nombre",
        "nome",
    ]
    private static let others: Set<String> = ["customer", "customername", "points", "balance", "city", "store", "email"]

    /// What drafts call the parts of a text.
    private static let parts: Set<String> = [
        "placeholder", "text", "title", "headline", "body", "date", "day", "time", "price", "amount", "discount", "code", "coupon", "link",
        "url", "product", "item", "brand", "company", "shop", "location",
    ]

    private static let greetings: Set<String> = [
        "hi", "hello", "hey", "dear", "hallo", "liebe", "lieber", "servus", "moin", "bonjour", "salut", "cher", "chère", "hola", "querida",
        "querido", "ciao", "cara", "caro", "olá", "beste", "hej", "hei", "merhaba",
    ]
}
