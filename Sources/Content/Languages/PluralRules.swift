// Made by Tests/Fixtures/make_languages.py from CLDR 47 (Babel 2.18.0); do not edit.

/// The plural rules of all languages in `LanguageData`. Source: CLDR's supplemental/plurals.xml,
/// UTS #35 part 3, "Language Plural Rules".
///
/// Operands: `i` the whole part, `f` the digits behind the point without zeros at the end, `v` how
/// many those are. (What CLDR calls t and w are the same here, as zeros at the end do not count.)
struct PluralOperands {
    var i: UInt64
    var f: UInt64
    var v: Int

    private var isWhole: Bool { v == 0 }

    /// The form of the number by a rule of the table.
    func form(_ rule: Int) -> PluralForm {
        switch rule {
        // af az bg el eu hu ka kk ky ml mn mr nb ne nn sq ta te tr uz
        case 0:
            if isWhole && i == 1 { return .one }
        // am bn fa gu hi kn zu
        case 1:
            if i == 0 || isWhole && i == 1 { return .one }
        // ar ar-EG
        case 2:
            if isWhole && (3...10).contains(i % 100) { return .few }
            if isWhole && (11...99).contains(i % 100) { return .many }
            if isWhole && i == 1 { return .one }
            if isWhole && i == 2 { return .two }
            if isWhole && i == 0 { return .zero }
        // be
        case 3:
            if isWhole && (2...4).contains(i % 10) && !(isWhole && (12...14).contains(i % 100)) { return .few }
            if (isWhole && i % 10 == 0 || isWhole && (5...9).contains(i % 10)) || isWhole && (11...14).contains(i % 100)
            {
                return .many
            }
            if isWhole && i % 10 == 1 && !(isWhole && i % 100 == 11) { return .one }
        // bs hr sr sr-Latn
        case 4:
            if v == 0 && (2...4).contains(i % 10) && !((12...14).contains(i % 100))
                || (2...4).contains(f % 10) && !((12...14).contains(f % 100))
            {
                return .few
            }
            if v == 0 && i % 10 == 1 && i % 100 != 11 || f % 10 == 1 && f % 100 != 11 { return .one }
        // ca it it-CH pt-PT
        case 5:
            if i != 0 && i % 1000000 == 0 && v == 0 { return .many }
            if i == 1 && v == 0 { return .one }
        // cs sk
        case 6:
            if (2...4).contains(i) && v == 0 { return .few }
            if v != 0 { return .many }
            if i == 1 && v == 0 { return .one }
        // cy
        case 7:
            if isWhole && i == 3 { return .few }
            if isWhole && i == 6 { return .many }
            if isWhole && i == 1 { return .one }
            if isWhole && i == 2 { return .two }
            if isWhole && i == 0 { return .zero }
        // da
        case 8:
            if isWhole && i == 1 || f != 0 && (i == 0 || i == 1) { return .one }
        // de de-AT de-CH en en-001 en-AU en-CA en-GB en-IN et fi gl nl sv sw ur
        case 9:
            if i == 1 && v == 0 { return .one }
        // es es-419 es-MX es-US
        case 10:
            if i != 0 && i % 1000000 == 0 && v == 0 { return .many }
            if isWhole && i == 1 { return .one }
        // fil
        case 11:
            if (v == 0 && (i == 1 || i == 2 || i == 3) || v == 0 && !(i % 10 == 4 || i % 10 == 6 || i % 10 == 9))
                || v != 0 && !(f % 10 == 4 || f % 10 == 6 || f % 10 == 9)
            {
                return .one
            }
        // fr fr-CA fr-CH
        case 12:
            if i != 0 && i % 1000000 == 0 && v == 0 { return .many }
            if i == 0 || i == 1 { return .one }
        // ga
        case 13:
            if isWhole && (3...6).contains(i) { return .few }
            if isWhole && (7...10).contains(i) { return .many }
            if isWhole && i == 1 { return .one }
            if isWhole && i == 2 { return .two }
        // he
        case 14:
            if i == 1 && v == 0 || i == 0 && v != 0 { return .one }
            if i == 2 && v == 0 { return .two }
        // hy
        case 15:
            if i == 0 || i == 1 { return .one }
        // id ja km ko lo ms my th vi zh zh-Hant zh-Hant-HK
        case 16:
            break
        // is
        case 17:
            if f == 0 && i % 10 == 1 && i % 100 != 11 || f % 10 == 1 && f % 100 != 11 { return .one }
        // lt
        case 18:
            if isWhole && (2...9).contains(i % 10) && !(isWhole && (11...19).contains(i % 100)) { return .few }
            if f != 0 { return .many }
            if isWhole && i % 10 == 1 && !(isWhole && (11...19).contains(i % 100)) { return .one }
        // lv
        case 19:
            if (isWhole && i % 10 == 1 && !(isWhole && i % 100 == 11) || v == 2 && f % 10 == 1 && f % 100 != 11)
                || v != 2 && f % 10 == 1
            {
                return .one
            }
            if (isWhole && i % 10 == 0 || isWhole && (11...19).contains(i % 100))
                || v == 2 && (11...19).contains(f % 100)
            {
                return .zero
            }
        // mk
        case 20:
            if v == 0 && i % 10 == 1 && i % 100 != 11 || f % 10 == 1 && f % 100 != 11 { return .one }
        // pa
        case 21:
            if isWhole && (0...1).contains(i) { return .one }
        // pl
        case 22:
            if v == 0 && (2...4).contains(i % 10) && !((12...14).contains(i % 100)) { return .few }
            if (v == 0 && i != 1 && (0...1).contains(i % 10) || v == 0 && (5...9).contains(i % 10))
                || v == 0 && (12...14).contains(i % 100)
            {
                return .many
            }
            if i == 1 && v == 0 { return .one }
        // pt
        case 23:
            if i != 0 && i % 1000000 == 0 && v == 0 { return .many }
            if (0...1).contains(i) { return .one }
        // ro
        case 24:
            if (v != 0 || isWhole && i == 0) || !(isWhole && i == 1) && isWhole && (1...19).contains(i % 100) {
                return .few
            }
            if i == 1 && v == 0 { return .one }
        // ru uk
        case 25:
            if v == 0 && (2...4).contains(i % 10) && !((12...14).contains(i % 100)) { return .few }
            if (v == 0 && i % 10 == 0 || v == 0 && (5...9).contains(i % 10)) || v == 0 && (11...14).contains(i % 100) {
                return .many
            }
            if v == 0 && i % 10 == 1 && i % 100 != 11 { return .one }
        // si
        case 26:
            if isWhole && (i == 0 || i == 1) || i == 0 && f == 1 { return .one }
        // sl
        case 27:
            if v == 0 && (3...4).contains(i % 100) || v != 0 { return .few }
            if v == 0 && i % 100 == 1 { return .one }
            if v == 0 && i % 100 == 2 { return .two }
        default: break
        }
        return .other
    }

