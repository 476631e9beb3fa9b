/// The format of the file of accounts.
public enum AccountFormat {
    /// The newest that this Volley reads, and the one that it writes. It reads all older ones.
    public static let newest = AccountSchema.version
}
