"""pyfcm: https://github.com/olucurious/PyFCM"""

from calls import Play

play = Play("fcm", "--messages-per-token", "40")

from pyfcm import FCMNotification

FCMNotification.FCM_END_POINT_BASE = f"{play.url}/v1/projects"
fcm = FCMNotification(service_account_file=play.key, project_id="volley-simulator")
ids = []


def token(start, length=150):
    return start + "x" * (length - len(start))


def notify(**named):
    answer = fcm.notify(**({"fcm_token": GOOD, "notification_title": "Hello", "notification_body": "World"} | named))
    if not named.get("dry_run"):
        ids.append(answer["name"])
    return answer["name"]


def several(tokens):
    answers = fcm.async_notify_multiple_devices([{"fcm_token": token, "notification_title": "Hello"} for token in tokens])
    ids.extend(answer["name"] for answer in answers if "name" in answer)
    return ["accepted" if "name" in answer else answer["error"]["status"] for answer in answers]


GOOD = token("cXk3fLq0Qm2:APA91b")
accepted = "projects/volley-simulator/messages/[^ ]+"
play.call("a notification", accepted, notify, notification_image="https://example.com/a.png")
play.call("nothing to show", accepted, notify, notification_title=None, notification_body=None)
play.call("data", accepted, notify, notification_title=None, notification_body=None, data_payload={"a": "1"})
play.call("a notification with data", accepted, notify, data_payload={"a": "1"})
play.call("a topic", accepted, notify, fcm_token=None, topic_name="news")
play.call("a condition", accepted, notify, fcm_token=None, topic_condition="'news' in topics || 'sport' in topics")
play.call("Android", accepted, notify, android_config={
    "priority": "high", "ttl": "3600s", "collapseKey": "sale", "notification": {
        "sound": "default", "channelId": "offers", "notificationPriority": "PRIORITY_HIGH", "visibility": "PUBLIC", "notificationCount": 2,
        "clickAction": "OPEN", "vibrateTimings": ["0.1s", "0.5s"], "eventTime": "2026-12-01T08:00:00Z"}})
play.call("an iPhone", accepted, notify, apns_config={
    "headers": {"apns-priority": "10", "apns-collapse-id": "sale"}, "fcm_options": {"analytics_label": "spring"},
    "payload": {"aps": {"badge": 1, "sound": "default", "interruption-level": "time-sensitive"}}})
play.call("a browser", accepted, notify, webpush_config={"headers": {"Urgency": "high"}, "fcm_options": {"link": "https://example.com"}})
play.call("a label", accepted, notify, fcm_options={"analytics_label": "spring"})
play.call("a check", "projects/volley-simulator/messages/fake_message_id", notify, dry_run=True)
play.call("unregistered", "FCMNotRegisteredError: .*", notify, fcm_token=token("00000404"))
play.call("a bad token", "InvalidDataError: .*INVALID_ARGUMENT.*", notify, fcm_token=token("00000400"))
play.call("another sender", "FCMSenderIdMismatchError: .*", notify, fcm_token=token("00000403"))
play.call("Apple's credentials", "AuthenticationError: .*", notify, fcm_token=token("00000401"))
play.call("a quota", "FCMServerError: .* 429.*", notify, fcm_token=token("00000429"))
play.call("then no quota", accepted, notify, fcm_token=token("00000429"))
play.call("an error", "FCMServerError: .* 500.*", notify, fcm_token=token("00000500"))
play.call("then none", accepted, notify, fcm_token=token("00000500"))
play.call("unavailable, which it tries again", accepted, notify, fcm_token=token("00000503"))
play.call("a value that is no text", "InvalidDataError: .*INVALID_ARGUMENT.*", notify, data_payload={"a": 1})
play.call("several at once", r"\['accepted', 'NOT_FOUND', 'accepted'\]", several, [GOOD, token("00000404"), token("dXk3fLq0Qm2:APA91b")])
play.call("a revoked token, which it renews", "50", lambda: len([notify() for _ in range(50)]))
play.end(ids, lambda line: line["name"] if line["status"] == 200 else None)
