import Glibc

/// `volley-fuzz TARGET [libFuzzer's arguments]`
@main enum VolleyFuzz {
    static let target: FuzzTarget = {
        guard CommandLine.argc > 1, let target = FuzzTarget(rawValue: CommandLine.arguments[1]) else {
            fatalError("name one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return target
    }()

    static func main() {
        _ = target
        // For libFuzzer, the target is the program's name.
        var count = CommandLine.argc - 1
        var arguments = CommandLine.unsafeArgv + 1
        exit(runFuzzer(&count, &arguments, testOneInput))
    }
}

/// libFuzzer calls this with each input. The name is the one that libFuzzer's own `main` refers to,
/// which is linked in although it does not run.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do throws(FuzzFinding) {
        try VolleyFuzz.target.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
    } catch { fatalError("\(error)") }
    return 0
}

private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<Arguments>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
