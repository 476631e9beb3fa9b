import Base
import COpenSSL

/// Owns one object of OpenSSL and frees it exactly once.
///
/// In Swift, OpenSSL's types are bare `OpaquePointer`s; the free function is chosen where the
/// object is made, by the matching factory below.
struct OpenSSLHandle: ~Copyable {
    let pointer: OpaquePointer
    private let free: (OpaquePointer) -> Void

    /// Takes ownership of `pointer`; nil stays nil, so that the failure of a C call can be detected
    /// at the call.
    private init?(_ pointer: OpaquePointer?, free: @escaping (OpaquePointer) -> Void) {
        guard let pointer else { return nil }
        self.pointer = pointer
        self.free = free
    }

    deinit { free(pointer) }

    static func key(_ pointer: OpaquePointer?) -> OpenSSLHandle? { OpenSSLHandle(pointer) { EVP_PKEY_free($0) } }
    static func keyContext(_ pointer: OpaquePointer?) -> OpenSSLHandle? {
        OpenSSLHandle(pointer) { EVP_PKEY_CTX_free($0) }
    }
    static func digestContext() -> OpenSSLHandle? { OpenSSLHandle(EVP_MD_CTX_new()) { EVP_MD_CTX_free($0) } }
    static func certificate(_ pointer: OpaquePointer?) -> OpenSSLHandle? { OpenSSLHandle(pointer) { X509_free($0) } }
    static func signature(_ pointer: OpaquePointer?) -> OpenSSLHandle? { OpenSSLHandle(pointer) { ECDSA_SIG_free($0) } }
    static func pkcs12(_ pointer: OpaquePointer?) -> OpenSSLHandle? { OpenSSLHandle(pointer) { PKCS12_free($0) } }

    /// A BIO that reads `bytes`, which must outlive it.
    static func reader(_ bytes: UnsafeRawBufferPointer) -> OpenSSLHandle? {
        OpenSSLHandle(BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))) { BIO_free_all($0) }
    }

    /// A BIO that collects what is written to it, and wipes it when freed.
    static func writer() -> OpenSSLHandle? { OpenSSLHandle(BIO_new(BIO_s_mem())) { BIO_free_all($0) } }

    /// What was written to a `writer()`.
    borrowing func collectedBytes() -> [UInt8] {
        let count = BIO_ctrl_pending(pointer)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, Int(BIO_read(pointer, buffer.baseAddress, Int32(buffer.count))))
        }
    }
}

/// The handle, or the end of the process: the calls that use this fail only if memory or random
/// numbers run out.
func require<Handle: ~Copyable>(_ handle: consuming Handle?, _ what: StaticString) -> Handle {
    guard let handle else { fatalError("OpenSSL failed: \(what)") }
    return handle
}

extension Diagnostic {
    /// OpenSSL could not make something: memory or random numbers ran out.
    /// - Parameter thing: what could not be made: `a TLS connection`.
    static func openSSLCannotMake(_ thing: String) -> Diagnostic {
        let code = ERR_peek_last_error()
        defer { ERR_clear_error() }
        return .cannotMake(
            thing, cause: code == 0 ? nil : ERR_reason_error_string(code).map { "OpenSSL: \(String(cString: $0))" })
    }
}

/// The library for keys, sums and TLS.
public enum CryptographyLibrary {
    /// The version that this process runs with: `OpenSSL 3.0.17 1 Jul 2025`; blank if it does not
    /// say.
    public static var version: String { OpenSSL_version(OPENSSL_VERSION).map { String(cString: $0) } ?? "" }
}
