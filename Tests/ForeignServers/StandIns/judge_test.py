"""Tests of the stand-ins for JPush, Getui and RongCloud, by a client of Python's own library: what they accept, what they refuse, and what
their ledgers say of it. Volley has no part in it."""

import base64
import copy
import datetime
import hashlib
import http.client
import ipaddress
import json
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

FOLDER = pathlib.Path(__file__).parent
KEY, SECRET, APP = "0a1b2c3d4e5f60718293a4b5", "f1e2d3c4b5a69788", "app-1"


def certificate(path):
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
            .not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(now + datetime.timedelta(hours=1))
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
            .sign(key, hashes.SHA256()))
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


class StandIn:
    """One of them, running."""

    def __init__(self, case, *arguments):
        self.folder, self.port = pathlib.Path(tempfile.mkdtemp()), free_port()
        certificate(self.folder / "server.pem")
        self.ledger_path = self.folder / "ledger"
        common = ["--port", self.port, "--certificate", self.folder / "server.pem", "--ledger", self.ledger_path, "--app-key", KEY,
                  "--secret", SECRET]
        self.process = subprocess.Popen([sys.executable, FOLDER / f"{case.name}.py", *map(str, [*common, *arguments])],
                                        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        case.addCleanup(self.end)
        limit = time.time() + 15
        while time.time() < limit:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                time.sleep(0.05)

    def end(self):
        self.process.kill()
        self.process.wait()

    def call(self, method, path, body=None, headers=None, timeout=10, port=None):
        """Status and JSON; the headers are kept."""
        context = ssl.create_default_context(cafile=self.folder / "server.pem")
        connection = http.client.HTTPSConnection("127.0.0.1", port or self.port, timeout=timeout, context=context)
        content = body if isinstance(body, (bytes, type(None))) else json.dumps(body, ensure_ascii=False).encode()
        connection.request(method, path, content, {"content-type": "application/json"} | (headers or {}))
        answer = connection.getresponse()
        self.headers, text = dict(answer.getheaders()), answer.read()
        connection.close()
        return answer.status, json.loads(text) if "json" in self.headers["content-type"] else text.decode()

    def ledger(self, what):
        lines = self.ledger_path.read_text().splitlines() if self.ledger_path.exists() else []
        return [line.split(" ")[1] for line in lines if line.split(" ")[0] == what]


def with_value(document, path, value):
    """A copy with a value at a path; `None` removes it."""
    changed = copy.deepcopy(document)
    place = changed
    for name in path[:-1]:
        place = place[name]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return changed


class JPush(unittest.TestCase):
    name = "jpush"
    basic = {"authorization": "Basic " + base64.b64encode(f"{KEY}:{SECRET}".encode()).decode()}
    fine = {"platform": ["android", "ios"], "audience": {"registration_id": ["a1", "a2"]},
            "notification": {"android": {"alert": "Sale", "title": "Hi", "extras": {"n": 1}, "intent": {"url": "shop://sale"},
                                         "priority": 1},
                             "ios": {"alert": {"title": "Hi", "subtitle": "You", "body": "Sale"}, "sound": "default", "badge": "+1",
                                     "thread-id": "t", "mutable-content": True, "extras": {"kind": "sale"}}},
            "options": {"time_to_live": 3600, "apns_production": True, "apns_collapse_id": "sale"}}

    def push(self, server, document, path="/v3/push", headers=None):
        status, answer = server.call("POST", path, document, headers or self.basic)
        return status, answer.get("error", {}).get("code", 0), answer

    def cids(self, server, count=1):
        status, answer = server.call("GET", f"/v3/push/cid?count={count}&type=push", None, self.basic)
        return answer["cidlist"] if status == 200 else (status, answer["error"]["code"])

    def test_one_call_is_accepted_for_all_of_its_targets(self):
        server = StandIn(self)
        status, code, answer = self.push(server, with_value(self.fine, ["options", "sendno"], 18))
        self.assertEqual((status, answer["sendno"]), (200, "18"))
        self.assertRegex(answer["msg_id"], "^[0-9]+$")
        self.assertEqual(server.ledger("accepted"), ["a1", "a2"])
        self.assertEqual((server.headers["x-rate-limit-limit"], server.headers["x-rate-limit-remaining"]), ("600", "599"))
        self.assertTrue(1 <= int(server.headers["x-rate-limit-reset"]) <= 60)

    def test_every_flaw_has_its_code_and_reaches_nobody(self):
        server = StandIn(self)
        long_ios, long_android = "w" * 1990, "w" * 4000
        flaws = [
            (["platform"], None, 1002), (["audience"], None, 1002), (["notification"], None, 1002), (["options"], None, 1002),
            (["options", "apns_production"], None, 1002), (["options", "apns_production"], 1, 1003), (["platform"], ["windows"], 1003),
            (["platform"], [], 1003), (["audience"], {}, 1003), (["audience"], {"registration_id": []}, 1003), (["audience"], "all", 2008),
            (["audience"], {"tag": ["vip"]}, 2006), (["audience"], {"registration_id": [str(number) for number in range(1001)]}, 1003),
            (["audience"], {"registration_id": ["a", "a"]}, 1003), (["audience"], {"alias": ["ab-c"]}, 1003),
            (["audience"], {"alias": ["微" * 14]}, 1003), (["audience"], {"device": ["a"]}, 1009),
            (["audience"], {"alias": ["a"], "registration_id": ["b"]}, 1003), (["audience", "registration_id"], ["dead1", "dead2"], 1011),
            (["notification", "ios", "badge"], 1, 1003), (["notification", "ios", "badge"], "100", 1003),
            (["notification", "ios", "badge"], "++1", 1003), (["notification", "ios", "content-available"], 1, 1003),
            (["notification", "ios", "mutable-content"], 1, 1003), (["notification", "ios", "alert"], long_ios, 1005),
            (["notification", "android", "alert"], long_android, 1005), (["notification", "ios", "colour"], "red", 1009),
            (["notification", "android", "extras"], "text", 1003), (["notification", "android", "priority"], 3, 1003),
            (["notification", "hmos"], {"alert": "x", "category": "MARKETING"}, 1002), (["notification", "hmos"], {"alert": "x"}, 1002),
            (["options", "third_party_channel"], {"vivo": {"classification": "0"}}, 1003),
            (["notification", "android", "sound"], "spring.caf", 1003), (["notification", "android", "style"], 3, 1003),
            (["notification", "ios", "alert"], "", 1003), (["options", "sendno"], 0, 1003), (["options", "time_to_live"], 259_201, 1003),
            (["options", "apns_collapse_id"], "w" * 65, 1005), (["options", "override_msg_id"], 5, 1003),
            (["options", "big_push_duration"], 1401, 1003), (["cid"], f"{KEY}-mine", 1003), (["urgent"], True, 1009)]
        for path, value, expected in flaws:
            status, code, _ = self.push(server, with_value(self.fine, path, value))
            self.assertEqual(code, expected, f"{path} {str(value)[:60]}")
            self.assertTrue(status >= 400)
        twice = json.dumps(self.fine).replace('"platform"', '"platform": "all", "platform"', 1).encode()
        self.assertEqual(self.push(server, twice)[1], 1003)
        self.assertEqual(self.push(server, json.dumps(self.fine).encode().replace(b"Sale", b"S\xffle"))[1], 1003)
        self.assertEqual(self.push(server, self.fine, headers={**self.basic, "content-type": "text/plain"})[1], 1003)
        self.assertEqual(server.ledger("accepted"), [])

    def test_credentials_addresses_and_methods(self):
        server = StandIn(self)
        for text, expected in [(f"{KEY}:wrong", (401, 1004)), (f"other:{SECRET}", (400, 1008))]:
            headers = {"authorization": "Basic " + base64.b64encode(text.encode()).decode()}
            self.assertEqual(self.push(server, self.fine, headers=headers)[:2], expected)
        self.assertEqual(self.push(server, self.fine, headers={"authorization": "Bearer x"})[:2], (401, 1004))
        self.assertEqual(server.call("GET", "/v3/push", None, self.basic)[0], 405)
        self.assertEqual(self.push(server, self.fine, "/v2/push")[:2], (404, 1020))

    def test_an_empty_alert_is_silent_and_hans_are_letters(self):
        server = StandIn(self)
        silent = with_value(self.fine, ["notification"], {"ios": {"alert": "", "content-available": True}})
        self.assertEqual(self.push(server, silent)[0], 200)
        self.assertEqual(self.push(server, with_value(self.fine, ["audience"], {"alias": ["微信￥|1"]}))[0], 200)

    def test_ids_of_calls_come_from_the_pool_and_answer_once(self):
        server = StandIn(self, "--cid-seconds", 2)
        self.assertEqual(self.cids(server, 11), (400, 1003))
        first, second = self.cids(server, 2)
        self.assertTrue(first.startswith(KEY + "-"))
        gone = with_value(with_value(self.fine, ["cid"], first), ["audience", "registration_id"], ["dead1"])
        self.assertEqual(self.push(server, gone)[1], 1011)
        named = with_value(self.fine, ["cid"], first)
        answers = [self.push(server, named)[2]["msg_id"] for _ in range(2)]
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(self.push(server, with_value(named, ["audience", "registration_id"], ["a9"]))[2]["msg_id"], answers[0])
        self.assertEqual((server.ledger("accepted"), server.ledger("repeated"), server.ledger("mixed")),
                         (["a1", "a2"], ["a1", "a2"], ["a9"]))
        time.sleep(2.2)
        self.assertEqual(self.push(server, with_value(self.fine, ["cid"], second))[1], 1003)

    def test_malformed_ids_are_named_inside_at_the_top_or_not(self):
        for way in (0, 1, 2):
            server = StandIn(self, "--illegal", way)
            document = with_value(self.fine, ["audience", "registration_id"], ["a1", "bad01"])
            _, code, answer = self.push(server, document)
            self.assertEqual((code, answer["error"].get("illegal_rids"), answer.get("illegal_rids")),
                             (1003, ["bad01"] if way == 1 else None, ["bad01"] if way == 2 else None))

    def test_unknown_ids_among_others_are_lost_without_a_word(self):
        server = StandIn(self)
        self.assertEqual(self.push(server, with_value(self.fine, ["audience", "registration_id"], ["a1", "dead1"]))[0], 200)
        self.assertEqual((server.ledger("accepted"), server.ledger("lost")), (["a1"], ["dead1"]))

    def test_validation_sends_nothing(self):
        server = StandIn(self)
        self.assertEqual(self.push(server, self.fine, "/v3/push/validate")[0], 200)
        self.assertEqual((server.ledger("accepted"), server.ledger("validated")), ([], ["a1", "a2"]))

    def test_the_minutes_quota_counts_ids_too_and_says_when_it_ends(self):
        server = StandIn(self, "--quota", 2, "--window", 2, "--old-header")
        cid = self.cids(server)[0]
        self.assertEqual(self.push(server, with_value(self.fine, ["cid"], cid))[0], 200)
        self.assertEqual(self.push(server, self.fine)[:2], (429, 2002))
        self.assertEqual((server.headers["x-rate-limit-quota"], server.headers["x-rate-limit-remaining"]), ("2", "0"))
        time.sleep(int(server.headers["x-rate-limit-reset"]))
        self.assertEqual(self.push(server, self.fine)[0], 200)

    def test_batches_are_for_vip_and_answer_each_call(self):
        batch = "/v3/push/batch/regid/single"
        entry = {name: value for name, value in self.fine.items() if name != "audience"}
        self.assertEqual(self.push(StandIn(self), {"pushlist": {}}, batch)[:2], (403, 2006))
        server = StandIn(self, "--vip", "--both")
        one, two, three = self.cids(server, 3)
        document = {"pushlist": {one: entry | {"target": "a1"}, two: entry | {"target": "dead1"}, three: entry
                                 | {"target": "a3", "sound": "x"}}}
        status, answer = server.call("POST", batch, document, self.basic)
        self.assertEqual(status, 200)
        self.assertEqual((set(answer[one]), answer[two]["error"]["code"], answer[three]["error"]["code"]),
                         ({"sendno", "msg_id"}, 1011, 1009))
        self.assertIn("msg_id", answer[two])
        self.assertEqual(server.ledger("accepted"), ["a1"])

    def test_files_of_ids(self):
        server = StandIn(self)
        form = b'--b\r\nContent-Disposition: form-data; name="filename"; filename="ids.txt"\r\n\r\na1\na2\n\r\n--b--\r\n'
        status, answer = server.call("POST", "/v3/files/registration_id", form, self.basic
                                     | {"content-type": "multipart/form-data; boundary=b"})
        self.assertEqual(status, 200)
        document = with_value(self.fine, ["audience"], {"file": {"file_id": answer["file_id"]}})
        self.assertEqual(self.push(server, document)[1], 1003)
        self.assertEqual(self.push(server, document, "/v3/push/file")[0], 200)
        self.assertEqual(server.ledger("accepted"), ["a1", "a2"])
        self.assertEqual(server.call("DELETE", "/v3/push/18100000000", None, self.basic)[0], 200)
        self.assertEqual(server.ledger("withdrawn"), ["a1", "a2"])


class Getui(unittest.TestCase):
    name = "getui"
    content = {"settings": {"ttl": 3_600_000, "strategy": {"default": 1, "ios": 4}}, "group_name": "spring-sale_1",
               "push_message": {"transmission": "{\"kind\":\"sale\"}"},
               "push_channel": {"ios": {"type": "notify", "aps": {"alert": {"title": "Hi", "body": "Sale"}, "sound": "default"},
                                        "auto_badge": "+1", "payload": "{}",
                                        "multimedia": [{"url": "https://example.com/a.png", "type": 1, "only_wifi": False}],
                                        "apns-collapse-id": "sale"},
                                "android": {"ups": {"notification": {"title": "Hi", "body": "Sale", "click_type": "startapp"},
                                                    "options": {"HW": {"/message/android/category": "MARKETING"}}}},
                                "harmony": {"notification": {"title": "Hi", "body": "Sale", "category": "MARKETING", "click_type": "want",
                                                             "want": "{}"}}}}

    def start(self, *arguments):
        return StandIn(self, "--app", APP, *arguments)

    def token(self, server, moment=None, secret=SECRET):
        moment = str(int(time.time() * 1000)) if moment is None else moment
        sign = hashlib.sha256(f"{KEY}{moment}{secret}".encode()).hexdigest()
        status, answer = server.call("POST", f"/v2/{APP}/auth", {"sign": sign, "timestamp": moment, "appkey": KEY})
        return answer["data"]["token"] if status == 200 else (status, answer["code"])

    def push(self, server, path, body, token):
        status, answer = server.call("POST", f"/v2/{APP}{path}", body, {"token": token})
        return status, answer["code"], answer

    def entry(self, cid, number):
        return self.content | {"request_id": number, "audience": {"cid": [cid]}}

    def batch(self, *pairs):
        return {"is_async": False, "msg_list": [self.entry(cid, number) for cid, number in pairs]}

    def statuses(self, answer):
        return {cid: status for task in answer["data"].values() for cid, status in task.items()}

    def test_tokens_are_signed_dated_and_end(self):
        server = self.start("--token-seconds", 2, "--auth-limit", 5)
        self.assertEqual(self.token(server, secret="wrong"), (400, 20001))
        self.assertEqual(self.token(server, "1600000000000"), (400, 20001))
        self.assertEqual(self.token(server, "1600000000"), (400, 20001))
        token = self.token(server)
        push = self.entry("c1", "0123456789")
        self.assertEqual(self.push(server, "/push/single/cid", push, token)[:2], (200, 0))
        self.assertEqual(self.push(server, "/push/single/cid", push, "other")[:2], (401, 10001))
        time.sleep(2.1)
        self.assertEqual(self.push(server, "/push/single/cid", self.entry("c1", "0123456780"), token)[:2], (401, 10001))
        self.assertIsInstance(self.token(server), str)
        self.token(server)
        self.assertEqual(self.token(server), (401, 10003))

    def test_a_batch_answers_for_each_target(self):
        server = self.start()
        token = self.token(server)
        pairs = [("c1", "0123456781"), ("0ff2", "0123456782"), ("1d1e3", "0123456783"), ("0dd4", "0123456784"), ("a555", "0123456785")]
        status, code, answer = self.push(server, "/push/single/batch/cid", self.batch(*pairs), token)
        self.assertEqual(self.statuses(answer), {"c1": "successed_online", "0ff2": "successed_offline", "1d1e3": "successed_ignore",
                                                 "0dd4": "fallback_failed"})
        self.assertEqual((server.ledger("accepted"), server.ledger("ignored"), server.ledger("strange"), server.ledger("left-out")),
                         (["c1", "0ff2"], ["1d1e3"], ["0dd4"], ["a555"]))
        self.assertNotIn("data", self.push(server, "/push/single/batch/cid", self.batch(("c1", "0123456799")) | {"is_async": True},
                                           token)[2])

    def test_a_repeated_id_loses_the_message(self):
        server = self.start()
        token = self.token(server)
        self.assertEqual(self.push(server, "/push/single/batch/cid", self.batch(("c1", "0123456781"), ("dead2", "0123456782")), token)[1],
                         20001)
        # The whole call was refused, so both ids are used up.
        _, code, answer = self.push(server, "/push/single/batch/cid", self.batch(("c1", "0123456781"), ("c3", "0123456783")), token)
        self.assertEqual((code, self.statuses(answer)["c1"]), (0, "successed_online"))
        self.assertEqual((server.ledger("accepted"), server.ledger("lost")), (["c3"], ["c1"]))
        self.push(server, "/push/single/batch/cid", self.batch(("c3", "0123456783")), token)
        self.assertEqual((server.ledger("accepted"), server.ledger("lost")), (["c3"], ["c1", "c3"]))

    def test_every_flaw_is_refused_and_reaches_nobody(self):
        server = self.start()
        token = self.token(server)
        channel = ["push_channel", "ios"]
        flaws = [
            (["request_id"], "short"), (["request_id"], "w" * 33), (["request_id"], None), (["audience"], None),
            (["audience", "cid"], ["a", "b"]), (["audience", "cid"], []), (["push_message"], None), (["push_message"], {}),
            (["push_message", "notification"], {"title": "a", "body": "b", "click_type": "none"}),
            (["push_message", "transmission"], "w" * 3073), (["push_message", "transmission"], {"a": 1}), (["group_name"], "a b"),
            (["group_name"], "w" * 101), (["settings", "ttl"], 259_200_001), (["settings", "ttl"], -2),
            (["settings", "strategy", "ios"], 5), (["settings", "strategy", "ios"], 1), (["settings", "urgent"], 1),
            ([*channel, "payload"], {"a": 1}), ([*channel, "auto_badge"], 1), ([*channel, "auto_badge"], "+"),
            ([*channel, "aps", "content-available"], True), ([*channel, "aps", "badge"], 1), ([*channel, "apns-collapse-id"], "w" * 65),
            ([*channel, "payload"], "w" * 4000), ([*channel, "aps"], {"sound": "x"}),
            ([*channel, "multimedia"], [{"url": "u", "type": 1}] * 4),
            (["push_channel", "android", "ups", "notification", "title"], "w" * 51),
            (["push_channel", "android", "ups", "notification", "body"], "w" * 257),
            (["push_channel", "android", "ups", "notification", "click_type"], "url"),
            (["push_channel", "android", "ups", "options"], {"SONY": {"/a": 1}}),
            (["push_channel", "android", "ups", "options"], {"HW": {"category": "MARKETING"}}),
            (["push_channel", "harmony"], {"notification": {"title": "a", "body": "b", "click_type": "startapp"}}),
            (["push_channel", "harmony"], {"notification": {"title": "a", "body": "b", "category": "c", "click_type": "want"}}),
            (["badge"], 1)]
        for path, value in flaws:
            status, code, _ = self.push(server, "/push/single/cid", with_value(self.entry("c1", "0123456789"), path, value), token)
            self.assertEqual((status, code), (400, 20001), f"{path} {str(value)[:60]}")
        self.assertEqual(self.push(server, "/push/single/cid", b"{", token)[:2], (200, 1))
        same = self.batch(("c1", "0123456781"), ("c1", "0123456782"))
        self.assertEqual(self.push(server, "/push/single/batch/cid", same, token)[1], 20001)
        many = self.batch(*[(f"c{number}", f"01234567{number:03}") for number in range(201)])
        self.assertEqual(self.push(server, "/push/single/batch/cid", many, token)[1], 20001)
        self.assertEqual(self.push(server, "/push/fast_custom_tag", self.content, token)[:2], (404, 404))
        self.assertEqual(server.call("GET", f"/v2/{APP}/push/single/cid", None, {"token": token})[0], 405)
        self.assertEqual(server.ledger("accepted"), [])

    def test_lists_have_one_text(self):
        server = self.start()
        token = self.token(server)
        task = self.push(server, "/push/list/message", with_value(self.content, ["settings", "ttl"], 2000), token)[2]["data"]["taskid"]
        document = {"taskid": task, "audience": {"cid": ["c1", "1d1e2"]}, "is_async": False}
        self.assertEqual(self.push(server, "/push/list/cid", document, token)[2]["data"],
                         {task: {"c1": "successed_online", "1d1e2": "successed_ignore"}})
        self.assertEqual(self.push(server, "/push/list/cid", document | {"taskid": "RASL_other"}, token)[1], 20001)
        self.assertEqual(self.push(server, "/push/list/cid", document | {"audience": {"cid": [f"c{number}" for number in range(1001)]}},
                                   token)[1], 20001)
        time.sleep(2.1)
        self.assertEqual(self.push(server, "/push/list/cid", document, token)[1], 20001)
        self.assertEqual(server.ledger("accepted"), ["c1"])

    def to(self, audience, number):
        return self.content | {"request_id": number, "audience": audience}

    def tagged(self, number, *tags):
        return self.to({"tag": [{"key": "custom_tag", "values": list(tags), "opt_type": "or"}]}, number)

    def test_an_alias_has_an_answer_of_its_own(self):
        server = self.start()
        token = self.token(server)

        def send(alias, number):
            return self.push(server, "/push/single/alias", self.to({"alias": [alias]}, number), token)

        self.assertEqual(list(self.statuses(send("u1", "0123456781")[2]).values()), ["successed_online"])
        self.assertNotIn("u1", self.statuses(send("u1", "0123456782")[2]))
        self.assertEqual(sorted(self.statuses(send("both1", "0123456783")[2]).values()), ["successed_ignore", "successed_online"])
        self.assertEqual(self.statuses(send("a551", "0123456784")[2]), {})
        self.assertEqual(send("dead1", "0123456785")[:2], (400, 20001))
        self.assertEqual(send("w" * 40, "0123456786")[:2], (400, 20001))
        self.assertEqual(send("u1", "0123456781")[1], 0)
        self.assertEqual((server.ledger("accepted"), server.ledger("lost")), (["u1", "u1", "both1"], ["u1"]))
        both = self.to({"alias": ["u1"], "cid": ["c1"]}, "0123456787")
        self.assertEqual(self.push(server, "/push/single/alias", both, token)[:2], (400, 20001))

    def test_everyone_and_tags_share_their_turns(self):
        server = self.start("--apps-a-minute", 3)
        token = self.token(server)
        status, code, answer = self.push(server, "/push/all", self.to("all", "0123456781"), token)
        self.assertTrue(code == 0 and answer["data"]["taskid"].startswith("RASA_"))
        self.assertEqual(self.push(server, "/push/tag", self.tagged("0123456782", "vip", "new"), token)[1], 0)
        self.assertEqual(self.push(server, "/push/tag", self.tagged("0123456782", "vip", "new"), token)[1], 0)
        self.assertEqual((server.ledger("accepted"), server.ledger("lost")), (["all", "vip", "new"], ["vip", "new"]))
        self.assertEqual(self.push(server, "/push/tag", self.tagged("0123456783", "vip"), token)[1], 0)
        self.assertEqual(self.push(server, "/push/tag", self.tagged("0123456784", "vip"), token)[:2], (403, 30014))
        self.assertEqual(self.push(server, "/push/all", self.to("all", "0123456785"), token)[:2], (403, 30012))
        server = self.start("--apps-a-day", 1)
        token = self.token(server)
        self.assertEqual(self.push(server, "/push/tag", self.tagged("0123456781", "vip"), token)[1], 0)
        self.assertEqual(self.push(server, "/push/tag", self.tagged("0123456782", "vip"), token)[:2], (403, 30010))
        self.assertEqual(self.push(server, "/push/all", self.to("all", "0123456783"), token)[:2], (403, 30007))
        server = self.start("--no-tags")
        self.assertEqual(self.push(server, "/push/tag", self.tagged("0123456781", "vip"), self.token(server))[:2], (403, 30003))

    def test_flaws_of_tags_and_of_everyone_reach_nobody(self):
        server = self.start()
        token = self.token(server)
        fine, where = self.tagged("0123456789", "vip"), ["audience", "tag"]
        condition = fine["audience"]["tag"][0]
        flaws = [
            (where, [], 20001), (where, [condition | {"key": "tag"}], 20001), (where, [condition | {"opt_type": "any"}], 20001),
            (where, [condition | {"values": []}], 20001), (where, [condition | {"values": ["a", "a"]}], 20001),
            (where, [condition | {"values": ["a b"]}], 20001), (where, [condition | {"values": ["a,b"]}], 20001),
            (where, [condition | {"values": "vip"}], 20001), (where, [condition | {"more": 1}], 20001), (where, condition, 20001),
            (where, [condition | {"values": ["w" * 32]}], 30005), (["request_id"], None, 20001), (["audience"], "all", 20001),
            (where, [condition | {"values": [f"t{number}" for number in range(101)]}], 30016)]
        for path, value, code in flaws:
            self.assertEqual(self.push(server, "/push/tag", with_value(fine, path, value), token)[1], code, f"{path} {str(value)[:60]}")
        for audience in ["everyone", ["all"], {"cid": ["c1"]}]:
            self.assertEqual(self.push(server, "/push/all", self.to(audience, "0123456789"), token)[1], 20001, f"{audience}")
        self.assertEqual(server.ledger("accepted"), [])

    def test_the_data_centre_moves(self):
        spare = free_port()
        server = self.start("--move", 1, "--spare-port", spare)
        token = self.token(server)
        self.assertEqual(self.push(server, "/push/single/cid", self.entry("c1", "0123456781"), token)[1], 0)
        status, code, answer = self.push(server, "/push/single/cid", self.entry("c2", "0123456782"), token)
        self.assertEqual((status, code, answer["data"]["domainUrlList"]), (200, 301, [f"https://localhost:{spare}/v2"]))
        status, answer = server.call("POST", f"/v2/{APP}/push/single/cid", self.entry("c2", "0123456782"), {"token": token}, port=spare)
        self.assertEqual((answer["code"], server.ledger("accepted")), (0, ["c1", "c2"]))

    def test_refusals_that_look_like_success(self):
        server = self.start("--error", 2, "--error-every", 2)
        token = self.token(server)
        self.assertEqual(self.push(server, "/push/single/cid", self.entry("c1", "0123456781"), token)[:2], (200, 0))
        self.assertEqual(self.push(server, "/push/single/cid", self.entry("c2", "0123456782"), token)[:2], (200, 2))
        self.assertEqual(server.ledger("accepted"), ["c1"])


class RongCloud(unittest.TestCase):
    name = "rongcloud"
    fine = {"userIds": ["u1", "客户 2"], "notification": {"title": "Hi", "pushContent": "Sale",
                                                        "ios": {"badge": 1, "thread-id": "t", "category": "c", "contentAvailable": 1,
            "apns-collapse-id": "sale", "richMediaUri": "https://example.com/a.png", "extras": {"kind": "sale"}},
                                                        "android": {"channelId": "offers", "extras": {"kind": "sale"}}}}

    def signed(self, nonce=None, moment=None, secret=SECRET):
        nonce = nonce or os.urandom(8).hex()
        moment = moment or str(int(time.time()))
        return {"App-Key": KEY, "Nonce": nonce, "Timestamp": moment,
                "Signature": hashlib.sha1(f"{secret}{nonce}{moment}".encode()).hexdigest()}

    def push(self, server, document=None, headers=None, path="/push/user.json", port=None):
        status, answer = server.call("POST", path, document or self.fine, headers or self.signed(), port=port)
        return status, answer["code"]

    def test_users_are_accepted_with_one_answer(self):
        server = StandIn(self)
        self.assertEqual(self.push(server), (200, 200))
        self.assertEqual(self.push(server, headers=self.signed(moment=str(int(time.time() * 1000)))), (200, 200))
        self.assertEqual(server.ledger("accepted"), ["u1", "%E5%AE%A2%E6%88%B7%202"] * 2)

    def test_signatures_are_over_the_very_headers_and_fresh(self):
        server = StandIn(self)
        used = self.signed()
        self.assertEqual(self.push(server, headers=used), (200, 200))
        cases = [used, self.signed(secret="wrong"), self.signed(nonce="w" * 19), self.signed(moment="1600000000"),
                 self.signed(moment="soon"), {**self.signed(), "App-Key": "other"}, {**self.signed(), "Nonce": "other"},
                 {**self.signed(), "Signature": self.signed()["Signature"].upper()}, {}]
        for headers in cases:
            self.assertEqual(self.push(server, headers=headers or {"x-request-id": "1"}), (401, 1004), f"{headers}")
        self.assertEqual(len(server.ledger("accepted")), 2)

    def test_every_flaw_is_refused_and_reaches_nobody(self):
        server = StandIn(self)
        note, phone = ["notification"], ["notification", "ios"]
        flaws = [
            (["userIds"], None, 1002), (["userIds"], [], 1002), (["userIds"], [f"u{number}" for number in range(101)], 1002),
            (["userIds"], ["a", "a"], 1002), (["userIds"], [1], 1002), ([*note, "title"], "w" * 51, 1005),
            ([*note, "pushContent"], "", 1002), ([*note, "pushContent"], " ", 1002), ([*note, "pushContent"], None, 1002),
            ([*note, "sound"], "x", 1002), ([*phone, "badge"], 10_000, 1002), ([*phone, "badge"], "1", 1002),
            ([*phone, "contentAvailable"], True, 1002), ([*phone, "threadId"], "t", 1002), ([*phone, "category"], None, 1002),
            ([*phone, "extras", "n"], 1, 1002), (["notification", "android", "extras", "list"], [], 1002),
            ([*phone, "apns-collapse-id"], "w" * 65, 1005), (["urgent"], 1, 1002)]
        for path, value, expected in flaws:
            self.assertEqual(self.push(server, with_value(self.fine, path, value))[1], expected, f"{path} {str(value)[:60]}")
        self.assertEqual(self.push(server, b"{"), (400, 1002))
        self.assertEqual(server.call("POST", "/push/user.json", None, self.signed())[1]["code"], 1003)
        self.assertEqual(self.push(server, path="/push/users.json"), (404, 404))
        self.assertEqual(self.push(server, {"userIds": ["a"], "notification": {"pushContent": "w" * 140_000}}), (400, 1005))
        self.assertEqual(server.ledger("accepted"), [])

    def test_recipients_of_a_second_are_counted_not_calls(self):
        server = StandIn(self)
        half = [with_value(self.fine, ["userIds"], [f"u{number}" for number in range(start, start + 50)]) for start in (0, 50, 100)]
        self.assertEqual([self.push(server, document) for document in half], [(200, 200), (200, 200), (429, 1008)])
        time.sleep(1.1)
        self.assertEqual(self.push(server, half[2]), (200, 200))

    def test_broadcasts_have_few_turns(self):
        server = StandIn(self)
        document = {"platform": ["ios", "android"], "audience": {"is_to_all": True}, "notification": {"alert": "Sale"}}
        self.assertEqual([self.push(server, document, path="/push.json") for _ in range(3)], [(200, 200), (200, 200), (429, 1008)])
        self.assertEqual(self.push(server, with_value(document, ["audience", "userid"], ["u1"]), path="/push/custom.json"), (400, 1002))

    def test_the_spare_host_goes_on(self):
        spare = free_port()
        server = StandIn(self, "--spare-port", spare, "--down-after", 1)
        self.assertEqual([self.push(server), self.push(server), self.push(server, port=spare)], [(200, 200), (500, 1000), (200, 200)])

    def test_trouble(self):
        with self.assertRaises((ConnectionError, http.client.HTTPException, ssl.SSLError)):
            self.push(server := StandIn(self, "--cut-after-every", 1))
        self.assertEqual(len(server.ledger("accepted")), 2)
        with self.assertRaises((ConnectionError, http.client.HTTPException, ssl.SSLError)):
            self.push(server := StandIn(self, "--cut-before-every", 1))
        self.assertEqual(server.ledger("accepted"), [])
        server = StandIn(self, "--gateway-every", 1)
        for accepted in (0, 2, 2, 4):
            status, page = server.call("POST", "/push/user.json", self.fine, self.signed())
            self.assertEqual((status, "<html>" in page, len(server.ledger("accepted"))), (502, True, accepted))
        server = StandIn(self, "--error", 1050, "--error-every", 1)
        self.assertEqual([(self.push(server), len(server.ledger("accepted"))) for _ in range(2)], [((504, 1050), 0), ((504, 1050), 2)])
        server = StandIn(self, "--late-every", 1, "--late-seconds", 1)
        start = time.time()
        self.assertEqual((self.push(server), time.time() - start > 1), ((200, 200), True))
        with self.assertRaises(TimeoutError):
            (server := StandIn(self, "--hang-every", 1)).call("POST", "/push/user.json", self.fine, self.signed(), timeout=1)


if __name__ == "__main__":
    unittest.main()
