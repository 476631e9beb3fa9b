import Base

/// Decides which selectors name a row, and whether a tag, alias or registration id excludes it. One
/// for each thread.
///
/// Every readable row passes through here, whatever its result, so that the names that no row
/// carries are known at the end.
struct RowSelector {
    /// What the current row is selected by: numbers of selectors, ascending, each once.
    var selected: [UInt32] = []
    /// Whether a tag, alias or registration id of the current row is excluded.
    var isExcluded: Bool { !exclusions.isEmpty }
    /// What excludes it.
    var exclusions: Exclusions = []
    /// Where the tags of a device's rows are united, the `RowFacts` of the current row, ascending,
    /// except what other code must add.
    var facts: [UInt32] = []
    /// The number, among the query's aliases, of the alias that selects the current row; -1 for
    /// none.
    private(set) var selectingAlias = -1

    /// Whether the current row carries a tag of `none`.
    var carriesNone = false
    /// Whether it does, though an alias or a registration id selects it, and nothing excludes it.
    var isSelectedDespiteNone: Bool { carriesNone && !compiled.isEveryone && !selected.isEmpty && exclusions.isEmpty }

    /// Tags of the block's first rows, to guess what a misspelt one means.
    var sampledTags: Set<String> = []
    /// The same for aliases.
    private(set) var sampledAliases: Set<String> = []
    /// The number of rows that are still sampled for tags.
    var rowsToSample = 0
    var seenTags: NameOccurrences
    /// Tags of the block's rows in other forms than those that count.
    var tagForms = TagFormats()
    /// Tags, aliases and registration ids that differ from those of the query only in details that
    /// people overlook.
    var nearTags = SimilarTexts()
    private(set) var nearAliases = SimilarTexts()
    private(set) var nearIDs = SimilarTexts()
    let list: TagListText
    var odd: TagAnomalies
    private var seenAliases: NameOccurrences
    private var seenRegistrationIDs: NameOccurrences
    private var seenTagParts: NameOccurrences
    private var seenAliasParts: NameOccurrences
    private var seenRegistrationIDParts: NameOccurrences

    let compiled: CompiledSelectors
    /// The last row that was seen with a tag, for tags that appear twice in a cell.
    var lastRowOfTag: [Int]
    private(set) var rowNumber = 0

    /// The number of rows that are sampled for tags, from the first on.
    static let sampledRows = 2000
    static let sampledTagLimit = 10_000

    init(_ compiled: CompiledSelectors) {
        self.compiled = compiled
        list = TagListText(separator: compiled.separator)
        odd = TagAnomalies(compiled)
        lastRowOfTag = Array(repeating: 0, count: compiled.tags.names.count)
        seenTags = NameOccurrences(compiled.tags)
        seenAliases = NameOccurrences(compiled.aliases)
        seenRegistrationIDs = NameOccurrences(compiled.registrationIDs)
        seenTagParts = NameOccurrences(compiled.tagParts)
        seenAliasParts = NameOccurrences(compiled.aliasParts)
        seenRegistrationIDParts = NameOccurrences(compiled.registrationIDParts)
    }

    /// Names that some row of the block has carried, each once.
    var seen: SeenNames {
        SeenNames(
            tags: seenTags.numbers, aliases: seenAliases.numbers, registrationIDs: seenRegistrationIDs.numbers,
            tagParts: seenTagParts.numbers, aliasParts: seenAliasParts.numbers,
            registrationIDParts: seenRegistrationIDParts.numbers)
    }

    /// Forgets what was seen before.
    mutating func beginBlock(samplesTags: Bool) {
        seenTags.begin()
        seenAliases.begin()
        seenRegistrationIDs.begin()
        seenTagParts.begin()
        seenAliasParts.begin()
        seenRegistrationIDParts.begin()
        rowsToSample = samplesTags ? Self.sampledRows : 0
        if !sampledTags.isEmpty { sampledTags = [] }
        tagForms = TagFormats()
        nearTags.begin()
        nearAliases.begin()
        nearIDs.begin()
        if !sampledAliases.isEmpty { sampledAliases = [] }
    }

