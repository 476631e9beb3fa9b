import Base

/// Requests of HTTP/1.1: the same rules, ledger and faults. What HTTP/2 does to a stream happens to
/// the whole connection here.
extension Server {
    /// Decides a request, and answers it now, later or never.
    func decide(_ request: PushRequest, on call: CallConnection) {
        rules.decide(request, hasBody: true, memory: call.memory, now: ownClock)
        if request.kind == .other { return answerInTime(call) }
        let fate = request.answer.isAccepted ? plan.next() : .accepted
        switch fate {
        case .refusedStream, .reset: return cut(call)
        case .gateway(let status, isPassedOn: false): return answerAsGateway(call, status: status)
        case .refused(let answer): rules.refuse(request, as: answer)
        case .accepted, .silent, .resetAccepted, .gateway: break
        }
        if request.kind == .push {
            if request.answer.isAccepted { rules.take(request) }
            ledger.count(request, by: rules, now: now)
        }
        _ = call.limits.note(request.answer, streamID: request.streamID)
        conclude(call, fate: fate)
    }

    private func conclude(_ call: CallConnection, fate: FaultPlan.Fate) {
        if let ending = call.limits.ending {
            record(call.request, on: call, isAnswered: false)
            return end(call, ending)
        }
        switch fate {
        case .resetAccepted:
            record(call.request, on: call, isAnswered: false)
            cut(call)
        case .silent:
            record(call.request, on: call, isAnswered: false)
            call.fallSilent()
        case .gateway(let status, _):
            record(call.request, on: call, isAnswered: false)
            answerAsGateway(call, status: status)
        case .accepted, .refused, .refusedStream, .reset: answerInTime(call)
        }
    }

    private func cut(_ call: CallConnection) {
        ledger.countResetStream()
        call.close(isReset: true)
    }

    private func end(_ call: CallConnection, _ ending: ConnectionLimits.Ending) {
        switch ending {
        case .cut, .withoutGoAway, .withoutNotify: call.close()
        case .reset: call.close(isReset: true)
        case .midFrame: write(call, isHalf: true)
        case .silence: call.fallSilent()
        }
    }

    private func answerInTime(_ call: CallConnection) {
        guard faults.latencyMilliseconds > 0 else { return answer(call) }
        call.hold(until: Timestamp(epochMilliseconds: now.epochMilliseconds + Int64(faults.latencyMilliseconds)))
    }

    /// Answers the present request of a connection.
    func answer(_ call: CallConnection) {
        write(call)
        record(call.request, on: call, isAnswered: true)
    }

    private func write(_ call: CallConnection, isHalf: Bool = false) {
        let request = call.request
        var headers: [(String, String)] = []
        let own = rules.header(of: request)
        headers.append(("\(own.name)", String(decoding: own.value, as: UTF8.self)))
        for field in request.answerFields { headers.append(("\(field.name)", field.value)) }
        if request.answer.status == 429 || request.answer.status == 503, let seconds = faults.retryAfterSeconds {
            headers.append(("retry-after", String(seconds)))
        }
        if faults.clockAheadSeconds != nil, rules.showsClock(in: request.answer) {
            headers.append(("date", ownClock.httpDate))
        }
        call.write(status: request.answer.status, headers: headers, body: rules.body(of: request), isHalf: isHalf)
    }

    private func answerAsGateway(_ call: CallConnection, status: Int) {
        call.write(
            status: status, headers: [("content-type", "text/html")], body: Array(Connection.gatewayPage(status).utf8))
    }

    /// Writes the lines of a request's pushes once it is known whether it was answered.
    func record(_ request: PushRequest, on call: CallConnection, isAnswered: Bool) {
        guard request.kind == .push, let file = ledger.file else { return }
        file.append(request, describedBy: rules, connection: call.number, isAnswered: isAnswered, now: now)
    }
}
