import Glibc

/// Whether two buffers hold the same bytes. `elementsEqual` compares one after the other: with the
/// id that every answer repeats, that was a thirtieth of a push.
func areEqual(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    guard let first = left.baseAddress, let second = right.baseAddress else { return true }
    return memcmp(first, second, left.count) == 0
}
