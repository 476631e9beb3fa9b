#!/usr/bin/env python3
"""Holds volley against audience_contract.py: random dirty exports of every form and campaigns, one of each for every seed.

    python3 audience_compare.py VOLLEY FIRST LAST [--strict] [--big] [--keep DIR]

VOLLEY is the program. --strict also generates what is known to differ: numbers, versions and dates named as they stand in `where`, and
signs for nothing (NULL) as aliases, ids and tags. --keep leaves the folder of every seed that differs in DIR. --big makes files of many
thousand rows. Every third seed plans with little memory. Ends with 1 when a seed differs.
Prints each seed that differs, then how many agreed and the refusals by kind. Rows, audience, skipped, selected_by and languages are
compared with preview and with plan, the recipients with the CSV report of the plan.
"""
import argparse
import collections
import csv
import datetime
import gzip
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import audience_contract

DAY = 86400_000
LANGUAGES = ["en", "en-US", "en_GB", "de_DE", "de", "EN", "pt-BR", "fr", "", "", " en "]
TAGS = ["x", "y", "z", "q", "X"]
ALIASES = ["u1", "u2", "u3", "U1", "", "", "ü 4"]
NUMBERS = ["3", "3.0", "10.5", "-3", "03", "4", "", "a", "0", "-0.5", "10", " 3 "]
VERSIONS = ["3.2.0", "3.10.0", "3.2", "3", "3.2.0.1", "2.9.9", "", "x", "03.2.0", "10.0.0"]
CITIES = ["Berlin", "berlin", "Köln", "New York", "", "a,b", "c;d", "e\"f", "l1\nl2"]


