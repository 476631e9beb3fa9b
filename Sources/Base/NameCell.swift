/// Cells in a column of people's names that are not names, and with which nobody should be greeted: `?`, `12345`, `a@b.c`, `Unknown`.
public enum NameCell {
    /// Whether a column holds people's names, judged by its own name.
    public static func isColumn(_ name: String) -> Bool {
        let plain = name.lowercased().filter { $0 != "_" && $0 != " " && $0 != "-" }
        return [
            "name", "firstname", "lastname", "fname", "lname", "fullname", "givenname", "surname", "forename", "nickname", "vorname",
            "nachname",
            "prenom", "prénom", "nombre", "nome",
        ].contains(plain)
    }

    /// Whether a cell is not a name.
    /// - Parameter cell: not blank.
    public static func isNoName(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        // Letters of other scripts begin above ASCII.
        guard cell.contains(where: { $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") || $0 > 0x7F }) else { return true }
        if let sign = cell.firstIndex(of: UInt8(ascii: "@")) { return cell[sign...].contains(UInt8(ascii: ".")) }
        return isWord(cell)
    }

    /// Whether a cell is one of the words, in any case. Works on bytes, because the names of every export are checked.
    private static func isWord(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        guard cell.count <= mostBytes, let first = cell.first, beginnings >> UInt32(first & 0x1F) & 1 != 0 else { return false }
        return words.contains { word in
            word.utf8CodeUnitCount == cell.count && cell.indices.allSatisfy { small(cell[$0]) == word.utf8Start[$0] }
        }
    }

    private static func small(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }

    /// What programs and people write for an unknown name, in ASCII.
    private static let words: [StaticString] = [
        "test", "tester", "unknown", "guest", "anonymous", "xxx", "xx", "asdf", "qwerty", "user", "firstname", "first name", "first_name",
        "name", "no name", "noname", "unbekannt", "gast", "inconnu", "invitado",
    ]
    private static let mostBytes = 10
    /// Bit n: some word begins with a letter whose lower five bits are n.
    private static let beginnings: UInt32 = words.reduce(0) { $0 | 1 << UInt32($1.utf8Start.pointee & 0x1F) }
}
