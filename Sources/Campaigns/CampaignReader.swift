public import Base

extension Campaign {
    /// Reads and checks a campaign file. No file but this one is touched.
    /// - Parameter now: the moment against which an expiry is judged as past.
    /// - Throws: every mistake of the file at once.
    /// - Returns: the campaign, and warnings.
    public static func read(file: String, now: Timestamp) throws(Diagnostics) -> (Campaign, [Diagnostic]) { fatalError("skeleton") }
}

extension Project {
    /// Reads and checks volley.yaml. No file but this one is touched.
    /// - Throws: every mistake of the file at once.
    public static func read(file: String) throws(Diagnostics) -> (Project, [Diagnostic]) { fatalError("skeleton") }
}
