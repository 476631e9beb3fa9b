"""Sends messages with Google's own SDK to a simulator, and prints as JSON what the SDK makes of the answers.

The SDK speaks HTTP/1.1 through `requests`; the simulator speaks HTTP/2, as Google's server does, too. So each request of the SDK goes out
over httpx, with the same method, path, headers and body.
"""

import argparse
import datetime
import json

import firebase_admin
import httpx
import requests
from firebase_admin import credentials, messaging
from google.oauth2 import service_account

parser = argparse.ArgumentParser()
for name in ["account", "ca", "url"]:
    parser.add_argument(f"--{name}", required=True)
options = parser.parse_args()
client = httpx.Client(http2=True, http1=False, verify=options.ca, timeout=20)
hosts = {"https://fcm.googleapis.com": options.url}


def send(self, request, **_):
    url = request.url
    for google, simulator in hosts.items():
        if url.startswith(google):
            url = simulator + url[len(google):]
    headers = {name: value for name, value in request.headers.items() if name.lower() not in ("connection", "host", "content-length")}
    answer = client.request(request.method, url, headers=headers, content=request.body)
    response = requests.Response()
    response.status_code, response.url, response.request = answer.status_code, request.url, request
    response.headers.update(answer.headers)
    response._content = answer.content
    return response


requests.adapters.HTTPAdapter.send = send
# The SDK signs for Google's address alone, wherever it sends the assertion; the simulator accepts none that would be worth anything there.
service_account._GOOGLE_OAUTH2_TOKEN_ENDPOINT = f"{options.url}/token"
firebase_admin.initialize_app(credentials.Certificate(options.account))


def token(start, length=150):
    return start + "x" * (length - len(start))


GOOD = token("cXk3fLq0Qm2:APA91b")
android = messaging.AndroidConfig(
    collapse_key="sale", priority="high", ttl=datetime.timedelta(hours=1, milliseconds=500), restricted_package_name="com.example.shop",
    data={"a": "1"}, fcm_options=messaging.AndroidFCMOptions("spring"),
    notification=messaging.AndroidNotification(
        title="Hello", body="World", icon="bell", color="#ff8800", sound="chime", tag="sale", click_action="OPEN", body_loc_key="b",
        body_loc_args=["x"], title_loc_key="t", title_loc_args=["y"], channel_id="offers", image="https://example.com/a.png", ticker="t",
        sticky=True, event_timestamp=datetime.datetime(2026, 12, 1), local_only=False, priority="high", vibrate_timings_millis=[100, 2500],
        default_vibrate_timings=False, default_sound=True, default_light_settings=False, visibility="private", notification_count=3,
        light_settings=messaging.LightSettings(color="#ff880080", light_on_duration_millis=200, light_off_duration_millis=300)))
apns = messaging.APNSConfig(
    headers={"apns-priority": "10", "apns-expiration": "1796115600"}, fcm_options=messaging.APNSFCMOptions("spring", "https://example.com/a.png"),
    payload=messaging.APNSPayload(
        messaging.Aps(
            alert=messaging.ApsAlert(title="Hello", subtitle="now", body="World", loc_key="l", loc_args=["x"]), badge=1,
            sound=messaging.CriticalSound("chime.caf", critical=True, volume=0.5), category="c", thread_id="t", mutable_content=True),
        own="x"))
webpush = messaging.WebpushConfig(
    headers={"TTL": "90"}, data={"a": "1"}, fcm_options=messaging.WebpushFCMOptions("https://example.com"),
    notification=messaging.WebpushNotification(
        title="Hello", body="World", actions=[messaging.WebpushNotificationAction("open", "Open")], vibrate=[1, 2], timestamp_millis=1))
plain = messaging.Notification(title="Hello", body="World", image="https://example.com/a.png")
silent = messaging.APNSConfig(
    headers={"apns-priority": "5", "apns-push-type": "background"}, payload=messaging.APNSPayload(messaging.Aps(content_available=True)))
messages = {
    "plain": messaging.Message(token=GOOD, notification=plain),
    "data": messaging.Message(token=GOOD, data={"a": "1"}),
    "android": messaging.Message(token=GOOD, android=android),
    "apns": messaging.Message(token=GOOD, apns=apns),
    "silent": messaging.Message(token=GOOD, apns=silent),
    "webpush": messaging.Message(token=GOOD, webpush=webpush),
    "all": messaging.Message(token=GOOD, notification=plain, data={"a": "1"}, android=android, apns=apns, webpush=webpush,
                             fcm_options=messaging.FCMOptions("spring")),
    "topic": messaging.Message(topic="news", notification=plain),
    "condition": messaging.Message(condition="'news' in topics && 'sport' in topics", notification=plain),
    "unregistered": messaging.Message(token=token("00000404"), notification=plain),
    "bad token": messaging.Message(token=token("00000400"), notification=plain),
    "mismatch": messaging.Message(token=token("00000403"), notification=plain),
    "third party": messaging.Message(token=token("00000401"), notification=plain),
    "quota": messaging.Message(token=token("00000429"), notification=plain),
    "internal": messaging.Message(token=token("00000500"), notification=plain),
    "too large": messaging.Message(token=GOOD, data={"a": "x" * 5000}),
}


def result(message, dry_run=False):
    try:
        return messaging.send(message, dry_run=dry_run)
    except firebase_admin.exceptions.FirebaseError as error:
        return f"{type(error).__name__} {error.code}"


results = {name: result(message) for name, message in messages.items()}
results["dry run"] = result(messages["all"], dry_run=True)
print(json.dumps(results))
