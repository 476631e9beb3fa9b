import Accounts
import Base
import HTTPTypes
import Hummingbird
import Logging

/// What every request passes first: it is logged, its host is checked, and whatever goes wrong becomes a page.
struct Doors: RouterMiddleware {
    typealias Context = ConsoleContext

    let hosts: HostRules
    let log: Logger

    func handle(
        _ request: Request, context: ConsoleContext, next: (Request, ConsoleContext) async throws -> Response
    ) async throws -> Response {
        let begin = ContinuousClock.now
        var context = context
        context.sight = hosts.sight(of: request.headers, authority: request.head.authority, peer: context.peer)
        let response = await answer(request, context, next)
        note(request, context, response.status, begin)
        return response
    }

    private func answer(
        _ request: Request, _ context: ConsoleContext, _ next: (Request, ConsoleContext) async throws -> Response
    ) async -> Response {
        do {
            guard context.sight != nil else { throw Refusal.wrongHost }
            return try await next(request, context)
        } catch let refusal as Refusal {
            if let note = refusal.note { log.warning("\(TextFormat.inLine(note))") }
            return ErrorPage.response(refusal)
        } catch let error as AccountError {
            return ErrorPage.response(Refusal(error))
        } catch let error as HTTPError {
            return ErrorPage.response(error.status == .notFound ? .notFound : .unreadable)
        } catch {
            // What is wrong with a file is told to whoever may see it; nobody else gets here.
            let mistakes = Diagnostics(explaining: error)
            log.error("\(TextFormat.inLine(mistakes.description))")
            return ErrorPage.response(mistakes)
        }
    }

    /// A line without secrets: neither the query nor a header stands in it.
    private func note(_ request: Request, _ context: ConsoleContext, _ status: HTTPResponse.Status, _ begin: ContinuousClock.Instant) {
        let milliseconds = Int((ContinuousClock.now - begin) / .milliseconds(1))
        let client = context.sight?.client ?? context.peer
        let path = TextFormat.inLine(String(request.uri.path.prefix(200)))
        let who = context.account.value.map { TextFormat.inLine(String($0.prefix(100))) } ?? "-"
        log.info("\(client.map(\.description) ?? "-") \(who) \(request.method.rawValue) \(path) \(status.code) \(milliseconds) ms")
    }
}
