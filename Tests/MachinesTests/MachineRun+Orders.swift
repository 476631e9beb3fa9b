import Base
import Foundation
import Glibc
import TestCommands
import TestServers

/// What people ask for while a run is sent by several machines.
extension MachineRun {
    /// Pauses, continues and cancels.
    /// - Parameter givers: from where each.
    static func giveOrders(_ machines: Machines, from givers: [Machines.Name]) throws -> [String] {
        var found: [String] = []
        machines.wait(atMost: 60) { machines.answered > 300 }
        let run = try machines.database.sql("SELECT id FROM volley_run")
        func give(_ order: String, from name: Machines.Name) throws {
            let given = try machines.volley(name, order, run)
            if given.status != 0 { found.append("\(order): \(given.status) \(given.errors)") }
        }
        let unknown = try machines.volley(.third, "pause", "20260101-000000-nobody-0000")
        if unknown.status != 2 || !unknown.errors.contains("there") {
            found.append("a run that is nowhere: \(unknown)")
        }
        try give("pause", from: givers[0])
        machines.wait(atMost: 5) { false }
        let before = machines.answered
        machines.wait(atMost: 2) { false }
        if machines.answered != before || before > 1900 {
            found.append("\(machines.answered - before) were sent while it was paused, after \(before)")
        }
        try give("resume", from: givers[1])
        if !machines.wait(atMost: 20, until: { machines.answered > before + 100 }) { found.append("it does not go on") }
        try give("cancel", from: givers[2])
        return found
    }

    /// Fetches a run that was cancelled, has it resumed where it was planned, and gives orders from
    /// where the copy is.
    static func giveOrdersFromCopy(_ machines: Machines) throws -> [String] {
        machines.wait(atMost: 60) { machines.answered > 300 }
        let run = try machines.database.sql("SELECT id FROM volley_run")
        var found: [String] = []
        func give(_ arguments: String...) throws {
            let given = try machines.volley(.third, arguments)
            if given.status != 0 { found.append("\(arguments): \(given.status) \(given.errors)") }
        }
        try give("cancel", run)
        let first = machines.finishHome(within: 60)
        if first != 3 { found.append("home ended with \(first)") }
        try give("store", "fetch", run)
        let before = machines.answered
        try machines.start(.home, "resume", "last")
        if !machines.wait(atMost: 40, until: { machines.answered > before + 100 }) {
            found.append("it was not resumed")
        }
        try give("pause", run)
        machines.wait(atMost: 5) { false }
        let paused = machines.answered
        try give("resume", "last")
        if !machines.wait(atMost: 20, until: { machines.answered > paused + 100 }) { found.append("it does not go on") }
        try give("cancel", run)
        machines.wait(atMost: 20) { !machines.isRunning(.home) }
        return found
    }

    /// Pauses in the first wave, continues, and cancels at home while the second one is waited for.
    static func giveOrdersBetweenWaves(_ machines: Machines) throws -> [String] {
        var found: [String] = []
        machines.wait(atMost: 60) { machines.answered > 100 }
        let run = try machines.database.sql("SELECT id FROM volley_run")
        for order in ["pause", "resume"] {
            let given = try machines.volley(.second, order, run)
            if given.status != 0 { found.append("\(order): \(given.status) \(given.errors)") }
            machines.wait(atMost: 2) { false }
        }
        // Half of the devices are in the first wave.
        let isWhole = machines.wait(atMost: 30) { machines.answered >= machines.setup.recipients / 2 }
        if !isWhole { found.append("\(machines.answered) of the first wave have it, which was paused meanwhile") }
        let cancelled = try machines.volley(.home, "cancel", "last")
        if cancelled.status != 0 { found.append("cancel: \(cancelled.status) \(cancelled.errors)") }
        if !machines.wait(atMost: 10, until: { machines.database.runState == "cancelled" }) {
            found.append("the run is \(machines.database.runState), and was cancelled between two waves")
        }
        return found
    }

