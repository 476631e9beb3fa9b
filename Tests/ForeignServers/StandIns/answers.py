"""Stand-ins for all five services in one process: each answer of their documentation is drawn at random, from a seed.

`answers_check.py` starts it. The ledger has a line for each target: `accepted` (the push was carried out), `gone` (a complete answer said that
the app is gone from the device; `gone-410` with a status that wrong settings do not cause), `doubtful` (the same in an answer that the client may not have got whole). `kinds` says how many answers
a service may give instead of the usual one, and `drawn-STATUS` that one of them was given. Requests are not judged here; the other stand-ins do that.
"""

import argparse
import asyncio
import json
import random
import time
import uuid

import judge
from hypercorn.asyncio import serve
from hypercorn.config import Config

parser = argparse.ArgumentParser(description=__doc__)
for name, usual in [("port", 0), ("seed", 1), ("share", 5), ("call-share", 25)]:
    parser.add_argument(f"--{name}", type=int, default=usual)
for name in ["certificate", "ledger"]:
    parser.add_argument(f"--{name}", required=True)
options = parser.parse_args()
draw = random.Random(options.seed)
ledger = open(options.ledger, "a", encoding="utf-8")
# Answers that called a device gone, by connection, with their time: those before a cut may have been lost with it, on a busy machine long before.
said = {}
# Connections that were cut. A number that comes again, for a later connection, makes its answers doubtful: fewer are compared, none wrongly.
cut = set()
GONE, MAYBE = "gone", "maybe"


def row(status, body, means=None, headers=()):
    """`means`: GONE for all targets of the call, MAYBE if the call may have been carried out."""
    return status, body, means, dict(headers)


def apns_rows():
    now = int(time.time() * 1000)
    rows = [row(400, {"reason": reason}, GONE) for reason in ("BadDeviceToken", "DeviceTokenNotForTopic")]
    rows += [row(410, {"reason": reason, "timestamp": now}, GONE) for reason in ("Unregistered", "ExpiredToken")]
    for status, reasons in {
        400: "BadCollapseId BadExpirationDate BadMessageId BadPriority BadTopic DuplicateHeaders InvalidPushType MissingDeviceToken "
             "MissingTopic PayloadEmpty TopicDisallowed IdleTimeout",
        403: "ExpiredProviderToken InvalidProviderToken MissingProviderToken BadCertificate BadCertificateEnvironment Forbidden "
             "BadEnvironmentKeyInToken BadEnvironmentKeyIdInToken UnrelatedKeyIdInToken",
        404: "BadPath", 405: "MethodNotAllowed", 413: "PayloadTooLarge", 429: "TooManyRequests TooManyProviderTokenUpdates",
        500: "InternalServerError", 503: "ServiceUnavailable Shutdown",
    }.items():
        rows += [row(status, {"reason": reason}, None, {"retry-after": "1"} if status in (429, 503) else {}) for reason in reasons.split()]
    return rows


