#!/usr/bin/env python3
"""The audience rules of a campaign a second time, short and slow, written from campaign-language.md alone.

    python3 audience_contract.py queries.json

takes a JSON array of queries and prints a JSON array of answers {rows, audience, skipped, selected_by, languages, recipients}.
A query has files, separator, rows (newest or merge), any, all, none, aliases, registration_ids, everyone, where, excluded_tags,
excluded_aliases, excluded_registration_ids, excluded_devices, suppressed (pairs of token and moment), alias_limit and now
(moments in milliseconds since 1970). A recipient is "TOKEN REGISTRATION_ID ALIAS LANGUAGE", the token in lower case.

Written without a look at the program. Where the contract is silent the rule is marked "decided:".
"""
import collections
import csv
import datetime
import fractions
import gzip
import json
import operator as op
import re
import sys

csv.field_size_limit(1 << 30)
NAMED = ("alias", "registration_id", "language", "last_active", "registered_at", "token", "device_token")
DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
NO_UTF8 = re.compile("[\udc80-\udcff]")  # decided: a row with such bytes cannot be read
# 1970-01-01, 1900-01-01 and 0001-01-01
NEVER = (0, -2_208_988_800_000, -62_135_596_800_000)
EPOCH = datetime.datetime.fromtimestamp(0, datetime.timezone.utc)


# --- Reading exports: every row becomes a dict of column to cell, or None for a row that cannot be read ---

def read_export(path):
    data, name = open(path, "rb").read(), path.lower()
    data, name = (gzip.decompress(data), name[:-3]) if name.endswith(".gz") else (data, name)
    text = data.decode("utf-8-sig", errors="surrogateescape")
    if not name.endswith((".json", ".jsonl")):
        return read_table(text)
    items = read_json(text) if name.endswith(".json") else [read_line(line) for line in text.split("\n") if line.strip()]
    texts = [json.dumps(item, ensure_ascii=False) for item in items]
    return [item if isinstance(item, dict) and not NO_UTF8.search(text) else None for item, text in zip(items, texts)]


def read_json(text):
    """Numbers stay as they are written; NaN and Infinity are no JSON."""
    return json.loads(text, parse_int=str, parse_float=str, parse_constant=lambda name: json.loads(""))


def read_line(line):
    try:
        return read_json(line)
    except ValueError:
        return None


def read_table(text):
    """decided: an empty line is no row; blanks may stand before a quoted cell; text after a closing quote makes a bad row; a quote that is never closed makes bad rows
    of all the lines that are left, and so does one whose cell holds a whole row of another device."""
    taken, rows = [], []
    separator = guess_separator(text)
    reader = csv.reader((taken.append(line) or line for line in re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)),
                        delimiter=separator, strict=True, skipinitialspace=True)
    header = [cell.strip() for cell in next(line for line in reader if line)]
    token_at = next(header.index(name) for name in ("token", "device_token") if name in header)
    taken.clear()
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return rows
        except csv.Error:
            cells = [""] * (len(header) + 1)
        others = [other for other in (line.rstrip("\r\n").split(separator) for line in taken[1:]) if len(other) == len(header)]
        swallowed = any('"' not in "".join(other[:token_at]) and is_token(other[token_at].strip().lower()) for other in others)
        if len(cells) == len(header) and not swallowed and not NO_UTF8.search("".join(cells)):
            rows.append(dict(zip(header, cells)))
        elif cells:
            rows += [None] * len(taken)
        taken.clear()


def guess_separator(text):
    """decided: what stands most often in the header outside quotes; comma before semicolon before tab."""
    return max(",;\t", key=re.sub(r'"[^"]*"', "", text.lstrip("\r\n").splitlines()[0]).count)


# --- Cells ---

def text_of(value):
    """A cell as trimmed text. What exporters write for nothing (NULL, \\N, N/A; decided: in any case) is blank."""
    text = {None: "", True: "true", False: "false"}[value] if value is None or isinstance(value, bool) else value.strip()
    return "" if text.upper() in ("NULL", "\\N", "N/A") else text


def tags_of(value, separator):
    """decided: a JSON list is taken as it is; text is cut at the separator."""
    parts = [text_of(item) for item in value] if isinstance(value, list) else text_of(value).split(separator)
    return {part.strip() for part in parts} - {""}


def fits(row, columns):
    """decided: a JSON row with a list or an object where a text is needed cannot be read; tags may be a list of texts."""
    needed = [row.get(name) for name in columns] + (row["tags"] if isinstance(row.get("tags"), list) else [row.get("tags")])
    return not any(isinstance(value, (list, dict)) for value in needed)


