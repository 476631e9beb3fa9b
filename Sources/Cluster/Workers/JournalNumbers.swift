/// The numbers of what a worker writes into the journal: each entry has one, and is written under
/// it as often as it takes until the database has confirmed it.
///
/// When a connection is lost before the answer, it is unknown whether the entry is there, and it
/// may still arrive later. Under the same number it is there once, whichever attempt arrives. A
/// value.
struct JournalNumbers {
    /// What is known of the entry in hand.
    enum State: Hashable {
        /// None is in hand.
        case idle
        /// It was sent.
        case sent(Int64)
        /// It was sent, and its connection was lost.
        case unsure(Int64)
    }

    private(set) var state = State.idle
    /// The last number that the database has confirmed; 0 before the first.
    private(set) var confirmed: Int64 = 0

    /// Takes the number of the next entry, or of the one to write again.
    mutating func take() -> Int64 {
        switch state {
        case .idle: state = .sent(confirmed + 1)
        case .sent: preconditionFailure("an entry is in hand")
        case .unsure(let number): state = .sent(number)
        }
        return confirmed + 1
    }

    /// The database has the entry, by this attempt or by an earlier one.
    mutating func acknowledged() {
        guard case .sent(let number) = state else { preconditionFailure("no entry is in hand") }
        (state, confirmed) = (.idle, number)
    }

    /// The database did not take the entry, by this attempt or an earlier one.
    mutating func refused() { state = .idle }

    /// The connection was lost before the answer, or the answer was that the entry cannot be taken
    /// now. What follows has the same number.
    mutating func lost() {
        guard case .sent(let number) = state else { return }
        state = .unsure(number)
    }
}
