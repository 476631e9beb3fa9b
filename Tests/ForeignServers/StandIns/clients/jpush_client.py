"""JPush's own SDK for Python, which writes numbers for flags and leaves `apns_production` out: https://github.com/jpush/jpush-api-python-client"""

import logging

from calls import Play

play = Play("jpush")

import jpush
from jpush import common

# It logs each refusal as an error.
logging.disable(logging.CRITICAL)
common.ZONES["SIMULATOR"] = common.ZONES["DEFAULT"] | {"PUSH": f"{play.url}/v3/", "REPORT": f"{play.url}/v3/"}
APP = "0123456789abcdef01234567"
with open(play.key) as file:
    SECRET = file.read().strip()
client = jpush.JPush(APP, SECRET, zone="simulator")
IDS = ["1a0018970a8d0000001", "1a0018970a8d0000002"]
numbers = []


def push(audience=jpush.registration_id(*IDS), notification=jpush.notification(alert="Hello"), platform=jpush.all_, using=client, **named):
    made = using.create_push()
    made.audience, made.notification, made.platform = audience, notification, platform
    for name, value in named.items():
        setattr(made, name, value)
    return made


def send(*arguments, **named):
    answer = push(*arguments, **named).send()
    numbers.append(answer.payload["msg_id"])
    return f"{answer.get_status_code()} {sorted(answer.payload)}"


def code(function, *arguments, **named):
    """The code of a refusal."""
    try:
        return function(*arguments, **named)
    except jpush.JPushFailure as failure:
        return f"{failure.response.status_code} {failure.error_code}"


android = jpush.android(
    "Hello", title="T", builder_id=3, extras={"a": 1}, priority=1, category="msg", style=1, alert_type=7, big_text="Long",
    large_icon="https://example.com/l.png", intent={"url": "intent:#Intent;end"}, channel_id="offers", small_icon_uri="https://example.com/s.png",
    uri_activity="com.example.A", uri_action="com.example.B", badge_add_num=1, badge_class="com.example.Main", sound="chime",
    show_begin_time="2026-12-01 10:00:00", show_end_time="2026-12-01 12:00:00", display_foreground="1",
    custom_buttons=[{"text": "Open", "intent": {"url": "app://a"}}], mipns_content_forshort="m", oppns_content_forshort="o",
    vpns_content_forshort="v", mzpns_content_forshort="z", icon_bg_color="#ff8800")
ios = jpush.ios(
    alert={"title": "T", "subtitle": "S", "body": "B"}, badge="+1", sound="chime.caf", content_available=True, mutable_content=True, category="c",
    extras={"a": 1}, thread_id="t", interruption_level="time-sensitive")
hmos = jpush.hmos(
    alert="Hello", title="T", category="MARKETING", large_icon="https://example.com/l.png", intent={"url": "action.system.home"}, extras={"a": 1},
    style=0, badge_add_num=1, test_message=False, receipt_id="r", push_type=0, display_foreground="1", sound="chime.mp3", sound_duration=10)
options = {
    "sendno": 18, "time_to_live": 86400, "apns_production": False, "apns_collapse_id": "sale", "big_push_duration": 10, "classification": 0,
    "third_party_channel": {"xiaomi": {"distribution": "jpush", "channel_id": "1"}, "huawei": {"importance": "NORMAL", "category": "MARKETING"}}}
good = r"200 \['msg_id', 'sendno'\]"
play.call("a text", good, send)
play.call("Android", good, send, notification=jpush.notification(android=android), platform=jpush.platform("android"))
play.call("Android with lines", good, send, notification=jpush.notification(
    android=jpush.android("Hello", style=2, inbox={"1": "a", "2": "b"}, badge_set_num=3)))
play.call("Android with a picture", good, send, notification=jpush.notification(
    android=jpush.android("Hello", style=3, big_pic_path="https://example.com/b.png")))
play.call("an iPhone", good, send, notification=jpush.notification(ios=ios), platform=jpush.platform("ios"))
play.call("an iPhone, as the SDK has it by itself", good, send, notification=jpush.notification(ios=jpush.ios("Hello")))
play.call("an iPhone without sound and badge", good, send, notification=jpush.notification(
    ios=jpush.ios({"title": "T"}, badge=None, sound_disable=True)))
