import PushServices

/// The scanner for a service's form of targets: chosen for each block, so that nothing is asked for a row.
struct ChosenBlockScanner: ~Copyable {
    // One of them is there. Their types are written out, as only so does the compiler make code for each.
    private var hex: BlockScanner<HexTargets>?
    private var text: BlockScanner<TextTargets>?

    init(_ plan: ScanLayout) {
        switch plan.query.targets.notation {
        case .hex(let digits):
            hex = BlockScanner(plan, HexTargets(digits))
            text = nil
        case .text(let characters, let length, let except):
            hex = nil
            text = BlockScanner(plan, TextTargets(characters: characters, lengths: length, exceptedLengths: except))
        }
    }

    /// Reads a block as far as whole records reach.
    mutating func scan(_ block: Block, expecting state: ReadingState, _ wants: ScanWants) -> BlockResult {
        if let result = hex?.scan(block, expecting: state, wants) { return result }
        guard let result = text?.scan(block, expecting: state, wants) else { preconditionFailure("no scanner was chosen") }
        return result
    }
}
