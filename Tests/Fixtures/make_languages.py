#!/usr/bin/env python3
"""Writes what templates know of languages, from CLDR as the Python package Babel brings it:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install Babel==2.18.0
    /tmp/venv/bin/python Tests/Fixtures/make_languages.py .

makes Sources/Content/Languages/LanguageData.swift and PluralRules.swift (`make format` afterwards), and
Tests/Fixtures/plurals.tsv and locales.tsv, for which Babel's own reader of the rules says which form a number takes, and its own writer
how numbers and dates look in each of CLDR's locales.
"""
import datetime
import decimal
import re
import sys

import babel
from babel import Locale, localedata
from babel.core import get_cldr_version, get_global
from babel.dates import format_date
from babel.numbers import format_decimal

LANGUAGES = """af am ar ar_EG az be bg bn bs ca cs cy da de de_AT de_CH el en en_001 en_AU en_CA en_GB en_IN es es_419 es_MX es_US et eu
fa fi fil fr fr_CA fr_CH ga gl gu he hi hr hu hy id is it it_CH ja ka kk km kn ko ky lo lt lv mk ml mn mr ms my nb ne nl nn pa pl pt pt_PT
ro ru si sk sl sq sr sr_Latn sv sw ta te th tr uk ur uz vi zh zh_Hant zh_Hant_HK zu""".split()
# CLDR's minimumGroupingDigits of 2, which Babel leaves out: 1234 stays as it is, 12345 is grouped.
UNGROUPED_THOUSANDS = {"be", "bg", "es", "et", "hu", "it", "it_CH", "ka", "lv", "pl", "pt_PT", "sl", "sq", "ru_UA"}
# Those of their children that group them again.
GROUPED_THOUSANDS = {"pt_AO"}
ZEROS = {"latn": "0", "arab": "٠", "arabext": "۰", "beng": "০", "deva": "०", "mymr": "၀"}
# Tags that devices send and CLDR calls otherwise.
ALIASES = {"zh-TW": "zh-Hant", "zh-MO": "zh-Hant-HK", "zh-HK": "zh-Hant-HK", "zh-Hant-MO": "zh-Hant-HK", "yue": "zh-Hant-HK", "no": "nb",
           "tl": "fil", "iw": "he", "in": "id", "sh": "sr-Latn", "mo": "ro"}
FORMS = ["zero", "one", "two", "few", "many", "other"]


def tag(name):
    return name.replace("_", "-")


def parent(name):
    """CLDR's parent of a locale; blank for that of all languages."""
    found = get_global("parent_exceptions").get(name) or name.rpartition("_")[0]
    return "" if found == "root" else found


def ancestor(name, known):
    """The nearest of these that a locale takes what it lacks from; blank when there is none."""
    while name and name not in known:
        name = parent(name)
    return name


def is_written(name):
    """Whether a locale is one of people, and CLDR knows its months: of some scripts it does not."""
    return not name.endswith("POSIX") and Locale.parse(name).months["format"]["wide"][1] != "M01"


def is_ungrouped(name):
    while name and name not in UNGROUPED_THOUSANDS:
        # What is known of languages by their own is not taken from their parents.
        if name in GROUPED_THOUSANDS or name in LANGUAGES:
            return False
        name = parent(name)
    return bool(name)


def names(table, context, width, count, start):
    return "|".join(table[context][width][index % 7 if count == 7 else index] for index in range(start, start + count))


def pattern(locale, width):
    text = locale.date_formats[width].pattern
    letters = set(re.sub("'[^']*'", "", text)) & set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    assert letters <= set("yMLdEcG"), (locale, text)
    return text


