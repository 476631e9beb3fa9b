/// Unpredictable bytes from the system's generator (getrandom(2)).
public enum RandomBytes {
    /// - Parameter count: at least 0.
    public static func make(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
}
