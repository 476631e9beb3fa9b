import Base
import CNghttp2
import Glibc

/// nghttp2's callbacks and options for one kind of session, freed with their owner.
struct SessionSetup: ~Copyable {
    let callbacks: OpaquePointer
    let options: OpaquePointer

    /// - Throws: a `Diagnostic` if there is not enough memory.
    init() throws(Diagnostic) {
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&options) == 0, let callbacks,
            let options
        else {
            nghttp2_session_callbacks_del(callbacks)
            throw .cannotMake("the shared HTTP/2 settings")
        }
        self.callbacks = callbacks
        self.options = options
        // Closed streams are not needed, and a long connection has millions.
        nghttp2_option_set_no_closed_streams(options, 1)
    }

    deinit {
        nghttp2_option_del(options)
        nghttp2_session_callbacks_del(callbacks)
    }
}

/// Memory for one nghttp2 session. For each request, nghttp2 allocates half a dozen small blocks,
/// and frees them with its answer, a thousand requests later. That is more than malloc's caches
/// hold, so that each block would take malloc's slow path. Here freed blocks wait in lists by size.
///
/// Belongs to one thread, as its session does, and must outlive the session.
final class SessionMemory {
    private static let classBytes = 64
    private static let classCount = 32
    /// Each block is preceded by its size class; 16 bytes keep the alignment that malloc
    /// guarantees.
    private static let headerBytes = 16

    /// By size class: a freed block. Its first bytes contain the address of the next one.
    @exclusivity(unchecked) private let free = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(
        capacity: classCount)

    init() { free.initialize(repeating: nil, count: Self.classCount) }

    deinit {
        for index in 0..<Self.classCount {
            while let block = free[index] {
                free[index] = block.load(as: UnsafeMutableRawPointer?.self)
                Glibc.free(block - Self.headerBytes)
            }
        }
        free.deallocate()
    }

    /// The allocation functions for a session.
    var functions: nghttp2_mem {
        nghttp2_mem(
            mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
            malloc: { count, user in withMemory(user) { $0.allocate(count) } },
            free: { block, user in
                _ = withMemory(user) {
                    $0.release(block)
                    return nil
                }
            },
            calloc: { count, size, user in
                let (total, isTooMuch) = count.multipliedReportingOverflow(by: size)
                return isTooMuch ? nil : withMemory(user) { $0.allocate(total).map { memset($0, 0, total) } }
            },
            realloc: { block, count, user in withMemory(user) { $0.resize(block, to: count) } })
    }

    private func allocate(_ count: Int) -> UnsafeMutableRawPointer? {
        let index = (count + Self.classBytes - 1) / Self.classBytes
        if index < Self.classCount, let block = free[index] {
            free[index] = block.load(as: UnsafeMutableRawPointer?.self)
            return block
        }
        let bytes = index < Self.classCount ? max(1, index) * Self.classBytes : count
        guard let start = malloc(Self.headerBytes + bytes) else { return nil }
        start.storeBytes(of: bytes, as: Int.self)
        return start + Self.headerBytes
    }

    private func release(_ block: UnsafeMutableRawPointer?) {
        guard let block else { return }
        let index = (block - Self.headerBytes).load(as: Int.self) / Self.classBytes
        guard index < Self.classCount else { return Glibc.free(block - Self.headerBytes) }
        block.storeBytes(of: free[index], as: UnsafeMutableRawPointer?.self)
        free[index] = block
    }

    private func resize(_ block: UnsafeMutableRawPointer?, to count: Int) -> UnsafeMutableRawPointer? {
        guard let block else { return allocate(count) }
        let old = (block - Self.headerBytes).load(as: Int.self)
        guard count > old else { return block }
        guard let larger = allocate(count) else { return nil }
        larger.copyMemory(from: block, byteCount: old)
        release(block)
        return larger
    }
}

@inline(__always)
private func withMemory(
    _ user: UnsafeMutableRawPointer?, _ body: (SessionMemory) -> UnsafeMutableRawPointer?
) -> UnsafeMutableRawPointer? {
    user.flatMap { Unmanaged<SessionMemory>.fromOpaque($0)._withUnsafeGuaranteedRef { body($0) } }
}