def lines(name, rules):
    # Babel resolves aliases within the data that languages share: what one language resolved would be the next one's as well.
    localedata._cache.clear()
    locale = Locale.parse(name)
    system = locale._data.get("default_numbering_system", "latn")
    symbols = dict(locale.number_symbols["latn"])
    symbols.update(locale.number_symbols.get(system, {}))
    grouping = locale.decimal_formats[None].grouping
    days = locale.days
    sunday = 6  # Babel counts from Monday.
    result = ["|".join([tag(name), str(rules[str(locale.plural_form)]), symbols["decimal"], symbols["group"], symbols["minusSign"],
                        str(grouping[0]), str(grouping[1]), "2" if is_ungrouped(name) else "1", ZEROS[system],
                        locale.eras["abbreviated"][1]]),
              "|".join(pattern(locale, width) for width in ("short", "medium", "long", "full"))]
    for table, count, start in ((locale.months, 12, 1), (days, 7, sunday)):
        for width in ("wide", "abbreviated"):
            written = names(table, "format", width, count, start)
            alone = names(table, "stand-alone", width, count, start)
            result += [written, "" if alone == written else alone]
    periods = locale.day_periods["format"]["abbreviated"]
    result.append(periods["am"] + "|" + periods["pm"])
    assert all(line.count("|") in (9, 3, 11, 6, 1, 0) and '"' not in line and "\\" not in line for line in result), result
    return result


def variants(rules):
    """Locales that write something otherwise than their parent among the languages: each with the lines that differ."""
    languages = {name.split("_")[0] for name in LANGUAGES}
    found = {}
    for name in sorted(localedata.locale_identifiers()):
        if name in LANGUAGES or name.split("_")[0] not in languages or not is_written(name):
            continue
        # A locale of another script has nothing from the language; what it has is told apart from it all the same.
        base = ancestor(name, LANGUAGES) or name.split("_")[0]
        own, others = lines(name, rules), lines(base, rules)
        head = own[0].partition("|")[2]
        changed = [f"{number}:{line}" for number, (line, other) in enumerate(zip(own, others)) if number > 0 and line != other]
        if changed or head != others[0].partition("|")[2]:
            found[name] = (base, [f"{tag(name)}<{tag(base)}|{head}"] + changed)
    return found


def aliases(known):
    """Tags whose nearest relative among the known ones is not found by cutting the tag off at its end, and the beginnings of tags."""
    languages = {name.split("_")[0] for name in LANGUAGES}
    found = {}

    def cut(name):
        # Nothing is found behind a beginning that is not known itself.
        best, parts = "", name.split("_")
        for count in range(1, len(parts) + 1):
            beginning = "_".join(parts[:count])
            if beginning not in known and tag(beginning) not in found:
                break
            best = beginning if beginning in known else found[tag(beginning)].replace("-", "_")
        return best

    def add_beginnings(names):
        for name in sorted(names):
            parts = name.split("_")
            for count in range(2, len(parts)):
                beginning = "_".join(parts[:count])
                if beginning not in known and tag(beginning) not in found:
                    found[tag(beginning)] = tag(cut("_".join(parts[:count - 1])))

    add_beginnings(known)
    for name in sorted(localedata.locale_identifiers(), key=lambda name: (name.count("_"), name)):
        nearest = ancestor(name, known) or name.split("_")[0]
        if name.split("_")[0] not in languages or nearest not in known:
            continue
        if cut(name) != nearest:
            found[tag(name)] = tag(nearest)
        # Devices leave the script away where the region tells it: pa_PK is pa_Arab_PK.
        language, _, rest = name.partition("_")
        script, _, region = rest.partition("_")
        short = f"{language}_{region}"
        if len(script) == 4 and region and get_global("likely_subtags").get(short) == name and short not in known and cut(short) != nearest:
            found[tag(short)] = tag(nearest)
    add_beginnings({name.replace("-", "_") for name in found})
    found.update(ALIASES)
    return found


