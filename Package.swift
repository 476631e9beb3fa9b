// swift-tools-version: 6.2
import PackageDescription

/// Every target of Volley is built alike: Swift 6 mode, imports internal unless said otherwise,
/// members visible only through the module that declares them, and no warning survives.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: "\(name)Tests", dependencies: dependencies, swiftSettings: strict)
}

/// Tests/Fuzzing/Bodies is built twice: into the tests, and, for `make fuzz`, into a program for
/// libFuzzer, which needs flags of its own.
let fuzzed: [Target.Dependency] = ["Base", "PushServices", "Audience", "Campaigns", "Content", "TestSupport"]
let fuzzing =
    Context.environment["VOLLEY_FUZZER"] == nil
    ? Target.testTarget(
        name: "FuzzingTests", dependencies: fuzzed, path: "Tests/Fuzzing", exclude: ["Fuzzer", "Corpus", "Files"],
        sources: ["Bodies", "Runs"],
        swiftSettings: strict)
    : Target.executableTarget(
        name: "volley-fuzz", dependencies: fuzzed, path: "Tests/Fuzzing", exclude: ["Runs", "Corpus", "Files"],
        sources: ["Bodies", "Fuzzer"],
        swiftSettings: strict)

/// Tests/Simulation is also built twice: into the tests, and, for `make simulate`, into an
/// optimised program.
let simulated: [Target.Dependency] = ["Base", "Cryptography", "Delivery", "PushServices"]
let isSimulation = Context.environment["VOLLEY_SIMULATION"] != nil
let simulation =
    isSimulation
    ? Target.executableTarget(
        name: "volley-simulate", dependencies: simulated, path: "Tests/Simulation", exclude: ["Runs", "Breakages"],
        sources: ["Model", "Program"], swiftSettings: strict)
    : Target.testTarget(
        name: "SimulationTests", dependencies: simulated, path: "Tests/Simulation", exclude: ["Program", "Breakages"],
        sources: ["Model", "Runs"], swiftSettings: strict)

/// What workers of a shared run decide is simulated likewise: Tests/ClusterTests/Simulation is in
/// the tests, and in a program for `make simulate`.
let workerSimulation =
    isSimulation
    ? Target.executableTarget(
        name: "volley-simulate-workers", dependencies: ["Base", "Cluster", "TestSupport"],
        path: "Tests/ClusterTests/Simulation", swiftSettings: strict)
    : Target.testTarget(
        name: "ClusterTests",
        dependencies: [
            "Base", "FileDamage", "LedgerConformance", "Postgres", "Cluster", "PushServices", "Runs", "TestServers",
            "TestSupport",
        ],
        path: "Tests/ClusterTests", exclude: ["Simulation/Program"], swiftSettings: strict)

