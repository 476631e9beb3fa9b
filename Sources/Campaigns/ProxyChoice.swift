public import Base
import Glibc

/// The proxy that pushes go through, and where it was set.
///
/// ```swift
/// let proxy = try ProxyChoice.choose(
///     project.proxy, host: "push.example.com", port: 443, ProxyChoice.variables)
/// ```
public struct ProxyChoice: Sendable {
    /// Where it was set.
    public enum Source: Hashable, Sendable, CustomStringConvertible {
        /// volley.yaml, there.
        case project(SourcePosition)
        /// An environment variable, by its name.
        case variable(String)

        /// For people.
        public var description: String {
            switch self {
            case .project(let place): "'proxy' in \(place.file)"
            case .variable(let name): "the environment variable \(name)"
            }
        }

        /// A mistake about the proxy, at its place if it has one.
        public func diagnostic(_ message: String, remedy: String) -> Diagnostic {
            switch self {
            case .project(let place): Diagnostic(message, at: place, remedy: remedy)
            case .variable: Diagnostic(message, remedy: remedy)
            }
        }
    }

    /// With the password, if there is one.
    public var address: ProxyAddress
    /// Where it was set.
    public var source: Source

    init(address: ProxyAddress, source: Source) {
        self.address = address
        self.source = source
    }
}

extension ProxyChoice {
    /// Environment variables by name; an empty one counts as not set, as for curl.
    public typealias Variables = (String) -> String?

    /// Those of this process.
    public static func variables(_ name: String) -> String? { EnvironmentVariables.filled(name) }

    /// The proxy to a server: what volley.yaml says or, if it says nothing, what the environment
    /// says.
    /// - Throws: a `Diagnostic` when an address cannot be used or a password is missing; it shows
    ///   neither user nor password.
    public static func choose(_ setting: ProxySetting?, host: String, port: Int, _ variables: Variables)
        throws(Diagnostic) -> ProxyChoice?
    {
        switch setting {
        case .none?: return nil
        case .through(let reference)?: return try chosen(reference, variables)
        case nil: return try chosen(host: host, port: port, variables)
        }
    }

    private static func chosen(_ reference: ProxyReference, _ variables: Variables) throws(Diagnostic) -> ProxyChoice {
        var address = reference.address
        if let variable = reference.passwordVariable {
            guard let password = variables(variable.value) else {
                throw Diagnostic(
                    "the environment variable \(SecretText.variable(variable.value)), which should hold the proxy's password, is not set",
                    at: variable.position,
                    remedy: SecretText.remedy(
                        forUnset: variable.value, noun: "password",
                        "Set it, for example with `read -s \(variable.value); export \(variable.value)`."))
            }
            address.password = password
        }
        return ProxyChoice(address: address, source: .project(reference.position))
    }

    /// Names and order as curl has them (curl(1), ENVIRONMENT).
    private static func chosen(host: String, port: Int, _ variables: Variables) throws(Diagnostic) -> ProxyChoice? {
        guard
            let name = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].first(where: { variables($0) != nil }),
            let text = variables(name)
        else { return nil }
        if let list = variables("no_proxy") ?? variables("NO_PROXY"),
            ProxyExceptions(list).contains(host: host, port: port)
        {
            return nil
        }
        do throws(Mistake) {
            return ProxyChoice(address: try ProxyAddress(text, .asInEnvironment), source: .variable(name))
        } catch {
            throw Diagnostic("the environment variable \(name) cannot be used: \(error.message)", remedy: error.remedy)
        }
    }
}
