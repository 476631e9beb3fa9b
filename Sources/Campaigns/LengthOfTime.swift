public import Base

/// Lengths of time as campaigns and commands take them.
///
/// ```swift
/// let seconds = try LengthOfTime.seconds("90min")  // 5400
/// ```
public enum LengthOfTime {
    /// The seconds of `30s`, `15min`, `4h`, `90d`, `1w`: 0 to a hundred years.
    /// - Throws: `Diagnostic` when the text is not a length of time.
    public static func seconds(_ text: String) throws(Diagnostic) -> Int {
        do { return try DurationNotation.seconds(text) } catch { throw Diagnostic(error.message, remedy: error.remedy) }
    }
}
