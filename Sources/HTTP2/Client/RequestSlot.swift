/// A request from `submit` to the end of its stream. Slots and their memory are used again: nothing is allocated per request.
struct RequestSlot {
    /// Path, own header and body, one after the other. nghttp2 reads them from here, so they stay put until the stream is closed.
    private(set) var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var pathCount = 0, ownCount = 0, bodyCount = 0
    var bodyRead = 0
    /// The caller's name for it; -1 once the caller has heard its end, or does not want to.
    var tag = -1
    var streamID: Int32 = 0
    var isOpen = false
    /// How many bytes had been collected before the frame that ends the request; nil until that frame was made.
    var lastFrameStart: Int?
    var status: Int32 = 0
    /// -1 for none.
    var retryAfterSeconds: Int32 = -1
    var answer: [UInt8] = []

    init(capacity: Int) {
        self.capacity = max(512, capacity)
        memory = .allocate(capacity: self.capacity)
    }

    mutating func reserve(_ wanted: Int) {
        guard wanted > capacity else { return }
        memory.deallocate()
        capacity = wanted
        memory = .allocate(capacity: wanted)
    }

    mutating func begin(
        tag: Int, path: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>), own: UnsafeBufferPointer<UInt8>,
        body: UnsafeBufferPointer<UInt8>
    ) {
        var end = memory
        Self.copy(path.0, to: &end)
        Self.copy(path.1, to: &end)
        Self.copy(own, to: &end)
        Self.copy(body, to: &end)
        (pathCount, ownCount, bodyCount) = (path.0.count + path.1.count, own.count, body.count)
        bodyRead = 0
        self.tag = tag
        isOpen = true
        lastFrameStart = nil
        status = 0
        retryAfterSeconds = -1
        answer = []
    }

    var unreadBody: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: memory + pathCount + ownCount + bodyRead, count: bodyCount - bodyRead)
    }

    private static func copy(_ piece: UnsafeBufferPointer<UInt8>, to end: inout UnsafeMutablePointer<UInt8>) {
        guard let start = piece.baseAddress else { return }
        end.update(from: start, count: piece.count)
        end += piece.count
    }
}
