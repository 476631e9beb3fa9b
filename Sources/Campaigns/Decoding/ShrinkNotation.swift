import Base

/// `audience.shrinks_at_most`: a share, or `off`.
enum ShrinkNotation {
    static let off = "off"

    /// Reads `50%`, `0.5%`, `off`.
    static func limit(_ text: String) throws(Mistake) -> ShrinkLimit {
        let text = text.trimmingSpaces()
        if text == off { return .off }
        if ["no", "none", "never", "false", "disabled", "unlimited"].contains(text.lowercased())
            || text.lowercased() == off
        {
            throw Mistake(
                "\(quoted(text)) is neither a share nor 'off'",
                remedy:
                    "To send however small the audience is now, write shrinks_at_most: off; otherwise a share, for example: 50%."
            )
        }
        if (try? Percentage.share(text)) == 0 {
            throw Mistake(
                "a limit of \(quoted(text)) would hold the campaign back as soon as a single device is gone",
                remedy: "Write a share above 0%, for example: 50%; or off.")
        }
        return .atMost(try StopReader.share(text))
    }
}
