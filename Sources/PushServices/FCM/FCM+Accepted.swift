/// The answer that nearly every push gets, without a look at JSON as such.
extension FCM {
    /// `{"name": "projects/PROJECT/messages/ID"}`, with white space around its parts as JSON allows it, and no escapes in the name.
    public func plainlyAccepts(_ body: [UInt8]) -> Bool {
        var scan = PlainScan(bytes: body)
        guard scan.take("{", afterSpace: true), scan.take("\"name\"", afterSpace: true), scan.take(":", afterSpace: true),
            scan.take("\"projects/", afterSpace: true), scan.takeWord(), scan.take("/messages/"), scan.takeWord(), scan.take("\""),
            scan.take("}", afterSpace: true)
        else { return false }
        return scan.isAtEnd
    }
}

/// Goes through bytes that are expected to be of one form.
private struct PlainScan {
    let bytes: [UInt8]
    private var index = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Whether nothing but white space is left.
    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return index == bytes.count
        }
    }

    /// Takes a text that is to come next.
    mutating func take(_ text: StaticString, afterSpace: Bool = false) -> Bool {
        if afterSpace { skipSpace() }
        guard bytes.count - index >= text.utf8CodeUnitCount else { return false }
        let matches = text.withUTF8Buffer { text in
            for position in text.indices where bytes[index + position] != text[position] { return false }
            return true
        }
        if matches { index += text.utf8CodeUnitCount }
        return matches
    }

    /// Takes at least one character that is neither a slash nor special within a text of JSON.
    mutating func takeWord() -> Bool {
        let start = index
        while index < bytes.count, bytes[index] > 0x20, bytes[index] < 0x7F,
            bytes[index] != UInt8(ascii: "/"), bytes[index] != UInt8(ascii: "\""), bytes[index] != UInt8(ascii: "\\")
        { index += 1 }
        return index > start
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] == 0x20 || bytes[index] == 0x0A || bytes[index] == 0x0D || bytes[index] == 0x09 {
            index += 1
        }
    }
}
