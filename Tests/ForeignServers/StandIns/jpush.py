"""A stand-in for JPush: pushes to registration ids and aliases, batches with a text for each target, files of ids, and the ids of calls
(cid).

Registration ids that begin with `dead` are unknown to it, those that begin with `bad0` are malformed. Broadcasts, segments and A/B tests
are refused: nothing that is judged here may reach more devices than it names. Reports and the device API are not there.
"""

import base64
import email.parser
import email.policy
import json
import re
import uuid

import judge
from judge import Flaw, Window, any_object, boolean, holds, is_whole, members, octets, one_of, text, whole

# quota: calls a minute (`window` shortens the minute).  illegal: 0 names no malformed id, 1 inside `error`, 2 at the top level.
# cid-seconds: a cid's life.  batch-weight: 1 counts a batch as one call of the quota, 2 counts each of its targets.
options = judge.arguments(__doc__, {"quota": 600, "window": 60, "illegal": 1, "cid-seconds": 86_400, "batch-weight": 1},
                          ["app-key", "secret"], ["vip", "free-cid", "both", "old-header"])

STATUS = {1000: 500, 1001: 405, 1002: 400, 1003: 400, 1004: 401, 1005: 400, 1008: 400, 1009: 400, 1011: 400, 1012: 400, 1020: 404,
          1030: 503, 2002: 429, 2003: 403, 2004: 403, 2005: 403, 2006: 403, 2007: 403, 2008: 403}  # 2008: its status is not documented
WORDS = {1000: "internal error", 1001: "POST only", 1002: "a parameter is missing", 1003: "a parameter is invalid",
         1004: "basic authentication failed", 1005: "the message is too large", 1008: "the app key is invalid", 1009: "an unknown key",
         1011: "no target fits", 1020: "no such address", 2002: "too many calls", 2006: "for VIP only"}
CODES = {"missing": 1002, "unknown": 1009, "value": 1003, "size": 1005}
NAME = re.compile(r"[A-Za-z0-9_\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff@!#$&*+=.|￥]+")
BADGE = re.compile(r"[+-]?[0-9]{1,2}")


class Refused(Exception):
    def __init__(self, code, why="", **more):
        self.code, self.why, self.more = code, why, more


# MARK: What a push may hold

sound = holds(lambda value: isinstance(value, (str, dict)))
extras = any_object


def ios_alert(value, place):
    if not isinstance(value, str):
        judge.alert(value, place)


# A number as badge is in newer SDKs, too; gateways.md has only texts.
IOS = {"alert": ios_alert, "sound": sound, "badge": holds(lambda value: isinstance(value, str) and BADGE.fullmatch(value)),
       "content-available": boolean, "mutable-content": boolean, "category": text(), "thread-id": text(), "extras": extras,
       "interruption-level": one_of("active", "critical", "passive", "time-sensitive")}


def intent(value, place):
    members(value, {"url": text(least=1)}, place, ["url"])


ANDROID = {"alert": text(), "title": text(), "builder_id": whole(), "channel_id": text(1000, 1, octets), "category": text(),
           "priority": whole(-2, 2), "style": whole(0, 3), "alert_type": whole(-1, 7), "big_text": text(), "inbox": any_object,
           "big_pic_path": text(least=1), "extras": extras, "large_icon": text(), "small_icon_uri": text(), "icon_bg_color": text(),
           "intent": intent, "uri_activity": text(), "uri_action": text(), "badge_add_num": whole(1, 99), "badge_set_num": whole(0, 99),
           "badge_class": text(), "sound": holds(lambda value: isinstance(value, str) and "." not in value), "show_begin_time": text(),
           "show_end_time": text(), "display_foreground": one_of("0", "1")}
HMOS = {"alert": text(least=1), "title": text(), "category": text(least=1), "large_icon": text(), "intent": intent,
        "badge_add_num": whole(1, 99), "badge_set_num": whole(0, 99), "test_message": boolean, "receipt_id": text(), "extras": extras,
        "style": whole(0, 2), "inbox": any_object, "push_type": whole(0, 10), "extra_data": text(), "sound": text(least=1),
        "sound_duration": whole(1, 60), "display_foreground": one_of("0", "1")}
# Of the makers' keys, those that say which class a push is of.
CLASSES = {"channel_id": text(least=1), "category": text(least=1), "importance": one_of("LOW", "NORMAL", "HIGH"),
           "classification": whole(0, 1), "distribution": one_of("secondary_push", "first_ospush", "ospush", "jpush")}


def android(value, place):
    members(value, ANDROID, place, ["alert"])
    # Pictures are shown with style 3 only.
    if ("big_pic_path" in value) != (value.get("style") == 3):
        raise Flaw("value", f"{place}.style")


