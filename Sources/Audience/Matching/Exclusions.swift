/// What excludes a device, as bits: tags, aliases, registration ids, and each of the lists of
/// devices. A device that several of them exclude counts for each of them.
struct Exclusions: OptionSet, Sendable {
    let rawValue: Int

    static let tags = Exclusions(rawValue: 1)
    static let aliases = Exclusions(rawValue: 2)
    static let registrationIDs = Exclusions(rawValue: 4)
    /// A cell that `where` leaves out, of a row without a date. Such a row is filtered, so this
    /// counts for no part of `exclude`.
    static let whereCell = Exclusions(rawValue: 256)

    /// Lists that are counted separately; further ones share the last one's bit. With the others
    /// they must be less than `RecipientCheck.groupLimit`.
    static let mostLists = 5

    /// - Parameter mask: of `ExcludedDevices.lists`.
    static func lists(_ mask: Int) -> Exclusions { Exclusions(rawValue: mask << 3) }
}
