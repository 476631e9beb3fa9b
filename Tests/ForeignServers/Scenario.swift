import Testing

/// A campaign to a server from another project, and the expected result.
struct Scenario: CustomTestStringConvertible, Sendable {
    /// What happens during sending.
    enum Fault {
        /// Nothing. Effects of the options on the server, such as graceful shutdowns, are not
        /// faults.
        case none
        /// The stand-in is killed and restarted each time this many more were accepted.
        case standInKilled(each: Int)
        /// The proxy in front is killed and restarted.
        case frontKilled(each: Int)
        /// The proxy in front reloads its configuration: new processes take over, and the old ones
        /// close their connections.
        case frontReloaded(each: Int)
        /// The forward proxy is killed and restarted.
        case proxyKilled(each: Int)
        /// The options make answers differ from what was done, as with a gateway's time-out.
        case answers
        /// The same for every device: the run waits, because no push is accepted, and is
        /// interrupted after a while.
        case answersToAll
    }

    /// A violation of its standard by a server, and its possible effects.
    enum KnownFault {
        /// hypercorn 0.18 sends GOAWAY with the last stream that it has seen, and closes without an
        /// answer to some of those streams. Seen with its own default of 1,000 requests a
        /// connection: 50 of 2,000 (with 50 streams) to 2,000 of 3,000 (with 1,000 streams) got no
        /// answer, most of them noted as accepted.
        case leavesStreamsUnanswered
        /// Node 20's `session.goaway()` names the last stream that it has handled, and also accepts
        /// later ones, although RFC 9113, 6.8 lets the client send those again at once. Seen with
        /// `--leave-by=goaway`: 27 of 10,000 accepted on the connection that left and on the next.
        /// `session.close()` does not do this.
        case answersBeyondGoAway
        /// Go's x/net/http2 0.7 applies the window of its SETTINGS to the first streams of a
        /// connection before the client can have acknowledged it (by RFC 9113, 6.9.2, the default
        /// applies until then), and resets them with FLOW_CONTROL_ERROR, although it may have
        /// accepted them. Seen with `--window=16`: occasionally the first push of a connection.
        case closesWindowsUnannounced
        /// haproxy 2.6 resets with REFUSED_STREAM what it had passed on to a server that died
        /// before its answer: "a nice way to instruct clients to retry", its source says. RFC 9113,
        /// 8.7 forbids it, because that code promises that nothing was processed. Seen with a
        /// stand-in that is killed: 6 to 87 of 3,000 accepted before and after.
        case refusesWhatWasPassedOn
    }

    var name: String
    var standIn: StandIn
    var options: [String] = []
    var front: Front?
    var proxy: ForwardProxy?
    var fault: Fault = .none
    var devices = 3000
    /// Characters of the message, which is most of the payload.
    var bodyCharacters = 5
    /// Whether unknown devices are sent to again: `skip` or `resend`.
    var unknown = "skip"
    /// The time that the server itself takes for an answer.
    var latencyMilliseconds = 0
    var known: KnownFault?
    /// Whether `make test` plays it, too.
    var isQuick = false

    var testDescription: String { name }

    /// How many may be unknown although nothing happened to the servers.
    var mostUnknown: Int {
        switch known {
        case .leavesStreamsUnanswered: devices
        case .closesWindowsUnannounced: 5
        case .answersBeyondGoAway, .refusesWhatWasPassedOn, nil: 0
        }
    }

    /// Whether its server makes a client resend what was accepted.
    var mayDouble: Bool { known == .answersBeyondGoAway || known == .refusesWhatWasPassedOn }

    /// The missing program on this machine; nil if nothing is missing.
    var missing: String? { standIn.missing ?? front?.missing ?? proxy?.missing }
}