def moment(text):
    """Milliseconds since 1970, or None. decided: ISO 8601 (without a zone: UTC), seconds (10 digits), milliseconds (13)."""
    if re.fullmatch(r"\d{10}|\d{13}", text, re.ASCII):
        return int(text) * (1000 if len(text) == 10 else 1)
    match = DATE.fullmatch(text)
    if not match:
        return None
    day, hour, minute, second, part, zone = match.groups()
    try:
        clock = datetime.datetime.fromisoformat(f"{day}T{hour or '00'}:{minute or '00'}:{second or '00'}{zone or 'Z'}")
    except ValueError:
        return None
    return (clock - EPOCH) // datetime.timedelta(milliseconds=1) + int(float(part or 0) * 1000)


def number(text):
    return fractions.Fraction(text) if re.fullmatch(r"[+-]?\d+(\.\d+)?", text, re.ASCII) else None


def version(text):
    """Number by number; decided: 3.2 is 3.2.0."""
    if not re.fullmatch(r"\d+(\.\d+)*", text, re.ASCII):
        return None
    return [int(part) for part in re.sub(r"(\.0+)+$", "", text).split(".")]


# --- Conditions ---

def reader_for(column, operand):
    """What the operand is decides as what the cell is read. decided: a column is called a version when its name has the word."""
    if "version" in column.lower() or re.fullmatch(r"\d+(\.\d+){2,}", operand, re.ASCII):
        return version
    return number if number(operand) is not None else moment if moment(operand) is not None else str


def speaks(language, wanted):
    """zh holds for zh-Hans and zh_Hans_CN. decided: whatever the capitals."""
    have, want = (text.lower().replace("_", "-").split("-") for text in (language, wanted))
    return have[:len(want)] == want


def equals(column, cell, operand):
    """decided: a cell that cannot be what the operand is does not equal it."""
    if column == "language":
        return speaks(cell, operand)
    read = reader_for(column, operand)
    return cell == operand or read(operand) is not None and read(cell) == read(operand)


