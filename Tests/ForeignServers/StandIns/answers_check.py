"""Sends seeded campaigns over all five services to `answers.py`, and compares report, ledger and suppression list afterwards.

A run that an answer stops is resumed. At the end: what the report calls accepted is in the ledger once; what is in the ledger is accepted or
unknown in the report; nothing is there twice; and the suppression list has exactly the devices that a complete answer called gone. Where the answers to a service, or
to a part of the run, are mostly such refusals, wrong settings may have caused them, and the list need not have those devices; nor if the run has not finished.
`make test-answers SEEDS=200` plays many.
"""

import argparse
import collections
import concurrent.futures
import csv
import datetime
import hashlib
import io
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--volley", required=True)
for name, usual in [("seeds", 2), ("first", 1), ("devices", 400), ("together", 4), ("seconds", 1800)]:
    parser.add_argument(f"--{name}", type=int, default=usual)
parser.add_argument("--keep", action="store_true", help="keep the folders of seeds that differ")
options = parser.parse_args()
SERVICES = ["apns", "fcm", "getui", "jpush", "rongcloud"]
# Most refusals of a call with hundreds of devices stop the run.
RESUMES = 60


def digits(text, count):
    return hashlib.sha256(text.encode()).hexdigest()[:count]


def device(service, number):
    text = f"{service}{number}"
    return {"apns": digits(text, 64), "fcm": digits(text, 22) + ":APA91b" + digits(text + "x", 64) * 2 + "abcdef", "getui": digits(text, 32),
            "jpush": "1" + digits(text, 18), "rongcloud": f"user-{number}"}[service]


def pem(key):
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()


def authority(folder):
    now = datetime.datetime.now(datetime.timezone.utc)

    def certificate(name, key, issuer, signer, extensions):
        builder = x509.CertificateBuilder().subject_name(named(name)).issuer_name(named(issuer)).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
        builder = builder.not_valid_after(now + datetime.timedelta(days=30))
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()

    def named(text):
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

    root, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    write(folder, "ca.pem", certificate("Answers", root, "Answers", root, [(x509.BasicConstraints(True, None), True)]))
    own = certificate("localhost", key, "Answers", root, [(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)])
    write(folder, "server.pem", own + pem(key))


