"""PyAPNs2 (apns2 on PyPI) with hyper, whose tokens have fractions of seconds: https://github.com/Pr0Ger/PyAPNs2"""

import collections
import collections.abc
import time

from calls import Play

play = Play("apns")

# It was written for an older Python, which had these in `collections`, too.
for name in collections.abc.__all__:
    setattr(collections, name, getattr(collections.abc, name))

import hyper.tls
from apns2.client import APNsClient, Notification, NotificationPriority, NotificationType
from apns2.credentials import CertificateCredentials, TokenCredentials
from apns2.payload import Payload, PayloadAlert

hyper.tls.cert_loc = play.ca
APNsClient.LIVE_SERVER, APNsClient.DEFAULT_PORT = "localhost", play.port
TOPIC, ALERT = "com.example.shop", Payload(alert="Hello", sound="default", badge=1)
accepted = []


def token(number, start=""):
    return start + f"{number:0{64 - len(start)}x}".replace("0", "a", 8)


def client(key_id="SIMULATOR1", team="VOLLEYTEAM"):
    return APNsClient(TokenCredentials(play.key, key_id, team))


apns = client()


def send(token, payload=ALERT, topic=TOPIC, using=apns, **named):
    using.send_notification(token, payload, topic, **named)
    accepted.append(token)


def one(token, payload, topic=TOPIC, **named):
    result = apns.get_notification_result(apns.send_notification_async(token, payload, topic, **named))
    if result == "Success":
        accepted.append(token)
    return result


def batch(tokens, **named):
    results = apns.send_notification_batch([Notification(token, ALERT) for token in tokens], TOPIC, **named)
    accepted.extend(token for token, result in results.items() if result == "Success")
    return sorted(results.values(), key=str)


everything = Payload(
    alert=PayloadAlert("T", "t", ["a"], "B", "b", ["a"], "k", "a", "l"), badge=0, sound="s.aiff", category="c", thread_id="t",
    content_available=True, mutable_content=True, custom={"own": {"a": 1}})
good = "None"
play.call("an alert", good, send, token(1))
play.call("an alert with headers", good, send, token(2), priority=NotificationPriority.Delayed, expiration=int(time.time()) + 60, collapse_id="sale")
play.call("everything of aps", good, send, token(3), everything)
play.call("background", good, send, token(4), Payload(content_available=True), priority=NotificationPriority.Delayed)
play.call("voip", good, send, token(5), Payload(custom={"call": 1}), f"{TOPIC}.voip")
play.call("complication", good, send, token(6), Payload(custom={"x": 1}), f"{TOPIC}.complication")
play.call("file provider", good, send, token(7), Payload(custom={"container-identifier": "x"}), f"{TOPIC}.pushkit.fileprovider")
play.call("MDM", "Success", one, token(8), Payload(custom={"mdm": "x"}), "com.apple.mgmt.External.x", push_type=NotificationType.MDM)
play.call("no topic", "MissingTopic: .*", send, token(9), topic=None)
play.call("unregistered", r"Unregistered: .*", send, token(10, "00000410"))
play.call("unregistered, with its time", r"\('Unregistered', \d{13}\)", one, token(11, "00000410"), ALERT)
play.call("a bad token", "BadDeviceToken: .*", send, token(12, "00000400"))
play.call("too often", "TooManyRequests: .*", send, token(13, "00000429"))
play.call("then not too often", good, send, token(13, "00000429"))
play.call("unavailable", "ServiceUnavailable: .*", send, token(14, "00000503"))
play.call("then available", good, send, token(14, "00000503"))
play.call("too large", "PayloadTooLarge: .*", send, token(15), Payload(alert="x" * 4096))
play.call("background with priority 10", "BadPriority: .*", send, token(16), Payload(content_available=True))
play.call("another team", "InvalidProviderToken: .*", send, token(17), using=client(team="OTHERTEAM1"))
play.call("another key", "InvalidProviderToken: .*", send, token(18), using=client(key_id="OTHERKEY01"))
play.call("a certificate", good, send, token(24), using=APNsClient(CertificateCredentials(play.certificate(TOPIC))))
play.call("a certificate that has expired", "BadCertificate: .*", send, token(25),
          using=APNsClient(CertificateCredentials(play.certificate(TOPIC, days=-1))))
play.call("a batch", r"\[\('Unregistered', \d{13}\), 'BadDeviceToken', 'Success', 'Success'\]", batch,
          [token(20), token(21, "00000410"), token(22, "00000400"), token(23)])
play.call("a large batch", r"\['Success', ('Success', ){298}'Success'\]", batch, [token(1000 + number) for number in range(300)])
play.end(accepted, lambda line: line["token"] if line["status"] == 200 else None)
