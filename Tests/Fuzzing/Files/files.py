#!/usr/bin/env python3
"""Damages the files that Volley keeps, one at a time, and runs commands on what is left.

Each seed takes a fresh copy of a workspace with runs of every kind and format, sent.db, schedule.sqlite, orders.sqlite, a suppression list, accounts and
the small files next to them; flips bits of one file, or gives one of its values another type; and runs commands of both programs. What must hold:
no command ends by a signal or a bug, none hangs, none shows a whole token, no device gets a push twice, and a damaged run keeps no other from
being sent or reported. Usage: files.py FOLDER-OF-BINARIES [SEEDS] [FIRST] [SECONDS]; prints the seed of each finding, which repeats it."""
import glob, html, http.client, json, os, random, re, shutil, signal, socket, sqlite3, subprocess, sys, tempfile, time, urllib.parse

BINARIES = os.path.abspath(sys.argv[1])
SEEDS, FIRST, SECONDS = (int(sys.argv[place]) if len(sys.argv) > place else default for place, default in [(2, 100), (3, 0), (4, 86_400)])
VOLLEY, CONSOLE = (os.path.join(BINARIES, name) for name in ["volley", "volley-console"])
FORMATS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Fixtures/Formats")
ROOT = tempfile.mkdtemp(prefix="volley-files-")
BASE, WORK = os.path.join(ROOT, "base"), os.path.join(ROOT, "work")
LIMIT_SECONDS = 60
ENVIRONMENT = dict(os.environ, NO_COLOR="1", TZ="UTC")


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


PORT = free_port()


def write(name, text):
    with open(os.path.join(BASE, name), "w") as file:
        file.write(text)


