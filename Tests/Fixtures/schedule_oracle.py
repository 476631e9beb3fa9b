"""When schedules fire, computed with Python's zoneinfo, minute by minute and without any of Volley's code.

Reads lines `NAME<tab>ZONE<tab>recipient or named<tab>AT or -<tab>CRON or -` from standard input and writes, for every time that begins between
the epoch seconds FROM (excluded) and THROUGH (included), `NAME<tab>OCCURRENCE<tab>BEGINS<tab>ENDS`.

Usage: schedule_oracle.py FROM THROUGH"""

import calendar
import datetime as dt
import sys
import zoneinfo

start, end = int(sys.argv[1]), int(sys.argv[2])
NAMES = {name: number for names, offset in (("jan feb mar apr may jun jul aug sep oct nov dec", 1), ("sun mon tue wed thu fri sat", 0))
         for number, name in enumerate(names.split(), offset)}


def field(text, low, high):
    values = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        if span == "*":
            first, last = low, high
        else:
            ends = [NAMES[end] if end in NAMES else int(end) for end in span.split("-")]
            first, last = ends[0], (high if step and len(ends) == 1 else ends[-1])
        values |= set(range(first, last + 1, int(step or 1)))
    return values


def times(at, cron):
    """Local times as naive datetimes, in order."""
    if at:
        yield at
    if not cron:
        return
    fields = cron.split()
    minutes, hours = sorted(field(fields[0], 0, 59)), sorted(field(fields[1], 0, 23))
    days, months = field(fields[2], 1, 31), field(fields[3], 1, 12)
    weekdays = {number % 7 for number in field(fields[4], 0, 7)}
    day = (dt.datetime.fromtimestamp(start, dt.timezone.utc) - dt.timedelta(days=3)).date()
    last = (dt.datetime.fromtimestamp(end, dt.timezone.utc) + dt.timedelta(days=3)).date()
    while day <= last:
        by_day, by_weekday = day.day in days, (day.isoweekday() % 7) in weekdays
        free = fields[2].startswith("*") or fields[4].startswith("*")
        if day.month in months and ((by_day and by_weekday) if free else (by_day or by_weekday)):
            for hour in hours:
                for minute in minutes:
                    time = dt.datetime(day.year, day.month, day.day, hour, minute)
                    if not at or time > at:
                        yield time
        day += dt.timedelta(days=1)


def moments(time, zone):
    """Epoch seconds at which clocks of a zone show a time: found by trying both folds and looking whether the way back agrees."""
    found = set()
    for fold in (0, 1):
        second = int(time.replace(tzinfo=zone, fold=fold).timestamp())
        if dt.datetime.fromtimestamp(second, zone).replace(tzinfo=None) == time:
            found.add(second)
    return sorted(found)


def after_gap(time, zone):
    """The first second whose clock shows a later time than the skipped one, by halving."""
    low = int(calendar.timegm(time.timetuple())) - 30 * 3600
    high = low + 60 * 3600
    while high - low > 1:
        middle = (low + high) // 2
        if dt.datetime.fromtimestamp(middle, zone).replace(tzinfo=None) > time:
            high = middle
        else:
            low = middle
    return high


for line in sys.stdin:
    name, zone_name, kind, at, cron = line.rstrip("\n").split("\t")
    zone = zoneinfo.ZoneInfo(zone_name)
    at = None if at == "-" else dt.datetime.fromisoformat(at)
    cron = None if cron == "-" else cron
    wildcard = cron is not None and any(part.startswith("*") for part in cron.split()[:2])
    found = {}
    for time in times(at, cron):
        if kind == "recipient":
            second = calendar.timegm(time.timetuple())
            begins, ends, gap = second - 14 * 3600, second + 12 * 3600, False
        else:
            seconds = moments(time, zone)
            gap = not seconds
            if gap and wildcard and time != at:
                continue
            begins = ends = seconds[0] if seconds else after_gap(time, zone)
        # What would go out together goes out once, under the name that clocks do show.
        if begins not in found or (found[begins][1] and not gap):
            found[begins] = (time, gap, ends)
    for begins in sorted(found):
        if start < begins <= end:
            print(name, found[begins][0].strftime("%Y-%m-%dT%H:%M"), begins, found[begins][2], sep="\t")
