"""aioapns, which offers no ALPN: https://github.com/Fatal1ty/aioapns"""

import asyncio
import logging

from calls import Play

play = Play("apns")

import aioapns
from aioapns.common import PushType
from aioapns.connection import APNsProductionClientProtocol

logging.disable(logging.CRITICAL)
APNsProductionClientProtocol.APNS_SERVER, APNsProductionClientProtocol.APNS_PORT = "localhost", play.port
TOPIC, ALERT = "com.example.shop", {"aps": {"alert": {"title": "Hello", "body": "World"}, "sound": "default", "badge": 1}}
ids = []


def token(number, start=""):
    return start + f"{number:0{64 - len(start)}x}".replace("0", "a", 8)


async def main():
    with open(play.key) as file:
        key = file.read()

    def client(**changes):
        return aioapns.APNs(**{"key": key, "key_id": "SIMULATOR1", "team_id": "VOLLEYTEAM", "topic": TOPIC, "max_connection_attempts": 1} | changes)

    apns = client()

    async def send(*arguments, using=None, **named):
        request = aioapns.NotificationRequest(*arguments, **named)
        result = await asyncio.wait_for((using or apns).send_notification(request), 20)
        if result.is_successful:
            ids.append(result.notification_id)
        timestamp = "" if result.timestamp is None else " timestamp" if result.timestamp > 1_600_000_000_000 else f" {result.timestamp}"
        return f"{result.status} {result.description}{timestamp}"

    async def call(name, expected, *arguments, **named):
        try:
            result = await send(*arguments, **named)
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
        play.call(name, expected, lambda: result)

    good = "200 None"
    await call("an alert without a push type", good, token(1), ALERT)
    await call("an alert", good, token(2), ALERT, push_type=PushType.ALERT, priority=10, time_to_live=3600, collapse_key="sale")
    await call("a text", good, token(3), {"aps": {"alert": "Hello"}}, priority=5)
    await call("a name of its own", good, token(4), ALERT, notification_id="0b7a1c52-88f2-4b0e-9d1c-2f3a4b5c6d7e")
    await call("background", good, token(5), {"aps": {"content-available": 1}}, push_type=PushType.BACKGROUND, priority=5)
    await call("background without a push type", good, token(6), {"aps": {"content-available": 1}}, priority=5)
    await call("voip", good, token(7), {"call": 1}, push_type=PushType.VOIP, apns_topic=f"{TOPIC}.voip")
    await call("voip without a push type", good, token(8), {"aps": {}, "call": "x" * 4900}, apns_topic=f"{TOPIC}.voip")
    await call("complication without a push type", good, token(9), {"aps": {}}, apns_topic=f"{TOPIC}.complication")
    await call("file provider without a push type", good, token(10), {"container-identifier": "x"}, apns_topic=f"{TOPIC}.pushkit.fileprovider")
    await call("MDM", good, token(11), {"mdm": "x"}, push_type=PushType.MDM, apns_topic="com.apple.mgmt.External.x")
    activity = {"aps": {"timestamp": 1796000000, "event": "update", "content-state": {"score": 1}}}
    await call("an activity", good, token(12), activity, push_type=PushType.LIVEACTIVITY, apns_topic=f"{TOPIC}.push-type.liveactivity")
    await call("an activity without a push type", "400 InvalidPushType", token(13), activity, apns_topic=f"{TOPIC}.push-type.liveactivity")
    await call("everything of aps", good, token(14), {
        "aps": {
            "alert": {
                "title": "T", "subtitle": "S", "body": "B", "launch-image": "l", "title-loc-key": "t", "title-loc-args": ["a"],
                "subtitle-loc-key": "s", "subtitle-loc-args": ["a"], "loc-key": "b", "loc-args": ["a"]},
            "badge": 0, "sound": {"critical": 1, "name": "s.aiff", "volume": 0.5}, "thread-id": "t", "category": "c", "content-available": 1,
            "mutable-content": 1, "target-content-id": "w", "interruption-level": "time-sensitive", "relevance-score": 0.75,
            "filter-criteria": "work"}, "own": {"a": [1, None, "ü"]}})
    await call("unregistered", "410 Unregistered timestamp", token(15, "00000410"), ALERT)
    await call("a bad token", "400 BadDeviceToken", token(16, "00000400"), ALERT)
    await call("a token that is none", "400 BadDeviceToken", "xyz", ALERT)
    await call("too often", "429 TooManyRequests", token(17, "00000429"), ALERT)
    await call("then not too often", good, token(17, "00000429"), ALERT)
    await call("unavailable", "503 ServiceUnavailable", token(18, "00000503"), ALERT)
    await call("then available", good, token(18, "00000503"), ALERT)
    await call("too large", "413 PayloadTooLarge", token(19), {"aps": {"alert": "x" * 4096}})
    await call("no payload of APNs", "400 PayloadEmpty", token(20), {"alert": "x"})
    await call("a priority of another kind", "400 BadPriority", token(21), ALERT, priority=7)
    await call("background with priority 10", "400 BadPriority", token(22), {"aps": {"content-available": 1}}, push_type=PushType.BACKGROUND)
    await call("a long collapse id", "400 BadCollapseId", token(23), ALERT, collapse_key="x" * 65)
    await call("the topic of another type", "400 BadTopic", token(24), ALERT, push_type=PushType.ALERT, apns_topic=f"{TOPIC}.voip")
    await call("another team", "403 InvalidProviderToken", token(25), ALERT, using=client(team_id="OTHERTEAM1"))
    await call("another key", "403 InvalidProviderToken", token(26), ALERT, using=client(key_id="OTHERKEY01"))

    await call("a certificate", good, token(27), ALERT, using=aioapns.APNs(client_cert=play.certificate(TOPIC)))
    expired = aioapns.APNs(client_cert=play.certificate(TOPIC, days=-1), topic=TOPIC, max_connection_attempts=1)
    await call("a certificate that has expired", "403 BadCertificate", token(28), ALERT, using=expired)
    answers = await asyncio.gather(*(send(token(1000 + number), ALERT) for number in range(300)), return_exceptions=True)
    play.call("three hundred at once", r"\{'200 None': 300\}", lambda: {str(answer): answers.count(answer) for answer in answers})


asyncio.run(main())
play.end(ids, lambda line: line["apns_id"] if line["status"] == 200 else None)