    /// Looks at a row; afterwards `selected`, `exclusions`, `selectingAlias` and `facts` are about
    /// it.
    /// - Returns: whether anything selects it.
    @inline(__always) mutating func select(_ row: CellRow, _ plan: ColumnPlan) -> Bool {
        rowNumber += 1
        if !selected.isEmpty { selected.removeAll(keepingCapacity: true) }
        exclusions = []
        selectingAlias = -1
        if !facts.isEmpty { facts.removeAll(keepingCapacity: true) }
        if !compiled.tags.isEmpty { lookAtTags(row, cell: plan.tags) }
        if facts.count > 1 { facts.sort() }
        if rowsToSample > 0 { rowsToSample -= 1 }
        if !compiled.aliases.isEmpty { lookAtAlias(row.bytes(plan.alias)) }
        if !compiled.registrationIDs.isEmpty { lookAtRegistrationID(row.bytes(plan.registrationID)) }
        if compiled.isEveryone, let selector = compiled.selectors.everyone {
            selected.append(selector)
            note(.everyone)
        }
        return !selected.isEmpty
    }

    private mutating func lookAtAlias(_ cell: UnsafeBufferPointer<UInt8>) {
        let number = compiled.aliases.find(cell)
        guard number >= 0 else { return noteOther(alias: cell) }
        seenAliases.note(number)
        if number < compiled.selectingAliasCount {
            selectingAlias = number
            if let selector = compiled.selectors.alias { selected.append(selector) }
            note(.alias)
        }
        if compiled.isAliasExcluded[number] { exclusions.insert(.aliases) }
    }

    private mutating func lookAtRegistrationID(_ cell: UnsafeBufferPointer<UInt8>) {
        let number = compiled.registrationIDs.find(cell)
        guard number >= 0 else {
            if !compiled.registrationIDParts.isEmpty {
                Self.note(cell, compiled.registrationIDParts, &seenRegistrationIDParts)
            }
            if !cell.isEmpty, compiled.nearIDs.mayHoldDisguised(cell) { nearIDs.note(cell, compiled.nearIDs) }
            return
        }
        seenRegistrationIDs.note(number)
        if number < compiled.selectingRegistrationIDCount, let selector = compiled.selectors.registrationID {
            selected.append(selector)
            note(.registrationID)
        }
        if compiled.isRegistrationIDExcluded[number] { exclusions.insert(.registrationIDs) }
    }

    @inline(__always) private mutating func noteOther(alias cell: UnsafeBufferPointer<UInt8>) {
        guard !cell.isEmpty else { return }
        if !compiled.aliasParts.isEmpty { Self.note(cell, compiled.aliasParts, &seenAliasParts) }
        if compiled.nearAliases.mayHoldDisguised(cell) { nearAliases.note(cell, compiled.nearAliases) }
        if rowsToSample > 0 { sampledAliases.insert(String(decoding: cell, as: UTF8.self)) }
    }

    /// Notes a tag that may be one of several which the campaign names in one text.
    @inline(never) mutating func notePart(tag: UnsafeBufferPointer<UInt8>) {
        Self.note(tag, compiled.tagParts, &seenTagParts)
    }

    @inline(never) private static func note(
        _ cell: UnsafeBufferPointer<UInt8>, _ parts: NameTable, _ seen: inout NameOccurrences
    ) {
        let number = parts.find(cell)
        if number >= 0 { seen.note(number) }
    }

    private mutating func note(_ fact: RowFacts.NewestRowFacts) {
        if compiled.unitesRows { facts.append(fact.rawValue) }
    }
}

/// Names of a query that some row has carried, by their numbers.
struct SeenNames: Sendable {
    var tags: [Int] = []
    var aliases: [Int] = []
    var registrationIDs: [Int] = []
    /// The same for `JoinedNames.table`.
    var tagParts: [Int] = []
    var aliasParts: [Int] = []
    var registrationIDParts: [Int] = []
}

/// A text that the campaign names as one, and that is most likely several: `user1 user2`,
/// `reg1;reg2`.
struct JoinedNames {
    var parts: [String]
    /// Whether a name rarely holds what separates the parts.
    var isCertain: Bool

