import Base

extension RunChain {
    /// The runs that retry `id` and may have sent, or may still: all but plans that were cancelled before anything of
    /// them was sent.
    package func standingRetries(of id: String) throws -> [RunFile] {
        try retries(of: id).filter { try $0.countsAsRetry() }
    }

    /// The runs that retry `id` and were recorded as about to begin, but cancelled before they did: nothing of them was
    /// or will be sent.
    package func abandonedRetries(of id: String, _ record: SendingHistory) throws -> Set<String> {
        let givenUp = try retries(of: id).filter { retry in
            guard let former = try record.entry(of: retry.plan.id)?.previousEpoch else { return false }
            defer { retry.close() }
            do { return try retry.status().state == .cancelled && !retry.hasBegun() && retry.status().epoch == former } catch {
                guard !retry.isInPlace else { throw error }
                return false
            }
        }
        return Set(givenUp.map(\.plan.id))
    }
}

extension RunFile {
    /// Whether this retry may have sent, or may still: not when it was cancelled before anything of it was sent.
    package func countsAsRetry() throws -> Bool {
        defer { close() }
        do { return try status().state != .cancelled || hasBegun() } catch {
            // Abandoned and removed by the command that created it.
            guard !isInPlace else { throw error }
            return false
        }
    }
}