def swift(node, isNested=False):
    """A rule as Swift over the operands of UTS #35; True or False where it is constant, as c and e are 0 for what is written out."""
    operator, arguments = node
    if operator == "value":
        return str(arguments[0])
    if operator in ("n", "i", "v", "w", "f", "t"):
        return {"n": "i", "w": "v", "t": "f"}.get(operator, operator)
    if operator == "mod":
        return f"{swift(arguments[0])} % {swift(arguments[1])}"
    if operator in ("and", "or"):
        parts = [swift(part, True) for part in arguments]
        decisive = operator == "or"
        if any(part is decisive for part in parts):
            return decisive
        parts = [part for part in parts if part is not (not decisive)]
        text = (" && " if operator == "and" else " || ").join(parts)
        return f"({text})" if isNested and operator == "or" and len(parts) > 1 else text
    if operator == "not":
        inner = swift(arguments[0])
        if isinstance(inner, bool):
            return not inner
        return inner.replace(" == ", " != ") if inner.count("==") == 1 and "&&" not in inner and "..." not in inner else f"!({inner})"
    assert operator == "relation" and arguments[0] == "in", node
    expression, ranges = arguments[1], arguments[2][1]
    if expression[0] in ("c", "e"):
        return any(int(swift(first)) <= 0 <= int(swift(last)) for first, last in ranges)
    value = swift(expression)
    tests = []
    for first, last in ranges:
        first, last = swift(first), swift(last)
        tests.append(f"{value} == {first}" if first == last else f"({first}...{last}).contains({value})")
    text = " || ".join(tests)
    usesN = expression[0] == "n" or expression[0] == "mod" and expression[1][0][0] == "n"
    if usesN:
        return f"isWhole && ({text})" if len(tests) > 1 else f"isWhole && {text}"
    return f"({text})" if len(tests) > 1 and isNested else text


def swift_rule(rule):
    return [f"if {swift(node)} {{ return .{form} }}" for form, node in rule.abstract]


def forms_of_whole_numbers(rule):
    """The forms that whole numbers below a million take: a text in that language has all of them."""
    samples = list(range(0, 2000)) + [10_000, 100_000]
    return [form for form in FORMS if form in {rule(number) for number in samples}]


def write_plurals(path, rules, order):
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEADER)
        file.write("""
/// The plural rules of all languages in `LanguageData`. Source: CLDR's supplemental/plurals.xml, UTS #35 part 3, "Language Plural Rules".
///
/// Operands: `i` the whole part, `f` the digits behind the point without zeros at the end, `v` how many those are. (What CLDR calls t and w
/// are the same here, as zeros at the end do not count.)
struct PluralOperands {
    var i: UInt64
    var f: UInt64
    var v: Int

    private var isWhole: Bool { v == 0 }

    /// The form of the number by a rule of the table.
    func form(_ rule: Int) -> PluralForm {
        switch rule {
""")
        for number, text in enumerate(order):
            body = swift_rule(rules[text])
            languages = order[text]
            file.write(f"        // {' '.join(languages)}\n        case {number}:\n")
            for line in body or ["break"]:
                file.write(f"            {line}\n")
        file.write("        default: break\n        }\n        return .other\n    }\n\n")
        file.write("    /// The forms that whole numbers below a million take by a rule: a text in such a language has each of them.\n")
        file.write("    static let usualForms: [[PluralForm]] = [\n")
        for text in order:
            file.write("        [" + ", ".join("." + form for form in forms_of_whole_numbers(rules[text])) + "],\n")
        file.write("    ]\n\n    /// All forms that a rule knows.\n    static let allForms: [[PluralForm]] = [\n")
        for text in order:
            file.write("        [" + ", ".join("." + form for form in FORMS if form in rules[text].tags or form == "other") + "],\n")
        file.write("    ]\n}\n")


HEADER = f"// Made by Tests/Fixtures/make_languages.py from CLDR {get_cldr_version()} (Babel {babel.__version__}); do not edit.\n"


