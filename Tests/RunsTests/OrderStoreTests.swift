import Base
import Foundation
import GRDB
import Testing

@testable import Runs

@Suite("The record of orders")
final class OrderStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "volley-orders-\(UUID().uuidString)"
    ).path
    deinit { try? FileManager.default.removeItem(atPath: folder) }
    private var path: String { folder + "/orders.sqlite" }

    private static let asked = OrderMoment(
        time: Timestamp(epochSeconds: 1_800_000_000), uptime: Uptime(start: "s", milliseconds: 1_000_000))

    private func order(
        _ nonce: String = "n", _ kind: Order.Kind = .send(run: runID, digest: "d"), by name: String = "anna"
    ) -> Order {
        Order(nonce: nonce, kind: kind, by: name, at: Self.asked)
    }

    /// A run that an order made.
    private func made(_ nonce: String) -> String { "20261201-090000-spring-sale-a27\(nonce)" }

    private func execute(_ sql: String) throws { try DatabaseQueue(path: path).write { try $0.execute(sql: sql) } }

    @Test("a record of version 1 is read as it is, and can hold approvals of times once it was opened for writing")
    func older() throws {
        let store = try OrderStore(folder: folder)
        let placed = try store.place(order("n", .skip(campaign: "c", occurrence: "2026-12-01T09:00")))
        store.close()
        try DatabaseQueue(path: path).write { db in
            try db.execute(sql: "ALTER TABLE placed DROP COLUMN most_devices; PRAGMA user_version = 1")
        }
        #expect(try OrderRecords(folder: folder).read() == OrderListing([placed]))
        let upgraded = try OrderStore(folder: folder)
        let kind = Order.Kind.approveTime(
            campaign: "c", occurrence: "2026-12-01T09:00", digest: "d", mostDevices: 10_000)
        #expect(try upgraded.place(order("m", kind)).order.kind == kind)
        #expect(try upgraded.order("n") == placed)
        upgraded.close()
    }

    @Test(
        "a form that is sent twice is one order, with its state; for other contents or another person its key is refused"
    )
    func placedOnce() throws {
        let store = try OrderStore(folder: folder)
        let first = try store.place(order())
        var later = Self.asked
        later.time = later.time.adding(seconds: 90)
        #expect(
            try store.place(Order(nonce: "n", kind: .send(run: runID, digest: "d"), by: "anna", at: later)) == first)
        #expect(try store.take("n", epoch: "l", at: later.time))
        #expect(try store.place(order()).state == .taken(epoch: "l"))
        for other in [order("n", .send(run: runID, digest: "e")), order("n", .resume(run: runID)), order(by: "ben")] {
            #expect(
                diagnostic { _ = try store.place(other) }?.message == "this form was already used for another order")
        }
        #expect(try OrderRecords(folder: folder).read().orders.count == 1)
    }

    @Test("two threads that place one form, and two senders that take one order: one of them does, each time")
    func races() async throws {
        for round in 0..<20 {
            let stores = [try OrderStore(folder: folder), try OrderStore(folder: folder)]
            let order = order("n\(round)")
            let placed = try await withThrowingTaskGroup(of: PlacedOrder.self) { group in
                for store in stores { group.addTask { try store.place(order) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(placed.count == 2 && placed[0] == placed[1])
            let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
                for (index, store) in stores.enumerated() {
                    group.addTask { try store.take(order.nonce, epoch: "\(index)", at: order.askedAt) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(taken.sorted { $0 && !$1 } == [true, false])
            for store in stores { store.close() }
        }
    }

    @Test(
        "orders are listed as they were placed, those of a run also by the run that they made, pages from the newest on"
    )
    func lists() throws {
        let store = try OrderStore(folder: folder)
        for number in 1...5 {
            _ = try store.place(
                order("\(number)", number % 2 == 0 ? .test(file: "/a.yaml", digest: "d") : .pause(run: runID)))
        }
        #expect(try store.take("2", epoch: "l", at: Self.asked.time))
        #expect(try store.note(made: runID, by: "2", epoch: "l"))
        #expect(try !store.note(made: runID, by: "4", epoch: "l"), "not taken")
        #expect(try store.orders(ofRun: runID).orders.map(\.order.nonce) == ["1", "2", "3", "5"])
        #expect(try store.end("3", as: .lapsed, epoch: "l", at: Self.asked.time))
        #expect(try store.unended().orders.map(\.order.nonce) == ["1", "2", "4", "5"])
        let page = try OrderRecords(folder: folder).read(atMost: 2)
        #expect(page.orders.map(\.order.nonce) == ["5", "4"])
        #expect(
            try OrderRecords(folder: folder).read(before: page.orders.last?.number, atMost: 2).orders.map(\.order.nonce)
                == ["3", "2"])
    }

    @Test(
        "a damaged order is listed as damaged, with its row and what to do, and keeps no other from being read; its remedy works",
        arguments: [
            ("state = 'nonsense'", true, true), ("state = 5", true, true), ("state = x'00'", true, true),
            ("asked_at = 'soon'", true, true),
            ("kind = 'kancel'", true, true), ("kind = 'test', digest = 'd'", true, true),
            ("lapses_at = x'80'", true, true),
            ("reason = CAST(x'FF' AS TEXT)", true, true),
            ("run = x'07'", false, true), ("state = 'done', asked_at = 'soon'", true, false),
        ])
    func damagedRows(change: String, knowsRun: Bool, mayWait: Bool) throws {
        let store = try OrderStore(folder: folder)
        defer { store.close() }
        for nonce in ["1", "2", "3"] { _ = try store.place(order(nonce, .pause(run: runID))) }
        try execute("UPDATE placed SET \(change) WHERE number = 2")
        let all = try OrderRecords(folder: folder).read()
        #expect(all.orders.map(\.order.nonce) == ["3", "1"] && all.damaged.map(\.number) == [2])
        #expect(all.damaged.first?.subject == (knowsRun ? .run(runID) : nil))
        let ofRun = try store.orders(ofRun: runID)
        #expect(ofRun.orders.map(\.order.nonce) == ["1", "3"] && ofRun.damaged.map(\.number) == (knowsRun ? [2] : []))
        let unended = try store.unended()
        #expect(
            unended.orders.map(\.order.nonce) == ["1", "3"] && unended.damaged.map(\.number) == (mayWait ? [2] : []))
        #expect(throws: Diagnostic.self) { try store.order("2") }
        let mistake = try #require(all.damaged.first?.mistake)
        #expect(mistake.file == store.place && mistake.message.hasPrefix("order 2 is damaged: `"))
        let command = try #require(mistake.remedy?.split(separator: "'").first { $0.hasPrefix("DELETE") })
        try execute(String(command))
        #expect(try OrderRecords(folder: folder).read() == OrderListing(all.orders))
    }

    @Test(
        "the account that had a run made is known unless its own row is damaged; where it may be, nobody is told that there is none"
    )
    func askers() throws {
        let store = try OrderStore(folder: folder)
        defer { store.close() }
        for nonce in ["1", "2"] {
            _ = try store.place(order(nonce, .plan(file: "/a.yaml", digest: "d")))
            _ = try store.take(nonce, epoch: "l", at: Self.asked.time)
            _ = try store.note(made: made(nonce), by: nonce, epoch: "l")
        }
        let by = try #require(try store.order("1")?.order.by)
        try execute("UPDATE placed SET asked_at = 'soon'")
        #expect(try store.askers(ofRun: made("1")) == [by] && store.askers(ofRun: made("3")).isEmpty)
        try execute("UPDATE placed SET made = x'05' WHERE number = 2")
        #expect(try store.askers(ofRun: made("1")) == [by])
        #expect(throws: Diagnostic.self) { try store.askers(ofRun: made("2")) }
        try execute("UPDATE placed SET ordered_by = x'05' WHERE number = 1")
        #expect(throws: Diagnostic.self) { try store.askers(ofRun: made("1")) }
    }

    @Test(
        "an order whose run cannot be one, or is not the one that its details name, is damaged, and the run counts as asked for by a person that is not known",
        arguments: [
            "made = replace(made, 'a271', 'a27m')", "made = replace(made, 'a271', 'a273')",
            "details = replace(details, 'a271', 'a273')",
            "details = replace(details, 'a271', 'a27m')",
        ])
    func madeRun(change: String) throws {
        let store = try OrderStore(folder: folder)
        defer { store.close() }
        _ = try store.place(order("1", .plan(file: "/a.yaml", digest: "d")))
        _ = try store.take("1", epoch: "l", at: Self.asked.time)
        _ = try store.note(made: made("1"), by: "1", epoch: "l")
        _ = try store.end("1", as: .done(.init(run: made("1"))), epoch: "l", at: Self.asked.time)
        #expect(try store.askers(ofRun: made("1")) == ["anna"])
        try execute("UPDATE placed SET \(change)")
        #expect(throws: Diagnostic.self) { try store.askers(ofRun: made("1")) }
        #expect(try OrderRecords(folder: folder).read().damaged.map(\.number) == [1])
    }

    @Test("an order that was taken is no other sender's, and what its own sender knows replaces what another found")
    func ownership() throws {
        let store = try OrderStore(folder: folder)
        _ = try store.place(order())
        #expect(try store.take("n", epoch: "a", at: Self.asked.time))
        #expect(try !store.take("n", epoch: "b", at: Self.asked.time))
        #expect(try !store.end("n", as: .lapsed, epoch: "b", at: Self.asked.time))
        #expect(try store.leave("n", of: "a", as: .left(.elsewhere(run: runID)), at: Self.asked.time))
        #expect(try store.end("n", as: .done(.init(run: runID, end: .finished)), epoch: "a", at: Self.asked.time))
        #expect(try !store.end("n", as: .lapsed, epoch: "a", at: Self.asked.time), "it has ended")
        #expect(try store.order("n")?.state == .done(.init(run: runID, end: .finished)))
    }

    @Test("how long an order has waited is known whatever the clock says; after the machine's next start it has lapsed")
    func lapses() {
        let order = order()
        func hasLapsed(_ clock: Double, _ uptime: Int64, start: String = "s") -> Bool {
            order.hasLapsed(
                at: OrderMoment(
                    time: Self.asked.time.adding(seconds: clock),
                    uptime: Uptime(start: start, milliseconds: 1_000_000 + uptime)))
        }
        #expect(!hasLapsed(599, 599_999) && hasLapsed(600, 600_000))
        #expect(!hasLapsed(86_400, 5_000), "the clock was set forward")
        #expect(hasLapsed(-86_400, 600_000), "the clock was set back")
        #expect(hasLapsed(5, -999_000, start: "t") && hasLapsed(5, 5_000, start: "t") && hasLapsed(5, 5_000, start: ""))
        #expect(self.order("n", .cancel(run: runID)).lapsesAt == Self.asked.time.adding(seconds: 3600))
    }

    @Test("where the machine has no number for its start, the clock decides, and what comes from the future has lapsed")
    func lapsesByClock() {
        let order = Order(
            nonce: "n", kind: .resume(run: runID), by: "anna",
            at: OrderMoment(time: Self.asked.time, uptime: Uptime(start: "", milliseconds: 0)))
        func hasLapsed(_ clock: Double) -> Bool {
            order.hasLapsed(
                at: OrderMoment(
                    time: Self.asked.time.adding(seconds: clock), uptime: Uptime(start: "", milliseconds: 0)))
        }
        #expect(!hasLapsed(-4) && !hasLapsed(599) && hasLapsed(600) && hasLapsed(-6))
    }

    @Test("this machine's uptime goes on, and belongs to one start")
    func uptime() {
        let first = OrderMoment.now(), second = OrderMoment.now()
        #expect(first.uptime.start == second.uptime.start && first.uptime.milliseconds <= second.uptime.milliseconds)
        #expect(first.uptime.start.utf8.count == 36, "the kernel's boot id")
    }

    @Test(
        "every state is read as it was written",
        arguments: [
            OrderState.waiting, .taken(epoch: "l"), .lapsed, .done(.init(run: nil)),
            .done(.init(run: runID, end: .interrupted)),
            .done(.init(run: runID, end: .cancelled)), .done(.init(run: runID, end: .stopped(.described("Why.")))),
            .refused(.notPermitted), .refused(.wroteIt), .refused(.askedForIt), .refused(.planDiffers),
            .refused(.fileDiffers),
            .refused(.overtaken), .refused(.nothingToRetry), .refused(.noSuchTime), .refused(.timeHasCome(run: runID)),
            .refused(.timeHasCome(run: nil)), .refused(.described("Why.")), .left(.nothing),
            .left(.notBegun(run: runID)),
            .left(.unfinished(run: runID)), .left(.elsewhere(run: runID)), .left(.ended(run: runID, .finished)),
            .left(.unknown(run: nil, "")),
        ])
    func states(state: OrderState) { #expect(OrderState(name: state.name, values: state.values, epoch: "l") == state) }

    @Test(
        "what is no state is none",
        arguments: [
            ("done", "null"), ("done", #"{"end":"eaten"}"#), ("refused", "{}"), ("left", "{}"), ("eaten", "null"),
        ])
    func noStates(name: String, json: String) throws {
        #expect(OrderState(name: name, values: try JSONValue(parsing: json), epoch: "") == nil)
    }

    @Test("keys and names have limits, and hostile ones come back as they were")
    func limits() throws {
        let store = try OrderStore(folder: folder)
        for bad in [
            order(""), order(String(repeating: "n", count: 201)), order(by: ""),
            order(by: String(repeating: "x", count: 401)),
            order("n\0"), order("n", .pause(run: "r")),
            order("n", .skip(campaign: "c", occurrence: "2026-02-30T09:00")),
        ] {
            #expect(diagnostic { _ = try store.place(bad) }?.remedy?.hasSuffix("Nothing was ordered.") == true)
        }
        let evil = "'; DROP TABLE placed; --\u{202E}\n\u{1}<script>"
        let hostile = order(evil, .reject(run: runID, digest: evil, reason: evil), by: evil)
        #expect(try store.place(hostile).order == hostile)
        #expect(try store.order(evil)?.order == hostile)
    }

    @Test("a damaged, foreign or newer file is told from an empty one, and is no run", .enabled(if: hasSQLiteTool))
    func damaged() throws {
        var store: OrderStore? = try OrderStore(folder: folder)
        _ = try store?.place(order())
        store?.close()
        store = nil
        let listing = try RunsFolder(folder).list()
        #expect(listing.runs.isEmpty && listing.broken.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["orders.sqlite"])
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        for edit in ["kind = 'eat'", "digest = NULL", "asked_at = 'x'", "state = 'done'"] {
            #expect(
                query(path, "CREATE TABLE IF NOT EXISTS kept AS SELECT * FROM placed; UPDATE placed SET \(edit)")
                    .isEmpty)
            let read = try OrderRecords(folder: folder).read()
            #expect(
                read.orders.isEmpty && read.damaged.first?.mistake.message.contains("is damaged") == true, "\(edit)")
            #expect(query(path, "DELETE FROM placed; INSERT INTO placed SELECT * FROM kept").isEmpty)
        }
        #expect(query(path, "PRAGMA user_version = 9").isEmpty)
        #expect(diagnostic { _ = try OrderStore(folder: self.folder) }?.message.contains("newer Volley") == true)
        #expect(truncate(path, 0) == 0)
        let words = "the record of orders is damaged: it is empty"
        #expect(diagnostic { _ = try OrderStore(folder: self.folder) }?.message == words)
        #expect(diagnostic { _ = try OrderRecords(folder: self.folder).read() }?.message == words)
        try Data(repeating: 7, count: 8192).write(to: URL(fileURLWithPath: path))
        #expect(
            diagnostic { _ = try OrderStore(folder: self.folder) }?.message.contains("not a record of orders") == true)
    }
}
