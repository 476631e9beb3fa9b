/// The push that every contestant sends.
enum BenchPush {
    /// The payload that h2load, the bare loop and the transport alone repeat. A campaign renders one of nearly
    /// the same size for each device.
    static let payload =
        #"{"aps":{"alert":{"title":"Hi there","body":"20 % off everything until Sunday, in every store."},"sound":"default"},"link":"shop://sale"}"#
    static let topic = "com.example.shop"

    /// Returns a token like those of a random export: spread over the whole range, so that no simulated answer depends on their order.
    static func token(_ device: Int) -> String {
        let x = UInt64(device) &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678
        return [x | 1 << 63, x &* 3, x &* 5, x &* 7].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