def write_data(path, rules):
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEADER)
        file.write(f'''
/// What is known of languages: eleven lines each, as `LanguageDataReader` reads them.
/// Source: Unicode CLDR, copyright Unicode, Inc., under the Unicode License v3.
enum LanguageData {{
    /// The release of CLDR.
    static let cldrVersion = "{get_cldr_version()}"

    /// Tags that are found under another name.
    static let aliases: StaticString = """
''')
        special = variants(rules)
        row = "       "
        for name, other in aliases(set(LANGUAGES) | set(special)).items():
            if len(row) + len(name) + len(other) > 130:
                file.write(row + "\n")
                row = "       "
            row += f" {name}={other}"
        file.write(row + '\n        """\n\n')
        file.write("    // swift-format-ignore\n    static let text: StaticString = \"\"\"\n")
        for name in LANGUAGES:
            for line in lines(name, rules):
                file.write(f"        {line}\n" if line else "\n")
        file.write('        """\n\n')
        file.write("    /// Locales that write something otherwise than the language behind `<`: a head, and the lines that differ with\n")
        file.write("    /// their numbers.\n")
        file.write("    // swift-format-ignore\n    static let variants: StaticString = \"\"\"\n")
        for base, changed in special.values():
            for line in changed:
                file.write(f"        {line}\n")
        file.write('        """\n}\n')


def write_samples(path):
    samples = [str(number) for number in list(range(0, 131)) + [200, 201, 202, 205, 211, 1000, 1001, 1002, 1011, 1000000, 1000001, 21000000]]
    samples += ["0.1", "0.5", "1.1", "1.5", "2.1", "2.3", "5.5", "10.1", "11.5", "12.31", "21.1", "100.21", "1.11", "3.4", "0.22"]
    with open(path, "w", encoding="utf-8") as file:
        file.write("# tag, then number=form, as Babel reads CLDR's rules\n")
        for name in LANGUAGES:
            rule = Locale.parse(name).plural_form
            file.write(tag(name) + "\t" + " ".join(f"{text}={rule(decimal.Decimal(text))}" for text in samples) + "\n")


def write_locales(path, rules):
    """How Babel writes a number and a date in each of CLDR's locales of a language that is known."""
    known = set(LANGUAGES) | set(variants(rules))
    languages = {name.split("_")[0] for name in LANGUAGES}
    with open(path, "w", encoding="utf-8") as file:
        file.write("# tag, 1234567.891, 2026-03-05 short, medium, long, full, as Babel writes them with the digits of the locale\n")
        for name in sorted(localedata.locale_identifiers()):
            if name.split("_")[0] not in languages or not ancestor(name, known) or not is_written(name):
                continue
            localedata._cache.clear()
            locale = Locale.parse(name)
            zero = ZEROS[locale._data.get("default_numbering_system", "latn")]
            texts = [format_decimal(decimal.Decimal("1234567.891"), locale=locale, numbering_system="default")]
            texts += [format_date(datetime.date(2026, 3, 5), width, locale=locale) for width in ("short", "medium", "long", "full")]
            digits = {ord("0") + number: chr(ord(zero) + number) for number in range(10)}
            file.write("\t".join([tag(name)] + [text.translate(digits) for text in texts]) + "\n")


def main():
    root = sys.argv[1]
    rules, order, numbers = {}, {}, {}
    for name in LANGUAGES:
        rule = Locale.parse(name).plural_form
        text = str(rule)
        if text not in rules:
            rules[text], order[text], numbers[text] = rule, [], len(rules)
        order[text].append(tag(name))
    write_plurals(f"{root}/Sources/Content/Languages/PluralRules.swift", rules, order)
    write_data(f"{root}/Sources/Content/Languages/LanguageData.swift", numbers)
    write_samples(f"{root}/Tests/Fixtures/plurals.tsv")
    write_locales(f"{root}/Tests/Fixtures/locales.tsv", numbers)


if __name__ == "__main__":
    main()
