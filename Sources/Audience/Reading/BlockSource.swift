import Base

/// Reads the files of a scan one after the other, and cuts them into blocks. One thread at a time.
struct BlockSource: ~Copyable {
    private let files: [ExportFile]
    private let sources: SourceFiles
    private var file = 0
    private var number = 0
    private var bytes: FileBytes?
    /// What follows the last block's end and was read with it.
    private var carried: [UInt8] = []
    private var bytesOfFormerFiles = 0

    /// - Parameter sources: records which files are read.
    init(files: [ExportFile], noting sources: SourceFiles) { (self.files, self.sources) = (files, sources) }

    /// The fewest bytes that a block has room for.
    static func blockCapacity(_ limits: ReadingLimits) -> Int { max(limits.chunkSize, FileEncoding.markSize) }

    /// Fills the next block.
    /// - Returns: false when there is none.
    /// - Throws: a file cannot be read. Do not call it again then.
    mutating func next(into block: Block) throws(Diagnostic) -> Bool {
        guard file < files.count else { return false }
        block.begin(number: number, file: file, isFirst: bytes == nil)
        number += 1
        if bytes == nil { bytes = try FileBytes(path: files[file].path, isGzip: files[file].format.isGzip, noting: sources) }
        carried.withUnsafeBufferPointer { block.append($0) }
        let wanted = block.room.count
        let count = try bytes?.read(into: block.room) ?? 0
        block.filled(count)
        if block.isFirst { block.skip(try FileEncoding.check(block.text, file: files[file].path)) }
        end(block, isLast: count < wanted)
        return true
    }

    private mutating func end(_ block: Block, isLast: Bool) {
        let text = block.text
        let count = isLast ? text.count : files[file].cutter.cut(text)
        carried.removeAll(keepingCapacity: true)
        carried.append(contentsOf: text[count...])
        block.end(after: count, isLast: isLast, bytesRead: bytesOfFormerFiles + (bytes?.bytesRead ?? 0))
        guard isLast else { return }
        bytesOfFormerFiles += bytes?.size ?? 0
        bytes = nil
        file += 1
    }
}