def write(folder, name, text):
    with open(os.open(f"{folder}/{name}", os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def project(folder, port, seed):
    authority(folder)
    write(folder, "key.p8", pem(ec.generate_private_key(ec.SECP256R1())))
    write(folder, "secret.txt", "f1e2d3c4b5a69788c9d0e1f2\n")
    account = {"type": "service_account", "project_id": "shop-1a2b", "private_key_id": digits("key", 40), "client_email": "a@shop-1a2b.iam.gserviceaccount.com",
               "private_key": pem(rsa.generate_private_key(public_exponent=65537, key_size=2048)), "token_uri": f"https://localhost:{port}/token"}
    write(folder, "account.json", json.dumps(account))
    accounts = {
        "apns": "topic: com.example.shop, key: {file: key.p8, id: ABC123DEFG, team: DEF123GHIJ}",
        "fcm": "project: shop-1a2b, service_account: {file: account.json}",
        "getui": f"app_id: Jz1kA9xW2pQ7vB4nL5sT8y, app_key: K8sdW0qPz16JbcXy2mV5t4, master_secret: {{file: secret.txt}}, lists: {'true' if seed % 2 else 'false'}",
        "jpush": "app_key: 0a1b2c3d4e5f60718293a4b5, master_secret: {file: secret.txt}",
        "rongcloud": "app_key: e0x9wycfx7flq, app_secret: {file: secret.txt}, pace: 2000/s"}
    lines = [f'      {name}: {{environment: {{url: "https://localhost:{port}", ca: ca.pem}}, {accounts[name]}}}\n' for name in SERVICES]
    write(folder, "volley.yaml", "runs: runs\napps:\n  shop:\n    devices: devices.csv\n    columns: {token: token, service: {column: service}}\n"
          "    services:\n" + "".join(lines))
    rows = "".join(f"{device(name, number)},{name}\n" for number in range(options.devices // 5) for name in SERVICES)
    write(folder, "devices.csv", "token,service\n" + rows)
    # With a pace, calls carry fewer devices, so more of them draw an answer; without one, Getui gets lists.
    pace = f", pace: {options.devices // 4}/s" if seed // 2 % 2 else ""
    write(folder, "campaign.yaml", "name: sale\napp: shop\naudience: {everyone: true}\ncontent: {title: Spring sale, body: 20 % off}\n"
          f"delivery: {{unknown: skip{pace}}}\n")


def volley(folder, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return subprocess.run([os.path.abspath(options.volley), *arguments], cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=options.seconds)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def send(folder):
    """Sends, resumes what an answer stopped, and says how often, and how the run ended."""
    sent = volley(folder, "send", "campaign.yaml", "--yes", "--json")
    for resumed in range(RESUMES):
        if sent.returncode not in (0, 1, 3):
            raise RuntimeError(f"exit {sent.returncode}: {sent.stderr[-1500:]}")
        # Some services may be through while an answer has stopped another.
        run = json.loads(volley(folder, "runs", "--json").stdout)["runs"][0]
        # A run stays stopped if most of the last answers blamed the settings.
        if run["state"] != "stopped" or run["outcomes"]["unsent"] == 0:
            return resumed, run["state"]
        with open(f"{folder}/ledger", "a", encoding="utf-8") as ledger:
            ledger.write("resumed - -\n")
        sent = volley(folder, "resume", "last", "--json")
    return RESUMES, "stopped"


def may_be_settings(service, parts, report):
    """Whether wrong settings may have made a service call devices gone: too few others were accepted, of all or in a part of the run."""
    outcomes = collections.Counter(what for pair, what in report.items() if pair[0] == service)
    others = sum(outcomes.values()) - outcomes["accepted"]
    refused = outcomes["rejected"] + outcomes["failed"]

    def is_doubtful(part):
        gone = sum(what == "gone" and name == service for what, name, _ in part)
        # An acceptance that did not arrive shows nothing to Volley.
        accepted = sum(what == "accepted" and name == service and report.get((name, target)) == "accepted" for what, name, target in part)
        return gone and accepted < 4 * (gone + refused)

    return outcomes["accepted"] < 4 * others or any(is_doubtful(part) for part in parts)


def compare(folder, end):
    ledger, parts = collections.defaultdict(collections.Counter), [[]]
    for line in open(f"{folder}/ledger", encoding="utf-8"):
        what, service, target = line.split(" ", 2)
        ledger[what][service, target.strip()] += 1
        parts[-1].append((what, service, target.strip()))
        if what == "resumed":
            parts.append([])
    table = volley(folder, "report", "last", "--format", "csv").stdout
    rows = list(csv.reader(io.StringIO(table)))
    place = {name: number for number, name in enumerate(rows[0])}
    names, outcome, reason = place["service"], place["outcome"], place["reason"]
    target = place.get("target", place.get("token", 0))
    report = {(row[names], row[target]): row[outcome] for row in rows[1:]}
    reasons = {(row[names], row[target]): row[reason] for row in rows[1:]}
    listed = {name: set(re.split("[,\\n]", volley(folder, "suppression", "export", "--service", name).stdout)) for name in SERVICES}
    suppressed = {pair for pair in report if pair[1] in listed[pair[0]]}
    taken, accepted = ledger["accepted"], {pair for pair, what in report.items() if what == "accepted"}
    gone = set(ledger["gone"]) | set(ledger["gone-410"])
    # What a cut may have swallowed counts if the report has it. Volley itself ends a connection on which one answer does not come,
    # and then has none of the others that are on their way.
    lost = {pair for pair in gone if reasons.get(pair) in ("ConnectionLost", "NoAnswer")}
    doubtful = lost | {pair for pair in ledger["doubtful"] if report.get(pair) != "invalid_token"}
    unsure = {name for name in SERVICES if may_be_settings(name, parts, report)}
    must_go = set(ledger["gone-410"]) | {pair for pair in ledger["gone"] if pair[0] not in unsure and end == "finished"}
    problems = {
        "devices that are not in the report": {(name, device(name, number)) for number in range(options.devices // 5) for name in SERVICES} - set(report),
        "accepted more than once": {pair for pair, times in taken.items() if times > 1},
        "accepted in the report alone": accepted - set(taken),
        "accepted, and the report says otherwise": {pair for pair in taken if report.get(pair) not in ("accepted", "unknown")},
        "gone, but not suppressed": must_go - doubtful - suppressed, "suppressed, but never called gone": suppressed - gone}
    counts = dict(collections.Counter(report.values()), suppressed=len(suppressed))
    drawn = collections.Counter()
    for what, answers in ledger.items():
        if what.startswith("drawn"):
            for (service, answer), count in answers.items():
                drawn[service, answer.split()[0]] += count
    kinds = {service: int(number) for service, number in ledger["kinds"]}
    found = {what: [(*pair, report.get(pair)) for pair in sorted(pairs)] for what, pairs in problems.items() if pairs}
    return found, counts, drawn, kinds, unsure


def play(seed):
    folder = tempfile.mkdtemp(prefix=f"volley-answers-{seed}-")
    port, begun = free_port(), time.monotonic()
    project(folder, port, seed)
    with open(f"{folder}/answers.log", "w", encoding="utf-8") as log:
        server = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "answers.py"), f"--port={port}",
                                   f"--seed={seed}", f"--certificate={folder}/server.pem", f"--ledger={folder}/ledger"], stdout=log, stderr=log)
    try:
        for _ in range(200):
            if server.poll() is not None:
                raise RuntimeError(f"the server has ended: see {folder}/answers.log")
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        resumed, end = send(folder)
        problems, counts, drawn, kinds, unsure = compare(folder, end)
    except Exception as error:
        problems, counts, drawn, kinds, unsure, resumed, end = {"failed": [repr(error)[:1500]]}, {}, collections.Counter(), {}, set(), 0, ""
    finally:
        server.kill()
        server.wait()
    doubts = f", {' and '.join(sorted(unsure))} mostly refused" if unsure else ""
    print(f"seed {seed}: {'differs' if problems else 'agrees'} after {time.monotonic() - begun:.0f} s, {drawn.total()} answers drawn, {resumed} resumptions, "
          f"{end}{doubts}: {counts}", flush=True)
    for what, found in problems.items():
        print(f"  {what}: {len(found)}, such as {found[:3]}", flush=True)
    if not (problems and options.keep):
        subprocess.run(["rm", "-r", folder], check=True)
    else:
        print(f"  kept: {folder}", flush=True)
    return bool(problems), drawn, kinds


with concurrent.futures.ThreadPoolExecutor(options.together) as pool:
    played = list(pool.map(play, range(options.first, options.first + options.seeds)))
differing = sum(differs for differs, _, _ in played)
drawn = sum((drawn for _, drawn, _ in played), collections.Counter())
kinds = {service: number for _, _, kinds in played for service, number in kinds.items()}
for service in SERVICES:
    given = {answer: count for (name, answer), count in drawn.items() if name == service}
    print(f"{service}: {sum(given.values())} answers drawn, {len(given)} kinds of {kinds.get(service, 0)}")
print(f"{options.seeds} seeds of {options.devices} devices, {differing} where report, ledger and suppression list differ")
sys.exit(differing > 0)
