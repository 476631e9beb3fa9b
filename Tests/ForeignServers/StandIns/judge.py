"""What the stand-ins for JPush, Getui and RongCloud share: options, a ledger with a line per target, JSON that is read strictly, and the
trouble that servers and networks make. hypercorn serves them, over HTTP/2 or HTTP/1.1, whichever the client chooses.

They were written from what the vendors document, without a look at Volley's simulators. Where a page leaves a doubt, they judge by the
stricter reading, and say so at the place.
"""

import argparse
import asyncio
import json
import os
import time
import urllib.parse

import hypercorn.asyncio.run
from hypercorn.asyncio import serve
from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.config import Config

# Options with numbers that all of them have. `every` counts the calls that would push something.
#   latency: milliseconds before a call is judged.  late-seconds: how long an answer of `late-every` takes.
#   hang-every, gateway-every (502 in HTML): every second time the call was carried out. error-every (with `error`, a code of the service,
#   at most `error-times`): only with codes that leave it open.
#   portal: a status with which a proxy answers in the service's place, after `portal-after` calls.
#   cut-before-every: the connection ends and nothing was done.  cut-after-every: it was done.  streams: at a time, with HTTP/2.
NUMBERS = {"port": 0, "latency": 0, "late-every": 0, "late-seconds": 40, "hang-every": 0, "gateway-every": 0, "error": 0, "error-every": 0,
           "error-times": 1_000_000, "cut-before-every": 0, "cut-after-every": 0, "streams": 100, "portal": 0, "portal-after": 0}


class Flaw(Exception):
    """What is wrong with a request: `missing`, `unknown`, `value` or `size`, and where."""

    def __init__(self, kind, place):
        super().__init__(f"{kind}: {place}")
        self.kind, self.place = kind, place


class Cut(Exception):
    """The connection ends here."""


def arguments(description, numbers, texts, switches=()):
    parser = argparse.ArgumentParser(description=description)
    for name, usual in {**NUMBERS, **numbers}.items():
        parser.add_argument(f"--{name}", type=int, default=usual)
    for name in ["certificate", "ledger", *texts]:
        parser.add_argument(f"--{name}", required=True)
    for name in switches:
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--protocol", choices=["h2", "http/1.1"])
    return parser.parse_args()


# MARK: Reading