def volley(folder, *arguments, seconds=LIMIT_SECONDS, program=VOLLEY, interrupted_after=None):
    """The exit code, and what the command said; a negative code for a signal, None for a hang."""
    process = subprocess.Popen([program, *arguments], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    try:
        if interrupted_after:
            try:
                process.wait(interrupted_after)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return None, process.communicate()[0].decode("utf-8", "replace")
    return process.returncode, said.decode("utf-8", "replace")


def campaign(name, devices, more=""):
    write(f"{name}.yaml", f"name: {name}\napp: shop\naudience: {{devices: {name}.csv, everyone: true}}\n"
          f"content: {{title: Hi, body: there}}\n{more}")
    prefix = f"{sum(name.encode()) % 256:02x}{name.encode().hex()}"[:16].ljust(16, "0")
    write(f"{name}.csv", "device_token,registration_id,alias,language\n"
          + "".join(f"{prefix}{number:048x},r{number},u{number},{'de' if number % 3 else 'en'}\n" for number in range(devices)))
    os.utime(os.path.join(BASE, f"{name}.csv"), (1_700_000_000, 1_700_000_000))


def database(name, fixture, *statements):
    connection = sqlite3.connect(os.path.join(BASE, name))
    with open(os.path.join(FORMATS, f"{fixture}.sql")) as file:
        text = file.read()
    # INSERT INTO sqlite_sequence comes before SQLite has made it in some.
    connection.executescript(text)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


class Browser:
    """One person's, with cookies."""

    def __init__(self, port):
        self.port, self.cookies = port, {}

    def ask(self, method, path, form=None):
        """The status and the page; None when the console gives no answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_SECONDS)
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        if form is not None:
            headers |= {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{self.port}", "Sec-Fetch-Site": "same-origin"}
        try:
            connection.request(method, path, None if form is None else urllib.parse.urlencode(form), headers)
            answer = connection.getresponse()
            page = answer.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            return None, str(error)
        finally:
            connection.close()
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            name, value = cookie.split(";")[0].split("=", 1)
            self.cookies[name] = value
        return answer.status, page

    def accept(self, link):
        """Chooses a password with the link of an invitation."""
        page = self.ask("GET", link)[1]
        form = dict(re.findall(r'<input\b[^>]*\bname="([^"]*)"[^>]*\bvalue="([^"]*)"', page))
        for field in re.findall(r'<input\b[^>]*\bname="([^"]*)"', page):
            if "password" in field or field in ("repeated", "again"):
                form[field] = "wooden spoon under seven lanterns"
        return self.ask("POST", link.split("?")[0], {name: html.unescape(value) for name, value in form.items()})[0]


def console(folder, port):
    """The console's process, once it listens; None if it ended."""
    with open(os.path.join(folder, "console.log"), "ab") as log:
        process = subprocess.Popen([CONSOLE, ".", "--listen", f"127.0.0.1:{port}"], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log)
    for _ in range(300):
        if process.poll() is not None:
            return None
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return process
        time.sleep(0.1)
    process.kill()
    raise TimeoutError("the console does not listen")


def ended(process):
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        return None


def invite(folder):
    port = free_port()
    link = re.search(r"(/invitation\S*)", volley(folder, "serve", ".", "--invite", "ann")[1])[1]
    process, browser = console(folder, port), Browser(port)
    status = browser.accept(link)
    ended(process)
    assert status in (200, 303), f"the invitation was answered with {status}"
    return browser.cookies


def pages(cookies):
    """What the console does on the damaged workspace: findings."""
    findings, browser = [], Browser(free_port())
    browser.cookies = dict(cookies)
    process = console(WORK, browser.port)
    if process is None:
        with open(os.path.join(WORK, "console.log")) as file:
            said = file.read()
        # It may refuse to begin without accounts, in words.
        return [f"console: {said[-300:]}"] if BUG.search(said) or not re.search("damaged|not a file of accounts|newer Volley|is not a", said) else []
    runs = [os.path.basename(name)[:-7] for name in glob.glob(f"{WORK}/runs/2*.sqlite")]
    for path in ["/", "/runs", "/campaigns", "/calendar", "/suppression", "/activity", "/users", "/system", "/account", "/campaign?file=done.yaml",
                 *[f"/runs/{run}{part}" for run in runs for part in ["", "/live.json", "/report"]]]:
        status, page = browser.ask("GET", path)
        if status is None or process.poll() is not None:
            findings.append(f"console {path}: no answer: {page[-200:]}")
            break
        if TOKEN.search(re.sub(r'(?:value|content)="[0-9a-f]{64}"', "", page)):
            findings.append(f"console {path}: shows a token")
    code = ended(process)
    if code not in (0, 130, 143, -15):
        with open(os.path.join(WORK, "console.log")) as file:
            findings.append(f"console ends with {code}: {file.read()[-400:]}")
    return findings


def make_base():
    os.makedirs(os.path.join(BASE, "runs"))
    subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", f"{BASE}/AuthKey_ABC123DEFG.p8"],
                   check=True, stderr=subprocess.DEVNULL)
    os.chmod(f"{BASE}/AuthKey_ABC123DEFG.p8", 0o600)
    shared = f"environment: {{url: \"https://localhost:{PORT}\", ca: ca.pem}}\n    key: {{file: AuthKey_ABC123DEFG.p8, id: ABC123DEFG, team: DEF123GHIJ}}"
    write("volley.yaml", f"runs: runs\nmonitoring: {{health: health.json, prometheus: volley.prom}}\napps:\n  shop:\n    topic: com.example.shop\n    {shared}\n")
    simulator = subprocess.Popen([VOLLEY, "simulate", "--port", str(PORT), "--ca", "ca.pem", "--ledger", "ledger.jsonl"], cwd=BASE,
                                 env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        time.sleep(0.1)
        if os.path.exists(f"{BASE}/ca.pem") and socket.socket().connect_ex(("127.0.0.1", PORT)) == 0:
            break
    campaign("done", 300)
    campaign("half", 300, "delivery: {pace: 20/s}\n")
    campaign("planned", 20)
    campaign("old", 20)
    campaign("timed", 20, "schedule: {at: \"2026-01-01 09:00\", timezone: UTC, late: send}\n")
    campaign("other", 12)
    campaign("capped", 12, "frequency: {pushes: 5, every: 1d}\n")
    campaign("next", 12, "schedule: {at: \"2026-02-01 09:00\", timezone: UTC, late: send}\n")
    later = os.path.join(BASE, "next.yaml")
    os.rename(later, later + ".later")
    assert volley(BASE, "send", "done.yaml", "--yes", "--quiet")[0] == 0, "the first run did not finish"
    volley(BASE, "send", "half.yaml", "--yes", "--quiet", interrupted_after=2.5)
    assert volley(BASE, "plan", "planned.yaml", "--quiet")[0] == 0
    assert volley(BASE, "send", "old.yaml", "--yes", "--quiet")[0] == 0
    volley(BASE, "schedule", ".", "--quiet", interrupted_after=8)
    for number in ["1", "2", "3", "4", "5", "6"]:
        database(f"runs/20261201-090000-spring-sale-000{number}.sqlite", f"run-{number}")
    database("runs/orders.sqlite", "orders-2")
    with open(f"{BASE}/gone.txt", "w") as file:
        file.write("".join(f"{number:064x}\n" for number in range(40)))
    volley(BASE, "suppression", "import", "gone.txt", "--app", "shop")
    os.rename(later + ".later", later)
    return simulator, invite(BASE)


def accepted(offset):
    """Tokens that the simulator accepted since an offset of its ledger, and how far it is now."""
    time.sleep(0.1)
    with open(f"{BASE}/ledger.jsonl", "rb") as file:
        file.seek(offset)
        lines = file.read()
    return [line["token"] for line in map(json.loads, lines.splitlines()) if line.get("status") == 200], offset + len(lines)


def targets():
    names = [name for name in os.listdir(f"{BASE}/runs") if os.path.isfile(f"{BASE}/runs/{name}")]
    return sorted(names + [f"console/{name}" for name in os.listdir(f"{BASE}/runs/console")])


VALUES = [0, 1, -1, 7, 2**31, 2**32 + 1, 2**62, 2**63 - 1, -2**63, 1e300, float("inf"), 3.5, "", "0f", "x", "\U0001F600" * 3, "{}", "[[", "finished", "running",
          "planned", "cancelled", "a\0b", b"", b"\xff\xfe\x00", b"\x00" * 17, b"10C8", None, "9223372036854775807-ffff", '{"a": 9223372036854775807}', "[" * 3000]


def change_value(path, chance):
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA ignore_check_constraints = 1")
        connection.execute("PRAGMA writable_schema = 1")
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for _ in range(20):
            table = chance.choice(tables)
            rows = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            column = chance.choice([row[1] for row in connection.execute(f"PRAGMA table_info({table})")])
            if not rows:
                continue
            value = chance.choice(VALUES)
            if isinstance(value, str) and chance.random() < 0.3:
                old = connection.execute(f"SELECT {column} FROM {table} LIMIT 1").fetchone()[0]
                if isinstance(old, str) and old:
                    place = chance.randrange(len(old))
                    value = old[:place] + chance.choice(["9", "-", "é", "\"", "{", "99999999999999999999", ""]) + old[place + 1:]
            try:
                key = connection.execute(f"SELECT {column} FROM {table} LIMIT 1 OFFSET {chance.randrange(rows)}").fetchone()[0]
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} IS ?", (value, key))
                connection.commit()
                return f"{table}.{column} = {str(value)[:40]!r}"
            except (sqlite3.IntegrityError, sqlite3.OperationalError):
                # NOT NULL and UNIQUE: another value is tried.
                connection.rollback()
        return "nothing"
    finally:
        connection.close()


