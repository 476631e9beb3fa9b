#!/usr/bin/env python3
"""The audience rules of a campaign once more, short and slow: what the tests hold Volley's own scan against.

    python3 Tests/Fixtures/audience_oracle.py queries.json

reads a JSON array of queries and prints a JSON array of {rows, audience, skipped, selected_by, languages, recipients}. A query has files,
separator, rows (newest or merge), any, all, none, aliases, registration_ids, everyone, where, excluded_tags, excluded_aliases, excluded_registration_ids,
excluded_devices, suppressed (pairs of token and moment), alias_limit and now (moments in milliseconds since 1970).
"""
import collections
import csv
import datetime
import decimal
import gzip
import json
import re
import sys

BLANKS = " \t\r\n"
# What exporters write for no value, as far as the exports have it: a row without a device is counted by its tags.
NO_VALUE = ("", "null", "NULL", "undefined", "#N/A", "N/A", "n/a", "-")


def opened(path, *arguments, **options):
    return (gzip.open if path.endswith(".gz") else open)(path, *arguments, **options)


def read_csv(path):
    with opened(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, strict=True)
        header = next(reader)
        while True:
            line = reader.line_num
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error:
                yield from [None] * (reader.line_num - line)
                continue
            if not cells:
                continue
            good = len(cells) == len(header) and not any("\0" in cell or re.search("[\ud800-\udfff]", cell) for cell in cells)
            # Each line of a row that cannot be read may be a row that an open quote hides.
            yield from [{name: cell.strip(BLANKS) for name, cell in zip(header, cells)}] if good else [None] * (reader.line_num - line)


def read_json_lines(path):
    with opened(path, "rb") as file:
        for line in file.read().split(b"\n"):
            if not line.strip(BLANKS.encode()):
                continue
            try:
                row = json.loads(line.decode("utf-8"), parse_int=str, parse_float=str, parse_constant=int)
                json.dumps(row, ensure_ascii=False).encode("utf-8")
            except ValueError:
                yield None
                continue
            yield {name: cell_of(name, value) for name, value in row.items()} if isinstance(row, dict) and is_usable(row) else None


def is_usable(row):
    return not any(isinstance(value, dict) or isinstance(value, list) and name != "tags" or "\\u0000" in json.dumps(value)
                   for name, value in row.items())


def cell_of(name, value):
    if isinstance(value, list):
        return [cell_of(name, element) for element in value]
    return "" if value is None else {True: "true", False: "false"}.get(value, value).strip(BLANKS)


def date(text):
    """Milliseconds, or None."""
    if re.fullmatch(r"\d{9,14}", text):
        return int(text) * (1000 if len(text) < 12 else 1)
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(Z|[+-]\d\d:\d\d)?)?", text)
    try:
        day, time, zone = match.groups()
        moment = datetime.datetime.fromisoformat(f"{day}T{time or '00:00'}{'+00:00' if zone in (None, 'Z') else zone}")
        return round(moment.timestamp() * 1000)
    except (AttributeError, ValueError):
        return None