def unique(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def refuse_constant(text):
    raise ValueError(text)


def read_json(body):
    """JSON in UTF-8, with each key once, without NaN, and with whole characters. Raises ValueError."""
    document = json.loads(body.decode("utf-8", "strict"), object_pairs_hook=unique, parse_constant=refuse_constant)
    json.dumps(document, ensure_ascii=False).encode("utf-8", "strict")
    return document


def size(value):
    """Bytes of compact JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def members(value, checks, place, required=()):
    """Checks an object: each of its keys must be known, and pass its check."""
    if not isinstance(value, dict):
        raise Flaw("value", place)
    for name in value:
        if name not in checks:
            raise Flaw("unknown", f"{place}.{name}")
    for name in required:
        if name not in value:
            raise Flaw("missing", f"{place}.{name}")
    for name, item in value.items():
        checks[name](item, f"{place}.{name}")
    return value


def holds(test):
    """A check by a test of the value."""

    def check(value, place):
        if not test(value):
            raise Flaw("value", place)

    return check


def is_whole(value, least=None, most=None):
    return type(value) is int and (least is None or value >= least) and (most is None or value <= most)


def whole(least=None, most=None):
    return holds(lambda value: is_whole(value, least, most))


def text(most=None, least=0, length=len):
    """A text. `most`: characters, or with `length=octets` bytes; longer ones are a matter of size."""

    def check(value, place):
        if not isinstance(value, str) or len(value) < least:
            raise Flaw("value", place)
        if most is not None and length(value) > most:
            raise Flaw("size", place)

    return check


def octets(value):
    return len(value.encode())


def one_of(*values):
    return holds(lambda value: type(value) in {type(known) for known in values} and value in values)


boolean = holds(lambda value: type(value) is bool)
the_number_1 = holds(lambda value: type(value) is int and value == 1)
any_object = holds(lambda value: isinstance(value, dict))


def texts(value, place):
    """An object with texts only."""
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise Flaw("value", place)


def names(value, most, place):
    """A list of different texts, none of them blank."""
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise Flaw("value", place)
    if len(set(value)) != len(value) or not 1 <= len(value) <= most:
        raise Flaw("value", place)
    return value


ALERT = {name: text() for name in ["title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key", "action-loc-key",
                                   "launch-image"]}
ALERT |= {f"{name}loc-args": holds(lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value))
          for name in ["title-", "subtitle-", ""]}


def alert(value, place):
    members(value, ALERT, place)


def is_json(headers):
    kind, _, parameter = headers.get("content-type", "").partition(";")
    return kind.strip().lower() == "application/json" and parameter.strip().lower() in ("", "charset=utf-8")


class Window:
    """A number of things in a time. `slides`: in any stretch of that length; otherwise in steps that begin with the first thing."""

    def __init__(self, limit, seconds, slides=False):
        self.limit, self.seconds, self.slides, self.begun, self.taken = limit, seconds, slides, 0.0, []

    def take(self, now, number=1):
        if self.slides:
            self.taken = [(moment, count) for moment, count in self.taken if moment > now - self.seconds]
        elif now >= self.begun + self.seconds:
            self.begun, self.taken = now, []
        if sum(count for _, count in self.taken) + number > self.limit:
            return False
        self.taken.append((now, number))
        return True

    @property
    def remaining(self):
        return max(0, self.limit - sum(count for _, count in self.taken))

    def reset(self, now):
        """Whole seconds until the next step, at least 1."""
        return max(1, int(self.begun + self.seconds - now + 0.999))


# MARK: Serving

writers = {}


class Connections(TCPServer):
    """hypercorn's connections, known by the client's port, so that one can be cut."""

    async def run(self):
        port = self.writer.get_extra_info("peername")[1]
        writers[port] = self.writer
        try:
            await super().run()
        finally:
            writers.pop(port, None)


hypercorn.asyncio.run.TCPServer = Connections


class Request:
    def __init__(self, scope, body):
        self.method, self.path, self.body = scope["method"], scope["path"], body
        self.query = urllib.parse.parse_qs(scope["query_string"].decode(), keep_blank_values=True)
        self.headers, self.repeated = {}, set()
        for name, value in scope["headers"]:
            key = name.decode("latin-1").lower()
            if key in self.headers:
                self.repeated.add(key)
            self.headers[key] = value.decode("latin-1")
        self.connection, self.port, self.now = scope["client"][1], scope["server"][1], time.time()


class Judge:
    """A service. Subclasses say what is judged (`answer`), which calls push (`pushes`), and what an error looks like (`failure`)."""

    # Error codes after which it is unknown whether the call was carried out.
    unsure = frozenset()

    def __init__(self, options):
        self.options, self.calls, self.errors = options, 0, 0
        self.file = os.open(options.ledger, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    def note(self, what, request, targets, call="-"):
        """A line for each target, in one write: what was written outlives a kill."""
        lines = [f"{what} {urllib.parse.quote(target, safe=':@+')} {request.connection} {call or '-'}\n" for target in targets]
        os.write(self.file, "".join(lines).encode())

    def trouble(self):
        """What happens to this call, and whether it is carried out."""
        self.calls += 1
        for kind in ["cut_before", "cut_after", "late", "hang", "gateway", "error"]:
            each = getattr(self.options, f"{kind}_every")
            if each and self.calls % each == 0 and (kind != "error" or self.errors < self.options.error_times):
                self.errors += kind == "error"
                is_unsure = kind in ("hang", "gateway") or (kind == "error" and self.options.error in self.unsure)
                return kind, kind in ("cut_after", "late") or (is_unsure and self.calls // each % 2 == 0)
        return None, True

    async def respond(self, request):
        """Status, headers, and a body, which is JSON or HTML."""
        await asyncio.sleep(self.options.latency / 1000)
        request.now = time.time()
        if self.options.portal and self.pushes(request) and self.calls >= self.options.portal_after:
            self.note("trouble-portal", request, ["-"])
            return self.options.portal, {"location": "https://login.example.com/"}, "<html>Please sign in</html>"
        kind, happens = self.trouble() if self.pushes(request) else (None, True)
        if kind:
            self.note(f"trouble-{kind}", request, ["-"])
        given = self.answer(request) if happens else None
        if kind == "error":
            return self.failure(request, self.options.error)
        if kind in ("cut_before", "cut_after"):
            raise Cut()
        if kind == "late":
            await asyncio.sleep(self.options.late_seconds)
        if kind == "hang":
            await asyncio.sleep(3600)
        if kind == "gateway":
            return 502, {}, "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
        return given

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        body = b""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        try:
            request = Request(scope, body)
            status, headers, document = await self.respond(request)
        except Cut:
            writers[scope["client"][1]].transport.abort()
            return
        is_page = isinstance(document, str)
        headers = {"content-type": "text/html" if is_page else "application/json; charset=utf-8", **headers}
        content = document.encode() if is_page else json.dumps(document, ensure_ascii=False).encode()
        await send({"type": "http.response.start", "status": status,
                    "headers": [(name.encode(), str(value).encode()) for name, value in headers.items()]})
        await send({"type": "http.response.body", "body": content})

    def serve(self, *ports):
        config = Config()
        config.certfile = config.keyfile = self.options.certificate
        config.bind = [f"127.0.0.1:{port}" for port in (self.options.port, *ports)]
        config.h2_max_concurrent_streams = self.options.streams
        config.keep_alive_max_requests = 1_000_000
        config.loglevel = "CRITICAL"
        if self.options.protocol:
            config.alpn_protocols = [self.options.protocol]
        asyncio.run(serve(self, config, shutdown_trigger=asyncio.Event().wait))