def compares(column, cell, operator, operand):
    if operator in ("=", "==", "!="):
        return equals(column, cell, operand) == (operator != "!=")
    have, want = map(reader_for(column, operand), (cell, operand))
    tests = {"<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge}
    return have is not None and want is not None and tests[operator](have, want)


def holds(condition, row, now):
    """decided: a blank cell holds under nothing but missing, so not under != either; for within and older than, a date without
    a clock lasts until its day ends."""
    column, kind = condition["column"], condition["kind"]
    cell = text_of(row.get(column))
    if kind == "missing" or not cell:
        return kind == "missing" and not cell
    if kind == "one_of":
        return any(equals(column, cell, str(value)) for value in condition["values"])
    if kind == "comparison":
        return compares(column, cell, condition["operator"], str(condition["value"]))
    when = moment(cell)
    if kind == "present" or when is None:
        return kind == "present"
    # decided: nothing is older than a day that programs write for never
    if kind == "older" and when in NEVER:
        return False
    if re.fullmatch(r"\d{4}-\d\d-\d\d", cell):
        when += 86_400_000 - 1
    limit = now - condition["seconds"] * 1000
    return when >= limit if kind == "within" else when < limit


# --- Devices ---

class Device:
    """The newest row of a token and, with rows: merge, the tags of all its rows."""
    def __init__(self, token, row, tags, now):
        self.token, self.row, self.tags = token, row, tags
        self.alias, self.registration_id, self.language = (text_of(row.get(name)) for name in NAMED[:3])
        active = moment(text_of(row.get("last_active")))
        # decided: without a date that can be read older than with any; a date more than a day ahead cannot be read
        active = None if active is not None and active > now + 86_400_000 else active
        self.age_order = (active is not None, active or 0)


def is_token(token):
    """decided: pairs of hexadecimal digits, four at least."""
    return re.fullmatch(r"([0-9a-f]{2}){4,}", token) is not None


def plain_token(text):
    """decided: a long token may stand in angle brackets or quotes, behind an apostrophe or 0x, between invisible characters, and in groups
    of eight digits, or of any number where they are 64 together."""
    groups = re.sub("^0x", "", text.strip("<>'\"\u200b\ufeff\u00a0 \t")).split()
    joined = "".join(groups)
    together = len(groups) == 1 or len(joined) == 64 or all(len(group) == 8 for group in groups)
    return joined if not is_token(text) and together and len(joined) >= 32 and is_token(joined) else text


def gather(query, skipped):
    """The devices by token; rows that are no device of their own are counted. decided: one with anything else instead of a token is a
    bad_token, whatever it is; one with nothing, or a sign for it, is first looked at as if it were a device."""
    devices, count = {}, 0
    columns = NAMED + tuple(condition["column"] for condition in query.get("where", []))
    for row in (row for path in query["files"] for row in read_export(path)):
        count += 1
        readable = row is not None and fits(row, columns)
        if not readable:
            skipped["bad_row"] += 1
            continue
        token = plain_token(text_of(row.get("token", row.get("device_token"))).lower())
        device = Device(token, row, tags_of(row.get("tags"), query["separator"]), query["now"])
        if not is_token(token):
            is_sign = token in ("", "null", "n/a", "-")
            skipped[is_sign and reason_against(device, query) or ("bad_token" if token else "missing_token")] += 1
            continue
        known = devices.setdefault(token, device)
        if known is not device:
            skipped["duplicate_token"] += 1
            united = device.tags | known.tags
            devices[token] = device = device if device.age_order >= known.age_order else known
            device.tags = united if query["rows"] == "merge" else device.tags
    return devices, count


def tag_selectors(device, query):
    """The tags that select a device; decided: any, all and none are one selector, a device has to pass all of it."""
    some, every, none = (set(query.get(name) or []) for name in ("any", "all", "none"))
    passes = not device.tags & none and every <= device.tags and (not some or some & device.tags)
    return ({"tag:" + tag for tag in (some | every) & device.tags} or {"tags"}) if passes and (some or every or none) else set()


def selectors(device, query):
    """decided: tags, aliases and registration ids are the same only when they are written alike, capitals as well."""
    names = {"everyone"} if query.get("everyone") else tag_selectors(device, query)
    for name, listed in (("alias", "aliases"), ("registration_id", "registration_ids")):
        value = getattr(device, name)
        names |= {name} if value and value in query.get(listed, []) else set()
    return names


def is_excluded(device, query):
    listed = {entry.strip() for entry in query.get("excluded_devices", [])} - {""}
    return bool(device.tags & set(query.get("excluded_tags", []))
                or device.alias and device.alias in query.get("excluded_aliases", [])
                or device.registration_id and device.registration_id in query.get("excluded_registration_ids", [])
                or device.token in {entry.lower() for entry in listed} or device.registration_id in listed)


def is_suppressed(device, query):
    """decided: until the device registers at a later moment; a date alone may be the last one of its day."""
    text = text_of(device.row.get("registered_at"))
    registered = (moment(text) or 0) + (86399999 if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) else 0)
    return any(token.lower() == device.token and registered <= since for token, since in query.get("suppressed", []))


def reason_against(device, query):
    """decided: the reasons in this order, then that the token is none, and the alias limit last."""
    if not selectors(device, query):
        return "not_matched"
    if not all(holds(condition, device.row, query["now"]) for condition in query.get("where", [])):
        return "filtered"
    return "excluded" if is_excluded(device, query) else "suppressed" if is_suppressed(device, query) else None


def over_alias_limit(devices, limit):
    """The tokens past the limit of their alias. decided: only devices that could get the push take a place, and one that
    something else selects too takes one as well."""
    groups, past = collections.defaultdict(list), set()
    for device in sorted(devices, key=lambda device: device.token):
        groups[device.alias].append(device)
    for group in groups.values():
        past |= {device.token for device in sorted(group, key=lambda device: device.age_order, reverse=True)[limit:]}
    return past


def answer(query):
    skipped, selected_by, languages, left, recipients = (*(collections.Counter() for _ in range(3)), [], [])
    devices, count = gather(query, skipped)
    for device in devices.values():
        reason = reason_against(device, query)
        left += [] if reason else [device]
        skipped.update([reason] if reason else [])
    past = over_alias_limit([device for device in left if "alias" in selectors(device, query)], query.get("alias_limit", 10))
    for device in left:
        names = selectors(device, query)
        if names == {"alias"} and device.token in past:
            skipped["alias_limit"] += 1
            continue
        selected_by.update(names)  # decided: under alias as well when past its limit
        languages[device.language or "unknown"] += 1
        recipients.append(" ".join([device.token, device.registration_id, device.alias, device.language]))
    return {"rows": count, "audience": len(recipients), "skipped": dict(skipped), "selected_by": dict(selected_by),
            "languages": dict(languages), "recipients": sorted(recipients)}


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        json.dump([answer(query) for query in json.load(file)], sys.stdout, indent=1, ensure_ascii=False)
    print()