    /// Interrupts it at home, and resumes it at once.
    static func interruptAndResume(_ machines: Machines) throws -> [String] {
        machines.wait(atMost: 60) { machines.answered > 500 }
        machines.signal(.home, SIGINT)
        let status = machines.finishHome(within: 60)
        var found = status == 130 ? [] : ["home ended with \(status), and not as interrupted"]
        try machines.start(.home, "resume", "last")
        // Those that left a pace by the minute have no part of it any more.
        if !machines.wait(atMost: 40, until: { !machines.isRunning(.home) }) { found.append("it does not end") }
        return found
    }

    static func declareDead(_ machines: Machines) throws -> [String] {
        for (name, share) in [(Machines.Name.home, 500), (.second, 800), (.home, 1100)] {
            machines.wait(atMost: 60) { machines.answered > share }
            try machines.declareDead(name)
        }
        let words = "It takes part again."
        let isTold = machines.wait(atMost: 40) { machines.said(.home).components(separatedBy: words).count == 3 }
        return isTold ? [] : ["home does not say twice that it takes part again"]
    }

    /// Ends the database's server, interrupts home, and has it resumed once the server is back.
    static func interruptWithoutStore(_ machines: Machines) throws -> [String] {
        machines.wait(atMost: 60) { machines.answered > 500 }
        machines.database.server.stop()
        var found: [String] = []
        for name in Machines.Name.allCases
        where !machines.wait(atMost: 10, until: { machines.said(name).contains("cannot be reached") }) {
            found.append("\(name.rawValue) does not say within ten seconds that the store is away")
        }
        machines.signal(.home, SIGINT)
        let status = machines.finishHome(within: 10)
        if status != 130 { found.append("home ended with \(status), and not within ten seconds as interrupted") }
        if !machines.said(.home).contains("could not be told") {
            found.append("home does not say that the others continue")
        }
        try machines.database.server.start()
        try machines.start(.home, "resume", "last")
        return found
    }

    /// Ends the database's server, stops the run at home, ends the process there, and gives the
    /// order again once the server is back.
    static func stopWithoutStore(_ machines: Machines, by order: String, state: String) throws -> [String] {
        machines.wait(atMost: 60) { machines.answered > 500 }
        machines.database.server.stop()
        var found: [String] = []
        func give(_ status: Int32, saying words: String) throws {
            let given = try machines.volley(.home, order, "last")
            if given.status != status || !(given.output + given.errors).contains(words) {
                found.append("\(order): \(given)")
            }
        }
        if !machines.wait(atMost: 10, until: { machines.said(.home).contains("cannot be reached") }) {
            found.append("home does not say within ten seconds that the store is away")
        }
        try give(1, saying: "machines that help may still send")
        try give(2, saying: "other machines may be sending it")
        machines.signal(.home, SIGINT)
        let status = machines.finishHome(within: 10), expected: Int32 = order == "cancel" ? 3 : 130
        if status != expected { found.append("home ended with \(status), not \(expected)") }
        if !machines.said(.home).contains("could not be told that the run was \(state)") {
            found.append("home does not say what others do")
        }
        let runs = try machines.volley(.home, "runs")
        if !runs.output.contains("\(state) [only here]") { found.append("runs: \(runs)") }
        try machines.database.server.start()
        try give(0, saying: "Now the store has the order")
        if machines.database.runState != state { found.append("the run is \(machines.database.runState) in the store") }
        machines.wait(atMost: 4) { false }
        let before = machines.answered
        machines.wait(atMost: 3) { false }
        if machines.answered != before || before >= machines.setup.recipients {
            found.append("\(machines.answered - before) were sent after the store had the order, after \(before)")
        }
        return found
    }

    static func cancelAfterDeath(_ machines: Machines) throws -> [String] {
        machines.wait(atMost: 60) { machines.answered > 500 }
        machines.kill(.home)
        let cancelled = try machines.volley(.home, "cancel", "last")
        var found = cancelled.status == 0 ? [] : ["cancel: \(cancelled.status) \(cancelled.errors)"]
        let before = machines.answered
        machines.wait(atMost: 3) { false }
        if machines.answered != before {
            found.append("\(machines.answered - before) were sent after it was cancelled")
        }
        return found
    }
}
