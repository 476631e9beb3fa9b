import Base
import COpenSSL

/// A separate library context with OpenSSL's default and legacy algorithms. Files from Keychain Access and old tools are encrypted with RC2
/// or RC4; if these were loaded for the whole process, they would be available to TLS, too. Keys that were read in this context must not
/// outlive it.
struct AlgorithmLibrary: ~Copyable {
    let context: OpaquePointer
    private let standard: OpaquePointer?
    private let legacy: OpaquePointer?

    /// Whether the old algorithms could be loaded.
    var hasLegacy: Bool { legacy != nil }

    /// - Throws: a `Diagnostic` if there is not enough memory.
    init(allowsLegacy: Bool) throws(Diagnostic) {
        guard let context = OSSL_LIB_CTX_new() else { throw .openSSLCannotMake("the library that reads certificates") }
        self.context = context
        standard = OSSL_PROVIDER_load(context, "default")
        legacy = allowsLegacy ? OSSL_PROVIDER_load(context, "legacy") : nil
        ERR_clear_error()
    }

    deinit {
        if let legacy { OSSL_PROVIDER_unload(legacy) }
        if let standard { OSSL_PROVIDER_unload(standard) }
        OSSL_LIB_CTX_free(context)
    }
}