play.call("a badge that is a number", good, send, notification=jpush.notification(ios=jpush.ios("Hello", badge=5)))
play.call("a silent one", good, send, notification=jpush.notification(
    ios=jpush.ios("", badge=None, sound_disable=True, content_available=True)))
play.call("HarmonyOS", good, send, notification=jpush.notification(hmos=hmos), platform=jpush.platform("hmos"))
play.call("a live window of HarmonyOS", good, send, notification=jpush.notification(
    hmos=jpush.hmos("Hello", category="EXPRESS", intent={"url": "action.system.home"}, push_type=7, hm_payload={"activityId": 1})))
play.call("a quick app", good, send, notification=jpush.notification(quickapp=jpush.quickapp("Hello", "T", "/page", {"a": 1})))
play.call("a Windows phone", good, send, notification=jpush.notification(winphone=jpush.winphone("Hello", extras={"a": 1})),
          platform=jpush.platform("winphone"))
play.call("a call", good, send, notification=jpush.notification(alert="Hello", voip=jpush.voip({"call": 1})))
play.call("all systems", good, send, notification=jpush.notification(alert="Hello", android=android, ios=ios, hmos=hmos),
          platform=jpush.platform("android", "ios", "hmos"))
play.call("a message", good, send, notification=None, message=jpush.message("content", "T", "text", {"a": 1}))
play.call("a text message afterwards", good, send, smsmessage=jpush.smsmessage(3600, 1250, {"code": "1"}, 2, active_filter=False))
play.call("options", good, send, options=options)
play.call("aliases", good, send, audience=jpush.audience(jpush.alias("alice", "bob")))
play.call("tags", good, send, audience=jpush.audience(jpush.tag("sport", "news"), {"tag_and": ["vip"]}, {"tag_not": ["old"]}))
play.call("a segment", good, send, audience={"segment": ["0123"]})
play.call("everyone", good, send, audience=jpush.all_)
play.call("a check", good, lambda: (lambda answer: f"{answer.status_code} {sorted(answer.payload)}")(push().send_validate()))
cids = play.call("names of pushes", r"\['0123456789abcdef01234567-.*'\]", lambda: client.create_push().get_cid(2, "push").payload["cidlist"])
play.call("a named push", good, send, cid=cids[0] if isinstance(cids, list) else "")
play.call("its repetition has the first one's number", "True", lambda: push(cid=cids[0]).send().payload["msg_id"] == numbers[-1])
play.call("no such name", "400 1003", code, send, cid="x")
play.call("no device", "400 1011", code, send, audience=jpush.registration_id("00001011aaaaaaaaaaa"))
play.call("an id that is none", "400 1003", code, send, audience=jpush.registration_id("x!", IDS[0]))
play.call("a replacement of what was pushed", good, lambda: send(options={"override_msg_id": int(numbers[0])}))
play.call("a replacement of nothing", "400 1003", code, send, options={"override_msg_id": 4711})
play.call("a key that JPush has not", "400 1009", code, send, options={"colour": 1})
play.call("too large", "400 1005", code, send, notification=jpush.notification(android=jpush.android("x" * 4100)))
play.call("too often", "429 2002", code, send, audience=jpush.registration_id("00000429aaaaaaaaaaa"))
play.call("then not too often", good, send, audience=jpush.registration_id("00000429aaaaaaaaaaa"))
play.call("an error", "500 1000", code, send, audience=jpush.registration_id("00000500aaaaaaaaaaa"))
play.call("busy", "503 1030", code, send, audience=jpush.registration_id("00000503aaaaaaaaaaa"))
play.call("another secret", "Unauthorized: .*", send, using=jpush.JPush(APP, "wrong", zone="simulator"))
play.call("another app", "400 1008", code, send, using=jpush.JPush("f" * 24, SECRET, zone="simulator"))
single = {"platform": "all", "target": IDS[0], "notification": {"alert": "Hello"}}
play.call("a batch, for apps that have paid", "403 2006", code, lambda: client.create_push().batch_push_by_regid([single]).payload)
play.call("a batch to aliases", "403 2006", code, lambda: client.create_push().batch_push_by_alias([single | {"target": "alice"}]).payload)
play.call("the results of a push", r"\[\{.*'jpush_received': 2.*\}\]", lambda: client.create_report().get_received_detail(numbers[0]).payload)
play.end(numbers, lambda line: line["msg_id"] if line["status"] == 200 else None, isShared=True)
