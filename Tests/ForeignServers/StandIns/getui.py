"""A stand-in for Getui's RestAPI v2: tokens, pushes to one target, batches with a text for each target, lists with one text, and pushes to
tags and to everyone.

What becomes of a cid or an alias is told by its beginning: `dead` is no target of this app, `1d1e` has been idle for 90 days, `0ff` is
offline, `0dd` gets a status that nobody knows, and `a55` is left out of the answer. An alias that begins with `both` has a second device,
which has been idle. Pushes to a quick tag are not there, nor are reports.
"""

import hashlib
import json
import re
import uuid

import judge
from judge import Flaw, Window, any_object, boolean, holds, is_whole, members, octets, one_of, text, the_number_1, whole

# token-seconds: the life of a token.  revoke-each: a token serves that many calls.  auth-limit: calls for a token a minute.  skew: how many
# seconds a timestamp may be off (not documented).  quota: calls a minute (not published; 0 for none).  move: after that many calls the data
# centre is another one, which listens on `spare-port`.  lists-per-task: after that many lists a task is over.  apps-a-minute, apps-a-day:
# pushes to everyone and to tags, in all.  no-tags: the app has no right to send to tags.
options = judge.arguments(__doc__, {"token-seconds": 86_400, "revoke-each": 0, "auth-limit": 100, "skew": 300, "quota": 0, "move": 0,
                                    "spare-port": 0, "lists-per-task": 0, "apps-a-minute": 5, "apps-a-day": 100},
                          ["app", "app-key", "secret"], ["one-token", "no-tags"])

STATUS = {0: 200, 1: 200, 2: 200, 301: 200, 404: 404, 405: 405, 10001: 401, 10002: 401, 10003: 401, 10004: 401, 10005: 401, 20001: 400,
          21001: 400, 22001: 400, 22002: 400, 23001: 400} | {code: 403 for code in range(30000, 30020)}
WORDS = {1: "body is not JSON", 2: "service is starting", 301: "domain changed", 10001: "token error/expired", 10002: "black list",
         10003: "too many auth calls", 10004: "no right", 10005: "too many calls", 20001: "parameter error"}
DIGIT_RUN = re.compile(r"[0-9]{13}")


class Refused(Exception):
    def __init__(self, code, why=""):
        self.code, self.why = code, why


# MARK: What a push may hold


def number(least, most=2**31 - 1):
    """A number, or a text that is one: the page and the SDK differ."""
    return holds(lambda value: is_whole(value, least, most) or isinstance(value, str) and value.isdecimal() and least <= int(value) <= most)


REVOKE = {"old_task_id": text(least=1), "force": boolean}
CLICKS = {"intent": "intent", "url": "url", "payload": "payload", "payload_custom": "payload", "startapp": None, "none": None}
SHOWN = {"title": text(50, 1), "body": text(256, 1), "click_type": one_of(*CLICKS), "intent": text(4096, 1), "url": text(1024, 1),
         "payload": text(3072, 1, octets), "notify_id": number(0)}
NOTIFICATION = SHOWN | {"big_text": text(512), "big_image": text(1024), "logo": text(), "logo_url": text(), "channel_id": text(),
                        "channel_name": text(), "channel_level": number(0, 4),
                        "ring_name": holds(lambda value: isinstance(value, str) and "." not in value), "badge_add_num": number(1),
                        "thread_id": text()}


def shown(checks):
    def check(value, place):
        members(value, checks, place, ["title", "body", "click_type"])
        # What a click opens is there, and nothing that another kind of click would open.
        needed = CLICKS[value["click_type"]]
        if {name for name in ("intent", "url", "payload") if name in value} != ({needed} if needed else set()):
            raise Flaw("value", f"{place}.click_type")

    return check


def exactly_one(checks):
    def check(value, place):
        members(value, checks, place)
        if len(value) != 1:
            raise Flaw("value", place)

    return check