let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
/// SQLite's own interface, as GRDB brings it.
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let web: [Target.Dependency] = [
    .product(name: "Hummingbird", package: "hummingbird"), .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
    .product(name: "HTTPTypes", package: "swift-http-types"), logging,
]
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "volley",
    products: [
        .executable(name: "volley", targets: ["volley"]),
        .library(
            name: "VolleyKit",
            targets: ["Base", "Campaigns", "Runs", "Reports", "Workspace", "Planning", "Sending", "Automation"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        // What Hummingbird is made of, for the handlers of connections and the log.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // The C libraries, each imported by exactly one module.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        // The compiler's own vector instructions, as far as Swift has no word for them.
        .systemLibrary(name: "CSIMD"),
        .systemLibrary(name: "CISAL", pkgConfig: "libisal", providers: [.apt(["libisal-dev"])]),
        .systemLibrary(name: "CQRencode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
        // What Swift cannot call of Linux.
        .systemLibrary(name: "CLinux"),

        // What every module speaks.
        module("Base"),
        module("Cryptography", ["Base", "COpenSSL"]),
        module("HTTP2", ["Base", "CNghttp2"]),
        module("Postgres", ["Base", "CPostgreSQL"]),
        // Messages for log collectors.
        module("Logs", ["Base", logging]),

        // Each push service's facts.
        module("PushServices", ["Base"]),

        // The modules a campaign walks through, siblings that never import one another.
        module("Campaigns", ["Base", "PushServices", "CYAML"]),
        module("Audience", ["Base", "Postgres", "PushServices", "CSIMD", "CISAL"]),
        module("Content", ["Base", "PushServices"]),
        module("Delivery", ["Base", "Cryptography", "HTTP2", "PushServices", "CCurl"]),
        module("Runs", ["Base", "Cryptography", "PushServices", grdb, sqlite]),
        // Runs that several machines send together.
        module("Cluster", ["Base", "Postgres", "PushServices", "Runs"]),
        module("Reports", ["Base", "PushServices", "Runs"]),
        // Who may use the console, and what they did there.
        module("Accounts", ["Base", "Cryptography", grdb]),
        // Signing people in by a provider of identities.
        module("OpenIDConnect", ["Base", "Cryptography", "Delivery"]),
        // Strict stand-ins for the services; they share nothing with the modules that they judge.
        module("Simulators", ["Base", "Cryptography", "HTTP2"]),

        // What volley.yaml and the runs next to it say together.
        module(
            "Workspace",
            ["Base", "Cryptography", "PushServices", "Campaigns", "Audience", "Content", "Cluster", "Runs"]),
        // The stages: functions of values that print, ask and exit nowhere.
        module(
            "Planning",
            [
                "Base", "Cryptography", "PushServices", "Campaigns", "Audience", "Content", "Runs", "Reports",
                "Workspace",
            ]),
        module(
            "Sending",
            [
                "Base", "Cryptography", "PushServices", "Campaigns", "Audience", "Content", "Delivery",
                "Cluster", "Runs", "Reports", "Simulators", "Workspace",
            ]),
        module(
            "Automation",
            [
                "Accounts", "Base", "CLinux", "Cryptography", "PushServices", "Campaigns", "Delivery", "Cluster",
                "Runs",
                "Reports", "Workspace", "Planning", "Sending",
            ]),
        // The questions, output and exit code of each command, and its arguments.
        .target(
            name: "Commands",
            dependencies: [
                "Accounts", "Base", "Cryptography", "PushServices", "Campaigns", "Audience", "Content", "Delivery",
                "Runs",
                "Reports",
                "Logs", "Simulators", "Workspace", "Planning", "Sending", "Automation", logging,
            ], path: "Sources/volley", exclude: ["Arguments"], packageAccess: false, swiftSettings: strict),
        .executableTarget(
            name: "volley",
            dependencies: [
                "Base", "Automation", "Commands", "PushServices", "Simulators", "Planning", "Workspace", "Logs",
                argumentParser, "CLinux",
            ],
            path: "Sources/volley/Arguments", packageAccess: false, swiftSettings: strict),

        // The web process: it reads what there is, and shows it. Like `volley` it sees only what is
        // `public`.
        .executableTarget(
            name: "volley-console",
            dependencies: [
                "Accounts", "Base", "CLinux", "CQRencode", "Cryptography", "PushServices", "Campaigns", "Audience",
                "Content", "Runs",
                "Reports",
                "Workspace", "Planning", "Automation", "OpenIDConnect", "Logs", argumentParser,
            ] + web + [.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")],
            packageAccess: false, swiftSettings: strict),

        // What `make bench` runs.
        .target(name: "BareCurl", dependencies: ["CCurl"], path: "Sources/Benchmarks/BareCurl"),
        .executableTarget(
            name: "volley-bench",
            dependencies: [
                "Base", "Cryptography", "HTTP2", "PushServices", "Content", "Delivery", "Runs", "BareCurl",
                "TestServers",
            ],
            path: "Sources/Benchmarks/VolleyBench",
            swiftSettings: strict),

        // Proxies and programs that several tests talk to.
        .target(name: "TestServers", path: "Tests/TestServers", swiftSettings: strict),
        // A provider of identities, for modules that sign people in by one.
        .target(
            name: "TestIdentityProvider", dependencies: ["Base", "Cryptography", "TestServers"],
            path: "Tests/TestIdentityProvider",
            swiftSettings: strict),
        // The real binary, and folders to run it in.
        .target(name: "TestCommands", dependencies: ["Base"], path: "Tests/TestCommands", swiftSettings: strict),
        // What every transport of Delivery must do.
        .target(
            name: "TransportConformance", dependencies: ["Base", "Cryptography", "HTTP2"],
            path: "Tests/TransportConformance",
            swiftSettings: strict),
        // Slow readers that fast ones are held against, random numbers from a seed, and a service
        // besides those of Volley.
        .target(
            name: "TestSupport", dependencies: ["Base", "PushServices"], path: "Tests/TestSupport",
            swiftSettings: strict),
        // Damage to databases, from a seed.
        .target(
            name: "FileDamage", dependencies: ["TestSupport", grdb], path: "Tests/FileDamage", swiftSettings: strict),
        tests("Base", ["Base"]),
        tests("Cryptography", ["Base", "Cryptography", "TestServers"]),
        tests("HTTP2", ["Base", "HTTP2"]),
        tests("Postgres", ["Base", "Postgres", "TestServers"]),
        tests("Logs", ["Base", "Logs", logging]),
        tests("Campaigns", ["Base", "PushServices", "Campaigns", "TestSupport"]),
        tests("Audience", ["Base", "PushServices", "Audience", "TestServers", "TestSupport"]),
        tests("Content", ["Base", "Content", "PushServices", "TestSupport"]),
        .testTarget(
            name: "PushServicesTests", dependencies: ["Base", "PushServices", "TestSupport"],
            exclude: ["Answers"],
            swiftSettings: strict),
        tests(
            "Delivery",
            [
                "Base", "Cryptography", "HTTP2", "PushServices", "Delivery", "Reports", "Simulators", "TestServers",
                "TransportConformance",
            ]),
        // What every kind of ledger is held to, and the plainest of them.
        .target(
            name: "LedgerConformance", dependencies: ["Base", "PushServices", "Runs"], path: "Tests/LedgerConformance",
            swiftSettings: strict),
        tests("Runs", ["Base", "FileDamage", "LedgerConformance", "PushServices", "Runs", "TestSupport"]),
        .testTarget(
            name: "ReportsTests", dependencies: ["Base", "PushServices", "Runs", "Reports"],
            exclude: ["stop_causes.tsv"],
            swiftSettings: strict),
        tests("Accounts", ["Accounts", "Base", "Cryptography", "FileDamage", grdb]),
        tests("OpenIDConnect", ["Base", "OpenIDConnect", "TestIdentityProvider", "TestServers"]),
        tests("Simulators", ["Base", "Cryptography", "HTTP2", "Simulators"]),
        tests(
            "Workspace",
            [
                "Audience", "Base", "Campaigns", "Delivery", "Cluster", "PushServices", "Runs", "TestServers",
                "TestSupport", "Workspace",
            ]),
        tests(
            "Planning",
            [
                "Audience", "Base", "Campaigns", "Content", "Cryptography", "Delivery", "Planning", "PushServices",
                "Reports", "Runs",
                "TestCommands", "TestSupport", "Workspace",
            ]),
        tests(
            "Sending",
            [
                "Audience", "Base", "Campaigns", "Content", "Cryptography", "Delivery", "Cluster", "PushServices",
                "Reports", "Runs",
                "Sending", "Simulators", "TestServers", "TestSupport", "Workspace",
            ]),
        tests(
            "Automation",
            [
                "Accounts", "Automation", "Base", "Campaigns", "Content", "Cryptography", "Delivery", "Planning",
                "Cluster",
                "PushServices", "Reports", "Runs",
                "Sending",
                "Simulators", "TestServers", "TestSupport", "Workspace",
            ]),
        .testTarget(
            name: "CommandsTests", dependencies: ["Base", "Commands", "Delivery", "PushServices", "Runs", "Sending"],
            path: "Tests/CommandsTests",
            swiftSettings: strict),
        tests(
            "CommandLine",
            [
                "Accounts", "Simulators", "Base", "Cryptography", "Runs", "TestCommands", "TestServers", "TestSupport",
                "volley",
                "volley-embedding",
            ]),
        tests(
            "Console",
            [
                "Accounts", "Automation", "Base", "Campaigns", "OpenIDConnect", "Planning", "PushServices", "Reports",
                "Runs",
                "TestCommands",
                "TestIdentityProvider", "TestServers", "TestSupport", "Workspace", "volley",
                "volley-console",
            ] + web + [grdb, .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")]),
        // A program of others, as it were, that is made of the stages.
        .executableTarget(
            name: "volley-embedding", dependencies: ["Base", "Runs", "Workspace", "Planning", "Sending"],
            path: "Tests/Embedding",
            packageAccess: false, swiftSettings: strict),
        // Reads the sources as text.
        .testTarget(
            name: "ArchitectureTests", path: "Tests/ArchitectureTests", exclude: ["Exceptions.txt", "words.txt"],
            swiftSettings: strict),
        // Servers of others as judges; their programs are not Swift.
        .testTarget(
            name: "ForeignServersTests",
            dependencies: [
                "Base", "Cryptography", "PushServices", "Simulators", "TestCommands", "TestServers", "volley",
            ],
            path: "Tests/ForeignServers", exclude: ["StandIns", "install"], swiftSettings: strict),
        // Three processes that send one run, and what befalls them.
        tests("Machines", ["Base", "TestCommands", "TestServers", "TestSupport", "volley"]),
        fuzzing,
        simulation,
        workerSimulation,
    ],
    swiftLanguageModes: [.v6]
)

// The simulation needs nothing but what it simulates, so that a copy of a few folders can be built
// in seconds.
if isSimulation {
    let needed: Set = [
        "volley-simulate", "volley-simulate-workers", "Base", "Cryptography", "HTTP2", "PushServices", "Delivery",
        "CCurl", "COpenSSL",
        "CNghttp2",
    ]
    package.targets.removeAll { !needed.contains($0.name) }
    // Of these modules, no more than what is simulated: they would bring the libraries of
    // databases.
    package.targets += [
        .target(
            name: "Cluster", dependencies: ["Base"], path: "Sources/Cluster", sources: ["Workers"],
            swiftSettings: strict),
        .target(
            name: "TestSupport", path: "Tests/TestSupport",
            exclude: [
                "AccountService.swift", "MistakeCase.swift", "OtherService.swift", "ReferenceCSV.swift",
                "Snapshot.swift",
                "StoredGzip.swift",
            ],
            swiftSettings: strict),
    ]
    package.products.removeAll()
    package.dependencies.removeAll()
}
