import Base
import PushServices

/// The columns of a list of excluded devices that identify them.
struct ListCells {
    /// The token's column, then the registration id's, as far as they exist.
    var columns: [Int]
    private let resolver: ColumnResolver
    private let form: TargetForm

    /// - Parameters:
    ///   - form: what targets look like.
    ///   - targets: the keys of columns of targets, of an app with several services.
    init(_ resolver: ColumnResolver, _ form: TargetForm, targets: [String] = []) {
        self.resolver = resolver
        self.form = form
        // Exports may call several of them by one name.
        var columns: [Int] = []
        for case let column? in [resolver.listedTokenColumn] + resolver.listedColumns(ofTargets: targets) + [
            resolver.listedRegistrationIDColumn
        ]
        where !columns.contains(column) { columns.append(column) }
        self.columns = columns
    }

    /// - Throws: that there is no column of either.
    func check() throws(Diagnostic) {
        guard columns.isEmpty else { return }
        throw Diagnostic(
            "the list of excluded devices has no column of \(form.listedNouns): its columns are "
                + ColumnResolver.list(resolver.header),
            file: resolver.file, remedy: remedy)
    }

    /// The columns as a message names them.
    var names: String { ColumnResolver.list(columns.map { resolver.header[$0] }) }

    /// The mistake of a list with blank rows where the devices should be: no device would be
    /// excluded.
    func nothingListed(rows: Int) -> Diagnostic {
        let whose = rows == 1 ? "the only row" : "none of the \(TextFormat.count(rows)) rows"
        return Diagnostic(
            "\(whose) of the list of excluded devices has \(TextFormat.plural(rows, one: "nothing", many: "anything")) in \(names), so it would exclude no device: "
                + "its columns are \(ColumnResolver.list(resolver.header))",
            file: resolver.file, remedy: remedy)
    }

    private var remedy: String {
        let tokens = resolver.columns.candidates(for: .token).filter { $0 != "device_token" } + ["device_token"]
        let ids = resolver.columns.candidates(for: .registrationID)
        return
            "Name the column of its \(form.shortNouns) \(tokens.map { "'\($0)'" }.joined(separator: " or ")), or the column of its registration ids "
            + "'\(ids[0])', or write one \(form.shortNoun) or id a line into a .txt file."
    }
}

extension ColumnResolver {
    /// Whether the file is a run's report, with the names that Volley gives.
    private var isReport: Bool {
        ["device_token", "outcome"].allSatisfy(header.contains)
            && PushServices.idColumns.contains(where: header.contains)
    }

    /// The tokens' column of a list of devices: called as in the exports, or `device_token` or
    /// `token`, as Volley writes it. A column that exports give a name of the report is something
    /// else.
    var listedTokenColumn: Int? {
        (isReport ? nil : column(of: .token)) ?? header.firstIndex(of: "device_token") ?? header.firstIndex(of: "token")
    }

    /// The columns of targets of single services, called as in the exports.
    fileprivate func listedColumns(ofTargets keys: [String]) -> [Int?] {
        isReport
            ? [] : keys.map { columns.candidates(forTargets: $0).lazy.compactMap { header.firstIndex(of: $0) }.first }
    }

    /// The registration ids' column of a list of devices. A report identifies the devices that got
    /// a push by their tokens: with exports that have one id for several devices, or `0` for all,
    /// ids would also exclude devices that did not.
    var listedRegistrationIDColumn: Int? { isReport ? nil : column(of: .registrationID) }
}
