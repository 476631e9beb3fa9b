"""A stand-in for APNs on hypercorn."""

import argparse
import asyncio
import os
import signal
import socket
import time

from hypercorn.asyncio import serve
from hypercorn.config import Config

parser = argparse.ArgumentParser()
for name, usual in [("port", 0), ("streams", 100), ("latency", 0), ("refuse-every", 0), ("refuse-json", 1), ("leave-every", 0),
                    ("requests", 1_000_000)]:
    parser.add_argument(f"--{name}", type=int, default=usual)
parser.add_argument("--certificate")
parser.add_argument("--ledger")
options = parser.parse_args()
ledger = os.open(options.ledger, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
pushes = 0


async def apns(scope, receive, send):
    global pushes
    if scope["type"] != "http":
        return
    token = scope["path"].removeprefix("/3/device/")
    identifier = dict(scope["headers"]).get(b"apns-id", b"-")

    def note(what):
        # One write for each line: what was written outlives a kill.
        os.write(ledger, f"{what} {token} {scope['client'][1]} {identifier.decode()}\n".encode())

    note("seen")
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        if not message.get("more_body"):
            break
    await asyncio.sleep(options.latency / 1000)
    pushes += 1
    is_refused = options.refuse_every and pushes % options.refuse_every == 0
    note("refused" if is_refused else "accepted")
    body = b'{"reason":"ServiceUnavailable"}' if is_refused and options.refuse_json else b""
    await send({"type": "http.response.start", "status": 503 if is_refused else 200, "headers": [(b"apns-id", identifier)]})
    await send({"type": "http.response.body", "body": body})


async def generation(listener):
    config = Config()
    if options.certificate:
        config.certfile = config.keyfile = options.certificate
    config.bind = [f"fd://{listener.fileno()}"]
    config.h2_max_concurrent_streams = options.streams
    config.keep_alive_max_requests = options.requests
    config.loglevel = "CRITICAL"
    leave = (lambda: asyncio.sleep(options.leave_every / 1000)) if options.leave_every else asyncio.Event().wait
    await serve(apns, config, shutdown_trigger=leave)


# Processes that follow one another accept on one socket.
listener = socket.create_server(("127.0.0.1", options.port))
listener.set_inheritable(True)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while options.leave_every and os.fork():
    time.sleep(options.leave_every / 1000)
if options.leave_every:
    # Some never come to their end.
    signal.alarm(5)
asyncio.run(generation(listener))
