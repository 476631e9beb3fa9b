/// An answer as it arrives. libcurl's callback holds this object unretained.
final class AnswerBytes {
    private(set) var bytes: [UInt8] = []
    private(set) var isTooLarge = false
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Returns whether the answer is not too large yet.
    func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count + piece.count <= limit else {
            isTooLarge = true
            return false
        }
        bytes += piece
        return true
    }
}