def version(text):
    match = re.fullmatch(r"[vV]?(\d+(?:\.\d+)*)(?:-(.+))?", text, re.DOTALL)
    if not match:
        return None
    numbers = [int(number) for number in match[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers, match[2] is None, (match[2] or "").encode()


def satisfies(cell, condition, now):
    kind, is_language = condition["kind"], condition["column"] == "language"
    if cell == "":
        return kind == "missing"
    if kind in ("present", "missing"):
        return kind == "present"
    if kind in ("within", "older"):
        moment = date(cell)
        if moment is None or kind == "within" and moment > now + 86_400_000:
            return False
        # What programs write where they have no date: 1970-01-01, 1900-01-01, 0001-01-01.
        if kind == "older" and moment in (0, -2_208_988_800_000, -62_135_596_800_000):
            return False
        return (now - moment <= condition["seconds"] * 1000) == (kind == "within")
    if kind == "one_of":
        return any(is_value(cell, value, is_language, condition["column"]) for value in condition["values"])
    return compare(cell, condition["value"], condition["operator"], condition["column"])


def is_code(text):
    """A post code or telephone number."""
    return re.match(r"\+.|0[^.]", text, re.DOTALL)


def is_value(cell, value, is_language, column):
    """A language holds for its regions and scripts, true and false for what is written instead; numbers, versions and dates as such; all else to
    the letter."""
    if is_language:
        return (cell.lower().replace("_", "-") + "-").startswith(value.lower() + "-")
    words = {"true": ("true", "yes", "y", "t", "on", "1"), "false": ("false", "no", "n", "f", "off", "0")}.get(value.lower())
    if words or cell == value:
        return cell.lower() in words if words else True
    kind = kind_of(value, column)
    if kind == str.encode or kind == number and (is_code(value) or is_code(cell)):
        return False
    return compare(cell, value, "==", column)


def number(text):
    return decimal.Decimal(text) if re.fullmatch(r"[+-]?\d+(\.\d+)?", text) else None


def kind_of(text, column):
    """What a value is compared as."""
    if date(text) is not None and (not text.isdigit() or column in ("last_active", "registered_at")):
        return date
    if "version" in column and version(text):
        return version
    if number(text) is not None:
        return number
    return version if version(text) and re.fullmatch(r"[vV].*|\d+(\.\d+){2,}.*|[^-]+-[A-Za-z].*", text, re.DOTALL) else str.encode


def compare(left, right, operator, column):
    kind = kind_of(right, column)
    a, b = kind(left), kind(right)
    if a is None or kind is version and date(left) is not None and left[4] == "-":
        return operator == "!="
    return {"<": a < b, "<=": a <= b, "==": a == b, "!=": a != b, ">=": a >= b, ">": a > b}[operator]


def selectors_of(row, tags, query):
    found = []
    selects = query["any"] or query["all"] or query["none"]
    if selects and not tags & set(query["none"]) and tags >= set(query["all"]) and (not query["any"] or tags & set(query["any"])):
        named = list(dict.fromkeys(query["any"] + query["all"]))
        found += [f"tag:{tag}" for tag in named if tag in tags] or ([] if named else ["tags"])
    if row.get("alias") and row["alias"] in query["aliases"]:
        found.append("alias")
    if row.get("registration_id") and row["registration_id"] in query["registration_ids"]:
        found.append("registration_id")
    return found + (["everyone"] if query["everyone"] else [])


def is_excluded(row, tags, query):
    listed = [entry.lower() for entry in query["excluded_devices"]]
    return bool(tags & set(query["excluded_tags"]) or row.get("alias") in query["excluded_aliases"]
                or row.get("registration_id") in query["excluded_registration_ids"]
                or row.get("registration_id") and row["registration_id"].lower() in listed)


def reason_for(row, tags, found, query):
    if not found:
        return "not_matched"
    if not all(satisfies(row.get(condition["column"], ""), condition, query["now"]) for condition in query["where"]):
        return "filtered"
    token, listed = row.get("device_token", ""), [entry.lower() for entry in query["excluded_devices"]]
    if is_excluded(row, tags, query) or (token_of(token) or token) in listed:
        return "excluded"
    if not token:
        return "missing_token"
    return None if token_of(token) else "bad_token"


def token_of(text):
    """The digits of a token, also of a long one that is written in another way; None for anything else."""
    if not re.fullmatch("(?:[0-9a-fA-F]{2}){4,256}", text):
        groups = re.sub("^0[xX]", "", text.strip("<>'\"\u200b\ufeff\u00a0" + BLANKS)).split()
        text = "".join(groups)
        is_apart = len(groups) > 1 and len(text) != 64 and any(len(group) != 8 for group in groups)
        if is_apart or not re.fullmatch("(?:[0-9a-fA-F]{2}){16,256}", text):
            return None
    return text.lower()


def tags_of(row, query):
    cell = row.get("tags", "")
    return {tag.strip(BLANKS) for tag in (cell if isinstance(cell, list) else cell.split(query["separator"]))} - {""}


def run(query):
    """A device's newest row decides everything about it: newest by last_active, and of those that tie the one that is read last."""
    skipped, rows, rows_of = collections.Counter(), 0, {}
    for path in query["files"]:
        for row in (read_csv if ".csv" in path else read_json_lines)(path):
            rows += 1
            if row is None:
                skipped["bad_row"] += 1
            elif token := token_of(row.get("device_token", "")):
                rows_of.setdefault(token, []).append(row)
            elif row.get("device_token", "") not in NO_VALUE:
                # Whose row that is cannot be told, so that it decides nothing, whatever its tags.
                skipped["bad_token"] += 1
            else:
                tags = tags_of(row, query)
                skipped[reason_for(row, tags, selectors_of(row, tags, query), query)] += 1
    devices = {}
    for token, found in rows_of.items():
        moments = [date(row.get("last_active", "")) for row in found]
        # More than a day ahead is a slip, and says nothing.
        moments = [float("-inf") if moment is None or moment > query["now"] + 86_400_000 else moment for moment in moments]
        newest = max(range(len(found)), key=lambda place: (moments[place], place))
        row, tags = found[newest], tags_of(found[newest], query)
        if query["rows"] == "merge":
            tags = {tag for each in found for tag in tags_of(each, query)}
        skipped["duplicate_token"] += len(found) - 1
        selectors = selectors_of(row, tags, query)
        reason = reason_for(row, tags, selectors, query)
        if reason:
            skipped[reason] += 1
        else:
            devices[token] = {"row": row, "active": moments[newest], "selectors": set(selectors)}
    invalid_since = {}
    for token, moment in query["suppressed"]:
        invalid_since[token] = max(moment, invalid_since.get(token, moment))
    for token in [token for token in devices if token in invalid_since]:
        text = devices[token]["row"].get("registered_at", "")
        registered = date(text)
        if registered is not None and re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            registered += 86399999  # all of that day
        if registered is None or registered <= invalid_since[token]:
            skipped["suppressed"] += 1
            del devices[token]
    kept = set()
    for alias in query["aliases"]:
        ranked = sorted((-device["active"], token) for token, device in devices.items()
                        if "alias" in device["selectors"] and device["row"]["alias"] == alias)
        kept |= {token for _, token in ranked[:query["alias_limit"]]}
    cut = {token for token, device in devices.items() if device["selectors"] == {"alias"} and token not in kept}
    skipped["alias_limit"] = len(cut)
    audience = {token: device for token, device in devices.items() if token not in cut}
    return {"rows": rows, "audience": len(audience), "skipped": {reason: count for reason, count in skipped.items() if count},
            "selected_by": collections.Counter(selector for device in audience.values() for selector in device["selectors"]),
            "languages": collections.Counter(device["row"].get("language", "") for device in audience.values()),
            "recipients": sorted(" ".join([token] + [device["row"].get(name, "") for name in ("registration_id", "alias", "language")])
                                 for token, device in audience.items())}


if __name__ == "__main__":
    csv.field_size_limit(1 << 30)
    with open(sys.argv[1], encoding="utf-8") as queries:
        json.dump([run(query) for query in json.load(queries)], sys.stdout)
