#!/usr/bin/env python3
"""apply.py [--write] FILE.jsonl…: says which replacements still fit the sources, and with --write makes them."""
import glob, json, os, sys

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
names = [a for a in sys.argv[1:] if a != "--write"]
sources = {p: open(p).read() for p in glob.glob(root + "/Sources/**/*.swift", recursive=True)}
made, left = 0, []
for name in names:
    for line in open(name):
        if not line.strip():
            continue
        entry = json.loads(line)
        path = os.path.normpath(os.path.join(root, entry["file"]))
        path = next((p for p in sources if os.path.normpath(p) == path), None)
        if path is None or entry["old"] not in sources[path]:
            holding = [p for p, text in sources.items() if entry["old"] in text]
            path = holding[0] if len(holding) == 1 else None
        if path is None or (sources[path].count(entry["old"]) > 1 and not entry.get("all")):
            left.append(entry)
            continue
        sources[path] = sources[path].replace(entry["old"], entry["new"])
        made += 1
print(made, "fit,", len(left), "do not")
for entry in left:
    print(entry["file"], repr(entry["old"])[:120])
if "--write" in sys.argv:
    for path, text in sources.items():
        with open(path, "w") as file:
            file.write(text)