    /// The forms that whole numbers below a million take by a rule: a text in such a language has
    /// each of them.
    static let usualForms: [[PluralForm]] = [
        [.one, .other],
        [.one, .other],
        [.zero, .one, .two, .few, .many, .other],
        [.one, .few, .many],
        [.one, .few, .other],
        [.one, .other],
        [.one, .few, .other],
        [.zero, .one, .two, .few, .many, .other],
        [.one, .other],
        [.one, .other],
        [.one, .other],
        [.one, .other],
        [.one, .other],
        [.one, .two, .few, .many, .other],
        [.one, .two, .other],
        [.one, .other],
        [.other],
        [.one, .other],
        [.one, .few, .other],
        [.zero, .one, .other],
        [.one, .other],
        [.one, .other],
        [.one, .few, .many],
        [.one, .other],
        [.one, .few, .other],
        [.one, .few, .many],
        [.one, .other],
        [.one, .two, .few, .other],
    ]

    /// All forms that a rule distinguishes.
    static let allForms: [[PluralForm]] = [
        [.one, .other],
        [.one, .other],
        [.zero, .one, .two, .few, .many, .other],
        [.one, .few, .many, .other],
        [.one, .few, .other],
        [.one, .many, .other],
        [.one, .few, .many, .other],
        [.zero, .one, .two, .few, .many, .other],
        [.one, .other],
        [.one, .other],
        [.one, .many, .other],
        [.one, .other],
        [.one, .many, .other],
        [.one, .two, .few, .many, .other],
        [.one, .two, .other],
        [.one, .other],
        [.other],
        [.one, .other],
        [.one, .few, .many, .other],
        [.zero, .one, .other],
        [.one, .other],
        [.one, .other],
        [.one, .few, .many, .other],
        [.one, .many, .other],
        [.one, .few, .other],
        [.one, .few, .many, .other],
        [.one, .other],
        [.one, .two, .few, .other],
    ]
}
