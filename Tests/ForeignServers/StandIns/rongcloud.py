"""A stand-in for RongCloud's pushes: to users, and to an audience. Requests are signed, recipients are counted by the second, and one
answer is for all. Nothing says whether a user exists.
"""

import hashlib
import hmac
import re
import uuid

import judge
from judge import Flaw, Window, boolean, holds, is_whole, members, octets, one_of, text

# quota: recipients in any second.  window: milliseconds of that second.  skew: how many seconds a timestamp may be off (not documented).
# good-status: errors come with the status 200.
# spare-port: where the spare host listens.  down-after: after that many calls the first host answers 500 to all.
options = judge.arguments(__doc__, {"quota": 100, "window": 1000, "skew": 300, "spare-port": 0, "down-after": 0}, ["app-key", "secret"],
                          ["good-status"])

STATUS = {1000: 500, 1001: 401, 1002: 400, 1003: 400, 1004: 401, 1005: 400, 1006: 401, 1007: 401, 1008: 429, 1009: 430, 1050: 504,
          2007: 403, 404: 404}


class Refused(Exception):
    def __init__(self, code, why=""):
        self.code, self.why = code, why


# MARK: What a push may hold

IOS = {"title": text(50, 1), "contentAvailable": holds(lambda value: is_whole(value, 0, 1)),
       "badge": holds(lambda value: is_whole(value, None, 9999)),
       "category": text(least=1), "richMediaUri": text(least=1), "thread-id": text(least=1), "apns-collapse-id": text(64, 1, octets),
       "extras": judge.texts}
# One SDK has the keys of the makers in `android` itself, Push Plus has an object for each.
ANDROID = {"channelId": text(), "importance": one_of("NORMAL", "LOW"), "image": text(), "large_icon_uri": text(),
           "classification": one_of("0", "1"), "extras": judge.texts,
           **{maker: judge.texts for maker in ("hw", "mi", "oppo", "vivo", "honor", "meizu", "fcm")}}
HARMONY = {"category": text(), "image": text(), "extras": judge.texts,
           "ohos": lambda value, place: members(value, {"category": text(least=1), "image": text(least=1)}, place)}


def ios(value, place):
    members(value, IOS, place)
    if "richMediaUri" in value and "category" not in value:
        raise Flaw("missing", f"{place}.category")


def android(value, place):
    members(value, ANDROID, place)


def to_users(value, place):
    members(value, {"title": text(50, 1), "pushContent": text(least=1), "ios": ios, "android": android,
                    "harmonyOS": lambda item, at: members(item, HARMONY, at)}, place, ["pushContent"])
    if not value["pushContent"].strip():
        raise Flaw("value", f"{place}.pushContent")


def to_audience(value, place):
    each = {"alert": text(least=1)}
    members(value, {"title": text(50, 1), "alert": text(least=1), "ios": lambda item, at: members(item, IOS | each, at),
                    "android": lambda item, at: members(item, ANDROID | each, at)}, place, ["alert"])


def platforms(value, place):
    if not set(judge.names(value, 2, place)) <= {"ios", "android"}:
        raise Flaw("value", place)


def audience(has_users):
    lists = {"tag": 20, "tag_or": 20} | ({"userid": 1000} if has_users else {})
    checks = {name: lambda value, place, most=most: judge.names(value, most, place) for name, most in lists.items()}
    more = {} if has_users else {"tagItems": holds(lambda value: isinstance(value, list) and value)}

    def check(value, place):
        members(value, {**checks, **more, "packageName": text(), "is_to_all": boolean}, place, ["is_to_all"])
        if not value["is_to_all"] and not set(value) - {"is_to_all"}:
            raise Flaw("missing", place)

    return check


# MARK: Calls


