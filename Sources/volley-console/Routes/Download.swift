import Base
import Hummingbird
import NIOCore
import NIOPosix

/// Sends what a thread writes, part by part: the thread waits until a part was taken, so that memory does not grow with the file.
struct Download: Sendable {
    typealias Write = @Sendable (_ part: ([UInt8]) throws -> Void) throws -> Void

    private struct Part {
        var bytes: [UInt8]
        var taken: EventLoopPromise<Void>
    }

    private let write: Write

    init(_ write: @escaping Write) { self.write = write }

    /// - Throws: whatever writing throws: the answer is cut off then, which a browser notices.
    func send(to writer: inout any ResponseBodyWriter) async throws {
        let (parts, continuation) = AsyncThrowingStream<Part, any Error>.makeStream()
        let (loop, write) = (MultiThreadedEventLoopGroup.singleton.any(), write)
        try detachThread {
            do {
                try write { bytes in
                    let part = Part(bytes: bytes, taken: loop.makePromise())
                    if case .terminated = continuation.yield(part) { part.taken.fail(CancellationError()) }
                    try part.taken.futureResult.wait()
                }
                continuation.finish()
            } catch { continuation.finish(throwing: error) }
        }
        for try await part in parts {
            do { try await writer.write(ByteBuffer(bytes: part.bytes)) } catch {
                part.taken.fail(error)
                throw error
            }
            part.taken.succeed()
        }
        try await writer.finish(nil)
    }
}