def ios(value, place):
    members(value, IOS, place, ["alert"])
    if judge.size(value) > 2000:
        raise Flaw("size", place)
    # Silent: nothing to see, to hear or to count. "Yes" is a boolean there.
    if value["alert"] == "" and (value.get("content-available") is not True or {"sound", "badge"} & set(value)):
        raise Flaw("value", place)


def notification(value, place):
    members(value, {"alert": text(), "ios": ios, "android": android,
                    "hmos": lambda item, at: members(item, HMOS, at, ["alert", "category", "intent"])}, place)
    if not value:
        raise Flaw("value", place)


def channels(value, place):
    makers = ["xiaomi", "huawei", "honor", "meizu", "oppo", "vivo", "fcm", "nio"]
    members(value, {maker: lambda item, at: members(item, CLASSES, at) for maker in makers}, place)


def message(value, place):
    members(value, {"msg_content": text(least=1), "title": text(), "content_type": text(), "extras": extras}, place, ["msg_content"])
    if judge.size(value) > 4000:
        raise Flaw("size", place)


OPTIONS = {"sendno": holds(lambda value: is_whole(value, -2**31, 2**31 - 1) and value != 0),
           "time_to_live": whole(0, 864_000 if options.vip else 259_200), "override_msg_id": whole(1), "apns_production": boolean,
           "apns_collapse_id": text(64, 1, octets), "big_push_duration": whole(1, 1400), "third_party_channel": channels,
           "classification": whole(0, 1), "unique_alias": boolean, "geofence": any_object, "message_scenario_code": text(40)}


def platform(value, place):
    known = {"android", "ios", "hmos", "quickapp"}
    if value == "all":
        return
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise Flaw("value", place)
    if len(set(value)) != len(value) or set(value) - known:
        raise Flaw("value", place)


def push_options(value, place):
    # The API and the SDKs have different defaults for `apns_production`, so it must be there.
    members(value, OPTIONS, place, ["apns_production"])


def check(document, more, required):
    members(document, {"platform": platform, "notification": notification, "message": message, "options": push_options, **more}, "push",
            ["platform", "options", *required])
    if not {"notification", "message"} & set(document):
        raise Flaw("missing", "push.notification")
    parts = [document.get("notification", {}).get("android"), document.get("message")]
    if sum(judge.size(part) for part in parts if part is not None) > 4000:
        raise Flaw("size", "push.notification.android")


def named(value, place):
    """Tags and aliases."""
    if octets(value) > 40 or not NAME.fullmatch(value):
        raise Flaw("value", place)


def audience(value, place):
    """The kind of targets, and which: exactly one kind, which addresses devices."""
    if not isinstance(value, dict):
        # "all" is allowed there, and refused here.
        raise Refused(2008 if value == "all" else 1003, place)
    kinds = {"tag": 20, "tag_and": 20, "tag_not": 20, "alias": 1000, "registration_id": 1000, "segment": 1, "abtest": 1, "file": None}
    for name in value:
        if name not in kinds:
            raise Flaw("unknown", f"{place}.{name}")
    # An empty list counts as absent: an audience of empty lists would be no device, or every device.
    present = [name for name in value if value[name] != []]
    if not present:
        raise Flaw("value", place)
    if {"tag", "tag_and", "tag_not", "segment", "abtest"} & set(present):
        raise Refused(2007 if options.vip else 2006, place)
    if len(present) > 1:
        # Different kinds intersect: the reached devices cannot be determined from outside.
        raise Flaw("value", place)
    kind = present[0]
    if kind == "file":
        members(value["file"], {"file_id": text(least=1)}, f"{place}.file", ["file_id"])
        return kind, [value["file"]["file_id"]]
    targets = judge.names(value[kind], kinds[kind], f"{place}.{kind}")
    if kind == "alias":
        for item in targets:
            named(item, f"{place}.alias")
    return kind, targets


def content(document):
    """What a repeat has to have in common with the first call: all but the time that is left, which runs in between."""
    options = {name: value for name, value in document["options"].items() if name != "time_to_live"}
    return json.dumps({**document, "options": options}, sort_keys=True)


# MARK: Calls


