"""google-auth, which signs for Google's own address wherever it sends an assertion: https://google-auth.readthedocs.io"""

import json
import time

from calls import Play

play = Play("fcm", "--token-seconds", "2")

import google.auth.transport.requests
import google.auth.transport.urllib3
import requests
import urllib3
from google.auth import crypt, jwt
from google.oauth2 import service_account

MESSAGING = ["https://www.googleapis.com/auth/firebase.messaging"]
ids = []


def account(scopes=MESSAGING, **changes):
    with open(play.key) as file:
        return service_account.Credentials.from_service_account_info(json.load(file) | changes, scopes=scopes)


def refresh(credentials, request=None):
    credentials.refresh(request or google.auth.transport.requests.Request())
    return "valid" if credentials.valid and credentials.token else "expired" if credentials.token else "none"


def urllib3_request():
    return google.auth.transport.urllib3.Request(urllib3.PoolManager(ca_certs=play.ca))


address = f"{play.url}/v1/projects/volley-simulator/messages:send"
message = {"message": {"token": "cXk3fLq0Qm2:APA91b" + "x" * 130, "notification": {"title": "Hello"}}}


def post(session, **named):
    response = session.post(address, **({"json": message} | named))
    if response.status_code == 200:
        ids.append(response.json()["name"])
        return "200"
    error = response.json()["error"]
    reasons = [detail.get("reason") or detail.get("errorCode") for detail in error.get("details", [])]
    return f"{response.status_code} {error['status']} {[reason for reason in reasons if reason]}"


def assert_(audience, scope=MESSAGING[0], **claims):
    """Exchanges an assertion that older SDKs would send."""
    with open(play.key) as file:
        file = json.load(file)
    now = int(time.time())
    signer = crypt.RSASigner.from_service_account_info(file)
    payload = {"iss": file["client_email"], "aud": audience, "iat": now, "exp": now + 3600, "scope": scope} | claims
    form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": jwt.encode(signer, payload)}
    answer = requests.post(f"{play.url}/token", data=form).json()
    return "token" if answer.get("access_token") else answer["error"]


play.call("a token", "valid|expired", lambda: refresh(account()))
play.call("a token for the whole cloud", "valid|expired", lambda: refresh(account(["https://www.googleapis.com/auth/cloud-platform"])))
play.call("a token over urllib3", "valid|expired", lambda: refresh(account(), urllib3_request()))
play.call("another scope", "RefreshError: .*invalid_scope.*", lambda: refresh(account(["https://www.googleapis.com/auth/drive"])))
play.call("another account", "RefreshError: .*invalid_grant.*", lambda: refresh(account(client_email="other@example.com")))
play.call("another key", "RefreshError: .*invalid_grant.*", lambda: refresh(account(private_key_id="00")))
play.call("Google's address", "token", assert_, "https://oauth2.googleapis.com/token")
play.call("Google's older addresses", "token", assert_, "https://accounts.google.com/o/oauth2/token")
play.call("and the other one", "token", assert_, "https://www.googleapis.com/oauth2/v4/token")
play.call("the simulator's address", "token", assert_, f"{play.url}/token")
play.call("another address", "invalid_grant", assert_, "https://example.com/token")
play.call("times with fractions", "token", assert_, "https://oauth2.googleapis.com/token", iat=time.time() - 0.5, exp=time.time() + 3000.5)
session = google.auth.transport.requests.AuthorizedSession(account())
play.call("a message", "200", post, session)
play.call("a content type with a parameter", "200", post, session, json=None, data=json.dumps(message),
          headers={"Content-Type": "application/json; charset=UTF-8"})
kept = account()
play.call("a token that will end", "valid|expired", lambda: refresh(kept))
time.sleep(2.2)
play.call("an expired token, which the session renews", "200", post, session)
bearer = {"Authorization": f"Bearer {kept.token}"}
play.call("an expired token", r"401 UNAUTHENTICATED \['ACCESS_TOKEN_EXPIRED'\]", post, requests, headers=bearer)
play.call("a token that was not given out", "401 UNAUTHENTICATED .*", post, requests, headers={"Authorization": "Bearer ya29.x"})
play.call("no token", r"401 UNAUTHENTICATED .*", post, requests)
play.end(ids, lambda line: line["name"] if line["status"] == 200 else None)
