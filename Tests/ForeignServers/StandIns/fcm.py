"""A stand-in for FCM HTTP v1 and for the server that gives out its access tokens, on hypercorn.

Written from what Google documents, without a look at Volley's own simulator: two judges that share no code do not share mistakes.
"""

import argparse
import asyncio
import base64
import email.utils
import gzip
import json
import os
import re
import time
import urllib.parse

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from hypercorn.asyncio import serve
from hypercorn.config import Config

parser = argparse.ArgumentParser()
for name, usual in [("port", 0), ("streams", 100), ("latency", 0), ("token-seconds", 3600), ("revoke-each", 0), ("quota", 0),
                    ("retry-after", 0), ("unavailable-every", 0), ("gateway-every", 0), ("details", 1), ("portal", 0),
                    ("portal-after", 0)]:
    parser.add_argument(f"--{name}", type=int, default=usual)
for name in ["certificate", "ledger", "account"]:
    parser.add_argument(f"--{name}", required=True)
# retry-date: Retry-After is a date, and not a number.  gzip: all answers are compressed, though nobody asks for it.  portal: a status with
# which a proxy answers in FCM's place, after `portal-after` messages.  lifetime: that of access tokens is left out, as RFC 6749 allows, or
# is in quotes.
for name in ["retry-date", "gzip"]:
    parser.add_argument(f"--{name}", action="store_true")
