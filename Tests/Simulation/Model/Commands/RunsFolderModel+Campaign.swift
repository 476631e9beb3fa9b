import Delivery

/// All plans are of one campaign: what one of them has reached matters to the others.
extension RunsFolderModel {
    /// As `RunFile.yields`: of two runs that have not begun, the one that was locked first begins.
    private func yields(_ path: Path, to other: Path) -> Bool {
        guard let theirs = locks[other], theirs.isSending else { return false }
        guard let own = locks[path], own.isSending, files[other]?.state != .underway else { return true }
        return theirs.since < own.since
    }

    /// As `SendPermission.runBeingSentBeside`.
    func runsBesideAnother(_ path: Path) -> Bool {
        guard let file = files[path], let plan = plans[file.plan], plan.retryOf == nil, plan.time == nil else {
            return false
        }
        return plans.keys.contains { $0 != file.plan && files[.own($0)] != nil && yields(path, to: .own($0)) }
    }

    /// As `SupersedingRuns`.
    func isSuperseded(_ path: Path) -> Bool {
        guard let file = files[path], let plan = plans[file.plan] else { return false }
        let root = root(of: file.plan), isFresh = plan.retryOf == nil && !file.hasBegun
        let start = isFresh ? plan.moment : beginning(of: root) ?? plan.moment
        let left = plan.recipients.filter(file.isLeft)
        return plans.contains { number, other in
            guard self.root(of: number) != root, !isOtherTime(other.time, plan.time, isFresh: isFresh) else {
                return false
            }
            guard let theirs = files[.own(number)], !(record[number]?.isNewer(than: theirs, marks[number]) ?? false)
            else {
                return isAsked(number, by: root)
            }
            let isAbout = yields(path, to: .own(number)), wasBeside = plans[root]?.beside.contains(number) ?? false
            return left.contains { device in
                let isReached = theirs.claimed.contains(device) && theirs.outcomes[device] != .unsent
                return isReached
                    && (wasBeside && (isFresh || theirs.outcomes[device] == nil)
                        || theirs.reachedAt[device, default: 0] > start)
                    || isAbout && other.recipients.contains(device)
                        && (theirs.isLeft(device) || theirs.outcomes[device] == nil)
            }
        }
    }

    /// When the first of a chain began, according to the record.
    func beginning(of root: Int) -> Int? {
        record.filter { self.root(of: $0.key) == root }.map(\.value.firstBegun).min()
    }

    /// Each time of a schedule is sent once, so other times do not count; nor, for a plan of a
    /// time, do runs without one.
    func isOtherTime(_ theirs: Int?, _ own: Int?, isFresh: Bool) -> Bool {
        guard let own else { return false }
        return theirs.map { $0 != own } ?? isFresh
    }

    /// If a run's file is gone, or older than the record, it is unknown which devices it reached.
    /// In a first epoch that was never confirmed it reached none.
    private func isAsked(_ number: Int, by root: Int) -> Bool {
        guard let entry = record[number], entry.previousEpoch != 0, let first = plans[root] else { return false }
        return entry.begun > first.moment || first.beside.contains(number)
    }
}