class RongCloud(judge.Judge):
    unsure = frozenset({1050})

    def __init__(self):
        super().__init__(options)
        self.recipients = Window(options.quota, options.window / 1000, slides=True)
        self.broadcasts = [Window(2, 3600), Window(3, 86_400)]
        self.customs = [Window(20, 3600), Window(100, 86_400)]
        self.nonces, self.served = {}, 0

    def pushes(self, request):
        return request.path.startswith("/push")

    def failure(self, request, code, why=""):
        return 200 if options.good_status else STATUS.get(code, 400), {}, {"code": code, "errorMessage": f"refused {why}".strip(), "url": request.path}

    def answer(self, request):
        self.targets, self.call = ["-"], request.headers.get("x-request-id", "-")
        try:
            return 200, {}, {"code": 200, **self.route(request)}
        except Flaw as flaw:
            refused = Refused(1005 if flaw.kind == "size" else 1002, f"{flaw.kind} {flaw.place}")
        except ValueError:
            refused = Refused(1002, "not JSON")
        except Refused as error:
            refused = error
        self.note(f"refused-{refused.code}", request, self.targets, self.call)
        return self.failure(request, refused.code, refused.why)

    def authorize(self, request):
        headers = request.headers
        key, nonce, moment, proof = (headers.get(name, "") for name in ("app-key", "nonce", "timestamp", "signature"))
        if {"app-key", "nonce", "timestamp", "signature"} & request.repeated:
            raise Refused(1004, "a header twice")
        if key != options.app_key:
            raise Refused(1004, "app key")
        if not re.fullmatch("[!-~]{1,18}", nonce) or not re.fullmatch("[0-9]{10}|[0-9]{13}", moment):
            raise Refused(1004, "nonce or timestamp")
        # Over the very values of the headers, in small hex digits.
        if not hmac.compare_digest(proof.encode(), hashlib.sha1(f"{options.secret}{nonce}{moment}".encode()).hexdigest().encode()):
            raise Refused(1004, "signature")
        # The page says milliseconds, the SDKs send seconds.
        seconds = int(moment) / (1000 if len(moment) == 13 else 1)
        if abs(seconds - request.now) > options.skew:
            raise Refused(1004, "timestamp")
        # A signature is fresh for each request.
        if nonce in self.nonces:
            raise Refused(1004, "nonce used")
        self.nonces[nonce] = request.now

    def route(self, request):
        calls = {"/push/user.json": self.users, "/push.json": self.broadcast, "/push/custom.json": self.broadcast}
        if request.path not in calls or request.method != "POST" or request.query:
            raise Refused(404)
        self.served += 1
        if options.down_after and self.served > options.down_after and request.port == options.port:
            raise Refused(1000, "this host is down")
        self.authorize(request)
        if not request.body:
            raise Refused(1003)
        if not judge.is_json(request.headers):
            raise Refused(1002, "content-type")
        # What a body may hold at most is not documented.
        if len(request.body) > 131_072:
            raise Refused(1005)
        return calls[request.path](request, judge.read_json(request.body))

    def users(self, request, document):
        found = []
        if isinstance(document, dict) and isinstance(document.get("userIds"), list):
            self.targets = [item for item in document["userIds"] if isinstance(item, str) and item] or ["-"]
        members(document, {"userIds": lambda value, place: found.extend(judge.names(value, 100, place)), "notification": to_users}, "push",
                ["userIds", "notification"])
        if not self.recipients.take(request.now, len(found)):
            raise Refused(1008)
        self.note("accepted", request, found, self.call)
        return {"id": uuid.uuid4().hex}

    def broadcast(self, request, document):
        has_users = request.path == "/push.json"
        # `fromuserid` and `message` belong to a message that is stored, which a push is not.
        members(document, {"platform": platforms, "audience": audience(has_users), "notification": to_audience}, "push",
                ["platform", "audience", "notification"])
        windows = self.broadcasts if has_users else self.customs
        if not all([window.take(request.now) for window in windows]):
            raise Refused(1008)
        self.note("accepted", request, document["audience"].get("userid", ["everyone"]), self.call)
        return {"id": uuid.uuid4().hex}


RongCloud().serve(*([options.spare_port] if options.spare_port else []))
