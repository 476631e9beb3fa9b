@testable import Delivery

/// Keeps a machine, which cannot be copied, for helpers that tests pass around as values.
final class MachineKeeper {
    var machine: DeliveryMachine

    init(_ settings: MachineSettings) { machine = DeliveryMachine(settings) }
}

/// A helper around a machine.
protocol KeepsMachine {
    var keeper: MachineKeeper { get }
}

extension KeepsMachine {
    var machine: DeliveryMachine {
        _read { yield keeper.machine }
        _modify { yield &keeper.machine }
    }
}
