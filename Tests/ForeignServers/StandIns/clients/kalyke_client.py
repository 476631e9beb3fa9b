"""kalyke, which writes the time of a token as a text, and makes a token and a connection for each push: https://github.com/nnsnodnb/kalyke"""

import asyncio

from calls import Play

play = Play("apns")

from kalyke import (
    ApnsClient, ApnsConfig, ApnsPriority, ApnsPushType, InterruptionLevel, LiveActivityApnsConfig, LiveActivityClient,
    LiveActivityEvent, LiveActivityPayload, Payload, PayloadAlert, VoIPApnsConfig, VoIPClient)

TOPIC, ALERT = "com.example.shop", Payload(alert="Hello", badge=1, sound="default")
ids = []


def at_simulator(kind):
    """A client whose address is the simulator's."""
    return type(kind.__name__, (kind,), {"_base_url": property(lambda self: play.url)})


def token(number, start=""):
    return start + f"{number:0{64 - len(start)}x}".replace("0", "a", 8)


def send(token, payload=ALERT, config=None, kind=ApnsClient, key_id="SIMULATOR1", team="VOLLEYTEAM"):
    client = at_simulator(kind)(use_sandbox=True, team_id=team, auth_key_id=key_id, auth_key_filepath=play.key)
    name = asyncio.run(client.send_message(token, payload, config or ApnsConfig(topic=TOPIC)))
    ids.append(name)
    return name


background = ApnsConfig(topic=TOPIC, push_type=ApnsPushType.BACKGROUND, priority=ApnsPriority.BASED_ON_POWER)
everything = Payload(
    alert=PayloadAlert(title="T", subtitle="S", body="B", launch_image="l", title_loc_key="t", title_loc_args=["a"], loc_key="b", loc_args=["a"]),
    badge=0, sound="s.aiff", thread_id="t", category="c", content_available=True,
    mutable_content=True, target_content_identifier="w", interruption_level=InterruptionLevel.TIME_SENSITIVE, relevance_score=0.5,
    filter_criteria="work", custom={"own": 1})
name = "0b7a1c52-88f2-4b0e-9d1c-2f3a4b5c6d7e"
accepted = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
play.call("an alert", accepted, send, token(1))
play.call("a name of its own", name, send, token(2), config=ApnsConfig(topic=TOPIC, identifier=name, expiration=0, collapse_id="sale"))
play.call("everything of aps", accepted, send, token(3), everything)
play.call("background", accepted, send, token(4), Payload(content_available=True), background)
play.call("voip", accepted, send, token(5), {"call": 1}, VoIPApnsConfig(topic=f"{TOPIC}.voip"), VoIPClient)
activity = LiveActivityPayload(event=LiveActivityEvent.UPDATE, content_state={"score": 1})
play.call("an activity", accepted, send, token(6), activity, LiveActivityApnsConfig(topic=f"{TOPIC}.push-type.liveactivity"), LiveActivityClient)
play.call("unregistered", "Unregistered: .*", send, token(7, "00000410"))
play.call("a bad token", "BadDeviceToken: .*", send, token(8, "00000400"))
play.call("too often", "TooManyRequests: .*", send, token(9, "00000429"))
play.call("then not too often", accepted, send, token(9, "00000429"))
play.call("unavailable", "ServiceUnavailable: .*", send, token(10, "00000503"))
play.call("too large", "PayloadTooLarge: .*", send, token(11), Payload(alert="x" * 4096))
play.call("background with priority 10", "BadPriority: .*", send, token(12), Payload(content_available=True),
          ApnsConfig(topic=TOPIC, push_type=ApnsPushType.BACKGROUND))
play.call("another team", "InvalidProviderToken: .*", send, token(13), team="OTHERTEAM1")
play.call("another key", "InvalidProviderToken: .*", send, token(14), key_id="OTHERKEY01")
play.end(ids, lambda line: line["apns_id"] if line["status"] == 200 else None)
