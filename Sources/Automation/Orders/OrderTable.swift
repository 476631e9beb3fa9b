import Base
import Runs

/// The record of orders as a sender needs it: `OrderStore`, and in simulation a list in memory, which may fail at any call.
protocol OrderTable {
    func unended() throws -> OrderListing
    func take(_ nonce: String, life: String, from former: String?, at now: Timestamp) throws -> Bool
    func end(_ nonce: String, as state: OrderState, life: String, at now: Timestamp) throws -> Bool
    func leave(_ nonce: String, of former: String, as state: OrderState, at now: Timestamp) throws -> Bool
    var isInPlace: Bool { get }
    func close()
}

extension OrderStore: OrderTable {}
