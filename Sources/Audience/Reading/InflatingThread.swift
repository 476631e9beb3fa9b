import Base
import Synchronization

/// Inflates a gzip file ahead of its reader: inflating takes longer than anything else done with an export.
///
/// `@unchecked Sendable`: `rest` belongs to the one thread that reads; the inflating thread shares only a queue and an atomic.
final class InflatingThread: @unchecked Sendable {
    private enum Piece: Sendable {
        case bytes([UInt8])
        case failure(Diagnostic)
    }

    private static let pieceSize = 256 << 10
    private static let piecesAhead = 4

    private let pieces = BoundedQueue<Piece>(capacity: piecesAhead)
    private let compressedBytes: Shared
    private let thread: WorkerThread<Void>
    private var rest: ArraySlice<UInt8> = []

    private final class Shared: Sendable {
        let bytesRead = Atomic(0)
    }

    /// The thread takes over the source.
    private final class Handover: @unchecked Sendable {
        var source: ByteSource?
        init(_ source: consuming ByteSource) { self.source = consume source }
    }

    /// - Throws: a `Diagnostic` when no thread can be started.
    init(_ source: consuming ByteSource) throws(Diagnostic) {
        let shared = Shared(), handover = Handover(consume source), pieces = pieces
        compressedBytes = shared
        thread = try WorkerThread("inflate") { Self.inflate(handover, into: pieces, shared) }
    }

    deinit {
        pieces.close()
        thread.join()
    }

    /// Bytes read from the disk so far.
    var bytesRead: Int { compressedBytes.bytesRead.load(ordering: .relaxed) }

    /// Fills `target`; returns fewer bytes than asked for only at the end of the file.
    func read(into target: UnsafeMutableBufferPointer<UInt8>) throws(Diagnostic) -> Int {
        var filled = 0
        while filled < target.count {
            if rest.isEmpty {
                switch pieces.take() {
                case .bytes(let bytes): rest = bytes[...]
                case .failure(let mistake): throw mistake
                case nil: return filled
                }
            }
            let count = min(rest.count, target.count - filled)
            let room = UnsafeMutableBufferPointer(rebasing: target[filled..<filled + count])
            _ = room.update(fromContentsOf: rest.prefix(count))
            rest = rest.dropFirst(count)
            filled += count
        }
        return filled
    }

    private static func inflate(_ handover: Handover, into pieces: BoundedQueue<Piece>, _ shared: Shared) {
        guard var source = handover.source.take() else { return }
        var isOpen = true
        while isOpen {
            do throws(Diagnostic) {
                let bytes = try piece(of: &source)
                shared.bytesRead.store(source.bytesRead, ordering: .relaxed)
                isOpen = !bytes.isEmpty && pieces.put(.bytes(bytes))
            } catch {
                pieces.put(.failure(error))
                isOpen = false
            }
        }
        pieces.close()
    }

    /// Empty at the end of the file.
    private static func piece(of source: inout ByteSource) throws(Diagnostic) -> [UInt8] {
        var mistake: Diagnostic?
        let bytes = [UInt8](unsafeUninitializedCapacity: pieceSize) { buffer, count in
            do throws(Diagnostic) { count = try source.read(into: buffer) } catch { mistake = error }
        }
        if let mistake { throw mistake }
        return bytes
    }
}
