import Glibc

/// Runs a closure on a separate thread.
public func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    pthread_create(
        &thread, nil,
        { context in
            if let context { Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body() }
            return nil
        }, Unmanaged.passRetained(Box(body)).toOpaque())
    pthread_detach(thread)
}
