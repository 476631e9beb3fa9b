import Foundation

/// The size of the histories: one small one of each fault among all tests, twenty large ones in
/// `make machines`.
enum MachineScale {
    static let rounds = number("VOLLEY_MACHINE_ROUNDS") ?? 1
    /// The only seed to play; nil for as many as there are rounds.
    static let seed = number("VOLLEY_MACHINE_SEED")
    /// Devices of a campaign, and its pace for a second.
    static let recipients = number("VOLLEY_MACHINE_RECIPIENTS") ?? 4000
    static let pace = number("VOLLEY_MACHINE_PACE") ?? 250
    /// Histories at a time. They mostly wait.
    static let together = number("VOLLEY_MACHINE_TOGETHER") ?? 16
    /// The faults to play, by their names, separated by commas; all if empty.
    static let faults = Set(
        (ProcessInfo.processInfo.environment["VOLLEY_MACHINE_FAULT"] ?? "").split(separator: ",").map(String.init))
    /// Whether the histories have the machine for themselves, so that time can be measured: among
    /// other tests a simulator that gets no processor for a while counts pushes of two seconds as
    /// those of one.
    static let isThorough = together == 1

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap(Int.init)
    }
}
