import Base
import PushServices

/// Which pushes of a run say which they are (`delivery: {track: true}`).
extension PushTracking {
    /// Content that says which push it is, unless it is a hand-written payload, which is sent as
    /// written, a Live Activity, which has no place for it, or silent.
    func applied(to content: MessageContent, variant: String) -> MessageContent {
        guard content.payload == nil, content.activity == nil, !content.isSilent || includesSilent else {
            return content
        }
        var content = content
        content.tracking = self
        content.tracking?.variant = variant
        return content
    }

    /// Why a content is not tracked; nil if it is.
    func warning(about content: MessageContent) -> Diagnostic? {
        guard content.tracking == nil else { return nil }
        if let payload = content.payload {
            return .warning(
                .notTracked,
                message: "a payload written by hand is sent as it is written, so these pushes are not tracked",
                at: payload.position,
                remedy: "Write the push with the keys of 'content'; or write track: false under 'delivery'.")
        }
        guard content.activity == nil else {
            return .warning(
                .notTracked,
                message: "a Live Activity has no place that says which push it is, so these pushes are not tracked",
                at: place,
                remedy: "Write track: false under 'delivery'.")
        }
        return .warning(
            .notTracked, message: "no one sees or opens a silent push, so these are not tracked", at: place,
            remedy: "Write track: silent if the app should report that it got them, otherwise track: false.")
    }
}

extension MessageSources {
    /// The variants that a tracked push of a service may name. Where devices of a request share its
    /// body, a name must never be what keeps two devices from sharing one: such a variant has a
    /// text that begins otherwise than those of all others, so that none of its payloads is the
    /// same.
    func nameableVariants(through service: any PushService) -> Set<String> {
        let written = variants.filter { !$0.isHoldout }
        guard service.batching.largestTargets > 1, !service.batching.hasOwnTexts else {
            return Set(written.map(\.name))
        }
        let starts = written.map { variant in contents(of: variant).map { FixedStarts($0.content) } }
        return Set(
            written.indices.filter { index in
                written.indices.allSatisfy { other in
                    other == index
                        || starts[index].allSatisfy { own in starts[other].allSatisfy { own.differ(from: $0) } }
                }
            }.map { written[$0].name })
    }
}

/// How the texts of a content begin, up to the first tag: in every payload of every service.
private struct FixedStarts {
    private let texts: [(start: String, isWhole: Bool)]

    init(_ content: MessageContent) {
        texts = [content.title, content.body].map { text in
            let value = text?.value ?? ""
            let end = [value.firstRange(of: "{{"), value.firstRange(of: "{%")].compactMap { $0?.lowerBound }.min()
            guard let end else { return (value, true) }
            // A tag may take away the white space in front of it.
            let start = value[..<end]
            return (
                String(start[..<(start.lastIndex { !$0.isWhitespace }.map(start.index(after:)) ?? start.startIndex)]),
                false
            )
        }
    }

    /// Whether no cells can make the same texts of both.
    func differ(from other: FixedStarts) -> Bool {
        zip(texts, other.texts).contains { one, other in
            let (short, long) = one.start.utf8.count < other.start.utf8.count ? (one, other) : (other, one)
            return !long.start.hasPrefix(short.start) || short.isWhole && short.start != long.start
        }
    }
}
