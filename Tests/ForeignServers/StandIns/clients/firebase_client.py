"""Google's firebase-admin, which sends over HTTP/1.1, and over HTTP/2 what it sends at once: https://firebase.google.com/docs/admin/setup"""

import asyncio
import datetime
import warnings

from calls import Play

play = Play("fcm")

import firebase_admin
from firebase_admin import credentials, messaging

# Its newest version prefers `fid` to `token`; both are sent.
warnings.simplefilter("ignore", DeprecationWarning)
messaging._MessagingService.FCM_URL = play.url + "/v1/projects/{0}/messages:send"
firebase_admin.initialize_app(credentials.Certificate(play.key))
ids = []


def token(start, length=150):
    return start + "x" * (length - len(start))


def send(message, **named):
    name = messaging.send(message, **named)
    if not named.get("dry_run"):
        ids.append(name)
    return name


def told(responses):
    """What the SDK makes of each answer."""
    ids.extend(response.message_id for response in responses.responses if response.success)
    kinds = [type(response.exception).__name__ if response.exception else "accepted" for response in responses.responses]
    return f"{responses.success_count} {responses.failure_count} {kinds}"


GOOD, OTHER = token("cXk3fLq0Qm2:APA91b"), token("dXk3fLq0Qm2:APA91b")
android = messaging.AndroidConfig(
    collapse_key="sale", priority="high", ttl=datetime.timedelta(hours=1, milliseconds=500), restricted_package_name="com.example.shop",
    data={"a": "1"}, fcm_options=messaging.AndroidFCMOptions("spring"), direct_boot_ok=True, bandwidth_constrained_ok=True,
    restricted_satellite_ok=False,
    notification=messaging.AndroidNotification(
        title="Hello", body="World", icon="bell", color="#ff8800", sound="chime", tag="sale", click_action="OPEN", body_loc_key="b",
        body_loc_args=["x"], title_loc_key="t", title_loc_args=["y"], channel_id="offers", image="https://example.com/a.png", ticker="t",
        sticky=True, event_timestamp=datetime.datetime(2026, 12, 1), local_only=False, priority="high", vibrate_timings_millis=[100, 2500],
        default_vibrate_timings=False, default_sound=True, default_light_settings=False, visibility="private", notification_count=3,
        light_settings=messaging.LightSettings(color="#ff880080", light_on_duration_millis=200, light_off_duration_millis=300),
        proxy="if_priority_lowered"))
apns = messaging.APNSConfig(
    headers={"apns-priority": "10", "apns-expiration": "1796115600"}, fcm_options=messaging.APNSFCMOptions("spring", "https://example.com/a.png"),
    payload=messaging.APNSPayload(
        messaging.Aps(
            alert=messaging.ApsAlert(
                title="Hello", subtitle="now", body="World", loc_key="l", loc_args=["x"], title_loc_key="t", title_loc_args=["x"],
                action_loc_key="a", launch_image="i", custom_data={"subtitle-loc-key": "s"}),
            badge=1, sound=messaging.CriticalSound("chime.caf", critical=True, volume=0.5), category="c", thread_id="t", mutable_content=True,
            custom_data={"interruption-level": "passive", "relevance-score": 0.5, "filter-criteria": "work"}),
        own="x"))
activity = messaging.APNSConfig(
    live_activity_token="a1" * 40, headers={"apns-priority": "10"},
    payload=messaging.APNSPayload(messaging.Aps(custom_data={
        "timestamp": 1796000000, "event": "update", "content-state": {"score": 1}})))
webpush = messaging.WebpushConfig(
    headers={"TTL": "90"}, data={"a": "1"}, fcm_options=messaging.WebpushFCMOptions("https://example.com"),
    notification=messaging.WebpushNotification(
        title="Hello", body="World", icon="i", actions=[messaging.WebpushNotificationAction("open", "Open", "i")], badge="b", data={"a": 1},
        direction="auto", image="i", language="en", renotify=True, require_interaction=False, silent=False, tag="t", vibrate=[1, 2],
        timestamp_millis=1, custom_data={"own": 1}))
plain = messaging.Notification(title="Hello", body="World", image="https://example.com/a.png")
silent = messaging.APNSConfig(
    headers={"apns-priority": "5", "apns-push-type": "background"}, payload=messaging.APNSPayload(messaging.Aps(content_available=True)))
options = messaging.FCMOptions("spring")
everything = messaging.Message(
    token=GOOD, notification=plain, data={"a": "1"}, android=android, apns=apns, webpush=webpush, fcm_options=options)
accepted = "projects/volley-simulator/messages/[^ ]+"


