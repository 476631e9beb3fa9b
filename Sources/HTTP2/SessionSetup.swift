import Base
import CNghttp2

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
