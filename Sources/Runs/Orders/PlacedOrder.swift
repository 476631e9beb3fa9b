public import Base

/// An order as it is on record.
public struct PlacedOrder: Hashable, Sendable {
    /// Its place among all orders: later ones have larger numbers.
    public var number: Int64
    /// What was asked.
    public var order: Order
    /// How far it is.
    public var state: OrderState
    /// The run that it made: of a test, a plan or a retry; nil until it is made.
    public var made: String?
    /// When its state was written.
    public var changedAt: Timestamp

    /// An order on record.
    public init(number: Int64, order: Order, state: OrderState, made: String? = nil, changedAt: Timestamp) {
        self.number = number
        self.order = order
        self.state = state
        self.made = made
        self.changedAt = changedAt
    }

    /// The run that it is about or has made.
    public var run: String? { order.kind.run ?? made }
}

/// Rows of the record of orders, each read by itself.
public struct OrderListing: Hashable, Sendable {
    /// Those that can be read.
    public var orders: [PlacedOrder]
    /// Those that cannot.
    public var damaged: [DamagedOrder]

    /// Rows in the order in which the orders were given.
    public init(_ orders: [PlacedOrder] = [], damaged: [DamagedOrder] = []) {
        self.orders = orders
        self.damaged = damaged
    }
}

/// An order whose row cannot be read: it may have been of any kind.
public struct DamagedOrder: Hashable, Sendable {
    /// Its place among all orders.
    public var number: Int64
    /// What it is about; nil if that cannot be read, so that it may be about anything.
    public var subject: Order.Kind.Subject?
    /// What is wrong, with the file, the row and what to do.
    public var mistake: Diagnostic

    /// A row that cannot be read.
    public init(number: Int64, subject: Order.Kind.Subject?, mistake: Diagnostic) {
        self.number = number
        self.subject = subject
        self.mistake = mistake
    }

    /// Whether it may have held up what another order has sent: as a pause, a cancellation, a
    /// refusal, or an approval taken back.
    public func mayForbid(_ kind: Order.Kind) -> Bool {
        guard kind.leadsToPushes else { return false }
        return subject.map { $0 == kind.subject } ?? true
    }
}

/// The orders next to the runs of one place: the console places them, `volley schedule` takes them.
public struct OrderRecords: Sendable {
    private let folder: String

    /// - Parameter folder: of runs. Nothing is opened or made.
    public init(folder: String) { self.folder = folder }

    /// Where they are, or would be, for messages.
    public var place: String { OrderStore.path(in: folder) }

    /// Whether any were ever placed here.
    public var isThere: Bool { DatabaseFile.kind(place) != .missing }

    /// Opens them; makes a missing file.
    /// - Throws: `Diagnostic`: it is damaged, of a newer version, something else, not permitted;
    ///   the disk is full.
    public func open() throws -> OrderStore { try OrderStore(folder: folder) }

    /// The newest orders, newest first, whether or not processes work with them; none when there is
    /// no file.
    /// - Parameters:
    ///   - number: only orders before this one; nil for the newest.
    ///   - limit: the most orders to return; at least 1.
    /// - Throws: as `open`.
    public func read(before number: Int64? = nil, atMost limit: Int = 100) throws -> OrderListing {
        try OrderStore.read(folder: folder, before: number, atMost: limit)
    }
}