push_message = exactly_one({"notification": shown(NOTIFICATION), "transmission": text(3072, 1, octets),
                            "revoke": lambda value, place: members(value, REVOKE, place, ["old_task_id"])})


def aps(value, place):
    members(value, {"alert": judge.alert, "content-available": the_number_1, "sound": text(least=1), "category": text(least=1),
                    "thread-id": text(least=1)}, place)
    # Silent: the flag alone. With an alert it is an alert that also wakes the app.
    if "alert" not in value and set(value) != {"content-available"}:
        raise Flaw("value", place)


def multimedia(value, place):
    if not isinstance(value, list) or not 1 <= len(value) <= 3:
        raise Flaw("value", place)
    for item in value:
        members(item, {"url": text(1024, 1), "type": whole(1, 3), "only_wifi": boolean}, place, ["url", "type"])


def ios(value, place):
    members(value, {"type": one_of("notify"), "aps": aps, "auto_badge": holds(lambda item: isinstance(item, str)
                                                                              and re.fullmatch(r"[+-]?[0-9]+", item)),
                    "payload": text(), "multimedia": multimedia, "apns-collapse-id": text(64, 1, octets)}, place, ["aps"])
    # The limit of the whole is not documented.
    if judge.size(value) > 4096:
        raise Flaw("size", place)


def options_of_makers(value, place):
    """For each maker, or ALL, paths into its own message."""
    if not isinstance(value, dict):
        raise Flaw("value", place)
    for maker, paths in value.items():
        if maker not in ("ALL", "HW", "HO", "XM", "OP", "OPG", "VV", "MZ", "ST", "HX"):
            raise Flaw("unknown", f"{place}.{maker}")
        if not isinstance(paths, dict) or not paths or not all(path.startswith("/") for path in paths):
            raise Flaw("value", f"{place}.{maker}")


ups = {"notification": shown(SHOWN), "transmission": text(3072, 1, octets), "revoke": any_object, "options": options_of_makers}


def android(value, place):
    members(value, {"ups": lambda item, at: members(item, ups, at)}, place, ["ups"])
    if len({"notification", "transmission", "revoke"} & set(value["ups"])) != 1:
        raise Flaw("value", f"{place}.ups")


def on_harmony(value, place):
    """Huawei shows nothing without a category. What a click opens is there, and nothing else."""
    members(value, {"title": text(50, 1), "body": text(256, 1), "category": text(50, 1), "click_type": one_of("want", "startapp", "payload"),
                    "want": holds(lambda item: isinstance(item, str) and isinstance(json.loads(item), dict)),
                    "payload": text(3072, 1, octets), "notify_id": number(0)}, place, ["title", "body", "category", "click_type"])
    if {"want", "payload"} & set(value) != {value["click_type"]} - {"startapp"}:
        raise Flaw("value", f"{place}.click_type")


def harmony(value, place):
    members(value, {"notification": on_harmony, "transmission": text(3072, 1, octets), "custom": any_object, "revoke": any_object,
                    "options": any_object}, place)
    if len({"notification", "transmission", "custom", "revoke"} & set(value)) != 1:
        raise Flaw("value", place)


def push_channel(value, place):
    members(value, {"ios": ios, "android": android, "harmony": harmony}, place)
    if not value:
        raise Flaw("value", place)


def strategy(value, place):
    members(value, {name: whole(1, 4) for name in ["default", "ios", "st", "hw", "hwq", "ho", "hoshw", "hx", "xm", "mz", "op", "vv"]},
            place)


SETTINGS = {"ttl": whole(-1, 259_200_000), "strategy": strategy, "speed": whole(0),
            "schedule_time": whole(1_000_000_000_000, 9_999_999_999_999)}


def settings(value, place):
    members(value, SETTINGS, place)


def request_id(value, place):
    if not isinstance(value, str) or not re.fullmatch("[A-Za-z0-9_-]{10,32}", value):
        raise Flaw("value", place)