def fcm_rows():
    def error(code, status, error_code=None, field=None, means=None, headers=(), message="Refused"):
        details = [{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": error_code}] if error_code else []
        if field:
            details.append({"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": field, "description": "Invalid"}]})
        return row(code, {"error": {"code": code, "status": status, "message": message, "details": details}}, means, headers)

    return [error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", "message.token", GONE), error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
            error(400, "INVALID_ARGUMENT", means=GONE, message="The registration token is not a valid FCM registration token"),
            error(401, "UNAUTHENTICATED"), error(401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"), error(401, "UNAUTHENTICATED", "APNS_AUTH_ERROR"),
            error(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", None, GONE), error(403, "PERMISSION_DENIED"),
            error(404, "NOT_FOUND", "UNREGISTERED", None, GONE), error(404, "NOT_FOUND"),
            error(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", None, None, {"retry-after": "1"}),
            error(429, "RESOURCE_EXHAUSTED", None, None, None, {"retry-after": "1"}), error(500, "INTERNAL", "INTERNAL"),
            error(503, "UNAVAILABLE", "UNAVAILABLE", None, None, {"retry-after": "1"})]


def jpush_rows():
    status = {1000: 500, 1030: 503, 1001: 405, 1020: 404, 1004: 401, 2002: 429} | dict.fromkeys(range(2003, 2008), 403)
    codes = [1000, 1030, 1001, 1002, 1009, 1020, 1003, 1004, 1008, 1005, 1011, 1012, 2002, 2003, 2004, 2005, 2006, 2007, 2008]
    limits = {"x-rate-limit-limit": 600, "x-rate-limit-remaining": 0, "x-rate-limit-reset": 1}
    rows = [row(status.get(code, 400), {"error": {"code": code, "message": "refused"}},
                GONE if code == 1011 else MAYBE if code in (1000, 1030) else None, limits if code == 2002 else {}) for code in codes]
    return rows + [row(400, "illegal"), row(400, "illegal, told above")]


def getui_rows():
    codes = {200: [1, 2], 404: [404], 405: [405], 401: [10001, 10002, 10003, 10004, 10005], 400: [20001, 22001, 22002, 23001],
             403: [*range(30000, 30020)]}
    rows = [row(status, {"code": code, "msg": "refused"}) for status, group in codes.items() for code in group]
    rows.append(row(200, {"code": 301, "msg": "domain changed", "data": {"domainUrlList": [f"https://localhost:{options.port}/v2"]}}))
    return rows + [row(400, {"code": 20001, "msg": "target user is invalid"}, GONE), row(400, {"code": 21001, "msg": "user invalid"}, GONE)] * 2


def getui_status():
    """What a good answer says of a device; None if it leaves the device out."""
    return draw.choice(["successed_offline", "successed_ignore", "odd", None]) if draw.random() < 0.02 else "successed_online"


def rongcloud_rows():
    codes = {1000: 500, 1050: 504, 1001: 401, 1004: 401, 1006: 401, 1002: 400, 1003: 400, 1005: 400, 1007: 401, 1009: 430, 1008: 429, 2007: 403}
    rows = [row(status, {"code": code, "errorMessage": "refused"}, MAYBE if code == 1050 else None) for code, status in codes.items()]
    return rows + [row(404, {"code": 404, "errorMessage": "no such path"})]


ROWS = {"apns": apns_rows(), "fcm": fcm_rows(), "jpush": jpush_rows(), "getui": getui_rows(), "rongcloud": rongcloud_rows()}
# Once for each service: what the way to it does.
WAYS = ["page", "cut-before", "cut-after", "half", "hang"]


class Services:
    def __init__(self):
        self.cids, self.statuses = {}, {}
        for service, rows in ROWS.items():
            self.note("kinds", service, [len(rows) + len(WAYS)])

    def note(self, what, service, targets):
        ledger.writelines(f"{what} {service} {target}\n" for target in targets)
        ledger.flush()

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
        await self.route(scope["path"], body, dict(scope["headers"]), send, scope["client"][1])

    async def route(self, path, body, headers, send, connection):
        async def answer(status, document, more=()):
            await reply(send, status, document, more)

        parts = path.strip("/").split("/")
        if path == "/token":
            return await answer(200, {"access_token": f"ya29.{uuid.uuid4().hex}", "expires_in": 3600, "token_type": "Bearer"})
        if path == "/v3/push/cid":
            return await answer(200, {"cidlist": [f"key-{uuid.uuid4()}" for _ in range(10)]})
        if parts[-1] == "auth":
            return await answer(200, {"code": 0, "data": {"token": uuid.uuid4().hex, "expire_time": str(int(time.time() * 1000) + 86_400_000)}})
        document = json.loads(body)
        if parts[:2] == ["3", "device"]:
            return await self.drawn("apns", [parts[2]], send, connection, None, lambda done: self.plain(done, "apns", [parts[2]], (200, None)))
        if parts[-1] == "messages:send":
            target = document["message"].get("token") or document["message"]["fid"]
            name = {"name": f"projects/shop-1a2b/messages/{uuid.uuid4().hex}"}
            return await self.drawn("fcm", [target], send, connection, None, lambda done: self.plain(done, "fcm", [target], (200, name)))
        if path == "/v3/push":
            targets = document["audience"]["registration_id"]
            return await self.drawn("jpush", targets, send, connection, document.get("cid"), lambda done: self.jpush(targets, document.get("cid")))
        if path == "/push/user.json":
            done = (200, {"code": 200, "id": uuid.uuid4().hex})
            return await self.drawn("rongcloud", document["userIds"], send, connection, None,
                                    lambda _: self.plain(True, "rongcloud", document["userIds"], done))
        if path.endswith("/push/list/message"):
            task = f"RASL_{uuid.uuid4().hex}"
            return await answer(200, {"code": 0, "msg": "", "data": {"taskid": task}})
        entries = document.get("msg_list", [document])
        targets = [cid for entry in entries for cid in entry["audience"]["cid"]]
        await self.drawn("getui", targets, send, connection, None, lambda _: self.getui(entries))

    def plain(self, done, service, targets, given):
        self.note("accepted", service, targets)
        return given

    def jpush(self, targets, cid):
        if cid not in self.cids:
            self.note("accepted", "jpush", targets)
            self.cids[cid] = str(18_100_000_000 + len(self.cids))
        return 200, {"sendno": "0", "msg_id": self.cids[cid]}

    def getui(self, entries):
        data = {}
        for entry in entries:
            answers = data.setdefault(f"RASS_{uuid.uuid4().hex}", {})
            for cid in entry["audience"]["cid"]:
                # A repeated id loses the message, and what was said of the device the first time is still true.
                identifier = entry.get("request_id")
                is_repeated = identifier is not None and (identifier, cid) in self.statuses
                status = self.statuses[identifier, cid] if is_repeated else getui_status()
                self.statuses[identifier, cid] = status
                if status:
                    answers[cid] = status
                is_taken = status in ("successed_online", "successed_offline") or status is None and draw.random() < 0.5
                if is_taken and not is_repeated:
                    self.note("accepted", "getui", [cid])
        return 200, {"code": 0, "msg": "", "data": data}

    async def drawn(self, service, targets, send, connection, cid, carry_out):
        share = options.share if service in ("apns", "fcm") else options.call_share
        if draw.random() * 100 >= share:
            return await reply(send, *carry_out(True))
        if draw.random() < 0.1:
            return await self.lost(draw.choice(WAYS), service, targets, send, connection, carry_out)
        kind = draw.randrange(len(ROWS[service]))
        status, document, means, headers = ROWS[service][kind]
        if cid in self.cids:
            # The service knows this call: its first successful answer is the answer.
            return await reply(send, *carry_out(True))
        if service == "jpush" and isinstance(document, str):
            targets = draw.sample(targets, min(3, len(targets)))
            error, named = {"code": 1003, "message": "bad value"}, {"illegal_rids": targets}
            document, means = {"error": error, **named} if "above" in document else {"error": error | named}, GONE
        elif means == GONE and service == "getui" and len(targets) > 1:
            # It says that one of them is gone, and not which.
            means = None
        if means == MAYBE and draw.random() < 0.5:
            carry_out(True)
        self.note(f"drawn-{status}", service, [f"{kind} {json.dumps(document).replace(' ', '')[:80]}"])
        if means == GONE:
            said.setdefault(connection, []).append((time.monotonic(), service, targets))
            self.note("gone-410" if status == 410 else "gone", service, targets)
            if connection in cut:
                # What had arrived before the cut is still answered, but the answer is lost.
                self.note("doubtful", service, targets)
        await reply(send, status, document, headers)

    async def lost(self, way, service, targets, send, connection, carry_out):
        self.note(f"drawn-{way}", service, [way])
        if way in ("cut-after", "hang") or way == "page" and draw.random() < 0.5:
            carry_out(True)
        if way == "page":
            status = draw.choice([502, 504])
            return await reply(send, status, f"<!DOCTYPE html><title>{status}</title>")
        if way == "hang":
            return await asyncio.sleep(3600)
        if way == "half":
            # Half of an answer that calls the device gone.
            gone = [drawn for drawn in ROWS[service] if drawn[2] == GONE]
            content = json.dumps(gone[0][1]).encode() if gone else b'{"code":200,"id":"x"}'
            headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
            await send({"type": "http.response.start", "status": gone[0][0] if gone else 200, "headers": headers})
            await send({"type": "http.response.body", "body": content[: len(content) // 2], "more_body": True})
        now = time.monotonic()
        for moment, service, targets in said.get(connection, []):
            if now - moment < 60:
                self.note("doubtful", service, targets)
        cut.add(connection)
        if connection in judge.writers:
            judge.writers[connection].transport.abort()


async def reply(send, status, document, more=()):
    is_page = isinstance(document, str)
    content = b"" if document is None else document.encode() if is_page else json.dumps(document).encode()
    headers = {"content-type": "text/html" if is_page else "application/json; charset=utf-8", "content-length": len(content), **dict(more)}
    await send({"type": "http.response.start", "status": status, "headers": [(name.encode(), str(value).encode()) for name, value in headers.items()]})
    await send({"type": "http.response.body", "body": content})


config = Config()
config.certfile = config.keyfile = options.certificate
config.bind = [f"127.0.0.1:{options.port}"]
config.keep_alive_max_requests = 1_000_000
config.loglevel = "CRITICAL"
asyncio.run(serve(Services(), config, shutdown_trigger=asyncio.Event().wait))
