import Base
import Foundation
import TestCommands
import Testing

/// Headless Chromium, as `make test-browser` installs it.
private enum Browser {
    static let path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// - Parameters:
    ///   - isDark: the system's preference.
    static func run(_ arguments: [String], isDark: Bool, in folder: URL) throws -> VolleyBinary.Result {
        let browser = try #require(path)
        let common = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--no-first-run",
            "--allow-file-access-from-files", "--enable-logging=stderr", "--user-data-dir=\(folder.path)/browser",
            "--blink-settings=preferredColorScheme=\(isDark ? 0 : 1)",
        ]
        return try RunningVolley(
            executable: browser, common + arguments, in: folder, environment: ["HOME": folder.path], input: nil
        )
        .finish()
    }

    /// Opens a page in a frame and measures it there: pages themselves run no script.
    static let harness = """
        <!doctype html><body style="margin:0"><iframe id="frame" style="width:WIDTHpx;height:1200px;border:0" src="PAGE"></iframe><script>
        const frame = document.getElementById("frame");
        function luminance(c) {
          return c.slice(0, 3).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
            .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
        }
        function parts(text) { const n = text.match(/[\\d.]+/g).map(Number); return n.length == 3 ? [...n, 1] : n; }
        frame.onload = () => {
          const page = frame.contentDocument, view = frame.contentWindow, out = { faint: [], wide: [] };
          for (const details of page.querySelectorAll("details")) details.open = true;
          out.width = page.documentElement.scrollWidth;
          out.dark = view.matchMedia("(prefers-color-scheme: dark)").matches;
          for (const element of page.querySelectorAll("main *")) {
            if (element.closest("svg") && element.tagName != "svg") continue;
            const box = element.getBoundingClientRect(), style = view.getComputedStyle(element);
            if (box.width && (box.right > WIDTH + 1 || box.left < -1)) out.wide.push(element.outerHTML.slice(0, 80));
            const isText = style.display != "inline";
            if (isText && element.clientWidth && element.scrollWidth > element.clientWidth + 1) out.wide.push("text in " + element.outerHTML.slice(0, 80));
            const hasText = [...element.childNodes].some(n => n.nodeType == 3 && n.data.trim());
            // The text of a phone is in front of a picture.
            if (!hasText || !box.width || element.closest(".push")) continue;
            let behind = element;
            while (behind && parts(view.getComputedStyle(behind).backgroundColor)[3] == 0) behind = behind.parentElement;
            const ground = behind ? parts(view.getComputedStyle(behind).backgroundColor) : [255, 255, 255, 1];
            const pair = [luminance(parts(style.color)), luminance(ground)].sort((a, b) => b - a);
            const contrast = (pair[0] + .05) / (pair[1] + .05);
            if (contrast < 4.5) out.faint.push(contrast.toFixed(2) + " " + element.outerHTML.slice(0, 80));
          }
          out.elements = page.querySelectorAll("main *").length;
          document.body.setAttribute("data-result", JSON.stringify(out));
        };
        </script></body>
        """
}

@Suite(
    "pages in a browser", .serialized, .enabled(if: Browser.path != nil, "Chromium is not installed: make test-browser")
)
struct BrowserTests {
    /// Pages of every kind, from one project, because sending takes time.
    private static func pages() throws -> (folder: ProjectFolder, files: [String]) {
        let (folder, run) = try ReportTests.sentProject()
        try folder.write(
            "hostile.yaml",
            """
            name: \(String(repeating: "long-name-", count: 6))ab
            app: shop
            description: "<script>alert(1)</script> עברית \(String(repeating: "unbroken", count: 40))"
            audience: {devices: devices.csv, everyone: true, where: {language: [de, en]}}
            content: {title: "\(String(repeating: "W", count: 120)) {{ name }}", body: "<b>x</b>", image: "https://example.com/\(String(repeating: "p", count: 200))"}

            """)
        var files: [String] = []
        func write(_ file: String, _ arguments: [String]) throws {
            let result = try VolleyBinary.run(arguments, in: folder.url)
            #expect(result.status == 0, "\(result.errors)")
            files.append(file)
        }
        try write("report.html", ["report", run, "--format", "html", "--output", "report.html"])
        try write("preview.html", ["preview", "hostile.yaml", "--html", "preview.html", "--quiet"])
        try write("variants.html", ["preview", "campaign.yaml", "--html", "variants.html", "--quiet"])
        #expect(try folder.volley("plan", "hostile.yaml", "--quiet").status == 0)
        try write("planned.html", ["report", "last", "--format", "html", "--output", "planned.html"])
        try write(
            "comparison.html", ["report", "last", "--compare", run, "--format", "html", "--output", "comparison.html"])
        // Makes it look like a run of several days with hostile texts.
        try folder.write("edit.py", Self.edit)
        let edited = try RunningVolley(
            executable: "/usr/bin/python3", ["edit.py", "runs/\(run).sqlite"], in: folder.url, environment: [:],
            input: nil
        ).finish()
        #expect(edited.status == 0, "\(edited.errors)")
        try write("stopped.html", ["report", run, "--format", "html", "--output", "stopped.html"])
        return (folder, files)
    }

