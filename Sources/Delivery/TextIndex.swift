import PushServices

/// Decides which pushes share a request as they are handed to the machine: any pushes where each
/// may have its own text, otherwise those with the same rendered text. (Where the service keeps
/// texts, the machine joins small requests later.)
///
/// It remembers one request per hash of a text, and checks that a request still fits before a push
/// joins it. So nothing needs to be removed, and many different texts cost no memory, only less
/// full requests.
struct TextIndex {
    private static let size = 1024

    private let hasOwnTexts: Bool
    /// Requests by hash of the text; -1 for none.
    private var requests: [Int32]

    init(_ batching: Batching) {
        hasOwnTexts = batching.hasOwnTexts
        requests = Array(repeating: -1, count: batching.hasOwnTexts ? 1 : Self.size)
    }

    /// Adds a push of a stored batch to a request that it fits, or to a new one.
    /// - Parameter past: what an earlier process did with the push; pushes with different pasts
    ///   share no request.
    mutating func add(
        _ recipient: Int, in stored: (batch: Int, index: Int), after past: PushHistory = PushHistory(),
        _ store: inout PushStore,
        to machine: inout DeliveryMachine, at now: Moment
    ) {
        let (batch, index) = stored
        let payload = store.payload(batch: batch, index: index)
        let hash = hasOwnTexts ? 0 : Self.hash(of: payload)
        let place = Int(hash % UInt64(Self.size))
        let known = Int(requests[place])
        if known >= 0, machine.mayJoin(known, after: past), hasOwnTexts || store.bytes(of: known).payload == payload {
            store.assign(machine.add(recipient: recipient, to: known, at: now), batch: batch, index: index)
        } else {
            let request = machine.add(recipient: recipient, after: past, at: now)
            store.assign(request, batch: batch, index: index)
            if !machine.batching.keepsTexts { machine.pushes[request].text = hash }
            requests[place] = Int32(request)
        }
    }

    private static func hash(of payload: ArraySlice<UInt8>) -> UInt64 {
        // FNV-1a gives the same hash in every process, so that a simulated campaign can be
        // repeated.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in payload { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}
