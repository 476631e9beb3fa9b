"""Plays the calls of another project's client against a simulator of Volley: each with the result that the client's documentation gives.

A client's file makes a `Play`, which starts `volley simulate` in a folder of its own, and passes its calls to it. At the end it prints one
line, and exits with 1 if a call had another result. Run one by hand with `python3 jpush_client.py --volley PATH`; --only TEXT plays the calls
whose names contain a text, and --verbose prints every result.
"""

import argparse
import atexit
import datetime
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback


class Play:
    def __init__(self, service, *options):
        parser = argparse.ArgumentParser()
        parser.add_argument("--volley", required=True)
        parser.add_argument("--only", default="")
        parser.add_argument("--verbose", action="store_true")
        self.settings = parser.parse_args()
        self.results, self.failures = {}, []
        self.folder = tempfile.TemporaryDirectory(prefix="volley-client-")
        volley = os.path.abspath(self.settings.volley)
        for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
            del os.environ[name]
        self.simulator = subprocess.Popen(
            [volley, "simulate", "--service", service, "--port", "0", "--for", "300", "--json", "--ledger", "ledger.jsonl", *options],
            cwd=self.folder.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        atexit.register(self.simulator.kill)
        text = ""
        while True:
            line = self.simulator.stdout.readline()
            text += line
            try:
                place = json.loads(text)
                break
            except ValueError:
                if not line:
                    sys.exit(f"the simulator did not start: {text}{self.simulator.stderr.read()}")
        self.url, self.port, self.ca, self.key = place["url"], place["port"], place["ca"], place["key"]
        # `requests` and `ssl` read these; set them before a client is imported.
        os.environ["REQUESTS_CA_BUNDLE"] = os.environ["SSL_CERT_FILE"] = self.ca

    def certificate(self, topic, days=30):
        """A file with a client certificate for an app, and its key. It ends after so many days; before today if they are below 0."""
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.USER_ID, topic), x509.NameAttribute(x509.NameOID.COMMON_NAME, topic)])
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=days)
        made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(days + 1000)
        made = made.not_valid_before(end - datetime.timedelta(days=60)).not_valid_after(end).sign(key, hashes.SHA256())
        path = os.path.join(self.folder.name, f"client{days}.pem")
        with open(path, "wb") as file:
            file.write(made.public_bytes(serialization.Encoding.PEM))
            file.write(key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        return path

    def call(self, name, expected, function, *arguments, **named):
        """Calls a function. Its result, or the text of its exception, must match `expected`: a regular expression for the whole text."""
        if self.settings.only not in name:
            return None
        try:
            result = function(*arguments, **named)
            text = str(result)
        except Exception as error:
            result, text = error, f"{type(error).__name__}: {error}"
            if self.settings.verbose:
                traceback.print_exc()
        self.results[name] = text
        if re.fullmatch(expected, text, re.DOTALL) is None:
            self.failures.append(f"{name}: {text[:500]}\n    expected: {expected}")
        if self.settings.verbose:
            print(f"{name}: {text[:1000]}")
        return result

    def ledger(self):
        """The lines of the pushes that the simulator saw; it ends."""
        if self.simulator.poll() is None:
            self.simulator.send_signal(signal.SIGINT)
        self.simulator.wait(20)
        with open(os.path.join(self.folder.name, "ledger.jsonl")) as file:
            return [json.loads(line) for line in file]

    def end(self, ids, accepted, isShared=False):
        """Compares what the client was told with the simulator's ledger.

        `ids` are the names of the accepted pushes; `accepted(line)` is the name in a line of the ledger, or None for a refused one. With
        `isShared` the lines of several devices have one name.
        """
        known = [name for name in map(accepted, self.ledger()) if name is not None]
        if isShared:
            known = list(set(known))
        if not self.settings.only and sorted(ids) != sorted(known):
            self.failures.append(
                f"the ledger: {len(known)} accepted, the client has {len(ids)};"
                f" {sorted(set(ids) ^ set(known))[:3]} are on one side alone")
        for failure in self.failures:
            print(failure)
        print(f"{len(self.results)} calls, {len(self.failures)} with another result than documented")
        self.folder.cleanup()
        sys.exit(1 if self.failures or not self.results else 0)
