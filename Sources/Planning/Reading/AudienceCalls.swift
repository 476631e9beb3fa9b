import Audience
import Base
import Campaigns
import PushServices

/// The calls of a campaign whose devices a service chooses.
struct AudienceCalls {
    var calls: [AudienceCall]
    /// Warnings about lists of names in separate files.
    var warnings: [Diagnostic]
    /// The files of lists: each must stay unchanged until the campaign is planned.
    var sources: SourceFiles
}

extension AudienceCompiler {
    /// More mistakes of one list say nothing new.
    private static let mostMistakes = 10

    /// Makes the calls: lists loaded, names checked.
    /// - Throws: every list that cannot be read, and every name of a list that the service cannot have.
    func calls(to own: OwnAudience) throws(Diagnostics) -> AudienceCalls {
        guard !audience.everyone else { return AudienceCalls(calls: [.everyone], warnings: [], sources: SourceFiles()) }
        let sources = self.sources
        var (mistakes, lists, chosen): ([Diagnostic], NameLists, [AudienceCall.Selector: [String]]) = ([], NameLists(areOfCalls: true), [:])
        for (selector, list) in audience.selectors where !list.isEmpty {
            let names = load(list, key: selector.rawValue, sources, &lists, &mistakes)
            chosen[selector] = names
            guard let kind = own.names(selector), let file = list.file else { continue }
            let places = Dictionary(lists.places(of: selector.rawValue).map { ($0.value, $0.position) }) { first, _ in first }
            let wrong = names.dropFirst(list.names.count).lazy.compactMap { name in
                kind.mistake(about: name, in: own.service.displayName).map { Diagnostic($0, at: places[name] ?? file.position) }
            }
            mistakes += wrong.prefix(Self.mostMistakes)
        }
        guard mistakes.isEmpty else { throw Diagnostics(mistakes) }
        let calls = own.calls(to: chosen)
        // Here nothing else shows whether a comment was meant as a name.
        let comments = lists.hashedLines.compactMap(\.warning)
        return AudienceCalls(calls: calls, warnings: lists.warnings + comments + overlap(calls, own), sources: sources)
    }

    /// A union takes several calls, and the service does not know that they belong together.
    private func overlap(_ calls: [AudienceCall], _ own: OwnAudience) -> [Diagnostic] {
        guard own.mayOverlap(calls) else { return [] }
        let kinds = own.names.filter { kind in calls.contains { $0.selector == kind.selector } }.map { kind in
            let count = calls.reduce(0) { $1.selector == kind.selector ? $0 + $1.names.count : $0 }
            return TextFormat.counted(count, one: kind.selector.noun, many: kind.selector.nouns)
        }
        return [
            .warning(
                .mayGetItTwice,
                message: "\(kinds.joined(separator: ", ")) are \(TextFormat.count(calls.count)) calls to \(own.service.displayName): "
                    + "a device that several of them reach gets the push from each",
                at: audience.position,
                remedy:
                    "To be sure, give all these devices one tag in the app, and name that; or let Volley choose the devices of an export.")
        ]
    }
}