def to(start, **named):
    return messaging.Message(token=token(start), notification=plain, **named)


play.call("a notification", accepted, send, messaging.Message(token=GOOD, notification=plain))
play.call("data", accepted, send, messaging.Message(token=GOOD, data={"a": "1"}))
play.call("Android", accepted, send, messaging.Message(token=GOOD, android=android))
play.call("an iPhone", accepted, send, messaging.Message(token=GOOD, apns=apns))
play.call("a silent one", accepted, send, messaging.Message(token=GOOD, apns=silent))
play.call("an activity", accepted, send, messaging.Message(token=GOOD, apns=activity))
play.call("a browser", accepted, send, messaging.Message(token=GOOD, webpush=webpush))
play.call("everything", accepted, send, everything)
play.call("an installation", accepted, send, messaging.Message(fid="cXk3fLq0Qm2aBcDeFgHiJk", notification=plain))
play.call("a topic", accepted, send, messaging.Message(topic="news", notification=plain))
play.call("a topic with its path", accepted, send, messaging.Message(topic="/topics/news", notification=plain))
play.call("a condition", accepted, send, messaging.Message(condition="'news' in topics && 'sport' in topics", notification=plain))
play.call("a check", "projects/volley-simulator/messages/fake_message_id", send, everything, dry_run=True)
play.call("unregistered", "UnregisteredError: .*", send, to("00000404"))
play.call("a bad token", "InvalidArgumentError: .*", send, to("00000400"))
play.call("a token that is none", "InvalidArgumentError: The registration token is not a valid .*", send, messaging.Message(token="x", notification=plain))
play.call("another sender", "SenderIdMismatchError: .*", send, to("00000403"))
play.call("Apple's credentials", "ThirdPartyAuthError: .*", send, to("00000401"))
play.call("a quota", "QuotaExceededError: .*", send, to("00000429"))
play.call("then no quota", accepted, send, to("00000429"))
play.call("an error that the SDK tries again", accepted, send, to("00000500"))
play.call("unavailable, which it tries again", accepted, send, to("00000503"))
play.call("too large", "InvalidArgumentError: .*", send, messaging.Message(token=GOOD, data={"a": "x" * 5000}))
play.call("a reserved key", "InvalidArgumentError: .*", send, messaging.Message(token=GOOD, data={"google.a": "1"}))
messages = [to("fXk3fLq0Qm2:APA91b"), to("00000404"), to("00000400"), messaging.Message(topic="news", notification=plain)]
mixed = r"2 2 \['accepted', 'UnregisteredError', 'InvalidArgumentError', 'accepted'\]"
play.call("each", mixed, lambda: told(messaging.send_each(messages)))
many = messaging.MulticastMessage(tokens=[GOOD, token("00000404"), OTHER], notification=plain, data={"a": "1"}, android=android, apns=apns)
multicast = r"2 1 \['accepted', 'UnregisteredError', 'accepted'\]"
play.call("a multicast", multicast, lambda: told(messaging.send_each_for_multicast(many)))
installations = messaging.MulticastMessage(fids=["cXk3fLq0Qm2aBcDeFgHiJk", "00000404Qm2aBcDeFgHiJk"], notification=plain)
play.call("a multicast to installations", r"1 1 \['accepted', 'UnregisteredError'\]", lambda: told(messaging.send_each_for_multicast(installations)))
play.call("each, over HTTP/2", mixed, lambda: told(asyncio.run(messaging.send_each_async(messages))))


def another_project():
    app = firebase_admin.initialize_app(credentials.Certificate(play.key), {"projectId": "another"}, "another")
    return messaging.send(messaging.Message(token=GOOD, notification=plain), app=app)


play.call("another project", "NotFoundError: .*|PermissionDeniedError: .*", another_project)


def multicast_async():
    """In an app of its own: the HTTP/2 connection belongs to the event loop of the first call."""
    app = firebase_admin.initialize_app(credentials.Certificate(play.key), name="multicast")
    return told(asyncio.run(messaging.send_each_for_multicast_async(many, app=app)))


play.call("a multicast, over HTTP/2", multicast, multicast_async)


def hundred():
    app = firebase_admin.initialize_app(credentials.Certificate(play.key), name="hundred")
    tokens = [token(f"{number:03}k3fLq0Qm2:APA91b") for number in range(1, 101)]
    message = messaging.MulticastMessage(tokens=tokens, notification=plain)
    return told(asyncio.run(messaging.send_each_for_multicast_async(message, app=app)))[:6]


play.call("a hundred at once, over HTTP/2", "100 0 ", hundred)
play.end(ids, lambda line: line["name"] if line["status"] == 200 else None)