    /// A program wrote any longer list of names.
    private static let mostNames = 1_000

    /// nil for a name without a separator.
    init?(_ name: String) {
        func parts(_ texts: [String.SubSequence]) -> [String] {
            texts.map { trimmedText(String($0)) }.filter { !$0.isEmpty }
        }
        let certain = [",", "，", "、", ";", "；", "|"]
        for mark in certain + [" and ", " und ", " or ", " oder ", "/", "&", "+", " "] {
            self.parts = parts(name.split(separator: mark))
            isCertain = certain.contains(mark)
            if self.parts.count > 1 { return }
        }
        // Tabs, line separators, and the blanks of other scripts and of typesetting. A Japanese
        // name has a wide blank.
        self.parts = parts(name.split { $0.unicodeScalars.allSatisfy(Blank.isInvisible) })
        isCertain = !name.contains("\u{3000}")
        if self.parts.count <= 1 { return nil }
    }

    /// The parts of the names of a table, which a scan also looks for.
    static func table(_ names: NameTable) -> NameTable {
        NameTable(names.names.count > mostNames ? [] : names.names.compactMap { JoinedNames($0)?.parts })
    }
}

/// Notices names of a table for the first time in each block.
struct NameOccurrences {
    /// Those of the current block.
    private(set) var numbers: [Int] = []
    private var block: UInt32 = 1
    /// The last block in which a name was seen.
    private var lastBlock: [UInt32]

    init(_ table: NameTable) { lastBlock = Array(repeating: 0, count: table.names.count) }

    /// Another block begins.
    mutating func begin() {
        block &+= 1
        numbers = []
    }

    @inline(__always) mutating func note(_ number: Int) {
        guard lastBlock[number] != block else { return }
        lastBlock[number] = block
        numbers.append(number)
    }
}

/// Which names of a query some row has carried.
struct SeenFlags {
    private(set) var tags: [Bool]
    private(set) var aliases: [Bool]
    private(set) var registrationIDs: [Bool]
    private(set) var tagParts: Set<String> = []
    private(set) var aliasParts: Set<String> = []
    private(set) var registrationIDParts: Set<String> = []
    private let compiled: CompiledSelectors

    init(_ compiled: CompiledSelectors) {
        self.compiled = compiled
        tags = Array(repeating: false, count: compiled.tags.names.count)
        aliases = Array(repeating: false, count: compiled.aliases.names.count)
        registrationIDs = Array(repeating: false, count: compiled.registrationIDs.names.count)
    }

    mutating func add(_ names: SeenNames) {
        for number in names.tags { tags[number] = true }
        for number in names.aliases { aliases[number] = true }
        for number in names.registrationIDs { registrationIDs[number] = true }
        for number in names.tagParts { tagParts.insert(compiled.tagParts.names[number]) }
        for number in names.aliasParts { aliasParts.insert(compiled.aliasParts.names[number]) }
        for number in names.registrationIDParts {
            registrationIDParts.insert(compiled.registrationIDParts.names[number])
        }
    }
}

/// All conditions of `where`. One for each thread.
struct RowFilter {
    /// What was found about the conditions in a block.
    private(set) var findings: [ConditionFindings] = []
    /// The same, with cells that are a condition's value in disguise.
    var allFindings: [ConditionFindings] {
        zip(findings, nearTexts).map { findings, texts in
            var findings = findings
            findings.spellings = texts.counts
            return findings
        }
    }
    private let conditions: [ColumnCondition]
    /// By condition: its values, and cells that may be one of them in disguise.
    private let near: [SimilarSpellings]
    private var nearTexts: [SimilarTexts]
    private var tests: [ConditionTest] = []
    private var cells: [Int] = []
    /// By condition, whether it compares whole cells with words.
    private var comparesWords: [Bool] = []
    /// Conditions with a value that was not seen yet.
    private var unseenCount = 0
    private let now: Timestamp
    private let separator: [UInt8]

    init(_ query: AudienceQuery) {
        conditions = query.conditions
        near = query.conditions.map { SimilarSpellings($0.test.texts, ignoresCase: false) }
        nearTexts = conditions.map { _ in SimilarTexts() }
        now = query.now
        separator = Array(query.columns.tagSeparator.utf8)
    }

