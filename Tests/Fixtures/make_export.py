#!/usr/bin/env python3
"""Writes the sample exports, devices.csv and devices.jsonl: the same devices, with the dirt that real exports have; and members.csv,
three hundred of them who collect points, in more languages.

    python3 Tests/Fixtures/make_export.py campaigns/exports              the samples (20,000 rows, always the same bytes)
    python3 Tests/Fixtures/make_export.py /tmp/big --rows 1000000 --csv  one large CSV to measure with

Nothing but the seed decides the contents. Tokens that begin with 00000410, 00000429, 00000503 or 00000400 are answered by
the simulator with Unregistered, TooManyRequests (once), ServiceUnavailable (once) and BadDeviceToken.
"""
import argparse
import csv
import datetime
import json
import os
import random

HEADER = ["device_token", "registration_id", "alias", "tags", "language", "timezone", "last_active", "registered_at",
          "first_name", "store", "app_version"]
END = datetime.datetime(2026, 11, 20)
TAGS = ["discount", "daily", "sports", "fashion", "news", "unsubscribed", "beta", "数码", "折扣"]
TAG_WEIGHTS = [30, 25, 18, 18, 15, 5, 3, 6, 6]
LANGUAGES = {"en": (45, ["Europe/London", "America/New_York", "America/Los_Angeles"]), "de": (20, ["Europe/Berlin", "Europe/Vienna"]),
             "fr": (10, ["Europe/Paris"]), "zh-Hans": (15, ["Asia/Shanghai"]), "ja": (10, ["Asia/Tokyo"])}
NAMES = {"en": ["Anna", "James", "Olivia", "Zoë", "Mary Jane", "O'Neil"], "de": ["Jürgen", "Käthe", "Björn", "Lena", "Großmann"],
         "fr": ["Chloé", "François", "Hélène", "Noël"], "zh-Hans": ["小明", "丽华", "王芳", "欧阳"], "ja": ["さくら", "健太", "美咲"]}
STORES = ["Berlin", "Hamburg", "London", "Paris", "上海", "東京", "Köln, Dom", "Berlin, \"Mitte\"", "München\nHauptbahnhof",
          "New York, 5th Avenue", "\"The Corner\"", "Lyon"]
STORE_WEIGHTS = [20, 14, 14, 12, 9, 8, 3, 2, 2, 3, 1, 8]
VERSIONS = ["2.9.0", "3.0.1", "3.1.4", "3.2", "3.2.0", "3.9.1", "3.10.0", "3.10.2", "4.0.0-beta", "4.0.0"]
BAD_TOKENS = ["null", "7.28E+15", "undefined", "#N/A"]
SPECIAL_TOKENS = {"00000410": 60, "00000429": 40, "00000503": 10, "00000400": 3}
ALIASES = {"user42": 14, "user77": 3, "user13": 2, "user100": 12, "user2000": 25, "user300": 10, "家庭": 11}
REGISTRATION_IDS = ["191e35f7e07", "191e35f7e08", "191e35f7e09"]


def moment(chance, earliest, latest):
    seconds = int((latest - earliest).total_seconds())
    return earliest + datetime.timedelta(seconds=chance.randrange(seconds))


def iso(date):
    return date.strftime("%Y-%m-%dT%H:%M:%SZ")


def device(chance, number):
    language = chance.choices(list(LANGUAGES), [weight for weight, _ in LANGUAGES.values()])[0]
    active = moment(chance, END - datetime.timedelta(days=364), END)
    registered = moment(chance, active - datetime.timedelta(days=900), active)
    tags = list(dict.fromkeys(chance.choices(TAGS, TAG_WEIGHTS, k=chance.choice([0, 1, 1, 2, 2, 3, 4]))))
    return {
        "device_token": "%064x" % chance.getrandbits(256),
        "registration_id": "%011x" % chance.getrandbits(44),
        "alias": f"user{1_000_000 + number}" if chance.random() < 0.7 else "",
        "tags": tags,
        "language": language if chance.random() > 0.01 else "",
        "timezone": chance.choice(LANGUAGES[language][1]) if chance.random() > 0.02 else "",
        "last_active": iso(active) if chance.random() > 0.02 else chance.choice(["", active.strftime("%Y-%m-%d"), "never"]),
        "registered_at": iso(registered),
        "first_name": chance.choice(NAMES[language]) if chance.random() > 0.15 else "",
        "store": chance.choices(STORES, STORE_WEIGHTS)[0] if chance.random() > 0.05 else "",
        "app_version": chance.choice(VERSIONS),
        "broken": None,
    }


