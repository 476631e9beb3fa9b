import PushServices

/// The scanner for the form of targets: chosen once, so that nothing is asked for a row.
struct ChosenBlockScanner: ~Copyable {
    // One of them is there. Their types are written out, as only so does the compiler make code for each.
    private var hex: BlockScanner<HexTargets>?
    private var text: BlockScanner<TextTargets>?
    private var mixed: BlockScanner<MixedTargets>?

    init(_ plan: ScanLayout) {
        if plan.query.services.count > 1 {
            mixed = BlockScanner(plan, MixedTargets(plan.query))
            return
        }
        switch plan.query.targets.notation {
        case .hex: hex = BlockScanner(plan, HexTargets(plan.query.targets))
        case .text: text = BlockScanner(plan, TextTargets(plan.query.targets))
        }
    }

    /// Reads a block as far as whole records reach.
    mutating func scan(_ block: Block, expecting state: ReadingState, _ wants: ScanWants) -> BlockResult {
        if let result = hex?.scan(block, expecting: state, wants) { return result }
        if let result = text?.scan(block, expecting: state, wants) { return result }
        guard let result = mixed?.scan(block, expecting: state, wants) else { preconditionFailure("no scanner was chosen") }
        return result
    }
}