class JPush(judge.Judge):
    unsure = frozenset({1000, 1030})

    def __init__(self):
        super().__init__(options)
        self.calls_a_minute, self.files_a_minute = Window(options.quota, options.window), Window(20, options.window)
        self.cids, self.messages, self.uploads = {}, {}, {}

    def pushes(self, request):
        return request.method == "POST" and (request.path in ("/v3/push", "/v3/push/file") or request.path.startswith("/v3/push/batch/"))

    def limits(self, window, now):
        name = "x-rate-limit-quota" if options.old_header else "x-rate-limit-limit"
        return {name: window.limit, "x-rate-limit-remaining": window.remaining, "x-rate-limit-reset": window.reset(now)}

    def failure(self, request, code, why="", **more):
        body = {"error": {"code": code, "message": f"{WORDS.get(code, 'refused')} {why}".strip()}}
        window = self.files_a_minute if request.path == "/v3/push/file" else self.calls_a_minute
        if "illegal_rids" in more and options.illegal:
            (body["error"] if options.illegal == 1 else body)["illegal_rids"] = more["illegal_rids"]
        return STATUS.get(code, 400), self.limits(window, request.now), body

    def answer(self, request):
        self.targets, self.call = ["-"], "-"
        try:
            self.authorize(request)
            document = self.route(request)
            return 200, self.limits(self.calls_a_minute, request.now), document
        except Flaw as flaw:
            refused = Refused(CODES[flaw.kind], flaw.place)
        except ValueError as error:
            refused = Refused(1003, f"not JSON: {error}")
        except Refused as error:
            refused = error
        self.note(f"refused-{refused.code}", request, self.targets, self.call)
        return self.failure(request, refused.code, refused.why, **refused.more)

    def authorize(self, request):
        scheme, _, value = request.headers.get("authorization", "").partition(" ")
        try:
            key, _, secret = base64.b64decode(value, validate=True).decode().partition(":")
        except ValueError:
            raise Refused(1004)
        if scheme.lower() != "basic" or key == options.app_key and secret != options.secret:
            raise Refused(1004)
        if key != options.app_key:
            raise Refused(1008)

    def take(self, request, window=None, number=1):
        window = window or self.calls_a_minute
        if not window.take(request.now, number):
            raise Refused(2002)

    def document(self, request):
        if not judge.is_json(request.headers):
            raise Refused(1003, "content-type")
        return judge.read_json(request.body)

    def route(self, request):
        known = {"/v3/push": self.push, "/v3/push/validate": self.push, "/v3/push/file": self.push,
                 "/v3/push/batch/regid/single": self.batch, "/v3/push/batch/alias/single": self.batch,
                 "/v3/files/registration_id": self.upload, "/v3/files/alias": self.upload}
        if request.path == "/v3/push/cid":
            if request.method != "GET":
                raise Refused(1001)
            return self.give_cids(request)
        if request.method == "DELETE" and re.fullmatch("/v3/push/[0-9]+", request.path):
            return self.withdraw(request)
        if request.path not in known:
            raise Refused(1020)
        if request.method != "POST":
            raise Refused(1001)
        if request.query:
            raise Flaw("unknown", "query")
        return known[request.path](request)

    # MARK: Ids of calls

    def give_cids(self, request):
        if set(request.query) - {"count", "type"} or request.body:
            raise Flaw("unknown", "query")
        # Whether this counts against the quota is not documented: it does, unless told otherwise.
        if not options.free_cid:
            self.take(request)
        count = request.query.get("count", ["1"])
        if len(count) != 1 or not re.fullmatch("[1-9][0-9]{0,3}", count[0]) or int(count[0]) > (1000 if options.vip else 10):
            raise Flaw("value", "count")
        if request.query.get("type", ["push"]) != ["push"]:
            raise Flaw("value", "type")
        given = [f"{options.app_key}-{uuid.uuid4()}" for _ in range(int(count[0]))]
        # Born, then what the first call with it held, and its answer once that was a success.
        self.cids |= {cid: [request.now, None, None] for cid in given}
        return {"cidlist": given}

    def once(self, request, cid, targets, content, accept):
        """The first successful answer to calls with this id. A call without an id is always new."""
        if cid is None:
            return accept()
        known = self.cids.get(cid)
        if known is None or request.now > known[0] + options.cid_seconds:
            raise Refused(1003, "cid")
        if known[2] is None:
            known[1], known[2] = content, accept()
        else:
            # An answer that is not theirs, if the call differs from the first one.
            self.note("repeated" if known[1] == content else "mixed", request, targets, cid)
        return known[2]

    # MARK: Pushes

    def reach(self, request, kind, targets):
        """Refuses malformed ids and ids of nobody; says which are reached."""
        if kind == "registration_id":
            illegal = [target for target in targets if target.startswith("bad0")]
            if illegal:
                raise Refused(1003, "registration_id", illegal_rids=illegal)
        reached = [target for target in targets if not target.startswith("dead")]
        if not reached:
            raise Refused(1011)
        return reached

    def accept(self, request, targets, reached, document):
        number = str(18_100_000_000 + len(self.messages))
        self.messages[number] = (targets, request.now)
        self.note("accepted", request, reached, self.call)
        # One answer for the whole call: it does not name the unknown ids.
        self.note("lost", request, [target for target in targets if target not in set(reached)], self.call)
        return {"sendno": str(document.get("options", {}).get("sendno", 0)), "msg_id": number}

    def override(self, request, document):
        former = document.get("options", {}).get("override_msg_id")
        if former is not None and not (str(former) in self.messages and request.now < self.messages[str(former)][1] + 86_400):
            raise Flaw("value", "options.override_msg_id")

    def push(self, request):
        document = self.document(request)
        is_file = request.path == "/v3/push/file"
        self.take(request, self.files_a_minute if is_file else None)
        found = []
        check(document, {"audience": lambda value, place: found.append(audience(value, place)), "cid": text(least=1)}, ["audience"])
        kind, targets = found[0]
        self.targets, self.call = targets, document.get("cid", "-")
        if (kind == "file") != is_file:
            raise Flaw("value", "audience.file")
        if is_file:
            if targets[0] not in self.uploads:
                raise Flaw("value", "audience.file.file_id")
            kind, targets = self.uploads[targets[0]]
            self.targets = targets
        self.override(request, document)
        if request.path == "/v3/push/validate":
            self.reach(request, kind, targets)
            self.note("validated", request, targets, self.call)
            return {"sendno": str(document["options"].get("sendno", 0)), "msg_id": "0"}
        return self.once(request, document.get("cid"), targets, content(document),
                         lambda: self.accept(request, targets, self.reach(request, kind, targets), document))

    def batch(self, request):
        if not options.vip:
            raise Refused(2006)
        document = self.document(request)
        members(document, {"pushlist": any_object}, "batch", ["pushlist"])
        entries = document["pushlist"]
        self.targets = [entry["target"] for entry in entries.values() if isinstance(entry, dict)
                        and isinstance(entry.get("target"), str)] or ["-"]
        if not 1 <= len(entries) <= 1000:
            raise Flaw("value", "pushlist")
        # How a batch counts is not documented.
        self.take(request, number=len(entries) if options.batch_weight == 2 else 1)
        if len(set(self.targets)) != len(entries):
            raise Flaw("value", "pushlist.target")
        return {cid: self.single(request, cid, entry, request.path.split("/")[4]) for cid, entry in entries.items()}

    def single(self, request, cid, entry, way):
        targets, self.call = ["-"], cid
        try:
            check(entry, {"target": text(least=1)}, ["target"])
            targets = [entry["target"]]
            if way == "alias":
                named(entry["target"], "target")
            self.override(request, entry)
            kind = "alias" if way == "alias" else "registration_id"
            return self.once(request, cid, targets, content(entry),
                             lambda: self.accept(request, targets, self.reach(request, kind, targets), entry))
        except (Flaw, Refused) as problem:
            code, why = (CODES[problem.kind], problem.place) if isinstance(problem, Flaw) else (problem.code, problem.why)
            self.note(f"refused-{code}", request, targets, cid)
            error = {"error": {"code": code, "message": f"{WORDS.get(code, 'refused')} {why}".strip()}}
            # An id and an error may stand side by side: the error wins.
            return error | ({"msg_id": "18099999999"} if options.both else {})

    def withdraw(self, request):
        number = request.path.rsplit("/", 1)[1]
        if number not in self.messages:
            raise Flaw("value", "msg_id")
        self.note("withdrawn", request, self.messages[number][0])
        return {}

    # MARK: Files

    def upload(self, request):
        self.take(request)
        head = f"Content-Type: {request.headers.get('content-type', '')}\r\n\r\n".encode()
        form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + request.body)
        if form.get_content_type() != "multipart/form-data":
            raise Refused(1003, "content-type")
        parts = {part.get_param("name", header="content-disposition"): part.get_payload(decode=True) for part in form.iter_parts()}
        if set(parts) - {"filename", "ttl"}:
            raise Flaw("unknown", "form")
        if "filename" not in parts:
            raise Flaw("missing", "filename")
        if len(parts["filename"]) > 10 * 1024 * 1024:
            raise Flaw("size", "filename")
        if not re.fullmatch("[0-9]{1,3}", parts.get("ttl", b"720").decode()) or not 1 <= int(parts.get("ttl", b"720")) <= 720:
            raise Flaw("value", "ttl")
        ids = [line for line in parts["filename"].decode("utf-8", "strict").split("\n") if line]
        if not ids or len(set(ids)) != len(ids) or any(line != line.strip() for line in ids):
            raise Flaw("value", "filename")
        if len(self.uploads) >= 20:
            raise Refused(2007)
        file = uuid.uuid4().hex
        self.uploads[file] = ("registration_id" if request.path.endswith("registration_id") else "alias", ids)
        return {"file_id": file}


JPush().serve()
