/// Cells in a column of people's names that cannot be names: `?`, `12345`, `a@b.c`.
public enum NameCell {
    /// Whether a column holds people's names, judged by its own name.
    public static func isColumn(_ name: String) -> Bool {
        let plain = name.lowercased().filter { $0 != "_" && $0 != " " && $0 != "-" }
        return [
            "name", "firstname", "lastname", "fname", "lname", "fullname", "givenname", "surname", "forename",
            "nickname", "vorname",
            "nachname",
            "prenom", "prénom", "nombre", "nome",
        ].contains(plain)
    }

    /// Whether a cell is not a name.
    /// - Parameter cell: not blank.
    public static func isNoName(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        // Letters of other scripts begin above ASCII.
        guard cell.contains(where: { $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") || $0 > 0x7F })
        else { return true }
        return cell.firstIndex(of: UInt8(ascii: "@")).map { cell[$0...].contains(UInt8(ascii: ".")) } ?? false
    }
}
