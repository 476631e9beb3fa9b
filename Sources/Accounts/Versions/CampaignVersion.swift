public import Base

/// A campaign file as it was saved in the console. A change outside the console has no version
/// until it is saved here.
public struct CampaignVersion: Hashable, Sendable {
    /// Its place among all versions, from 1 on.
    public let number: Int64
    /// The file's name in the folder that the console serves.
    public let file: String
    /// The app that it names; nil if that cannot be read.
    public let app: String?
    /// SHA-256 of the text's bytes, 64 hex digits.
    public let digest: String
    /// The person that saved it.
    public let person: Activity.Person
    /// When, by the clock of the machine.
    public let at: Timestamp
}

/// A text that another campaign file was made from.
public struct VersionSource: Hashable, Sendable {
    /// The name of its file.
    public let file: String
    /// SHA-256 of its bytes, 64 hex digits.
    public let digest: String
    /// Digests of texts of its campaign that were sent before: everything written up to them was
    /// approved.
    public let agreed: Set<String>

    /// A text of a file.
    public init(file: String, digest: String, agreed: Set<String>) {
        (self.file, self.digest, self.agreed) = (file, digest, agreed)
    }
}