    /// A page that a person prints has few sheets; one with hostile names of hundreds of letters
    /// has some more.
    private static func mostSheets(_ file: String) -> Int {
        ["report.html", "variants.html", "planned.html"].contains(file) ? 2 : 12
    }

    private static let edit = """
        import json, sqlite3, sys
        db = sqlite3.connect(sys.argv[1])
        long = "<i>" + "unbroken" * 60
        db.execute("DELETE FROM figures")
        cause = json.dumps({"cause": "refused", "service": "apns", "reason": long, "status": 400})
        db.execute("UPDATE run SET state = 'stopped', stop_cause = ?, finished_at = finished_at + 400000000", (cause,))
        db.execute("UPDATE recipient SET language = ? WHERE id % 3 = 0", (long,))
        db.execute("UPDATE recipient SET language = 'l' || id, variant = 'v' || (id % 3) || ? WHERE id % 3 <> 0", (long,))
        db.execute("UPDATE reason SET reason = ?", (long,))
        db.commit()
        """

    @Test(
        "no page says anything on the console, is wider than the window, or has faint text: light, dark, large, phone")
    func pagesInWindows() throws {
        let (folder, files) = try Self.pages()
        for file in files {
            for (isDark, width) in [(false, 390), (true, 390), (false, 1280), (true, 1280)] {
                let harness = Browser.harness.replacing("WIDTH", with: "\(width)").replacing("PAGE", with: file)
                try folder.write("harness.html", harness)
                let result = try Browser.run(
                    ["--window-size=1400,1200", "--dump-dom", "file://\(folder.url.path)/harness.html"], isDark: isDark,
                    in: folder.url)
                #expect(!result.errors.contains("CONSOLE"), "\(file): \(result.errors)")
                let text = result.output.components(between: "data-result=\"", and: "\"").first.map(String.init) ?? ""
                let measured = try JSONValue(
                    parsing: text.replacing("&quot;", with: "\"").replacing("&amp;", with: "&"))
                #expect(measured["width"] == .integer(Int64(width)), "\(file) \(width)")
                #expect(measured["dark"] == .bool(isDark))
                #expect(measured["wide"] == .array([]), "\(file) \(width): \(text)")
                #expect(measured["faint"] == .array([]), "\(file) \(isDark ? "dark" : "light"): \(text)")
                #expect(measured.int("elements") ?? 0 > 40)
            }
        }
    }

    @Test("pages can be printed, on few sheets, folded parts left out")
    func printing() throws {
        let (folder, files) = try Self.pages()
        for file in files {
            _ = try Browser.run(
                [
                    "--print-to-pdf=\(folder.url.path)/page.pdf", "--no-pdf-header-footer",
                    "file://\(folder.url.path)/\(file)",
                ], isDark: true,
                in: folder.url)
            let pdf = try Data(contentsOf: folder.url.appendingPathComponent("page.pdf"))
            #expect(pdf.starts(with: Data("%PDF-".utf8)) && pdf.count > 10_000, "\(file)")
            let sheets = String(decoding: pdf, as: UTF8.self).components(between: "/Count ", and: "\n").first.flatMap {
                Int($0.prefix { $0.isNumber })
            }
            #expect(sheets.map { $0 <= Self.mostSheets(file) } ?? false, "\(file): \(sheets ?? -1) sheets")
            try FileManager.default.removeItem(at: folder.url.appendingPathComponent("page.pdf"))
        }
    }
}

extension String {
    fileprivate func components(between start: String, and end: String) -> [Substring] {
        guard let begin = firstRange(of: start), let finish = self[begin.upperBound...].firstRange(of: end) else {
            return []
        }
        return [self[begin.upperBound..<finish.lowerBound]]
    }
}