def flip(path, chance):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    if not data:
        return "nothing"
    kind = chance.random()
    if kind < 0.1:
        del data[chance.randrange(len(data)):]
        what = f"cut off at {len(data)}"
    else:
        # Bits that are used count more: most of a file is zero.
        used = [place for place, byte in enumerate(data) if byte] or [0]
        places = [chance.choice(used) for _ in range(chance.choice([1, 1, 1, 4, 40]))]
        for place in places:
            data[place] ^= 1 << chance.randrange(8)
        what = f"bits of {places[:4]}"
    with open(path, "wb") as file:
        file.write(data)
    return what


def damage(chance):
    name = chance.choice(targets())
    path = f"{WORK}/runs/{name}"
    is_database = name.endswith((".sqlite", ".db"))
    if is_database and chance.random() < 0.5:
        try:
            return name, change_value(path, chance)
        except sqlite3.Error as error:
            return name, f"nothing ({error})"
    return name, flip(path, chance)


TOKEN = re.compile(r"\b[0-9a-f]{64}\b")
BUG = re.compile(r"Fatal error|has a bug|Illegal instruction|Segmentation|stack trace|GRDB|DatabaseError|RowDecoding|SQLITE_")


def commands(name):
    """What is run, and whether the damage of that file does not concern it, so that it must succeed."""
    def id(part):
        return os.path.basename(glob.glob(f"{WORK}/runs/*-{part}-*.sqlite")[0])[:-len(".sqlite")]
    of_run = name.startswith("20") and name.endswith(".sqlite")
    yield ["runs"], of_run
    yield ["runs", "--json"], of_run
    for part in ["done", "half", "planned"]:
        yield ["report", id(part)], of_run and f"-{part}-" not in name
    yield ["report", "last"], False
    if of_run:
        yield ["report", name[:-7], "--format", "json"], False
        yield ["report", name[:-7], "--format", "html", "--output", "page.html"], False
    yield ["prune", "--keep", "0d", "--dry-run"], of_run
    yield ["support-bundle", "bundle"], of_run
    yield ["orders"], of_run
    yield ["suppression", "list", "--app", "shop"], of_run
    yield ["preview", "done.yaml"], of_run and "-done-" not in name
    yield ["doctor", "--quiet"], False
    yield ["backup", "backup"], of_run
    yield ["schedule", ".", "--list"], of_run
    yield ["send", "other.yaml", "--yes"], of_run
    yield ["send", "capped.yaml", "--yes"], False
    yield ["resume", id("half")], False
    yield ["resume", id("half")], False
    yield ["retry", id("half"), "--outcome", "unsent", "--yes"], False
    yield ["retry", id("done"), "--outcome", "unsent", "--yes"], False
    yield ["send", id("planned"), "--yes"], False
    yield ["send", id("done"), "--yes"], False
    yield ["schedule", "."], of_run and "-timed-" not in name
    yield ["schedule", "."], of_run and "-timed-" not in name
    yield ["runs"], of_run
    yield ["prune", "--keep", "0d", "--yes"], False


