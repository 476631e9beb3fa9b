import Glibc

extension Diagnostic {
    /// Why a program cannot listen at an address: what happened, at which address, and what to do.
    /// - Parameters:
    ///   - address: as a person would write it: `127.0.0.1:8181`.
    ///   - port: of the address.
    ///   - option: the option that names it.
    ///   - code: errno of socket(2), bind(2) or listen(2).
    public static func cannotListen(at address: String, port: Int, option: String, errno code: Int32) -> Diagnostic {
        let address = TextFormat.inLine(address)
        let (fact, remedy): (String, String) =
            switch code {
            case EADDRINUSE:
                (
                    "the address is already in use",
                    "Name another port with \(option), or end the program that uses it; `ss -ltnp` shows which one that is."
                )
            case EACCES, EPERM:
                (
                    "this account may not use the port",
                    "Name a port above 1023 with \(option), or give Volley the capability CAP_NET_BIND_SERVICE."
                )
            case EADDRNOTAVAIL, EAFNOSUPPORT:
                (
                    "this machine does not have the address",
                    "Name one of the addresses that `ip address` shows with \(option), or 127.0.0.1:\(port)."
                )
            case EMFILE, ENFILE:
                ("no more files and sockets can be opened", "Raise the limit of open files (`ulimit -n`, or LimitNOFILE of the service).")
            default:
                (SystemError.words(code), "Name another address with \(option).")
            }
        return Diagnostic("Volley cannot listen at \(address): \(fact)", remedy: remedy)
    }
}