class Seed:
    def __init__(self, number, strict, big):
        self.random, self.strict, self.big, self.now = random.Random(number), strict, big, int(time.time() * 1000)
        self.choice, self.chance = self.random.choice, lambda share: self.random.random() < share

    def some(self, values, least=1, most=3):
        return [self.choice(values) for _ in range(self.random.randint(least, most))]

    def date(self, day):
        """A moment that many days ago, written in one of many forms."""
        when = datetime.datetime.fromtimestamp((self.now - day * DAY - DAY // 2) / 1000 // 60 * 60, datetime.timezone.utc)
        form = self.random.randrange(8)
        if form == 0:
            return when.strftime("%Y-%m-%d")
        if form == 1:
            return when.strftime("%Y-%m-%d %H:%M")
        if form == 2:
            return when.strftime("%Y-%m-%dT%H:%M:%SZ")
        if form == 3:
            return (when + datetime.timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%S+02:00")
        if form == 4:
            return (when - datetime.timedelta(hours=5)).strftime("%Y-%m-%d %H:%M:%S-0500")
        if form == 5:
            return str(int(when.timestamp()))
        if form == 6:
            return str(int(when.timestamp() * 1000))
        return when.strftime("%Y-%m-%dT%H:%M:%S.") + "250Z"

    def odd_date(self):
        if self.chance(0.3):
            return self.choice(["", "", "x", "2026-02-30", "01/02/2026", "2026-13-01", "yesterday", "2026-01-01 25:00"])
        return self.date(self.choice([0, 1, 2, 3, 5, 10, 40, 100]))

    # --- rows ---

    def cells(self):
        token = self.choice(self.tokens)
        if self.chance(0.05):
            token = self.choice(["", " ", "abc", "zz" * 32, token[:-1], "{" + token + "}"] + ["NULL"] * self.strict)
        elif self.chance(0.2):
            token = self.choice([token.upper(), " " + token, token + " ", token[:32].upper() + token[32:], "<" + token + ">", "0x" + token, "'" + token,
                                 "<" + " ".join(token[i:i + 8] for i in range(0, len(token), 8)) + ">", "\u00a0" + token])
        row = {self.token_column: token}
        row["registration_id"] = self.choice(self.registration_ids)
        row["alias"] = self.choice(self.aliases)
        tags = self.some(TAGS, 0, 3)
        row["tags"] = tags
        row["language"] = self.choice(LANGUAGES + ["NULL", "zh", "zh-Hans-CN", "\\N"] * self.strict)
        row["last_active"] = self.choice([self.choice(self.shared_dates), self.odd_date(), ""])
        row["registered_at"] = self.odd_date()
        row["level"], row["app_version"] = self.choice(NUMBERS), self.choice(VERSIONS)
        row["os"], row["born"], row["city"] = self.choice(VERSIONS), self.odd_date(), self.choice(CITIES)
        if self.chance(0.08):
            row[self.choice(["level", "city", "born", "os"])] = self.choice(["NULL", "\\N", "N/A", " NULL "])
        if self.strict and self.chance(0.05):
            row[self.choice(["alias", "registration_id"])] = "NULL"
        return row

    def tag_text(self, tags):
        text = self.choice([self.separator, self.separator, " " + self.separator + " ", self.separator * 2]).join(tags)
        if self.chance(0.1):
            text = self.choice([text + self.separator, " " + text, self.choice([",", "|", ";"]).join(tags)])
        return text

    # --- files ---

    def table(self, rows, path):
        separator = "\t" if path.endswith(".tsv") else self.choice(",;\t,,")
        columns = list(self.columns)
        self.random.shuffle(columns)
        ending, always = self.choice(["\n", "\n", "\r\n"]), self.chance(0.2)

        def cell(text, force=always):
            if force or re.search('[\r\n"]', text) or separator in text or self.chance(0.05):
                return '"' + text.replace('"', '""') + '"'
            return text
        lines = [separator.join(cell(name, always or self.chance(0.1)) for name in columns)]
        if self.chance(0.1):
            lines[0] = lines[0].replace(separator, " " + separator) if '"' not in lines[0] else lines[0]
        for row in rows:
            line = [cell(self.tag_text(row["tags"]) if name == "tags" else row[name]) for name in columns]
            if self.chance(self.dirt):
                line = self.spoil(line, columns)
            lines.append(separator.join(line))
            if self.chance(self.dirt):
                lines.append(self.choice(["", "", "   ", separator * (len(columns) - 1)]))
        return self.choice(["", "", "\ufeff"]) + ending.join(lines) + self.choice([ending, ending, "", ending * 2])

    def spoil(self, line, columns):
        at, kind = self.random.randrange(len(line)), self.random.randrange(6)
        if kind == 0:
            return line[:-1]
        if kind == 1:
            return line + ["more"]
        if kind == 2 and self.quotes:
            line[at] = '"' + line[at].strip('"')
        elif kind == 3:
            line[at] = '"' + line[at].strip('"').replace('"', '""') + '"z'
        elif kind == 4 and not line[at].startswith('"'):
            line[at] += 'a"b'
        elif kind == 5:
            line[at] = " " + line[at]
        return line

    def objects(self, rows, lines):
        items = []
        for row in rows:
            item = {}
            for name, value in row.items():
                if name == "tags":
                    value = self.choice([value, value, [" " + tag for tag in value], self.tag_text(value)])
                elif value.strip() == "" and self.chance(0.7):
                    if self.chance(0.5):
                        continue
                    value = None
                elif re.fullmatch(r"-?(0|[1-9]\d*)(\.\d*[1-9])?", value) and self.chance(0.7):
                    value = json.loads(value)
                item[name] = value
            items.append(item)
            if self.chance(self.dirt):
                item[self.choice(["alias", "language", "city", "level", "other"])] = self.choice([["a"], {"a": 1}, [], True])
            if self.chance(self.dirt):
                items.append(self.choice([5, [1], "text", None, {}, {"other": 1}]))
        for item in items:
            if isinstance(item, dict) and self.chance(0.5):
                pairs = list(item.items())
                self.random.shuffle(pairs)
                item.clear()
                item.update(pairs)
        if not lines:
            text = json.dumps(items, ensure_ascii=self.chance(0.5), indent=self.choice([None, 1]))
            return self.choice(["", "\ufeff", "\n"]) + text + self.choice(["", "\n"])
        texts = [json.dumps(item, ensure_ascii=self.chance(0.5)) for item in items]
        texts = [self.choice([text[:-1], text + "}", "{", text.replace(":", "", 1), text[:20]]) if self.chance(self.dirt) else text
                 for text in texts]
        texts = [line for text in texts for line in ([text, ""] if self.chance(self.dirt) else [text])]
        return self.choice(["", "\ufeff"]) + self.choice(["\n", "\r\n"]).join(texts) + self.choice(["", "\n"])

    def export(self, folder, name):
        rows = [self.cells() for _ in range(self.choice([20_000, 60_000] if self.big else [3, 8, 20, 40]))]
        if name.endswith((".json", ".jsonl", ".json.gz", ".jsonl.gz")):
            late = self.columns[-1]
            for row in rows[:len(rows) // 2]:
                row.pop(late, None)
            text = self.objects(rows, ".jsonl" in name)
        else:
            text = self.table(rows, name.removesuffix(".gz"))
        data = text.encode("utf-8")
        if self.chance(0.03):
            data = data.replace("ö".encode(), b"\xff").replace("ü".encode(), b"\xfc")
        with open(os.path.join(folder, name), "wb") as file:
            file.write(gzip.compress(data) if name.endswith(".gz") else data)

    # --- campaign ---

    def condition(self, column):
        """The condition as the oracle reads it, and as the campaign says it."""
        if self.chance(0.12):
            kind = self.choice(["present", "missing"])
            return {"column": column, "kind": kind}, kind
        if column in ("born", "last_active") and self.chance(0.6):
            kind, days = self.choice([("within", "within"), ("older", "older than")]), self.choice([1, 2, 3, 4, 10, 20, 60])
            text = f"{kind[1]} {days} day{'s' * (days > 1)}" if self.chance(0.8) else f"{kind[1]} {days * 24} hours"
            return {"column": column, "kind": kind[0], "seconds": days * 86400}, text
        if column in ("city", "language", "registration_id", "alias"):
            values = {"city": ["Berlin", "Köln", "a,b", "nowhere"], "language": ["en", "de", "en-US", "pt", "EN"],
                      "registration_id": self.registration_ids, "alias": self.aliases}[column]
            values = [value for value in self.some(values + ["zh-Hans"] * (self.strict and column == "language")) if value] or ["u1"]
            if self.chance(0.3):
                operator = self.choice(["==", "!="])
                text = f"'{values[0]}'" if re.search(r"[\[\],|，、]", values[0]) else values[0]
                return {"column": column, "kind": "comparison", "operator": operator, "value": values[0]}, operator + " " + text
            single = len(values) == 1 and not values[0].startswith("=")
            return {"column": column, "kind": "one_of", "values": values}, values[0] if single else values
        operator = self.choice(["==", "!=", "<", "<=", ">", ">="])
        value = {"level": lambda: self.choice(["3", "10.5", "-3", "3.0", "0"]),
                 "app_version": lambda: self.choice(["3.2.0", "3.2", "3", "3.10.0", "3.1.9.9"]),
                 "os": lambda: self.choice(["3.2.0", "3.10.0", "3.2", "3"]),
                 }.get(column, lambda: self.date(self.choice([1, 3, 5, 50])))()
        if column in ("born", "last_active") and re.fullmatch(r"\d+", value):
            value = "2026-01-01"
        if self.strict and self.chance(0.3):
            return {"column": column, "kind": "one_of", "values": [value]}, value
        return {"column": column, "kind": "comparison", "operator": operator, "value": value}, f"{operator} {value}"

    def names(self, folder, values):
        """A list in the campaign, or a file with one a line."""
        values = [value for value in values if value.strip()]
        if self.chance(0.15) and values:
            name = f"list{self.random.randrange(10**9)}.txt"
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("\n".join(values) + self.choice(["", "\n"]))
            return {"file": name}, values
        return values, values

    def make(self, folder):
        self.token_column = self.choice(["token", "device_token"])
        self.columns = [self.token_column, "registration_id", "alias", "tags", "language", "last_active", "registered_at", "level",
                        "app_version", "os", "born", "city"]
        length = self.choice([64, 64, 64, 160])
        self.tokens = ["".join(self.choice("0123456789abcdef") for _ in range(length)) for _ in range(self.choice([500, 20_000] if self.big else [2, 5, 15, 40]))]
        self.registration_ids = ["r1", "r2", "r3", "R1", "", "-5", "=1"] + [f"r{i}" for i in range(4, 12)]
        self.aliases = ALIASES if self.chance(0.7) else ["u1"]
        self.separator, self.dirt = self.choice([";", ";", "|", ",", ":"]), self.choice([0, 0, 0.03, 0.1]) / (300 if self.big else 1)
        self.quotes = self.chance(0.5)
        self.shared_dates = [self.date(day) for day in (1, 1, 2, 5, 5, 60)]
        kinds = [".csv", ".csv", ".tsv", ".jsonl", ".json", ".csv.gz", ".jsonl.gz", ".json.gz", ".tsv.gz"]
        files = sorted({self.choice(["a", "b", "c", "d10", "d9", "E"]) + self.choice(kinds) for _ in range(self.random.randint(1, 4))})
        for name in files:
            self.export(folder, name)
        query = {"files": [os.path.join(folder, name) for name in files], "separator": self.separator, "now": self.now,
                 "rows": self.choice(["newest", "newest", "merge"]), "where": []}
        audience = {"devices": self.random.sample(files, len(files))}
        if len(files) == 1 and self.chance(0.5):
            audience["devices"] = files[0]
        strict_rows = self.chance(0.1)
        if not strict_rows:
            audience["max_bad_rows"] = "100%"
        if self.chance(0.25):
            audience["everyone"] = query["everyone"] = True
        else:
            self.selectors(folder, audience, query)
        columns = self.random.sample(self.columns[1:3] + ["language", "last_active", "level", "app_version", "os", "born", "city"],
                                     self.choice([0, 0, 1, 1, 2]))
        for column in columns:
            condition, text = self.condition(column)
            query["where"].append(condition)
            audience.setdefault("where", {})[column] = text
        self.exclusions(folder, audience, query)
        if self.chance(0.5):
            audience["alias_limit"] = query["alias_limit"] = self.random.randint(1, 3)
        suppressed = [[token, self.now // 1000 * 1000 - self.choice([2, 4, 30]) * DAY] for token in self.tokens[:200] if self.chance(0.2)]
        query["suppressed"] = suppressed if self.chance(0.2) else []
        settings = {"runs": "runs", "apps": {"shop": {"topic": "com.example.shop", "environment": "simulator", "columns": {
            "tags": {"column": "tags", "separator": self.separator}, "rows": query["rows"]}}}}
        if query["rows"] == "newest":
            del settings["apps"]["shop"]["columns"]["rows"]
        write(folder, "volley.yaml", json.dumps(settings, indent=1, ensure_ascii=False))
        write(folder, "c.yaml", json.dumps({"name": "c", "app": "shop", "audience": audience, "content": {"title": "Hi", "body": "b"},
              "allow": [{"warning": "tag-separator", "reason": "generated"}]}, indent=1, ensure_ascii=False))
        write(folder, "query.json", json.dumps([query], ensure_ascii=False))
        return query, strict_rows

    def selectors(self, folder, audience, query):
        if self.chance(0.7):
            tags = self.some(TAGS)
            if self.chance(0.6):
                audience["tags"], query["any"] = self.names(folder, tags)
            else:
                audience["tags"] = {}
                # `none` beside no other selects nobody, and is refused.
                for name in self.random.choice([["any"], ["all"], ["any", "none"], ["all", "none"], ["any", "all", "none"]]):
                    audience["tags"][name], query[name] = self.names(folder, self.some(TAGS, 1, 2))
        if "tags" not in audience or self.chance(0.5):
            audience["aliases"], query["aliases"] = self.names(folder, [a for a in self.some(self.aliases) if a] or ["u1"])
        if self.chance(0.3):
            audience["registration_ids"], query["registration_ids"] = self.names(folder, ["r2"] + self.some(self.registration_ids))

    def exclusions(self, folder, audience, query):
        exclude = {}
        if self.chance(0.2):
            exclude["tags"], query["excluded_tags"] = self.names(folder, self.some(TAGS, 1, 2))
        if self.chance(0.15):
            exclude["aliases"], query["excluded_aliases"] = self.names(folder, ["u2"])
        if self.chance(0.15):
            exclude["registration_ids"], query["excluded_registration_ids"] = self.names(folder, self.some(["r1", "r3", "r4"]))
        if self.chance(0.2):
            tokens = [self.choice([str.upper, str.lower])(token) for token in self.some(self.tokens)]
            ids = self.some(["r1", "r5", "r6"], 0, 2)
            query["excluded_devices"] = tokens + ids
            if self.chance(0.5):
                text, name = "\n".join(tokens + ids) + "\n", self.choice(["x.txt", "x.csv"])
            else:
                text, name = "device_token,registration_id,why\n" + "".join(f"{t},,a\n" for t in tokens) + "".join(f",{i},b\n" for i in ids), "x.csv"
            write(folder, name, text)
            exclude["devices"] = name
        if exclude:
            audience["exclude"] = exclude


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
        file.write(text)


def volley(folder, *arguments):
    """Runs the program; its exit code, standard output and standard error."""
    process = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, timeout=60, errors="replace")
    return process.returncode, process.stdout, process.stderr


def shape(answer):
    """What is compared; the binary counts selectors with nobody, and says nothing of languages when nobody has one."""
    languages = answer["languages"] if set(answer["languages"]) != {"unknown"} else {}
    return {"rows": answer["rows"], "audience": answer["audience"], "languages": languages,
            **{name: {k: v for k, v in answer[name].items() if v} for name in ("skipped", "selected_by")}}


def plain(text):
    """A cell of the report without what keeps spreadsheets from running it."""
    return text[1:] if re.match(r"'[=+\-@\t\r]", text) else text


def recipients(folder):
    _, out, _ = volley(folder, "report", "last", "--format", "csv")
    return sorted(" ".join([row["device_token"].lower()] + [plain(row[name]) for name in ("registration_id", "alias", "language")])
                  for row in csv.DictReader(io.StringIO(out, newline="")))


def refusal(folder, output, query, strict_rows, want, counts):
    """None when the refusal has a reason that the contract gives, otherwise what to report."""
    kinds = []
    for error in output["errors"]:
        kind = re.sub(r"'[^']*'|\d[\d,.]*|[a-z0-9E]+\.(csv|tsv|jsonl?)(\.gz)?", "_", error["message"])
        kinds.append(kind)
    counts[" + ".join(sorted(set(kinds)))] += 1
    bad = want["skipped"].get("bad_row", 0)
    if strict_rows and bad * 100 > want["rows"]:
        return None
    return "refused: " + "; ".join(error["message"] for error in output["errors"])


def compare(number, strict, big, folder, counts):
    seed = Seed(number, strict, big)
    query, strict_rows = seed.make(folder)
    if query["suppressed"]:
        lines = [f"{token},{datetime.datetime.fromtimestamp(when // 1000, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')}"
                 for token, when in query["suppressed"]]
        write(folder, "gone.csv", "device_token,invalid_since\n" + "\n".join(lines) + "\n")
        code, _, err = volley(folder, "suppression", "import", "gone.csv", "--app", "shop")
        if code:
            return ["suppression import: " + err.strip()]
    want = audience_contract.answer(query)
    differences = []
    for command in ("preview", "plan"):
        code, out, err = volley(folder, command, "c.yaml", "--json", *(["--memory", "128M"] if number % 3 == 0 and command == "plan" else []))
        try:
            got = json.loads(out)
        except ValueError:
            return [f"{command}: exit {code}, no JSON: {out[:200]} {err[:300]}"]
        if "errors" in got:
            problem = refusal(folder, got, query, strict_rows, want, counts)
            return [problem] if problem else ["right refusal"]
        for name, value in shape(got).items():
            if value != shape(want)[name]:
                differences.append(f"{command} {name}: oracle {shape(want)[name]}, volley {value}")
    if strict_rows and want["skipped"].get("bad_row", 0) * 100 > want["rows"]:
        differences.append("more than 1 % bad rows, and no refusal")
    got = recipients(folder)
    if got != want["recipients"]:
        differences.append(f"recipients: only oracle {sorted(set(want['recipients']) - set(got))[:3]}, "
                           f"only volley {sorted(set(got) - set(want['recipients']))[:3]}")
    return differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("volley")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--big", action="store_true")
    parser.add_argument("--keep")
    options = parser.parse_args()
    global program
    program = os.path.abspath(options.volley)
    counts, agreed, refused, differed, covered = collections.Counter(), 0, 0, [], collections.Counter()
    for number in range(options.first, options.last + 1):
        folder = tempfile.mkdtemp(prefix=f"seed{number}_")
        try:
            differences = compare(number, options.strict, options.big, folder, counts)
        except Exception as error:  # the oracle itself may fail on a file it cannot read
            differences = [f"harness: {type(error).__name__} {error}"]
        if not differences:
            agreed += 1
            covered.update(name for query in json.load(open(os.path.join(folder, "query.json"))) for name in audience_contract.answer(query)["skipped"])
        elif differences == ["right refusal"]:
            refused += 1
        else:
            differed.append(number)
            print(number, *differences, sep="\n    ", flush=True)
            if options.keep:
                shutil.copytree(folder, os.path.join(options.keep, str(number)), dirs_exist_ok=True)
        shutil.rmtree(folder)
    print(f"{agreed} seeds agree, {refused} are rightly refused, {len(differed)} differ")
    print("seeds agreed upon with a skip of:", dict(covered))
    for kind, count in counts.most_common():
        print(f"  refused {count} x {kind}")
    return 1 if differed else 0


if __name__ == "__main__":
    sys.exit(main())