def one(seed, before, offset, cookies):
    chance = random.Random(seed)
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.copytree(BASE, WORK, ignore=shutil.ignore_patterns("ledger.jsonl"))
    name, what = damage(chance)
    findings = []
    chosen = list(commands(name))
    # A part of the commands is enough for a seed: which command comes first matters as much.
    chosen = [command for command in chosen if chance.random() < 0.4]
    for arguments, must in chosen:
        code, said = volley(WORK, *arguments, interrupted_after=4 if arguments == ["schedule", "."] else None)
        label = " ".join(arguments)
        if code is None:
            findings.append(f"{label}: hangs")
        elif code < 0 or code > 130:
            findings.append(f"{label}: ends with {code}: {said[-300:]}")
        elif BUG.search(said):
            findings.append(f"{label}: {BUG.search(said)[0]}: {said[-300:]}")
        elif must and code not in ((0, 1, 130) if arguments[0] == "schedule" else (0, 1)):
            findings.append(f"{label}: does not concern the file, but exit {code}: {said[-400:]}")
        if TOKEN.search(said) and arguments[0] not in ("preview",):
            findings.append(f"{label}: shows a token: {TOKEN.search(said)[0][:8]}…")
    if chance.random() < 0.25:
        findings += pages(cookies)
    pushed, offset = accepted(offset)
    twice = sorted({token for token in pushed if pushed.count(token) > 1 or token in before})
    if twice:
        findings.append(f"{len(twice)} devices were reached twice, such as {twice[0][:8]}…{twice[0][-4:]}")
    for finding in findings:
        print(f"seed {seed}: {name}: {what}: {finding}", flush=True)
    return bool(findings), offset


def main():
    started, simulator, failed, seed = time.monotonic(), None, 0, FIRST
    try:
        simulator, cookies = make_base()
        before, offset = accepted(0)
        before = set(before)
        while seed < FIRST + SEEDS and time.monotonic() - started < SECONDS:
            found, offset = one(seed, before, offset, cookies)
            failed += found
            seed += 1
            if seed % 100 == 0:
                print(f"{seed - FIRST} files damaged, {failed} with findings, {time.monotonic() - started:.0f} s", flush=True)
    finally:
        if simulator:
            simulator.terminate()
            simulator.wait()
        shutil.rmtree(ROOT, ignore_errors=True)
    print(f"{seed - FIRST} files damaged, {failed} with findings, {time.monotonic() - started:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