parser.add_argument("--lifetime", choices=["none", "quoted"])
options = parser.parse_args()
account = json.load(open(options.account))
public_key = serialization.load_pem_private_key(account["private_key"].encode(), None).public_key()
ledger = os.open(options.ledger, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
# Access tokens, with their ends and their uses.
tokens = {}
counts = {"messages": 0, "accepted": 0}
minute = []

HEADER = re.compile(r"^[A-Za-z0-9-]+$")
SENDABLE = {"https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform"}
MEMBERS = {"name", "data", "notification", "android", "webpush", "apns", "fcm_options", "fid", "token", "topic", "condition"}
RESERVED = re.compile(r"^(from|message_type|google.*|gcm.*)$")


class Refused(Exception):
    def __init__(self, code, status, error_code=None, field=None, retry_after=None):
        self.code, self.status, self.error_code, self.field, self.retry_after = code, status, error_code, field, retry_after


def bad(field):
    return Refused(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", field)


def unique(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def base64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


# MARK: Access tokens


def exchange(body, now):
    """RFC 7523: an assertion in a form for an access token."""
    form = urllib.parse.parse_qs(body.decode(), strict_parsing=True)
    if form.get("grant_type") != ["urn:ietf:params:oauth:grant-type:jwt-bearer"]:
        return 400, {"error": "unsupported_grant_type"}
    header, claims, signature = form["assertion"][0].split(".")
    try:
        public_key.verify(base64url(signature), f"{header}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        return 400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}
    header, claims = json.loads(base64url(header)), json.loads(base64url(claims))
    if header["alg"] != "RS256" or claims["iss"] != account["client_email"] or claims["aud"] != account["token_uri"]:
        return 400, {"error": "invalid_grant", "error_description": "account not found"}
    if not SENDABLE & set(claims["scope"].split(" ")):
        return 400, {"error": "invalid_scope"}
    if not claims["iat"] - 300 <= now < claims["exp"] <= claims["iat"] + 3600:
        return 400, {"error": "invalid_grant", "error_description": "Token must be a short-lived token."}
    token = f"ya29.{len(tokens)}-{os.urandom(12).hex()}"
    tokens[token] = [now + options.token_seconds, 0]
    given = {"access_token": token, "expires_in": options.token_seconds, "token_type": "Bearer"}
    if options.lifetime == "none":
        del given["expires_in"]
    elif options.lifetime:
        given["expires_in"] = str(options.token_seconds)
    return 200, given


def authorize(headers, now):
    scheme, _, token = headers.get(b"authorization", b"").decode().partition(" ")
    known = tokens.get(token)
    if scheme.lower() != "bearer" or known is None or now >= known[0] or 0 < options.revoke_each <= known[1]:
        raise Refused(401, "UNAUTHENTICATED")
    known[1] += 1


# MARK: Messages


def texts(value, field):
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise bad(field)
    return value


def check(message):
    if not isinstance(message, dict):
        raise bad("message")
    for name in message:
        if name not in MEMBERS:
            raise bad("message")
    targets = [name for name in ("fid", "token", "topic", "condition") if name in message]
    if len(targets) != 1:
        raise bad("message")
    for path in (message, message.get("android", {})):
        for name in texts(path.get("data", {}), "message.data"):
            if RESERVED.match(name):
                raise bad(f"message.data.{name}")
    android, apns = message.get("android", {}), message.get("apns", {})
    if "ttl" in android:
        match = re.fullmatch(r"([0-9]+)(\.[0-9]{1,9})?s", android["ttl"])
        if not match or int(match[1]) > 2_419_200:
            raise bad("message.android.ttl")
    if android.get("priority", "NORMAL") not in ("NORMAL", "HIGH"):
        raise bad("message.android.priority")
    headers = texts(apns.get("headers", {}), "message.apns.headers")
    if not all(HEADER.match(name) for name in headers):
        raise bad("message.apns.headers")
    aps = apns.get("payload", {}).get("aps", {})
    for flag in ("content-available", "mutable-content"):
        if flag in aps and (aps[flag] is True or aps[flag] != 1):
            raise bad(f"message.apns.payload.aps.{flag}")
    if headers.get("apns-push-type") == "background" and headers.get("apns-priority") == "10":
        raise bad("message.apns.headers.apns-priority")
    if "apns-expiration" in headers and not headers["apns-expiration"].isdigit():
        raise bad("message.apns.headers.apns-expiration")
    if len(headers.get("apns-collapse-id", "").encode()) > 64:
        raise bad("message.apns.headers.apns-collapse-id")
    rest = {name: value for name, value in message.items() if name not in ("fid", "token")}
    if len(json.dumps(rest, ensure_ascii=False, separators=(",", ":")).encode()) > 4096:
        raise bad("message")
    return message[targets[0]], targets[0]


def count(now):
    """Quotas and trouble that the options ask for."""
    counts["messages"] += 1
    number = counts["messages"]
    if options.quota:
        minute[:] = [moment for moment in minute if moment > now - 60]
        if len(minute) >= options.quota:
            raise Refused(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", retry_after=options.retry_after or None)
        minute.append(now)
    if options.unavailable_every and number % options.unavailable_every == 0:
        raise Refused(503, "UNAVAILABLE", "UNAVAILABLE", retry_after=options.retry_after or None)


def fate(target, kind):
    """What is wrong with a device, by the beginning of its target."""
    for start, refused in [
        ("gone", Refused(404, "NOT_FOUND", "UNREGISTERED")),
        ("other", Refused(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH")),
        ("broken", Refused(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", f"message.{kind}")),
        # An iPhone, for which the project's key is no longer good.
        ("iphone", Refused(401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR")),
        # As Google answers when it leaves out the details.
        ("denied", Refused(403, "PERMISSION_DENIED")),
        ("absent", Refused(404, "NOT_FOUND")),
    ]:
        if target.startswith(start):
            raise refused


def error(refused):
    details = []
    if refused.error_code and options.details:
        details.append({"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": refused.error_code})
    if refused.field and options.details:
        details.append({"@type": "type.googleapis.com/google.rpc.BadRequest",
                        "fieldViolations": [{"field": refused.field, "description": "Invalid value"}]})
    says = "The registration token is not a valid FCM registration token" if refused.field in ("message.token", "message.fid") else "Refused"
    return {"error": {"code": refused.code, "message": says, "status": refused.status} | ({"details": details} if details else {})}


async def read(receive):
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body


async def fcm(scope, receive, send):
    if scope["type"] != "http":
        return
    headers, now = dict(scope["headers"]), time.time()

    async def answer(status, document, more=(), kind=b"application/json; charset=UTF-8"):
        content = document if isinstance(document, bytes) else json.dumps(document).encode()
        if options.gzip:
            content, more = gzip.compress(content), [*more, (b"content-encoding", b"gzip")]
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind), *more]})
        await send({"type": "http.response.body", "body": content})

    body = await read(receive)
    if body is None:
        return
    if scope["method"] == "POST" and scope["path"] == "/token":
        return await answer(*exchange(body, now))
    if scope["method"] != "POST" or scope["path"] != f"/v1/projects/{account['project_id']}/messages:send":
        return await answer(404, b"<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>", kind=b"text/html")
    target = "-"

    def note(what):
        # One write for each line: what was written outlives a kill.
        os.write(ledger, f"{what} {target} {scope['client'][1]} {headers.get(b'x-request-id', b'-').decode()}\n".encode())

    try:
        document = json.loads(body, object_pairs_hook=unique)
        authorize(headers, now)
        if set(document) - {"message", "validate_only"} or not headers[b"content-type"].startswith(b"application/json"):
            raise bad("message")
        target, kind = check(document.get("message"))
        note("seen")
        await asyncio.sleep(options.latency / 1000)
        if options.portal and counts["messages"] >= options.portal_after:
            counts["messages"] += 1
            note(f"portal-{options.portal}")
            more = [(b"location", b"https://login.example.com/")] if options.portal < 400 else []
            return await answer(options.portal, b"<html>Please sign in</html>", more, b"text/html")
        count(now)
        fate(target, kind)
        if options.gateway_every and counts["messages"] % options.gateway_every == 0:
            if counts["messages"] % (2 * options.gateway_every) == 0:
                note("accepted")
            return await answer(502, b"<!DOCTYPE html><title>Error 502 (Server Error)!!1</title>", kind=b"text/html")
        if document.get("validate_only"):
            return await answer(200, {"name": f"projects/{account['project_id']}/messages/fake_message_id"})
        note("accepted")
        counts["accepted"] += 1
        await answer(200, {"name": f"projects/{account['project_id']}/messages/0:{counts['accepted']}"})
    except Refused as refused:
        note(f"refused-{refused.code}")
        wait = refused.retry_after
        if wait and options.retry_date:
            wait = email.utils.formatdate(now + wait + 1, usegmt=True)
        more = [(b"retry-after", str(wait).encode())] if wait else []
        await answer(refused.code, error(refused), more)
    except (ValueError, KeyError, TypeError, AttributeError):
        note("refused-400")
        await answer(400, error(bad(None)))


config = Config()
config.certfile = config.keyfile = options.certificate
config.bind = [f"127.0.0.1:{options.port}"]
config.h2_max_concurrent_streams = options.streams
config.keep_alive_max_requests = 1_000_000
config.loglevel = "CRITICAL"
asyncio.run(serve(fcm, config, shutdown_trigger=asyncio.Event().wait))
