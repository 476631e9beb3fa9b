/// Cells of a column of people's names that are no names, and that nobody wants to be greeted by: `?`, `12345`, `a@b.c`, `Unknown`.
public enum NameCell {
    /// Whether a column holds people's names, by its own.
    public static func isColumn(_ name: String) -> Bool {
        let plain = name.lowercased().filter { $0 != "_" && $0 != " " && $0 != "-" }
        return [
            "name", "firstname", "lastname", "fname", "lname", "fullname", "givenname", "surname", "forename", "nickname", "vorname",
            "nachname",
            "prenom", "prénom", "nombre", "nome",
        ].contains(plain)
    }

    /// Whether a cell is no name.
    /// - Parameter cell: not blank.
    public static func isNoName(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        // Letters of other scripts begin above ASCII.
        guard cell.contains(where: { $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") || $0 > 0x7F }) else { return true }
        if let sign = cell.firstIndex(of: UInt8(ascii: "@")) { return cell[sign...].contains(UInt8(ascii: ".")) }
        return cell.count <= 10 && words.contains(String(decoding: cell, as: UTF8.self).lowercased())
    }

    /// What programs and people write who do not know a name.
    private static let words: Set<String> = [
        "test", "tester", "unknown", "guest", "anonymous", "xxx", "xx", "asdf", "qwerty", "user", "firstname", "first name", "first_name",
        "name", "no name", "noname", "unbekannt", "gast", "inconnu", "invitado",
    ]
}