def make_dirty(chance, rows, clean):
    """Gives rows outside `clean` what real exports have; every row keeps its place."""
    others = [index for index in range(len(rows)) if index not in clean]
    chance.shuffle(others)
    share = len(rows) / 20_000

    def take(count):
        return [others.pop() for _ in range(int(count * share))]

    for index in take(60):
        rows[index]["device_token"] = ""
    for index in take(40):
        token = rows[index]["device_token"]
        rows[index]["device_token"] = chance.choice(BAD_TOKENS + [token[:63], token[:20] + "x" + token[21:]])
    for index in take(30):
        rows[index]["broken"] = chance.choice(["short", "long"])
    # The same device again: an older or a newer row, half of them with its token in capitals.
    repeating = take(400)
    repeated = others[:len(others) // 2]
    for index in repeating:
        original = rows[chance.choice(repeated)]
        again = dict(original)
        active = moment(chance, END - datetime.timedelta(days=364), END)
        again["last_active"] = iso(active)
        again["tags"] = list(dict.fromkeys(chance.choices(TAGS, TAG_WEIGHTS, k=2)))
        if chance.random() < 0.5:
            again["device_token"] = original["device_token"].upper()
        rows[index] = again


def make_rows(seed, count):
    chance = random.Random(seed)
    rows = [device(chance, number) for number in range(count)]
    places = list(range(count))
    chance.shuffle(places)
    clean = set()

    def take():
        clean.add(places[-1])
        return rows[places.pop()]

    for prefix, number in SPECIAL_TOKENS.items():
        for _ in range(number):
            row = take()
            row["device_token"] = prefix + row["device_token"][len(prefix):]
    for alias, number in ALIASES.items():
        for _ in range(number):
            take()["alias"] = alias
    for registration_id in REGISTRATION_IDS:
        # Rows that the samples' own conditions let through.
        take().update(registration_id=registration_id, tags=["fashion", "news"], language="en", timezone="Europe/London",
                      last_active=iso(moment(chance, END - datetime.timedelta(days=7), END)), first_name="Anna", store="London",
                      app_version="3.10.0")
    make_dirty(chance, rows, clean)
    return rows


MEMBER_HEADER = ["device_token", "registration_id", "language", "last_active", "first_name", "level", "points", "credit", "points_expire"]
MEMBER_LANGUAGES = ["en"] * 4 + ["en-GB"] * 3 + ["de", "fr", "es", "pl", "ru", "tr", "ja", "zh-Hans-CN", "ar"]
LEVELS = ["gold", "silver", "bronze", ""]


def members(seed, rows):
    """Devices with what a loyalty programme knows of them; a few have no points yet, and some no name."""
    chance = random.Random(seed + 1)
    result = []
    for row in [row for row in rows if row["broken"] is None and len(row["device_token"]) == 64][:300]:
        points = chance.choice([0, 1, 2, 5, 21, 99, 100, 250, 999, 1000, 1250, 12345, 1000000])
        expire = moment(chance, END, END + datetime.timedelta(days=120))
        result.append([row["device_token"], row["registration_id"], chance.choice(MEMBER_LANGUAGES), row["last_active"], row["first_name"],
                       chance.choice(LEVELS), str(points) if chance.random() > 0.05 else "", f"{points / 100:.2f}",
                       chance.choice([expire.strftime("%Y-%m-%d"), iso(expire), str(int((expire - datetime.datetime(1970, 1, 1)).total_seconds()))])])
    return result


def write_members(path, seed, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(MEMBER_HEADER)
        writer.writerows(members(seed, rows))


def csv_cells(row):
    cells = [";".join(row["tags"]) if name == "tags" else row[name] for name in HEADER]
    if row["broken"] == "short":
        return cells[:7]
    return cells + ["surplus"] if row["broken"] == "long" else cells


def write_csv(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(csv_cells(row) for row in rows)


def write_json_lines(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        for number, row in enumerate(rows):
            line = json.dumps({name: row[name] if row[name] != "" else None for name in HEADER}, ensure_ascii=number % 7 == 0,
                              separators=(",", ":"))
            file.write((line[:len(line) // 2] if row["broken"] == "short" else line[:-1] if row["broken"] else line) + "\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder")
    arguments.add_argument("--rows", type=int, default=20_000)
    arguments.add_argument("--seed", type=int, default=410)
    arguments.add_argument("--csv", action="store_true", help="no devices.jsonl, no members.csv")
    options = arguments.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    rows = make_rows(options.seed, options.rows)
    write_csv(os.path.join(options.folder, "devices.csv"), rows)
    if not options.csv:
        write_json_lines(os.path.join(options.folder, "devices.jsonl"), rows)
        write_members(os.path.join(options.folder, "members.csv"), options.seed, rows)


if __name__ == "__main__":
    main()