    /// Prepares for the rows of another file.
    mutating func use(_ plan: ColumnPlan) {
        cells = plan.conditions
        comparesWords = zip(conditions, cells).map {
            !$0.test.texts.isEmpty && ($1 != plan.language || $1 == plan.blankCell)
        }
        tests = zip(conditions, cells).map { condition, cell in
            ConditionTest(condition, now: now, isLanguage: cell == plan.language && cell != plan.blankCell)
        }
    }

    /// Forgets what was found before.
    mutating func beginBlock() {
        findings = conditions.map(ConditionFindings.init)
        for index in nearTexts.indices { nearTexts[index].begin() }
        unseenCount = conditions.count
    }

    /// Whether a selected row satisfies all conditions.
    mutating func passes(_ row: CellRow) -> Bool {
        var passes = true
        for index in tests.indices {
            // A value that no row has had yet is looked for even when another condition fails, so
            // that the warning is true.
            guard passes || unseenCount > 0 && !findings[index].isComplete else { continue }
            var value = 0
            let answer = answer(tests[index], row, cell: cells[index], value: &value)
            count(answer, row, index: index, isReached: passes)
            if !answer.holds { passes = false }
            guard answer.holds || value > 0, !findings[index].isComplete else { continue }
            findings[index].isSeen[value] = true
            if findings[index].isComplete { unseenCount -= 1 }
        }
        return passes
    }

    /// Counts the rows that the condition was evaluated for, and keeps some cells that do not
    /// satisfy it, or differ from the operand of `!=`.
    /// - Parameter isReached: whether the conditions before it are met.
    @inline(__always) private mutating func count(
        _ answer: ConditionTest.Answer, _ row: CellRow, index: Int, isReached: Bool
    ) {
        findings[index].wasAsked = true
        if isReached { findings[index].rows += 1 }
        if isReached, answer.holds { findings[index].holdingRows += 1 }
        if isReached, tests[index].comparesNumbers { findings[index].numbers.note(row.bytes(cells[index])) }
        if answer == .yes, !findings[index].isNotEqual { return }
        if isReached, answer != .unreadable { lookForDisguise(row, index: index) }
        let isUnreadable = isReached && (answer == .unreadable || answer == .unlike)
        if isUnreadable { findings[index].unreadableRows += 1 }
        if findings[index].wantsCell(isUnreadable: isUnreadable) { note(row, index: index, isUnreadable: isUnreadable) }
    }

    /// Notes a cell that does not count as a value, and is one with quotes around it, an invisible
    /// character in it or the like.
    @inline(__always) private mutating func lookForDisguise(_ row: CellRow, index: Int) {
        let cell = row.bytes(cells[index])
        if !cell.isEmpty, !row.isArray(cells[index]), near[index].mayHoldDisguised(cell) {
            nearTexts[index].note(cell, near[index])
        }
    }

    private mutating func note(_ row: CellRow, index: Int, isUnreadable: Bool) {
        findings[index].note(row.text(cells[index], separator: separator), isUnreadable: isUnreadable)
    }

    /// Whether a cell says another word than a condition wants, as an opt-out does: `no` for
    /// `push: "yes"`.
    func saysNo(_ row: CellRow) -> Bool {
        var value = 0
        return tests.indices.contains { index in
            comparesWords[index] && !Blank.isCell(row.bytes(cells[index]))
                && !answer(tests[index], row, cell: cells[index], value: &value).holds
        }
    }

    /// The numbers of all conditions that a row does not satisfy.
    func failing(_ row: CellRow) -> [Int] {
        var value = 0
        return tests.indices.filter { !answer(tests[$0], row, cell: cells[$0], value: &value).holds }
    }

    private func answer(_ test: ConditionTest, _ row: CellRow, cell: Int, value: inout Int) -> ConditionTest.Answer {
        let bytes = row.bytes(cell)
        guard row.isArray(cell) else { return test.answer(bytes, value: &value) }
        return Array(row.text(cell, separator: separator).utf8).withUnsafeBufferPointer {
            test.answer($0, value: &value)
        }
    }
}
