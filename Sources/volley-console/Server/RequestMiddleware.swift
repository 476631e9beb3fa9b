import Accounts
import Base
import HTTPTypes
import Hummingbird
import Logging

/// The first step for every request: it is logged, its host is checked, and every error becomes a
/// page.
struct RequestMiddleware: RouterMiddleware {
    typealias Context = ConsoleContext

    let hosts: HostRules
    let site: Site
    let pages: WorkPool
    let log: Logger

    func handle(
        _ request: Request, context: ConsoleContext, next: (Request, ConsoleContext) async throws -> Response
    ) async throws -> Response {
        let begin = ContinuousClock.now
        var context = context
        context.requestOrigin = hosts.requestOrigin(
            of: request.headers, authority: request.head.authority, peer: context.peer)
        var response = await answer(request, context, next)
        // Pages take turns among people and networks (`FairWorkQueue`); refusals and redirections
        // do not wait, and cost time, too. One that must connect again for the next one cannot keep
        // the threads busy.
        if response.status == .serviceUnavailable || context.account.value == nil && response.status.code >= 300 {
            response.headers[.connection] = "close"
        }
        note(request, context, response.status, begin)
        return response
    }

    private func answer(
        _ request: Request, _ context: ConsoleContext, _ next: (Request, ConsoleContext) async throws -> Response
    ) async -> Response {
        do {
            // The first one is the authority; RFC 9112, section 3.2 refuses a second one, as a
            // proxy in front of the console may have used that one.
            guard HTTPField.Name("Host").map({ request.headers[values: $0].isEmpty }) ?? true else {
                throw Refusal.unreadable
            }
            guard context.requestOrigin != nil else { throw Refusal.wrongHost }
            return try await next(request, context)
        } catch let failure as Refusal where failure.mistakes != nil {
            log.error("\(TextFormat.inLine(failure.mistakes?.description ?? ""))")
            return Answer.response(
                await document({ ErrorPage.page(failed: failure, $0) }, request, context), failure.status)
        } catch let refusal as Refusal {
            if let note = refusal.note { log.warning("\(TextFormat.inLine(note))") }
            return await response(refusal, request, context)
        } catch let error as AccountError {
            return await response(Refusal(error), request, context)
        } catch let error as HTTPError {
            return await response(error.status == .notFound ? .notFound : .unreadable, request, context)
        } catch {
            let mistakes = Diagnostics(explaining: error)
            log.error("\(TextFormat.inLine(mistakes.description))")
            return Answer.response(
                await document({ ErrorPage.page(mistakes, $0) }, request, context), .internalServerError)
        }
    }

    private func response(_ refusal: Refusal, _ request: Request, _ context: ConsoleContext) async -> Response {
        let document = await document({ _ in ErrorPage.page(refusal) }, request, context)
        return Answer.response(document, refusal.status, headers: refusal.headers)
    }

    /// A page with the navigation of signed-in people. If that cannot be determined now, it is a
    /// page without navigation.
    /// - Parameter page: makes it for a visit; nil without a person that is signed in.
    private func document(
        _ page: @escaping @Sendable (Visit?) -> Page, _ request: Request, _ context: ConsoleContext
    ) async -> HTML {
        let site = site
        if let requestOrigin = context.requestOrigin,
            let secret = ConsoleCookies.secret(ConsoleCookies(isSecure: requestOrigin.isSecure).session, in: request),
            let known = try? await pages.run(
                for: requestOrigin.turn,
                { () -> HTML? in
                    let now = Timestamp.now()
                    guard let person = try site.signIn.person(secret: secret, at: now) else { return nil }
                    let visit = Visit(
                        person: person, secret: secret, parameters: [:], query: [:], requestOrigin: requestOrigin,
                        now: now)
                    return Layout.document(page(visit), visit, site)
                })
        {
            return known
        }
        let plain = page(nil)
        return Layout.document(title: plain.title, plain.content)
    }

    /// A line without secrets: it has neither the query nor headers.
    private func note(
        _ request: Request, _ context: ConsoleContext, _ status: HTTPResponse.Status, _ begin: ContinuousClock.Instant
    ) {
        let milliseconds = Int((ContinuousClock.now - begin) / .milliseconds(1))
        let client = context.requestOrigin?.client ?? context.peer
        let path = TextFormat.inLine(String(request.uri.path.prefix(200)))
        let who = context.account.value.map { TextFormat.inLine(String($0.prefix(100))) } ?? "-"
        log.info(
            "\(client.map(\.description) ?? "-") \(who) \(request.method.rawValue) \(path) \(status.code) \(milliseconds) ms"
        )
    }
}