CONTENT = {"request_id": request_id, "group_name": holds(lambda value: isinstance(value, str)
                                                         and re.fullmatch("[A-Za-z0-9_-]{1,100}", value)),
           "settings": settings, "push_message": push_message, "push_channel": push_channel}


def check(value, place, more, required):
    members(value, CONTENT | more, place, ["push_message", *required])
    # Advice of the page, and a rule here: without it, iPhones get the push only while the app is open.
    if "ios" in value.get("push_channel", {}) and value.get("settings", {}).get("strategy", {}).get("ios") not in (2, 4):
        raise Flaw("value", f"{place}.settings.strategy.ios")


def targets_of(value, way, most, place):
    members(value, {way: lambda item, at: judge.names(item, most, at)}, place, [way])
    for item in value[way]:
        if way == "alias" and len(item) >= 40:
            raise Flaw("value", place)
    return value[way]


def everyone(value, place):
    if value != "all":
        raise Flaw("value", place)
    return ["all"]


def tags_of(value, place):
    """The tags of an audience. How many a call may name is not published: 100 here. A tag of 32 characters is one too long, by the code."""
    found = []

    def condition(item, at):
        members(item, {"key": one_of("custom_tag", "phone_type", "region", "portrait"), "opt_type": one_of("or", "and", "not"),
                       "values": lambda names, there: found.extend(judge.names(names, 100_000, there))}, at,
                ["key", "values", "opt_type"])

    def conditions(items, at):
        if not isinstance(items, list) or not items:
            raise Flaw("value", at)
        for item in items:
            condition(item, at)

    members(value, {"tag": conditions}, place, ["tag"])
    if len(found) > 100:
        raise Refused(30016)
    for tag in found:
        if len(tag) >= 32:
            raise Refused(30005)
        if any(character in " ,\t\n\u3000" for character in tag):
            raise Flaw("value", place)
    return found


# MARK: Calls


