import Base
import PushServices
import Runs

/// What services said of the pushes some time after they took them.
extension Report {
    /// What one service said.
    struct Afterwards {
        let service: any PushService
        let askedAt: Timestamp
        /// In the service's order. `older`: when it was said, if that was before the last answer.
        let counts: [(key: String, words: String, count: Int, older: Timestamp?)]
    }

    /// By services, in the plan's order; empty when none was asked.
    var afterwards: [Afterwards] {
        statistics.compactMap { said in
            let service = plan.services[said.service]
            guard let facts = service.statistics else { return nil }
            let counts = facts.counts.compactMap { fact in
                said.counts[fact.key].map { (fact.key, fact.words, $0, said.olderCounts[fact.key]) }
            }
            return Afterwards(service: service, askedAt: said.askedAt, counts: counts)
        }
    }

    /// For a person.
    var afterwardsTable: [(String, String)] {
        afterwards.map { said in
            let counts = said.counts.map { count in
                "\(TextFormat.count(count.count)) \(count.words)\(count.older.map { " as of \(TextStyle.moment($0))" } ?? "")"
            }
            return (
                said.service.displayName,
                (counts.isEmpty ? "nothing yet" : counts.joined(separator: ", ")) + " (asked \(TextStyle.moment(said.askedAt)))"
            )
        }
    }

    /// For programs; no member when no service was asked.
    var afterwardsMembers: [(String, JSONValue)] {
        let services = afterwards.map { said in
            let older = said.counts.compactMap { count in count.older.map { (count.key, JSONValue.string($0.description)) } }
            return JSONValue.object(
                pairs: [
                    ("service", .string(said.service.name)), ("asked_at", .string(said.askedAt.description)),
                    ("counts", .object(pairs: said.counts.map { ($0.key, .integer(Int64($0.count))) })),
                ] + (older.isEmpty ? [] : [("older", .object(pairs: older))]))
        }
        return services.isEmpty ? [] : [("statistics", .array(services))]
    }
}

extension ReportPage {
    /// The panel about it; empty when no service was asked.
    var afterwards: HTML {
        let said = report.afterwards
        guard !said.isEmpty else { return "" }
        let tables: [HTML] = said.enumerated().map { place, part in
            let facts: [(name: String, value: HTML)] = part.counts.map { count in
                let older: HTML = count.older.map { " as of \(Self.moment($0))" } ?? ""
                return (count.words, "\(figure("statistics/\(place)/counts/\(count.key)", number: count.count))\(older)")
            }
            let body: HTML = facts.isEmpty ? "<p class=\"note\">Nothing yet.</p>" : Self.facts(facts)
            return "<h3>\(part.service.displayName)</h3><p class=\"note\">Asked at \(Self.moment(part.askedAt)).</p>\(body)"
        }
        return """
            <section class="panel" id="afterwards"><h2>What services said afterwards</h2>
            <p class="note">These are the services' own counts. They grow for some days, and need not add up to the pushes that were accepted.</p>
            \(HTML(joined: tables))</section>

            """
    }
}
