public import Base

/// The names of a campaign's variants, and which device falls into which.
public final class VariantNames {
    private let names: [UnsafeBufferPointer<UInt8>]
    private let number: (RecipientRecord) -> Int

    /// - Parameters:
    ///   - names: at least one.
    ///   - number: the place in `names` of a recipient's variant.
    public init(_ names: [String], number: @escaping (RecipientRecord) -> Int) {
        self.number = number
        self.names = names.map { name in
            let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: name.utf8.count)
            _ = bytes.initialize(from: name.utf8)
            return UnsafeBufferPointer(bytes)
        }
    }

    deinit { for name in names { name.deallocate() } }

    /// The name of a recipient's variant, which stays at its address.
    func name(of recipient: RecipientRecord) -> UnsafeBufferPointer<UInt8> { names[number(recipient)] }
}