class Getui(judge.Judge):
    def __init__(self):
        super().__init__(options)
        self.tokens, self.seen, self.tasks, self.moved = {}, {}, {}, False
        self.auths, self.auths_a_day = Window(options.auth_limit, 60, slides=True), Window(100_000, 86_400)
        self.calls_a_minute = Window(options.quota, 60, slides=True)
        self.lists_a_day = Window(2_000_000, 86_400)
        self.apps_a_minute, self.apps_a_day = Window(options.apps_a_minute, 60, slides=True), Window(options.apps_a_day, 86_400)
        self.served = 0

    def pushes(self, request):
        return re.fullmatch("/v2/[^/]+/push/((single|list)/.*|all|tag)", request.path) is not None

    def failure(self, request, code, why=""):
        document = {"code": code, "msg": f"{WORDS.get(code, 'refused')} {why}".strip()}
        if code == 301:
            document["data"] = {"domainUrlList": [f"https://localhost:{options.spare_port or options.port}/v2"],
                                "domainHash": uuid.uuid4().hex}
        # The vendor's SDK sends the same request again after these two.
        if code not in (301, 10001):
            self.burn(request)
        return STATUS.get(code, 403), {}, document

    def burn(self, request):
        """A refusal uses up the ids of its pushes, by the stricter reading: a push that keeps its id after a refusal is lost."""
        try:
            document = json.loads(request.body)
            for push in document.get("msg_list", [document]):
                self.seen.setdefault(push["request_id"], "refused")
        except (ValueError, KeyError, TypeError, AttributeError):
            pass

    def answer(self, request):
        self.targets, self.call = ["-"], "-"
        try:
            return 200, {}, {"code": 0, "msg": "", **self.route(request)}
        except Flaw as flaw:
            refused = Refused(20001, f"{flaw.kind} {flaw.place}")
        except ValueError:
            refused = Refused(1)
        except Refused as error:
            refused = error
        self.note(f"refused-{refused.code}", request, self.targets, self.call)
        return self.failure(request, refused.code, refused.why)

    def route(self, request):
        start = f"/v2/{options.app}"
        if not request.path.startswith(start + "/"):
            raise Refused(404)
        path = request.path[len(start):]
        if path == "/auth":
            if request.method != "POST":
                raise Refused(405)
            return self.authorize(request)
        self.served += 1
        if options.move and self.served > options.move and request.port == options.port:
            raise Refused(301)
        self.recognize(request)
        if options.quota and not self.calls_a_minute.take(request.now):
            raise Refused(10005)
        if request.method == "DELETE" and path.startswith("/auth/"):
            return self.forget(path[6:])
        if request.method == "DELETE" and path.startswith("/task/"):
            return self.stop(request, path[6:])
        calls = {"/push/single/cid": self.single, "/push/single/alias": self.single, "/push/single/batch/cid": self.batch,
                 "/push/single/batch/alias": self.batch, "/push/list/message": self.message, "/push/list/cid": self.list,
                 "/push/list/alias": self.list, "/push/all": self.app, "/push/tag": self.app}
        if path not in calls:
            raise Refused(404)
        if request.method != "POST":
            raise Refused(405)
        way = path.rsplit("/", 1)[1]
        return calls[path](request, self.document(request), way if way in ("alias", "all", "tag") else "cid")

    def document(self, request):
        if not judge.is_json(request.headers):
            raise Refused(20001, "content-type")
        return judge.read_json(request.body)

    # MARK: Tokens

    def authorize(self, request):
        document = self.document(request)
        # The SDK sends a number, the page shows a text: both are taken, with 13 digits.
        members(document, {"sign": text(), "appkey": text(),
                           "timestamp": holds(lambda value: type(value) in (int, str) and DIGIT_RUN.fullmatch(str(value)))},
                "auth", ["sign", "appkey", "timestamp"])
        if not self.auths.take(request.now) or not self.auths_a_day.take(request.now):
            raise Refused(10003)
        if "token" in request.headers:
            raise Flaw("unknown", "header token")
        proof = hashlib.sha256(f"{document['appkey']}{document['timestamp']}{options.secret}".encode()).hexdigest()
        # Which code a wrong signature gets is not documented.
        if document["appkey"] != options.app_key or document["sign"] != proof:
            raise Refused(20001, "sign")
        if abs(int(document["timestamp"]) / 1000 - request.now) > options.skew:
            raise Refused(20001, "timestamp")
        if options.one_token:
            self.tokens.clear()
        token = uuid.uuid4().hex + uuid.uuid4().hex
        self.tokens[token] = [request.now + options.token_seconds, 0]
        return {"data": {"token": token, "expire_time": str(int((request.now + options.token_seconds) * 1000))}}

    def recognize(self, request):
        known = self.tokens.get(request.headers.get("token", ""))
        if known is None or request.now >= known[0] or 0 < options.revoke_each <= known[1]:
            raise Refused(10001)
        known[1] += 1

    def forget(self, token):
        if self.tokens.pop(token, None) is None:
            raise Refused(10001)
        return {}

    # MARK: Pushes

    def push(self, request, target, number):
        """The status of a target, which is noted."""
        if self.seen.get(number) is not None:
            # The message is lost, but the answer looks as usual. Its contents here are a guess.
            self.note("lost", request, [target], number)
            return self.status(target)
        status = self.status(target)
        if number:
            self.seen[number] = "taken"
        if status is not None and not status.startswith("successed"):
            what = "strange"
        else:
            what = "left-out" if status is None else "ignored" if status == "successed_ignore" else "accepted"
        # A target of a list is noted with its task.
        self.note(what, request, [target], number or self.call)
        return status

    def status(self, target):
        for start, status in [("1d1e", "successed_ignore"), ("0ff", "successed_offline"), ("0dd", "fallback_failed"), ("a55", None)]:
            if target.startswith(start):
                return status
        return "successed_online"

    def know(self, targets):
        if any(target.startswith("dead") for target in targets):
            raise Refused(20001, "target user is invalid")

    def single(self, request, document, way):
        found = []
        check(document, "push", {"audience": lambda value, place: found.append(targets_of(value, way, 1, place))},
              ["request_id", "audience"])
        self.targets, self.call = found[0], document["request_id"]
        self.know(self.targets)
        status = self.push(request, self.targets[0], self.call)
        given = {self.targets[0]: status} if status else {}
        if way == "alias":
            # An answer names devices, not their alias.
            given = {hashlib.md5(self.targets[0].encode()).hexdigest(): item for item in given.values()}
            if self.targets[0].startswith("both"):
                given["1d1e" + "0" * 28] = "successed_ignore"
        return {"data": {f"RASS_{uuid.uuid4().hex[:20]}": given}}

    def app(self, request, document, way):
        """A push to everyone or to tags. Who got it, nobody is told: the ledger has a line for each tag, or one for all."""
        found = []
        read = everyone if way == "all" else tags_of
        check(document, "push", {"audience": lambda value, place: found.extend(read(value, place))}, ["request_id", "audience"])
        self.targets, self.call = found, document["request_id"]
        if way == "tag" and options.no_tags:
            raise Refused(30003)
        if self.seen.get(self.call) is not None:
            self.note("lost", request, found, self.call)
        else:
            if not self.apps_a_minute.take(request.now):
                raise Refused(30012 if way == "all" else 30014)
            if not self.apps_a_day.take(request.now):
                raise Refused(30007 if way == "all" else 30010)
            self.seen[self.call] = "taken"
            self.note("accepted", request, found, self.call)
        return {"data": {"taskid": f"RASA_{uuid.uuid4().hex[:20]}"}}

    def batch(self, request, document, way):
        entries, found = [], []

        def each(value, place):
            if not isinstance(value, list) or not 1 <= len(value) <= 200:
                raise Flaw("value", place)
            for number, entry in enumerate(value):
                check(entry, f"msg_list.{number}", {"audience": lambda item, at: found.append(targets_of(item, way, 1, at)[0])},
                      ["request_id", "audience"])
                entries.append(entry)

        members(document, {"is_async": boolean, "msg_list": each}, "batch", ["msg_list"])
        self.targets, numbers = found, [entry["request_id"] for entry in entries]
        if len(set(found)) != len(found) or len(set(numbers)) != len(numbers):
            raise Flaw("value", "msg_list")
        self.know(found)
        data = {}
        for target, number in zip(found, numbers):
            status = self.push(request, target, number)
            data[f"RASS_{uuid.uuid4().hex[:20]}"] = {target: status} if status else {}
        return {} if document.get("is_async") else {"data": data}

    def message(self, request, document, way):
        check(document, "message", {}, [])
        task = f"RASL_{uuid.uuid4().hex[:20]}"
        # Its life is that of the message.
        ttl = document.get("settings", {}).get("ttl", -1)
        self.tasks[task] = [request.now + (ttl if ttl >= 0 else 7_200_000) / 1000, 0]
        return {"data": {"taskid": task}}

    def list(self, request, document, way):
        found = []
        members(document, {"is_async": boolean, "taskid": text(least=1), "audience": lambda value,
                           place: found.append(targets_of(value, way, 1000, place))},
                "list", ["taskid", "audience"])
        self.targets, self.call = found[0], document["taskid"]
        known = self.tasks.get(self.call)
        if known is None or request.now >= known[0] or 0 < options.lists_per_task <= known[1]:
            raise Flaw("value", "taskid")
        known[1] += 1
        if not self.lists_a_day.take(request.now, len(self.targets)):
            raise Refused(30008)
        self.know(self.targets)
        given = {target: self.push(request, target, None) for target in self.targets}
        data = {self.call: {target: status for target, status in given.items() if status}}
        return {} if document.get("is_async") else {"data": data}

    def stop(self, request, task):
        if self.tasks.pop(task, None) is None:
            raise Flaw("value", "taskid")
        return {}


Getui().serve(*([options.spare_port] if options.spare_port else []))
