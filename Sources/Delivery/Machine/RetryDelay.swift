import Base
import PushServices

extension RetryPolicy {
    /// Returns the wait before the attempt that follows `attempts` attempts: exponential with full
    /// jitter.
    /// Source: AWS Architecture Blog, "Exponential Backoff And Jitter".
    /// - Parameter retryAfterSeconds: the wait that the server requests. The result is never
    ///   shorter.
    func delayNanoseconds(afterAttempts attempts: Int, retryAfterSeconds: Double?, random: inout SplitMix) -> Int64 {
        let doublings = Double(min(max(attempts - 1, 0), 60))
        var ceiling = max(0, firstDelaySeconds)
        if doublings > 0 { ceiling = min(longestDelaySeconds, ceiling * exponentOfTwo(doublings)) }
        let longest = max(0, min(longestDelaySeconds, ceiling))
        let jittered = Double.random(in: min(max(0, shortestDelaySeconds), longest)...longest, using: &random)
        return Int64(nanosecondsFromSeconds: max(jittered, retryAfterSeconds ?? 0))
    }

    private func exponentOfTwo(_ exponent: Double) -> Double {
        Double(sign: .plus, exponent: Int(exponent), significand: 1)
    }
}
