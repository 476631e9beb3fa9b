"""A provider of identities by idpyoidc, the reference implementation of Identity Python: signed with ES256, roles from userinfo alone.

Usage: idpy.py FOLDER PORT REDIRECT. FOLDER has the certificates.
"""

import json
import logging
import pathlib
import sys

import flask
from idpyoidc.message.oidc import AccessTokenRequest, AuthorizationRequest
from idpyoidc.server import Server
from idpyoidc.server.configure import OPConfiguration
from idpyoidc.server.exception import FailedAuthentication
from werkzeug.serving import run_simple

folder, port, redirect = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
issuer = f"https://localhost:{port}"
CLIENT, SECRET, PASSWORD = "volley", "s3cret&+%of-a-journey", "seven spoons under a lantern"
PEOPLE = {"edith": "marketing-editors", "ben": ["marketing-leads", "staff"], "otto": ["warehouse"]}
LOGIN = """<!doctype html><html lang="en"><title>Log in</title><main><h1>Log in</h1><form method="post" action="{{ action }}">
<input type="hidden" name="token" value="{{ token }}"><label>Username <input name="username"></label>
<label>Password <input type="password" name="password"></label><button>Log in</button></form></main></html>"""
CLASSES = "idpyoidc.server"
SIGNING = [{"type": "RSA", "use": ["sig"]}, {"type": "EC", "crv": "P-256", "use": ["sig"]}]
CODE_KEYS = [{"type": "OCT", "bytes": 24, "use": ["enc"], "kid": "code"}]
COOKIE_KEYS = [{"type": "OCT", "use": ["enc"], "kid": "enc"}, {"type": "OCT", "use": ["sig"], "kid": "sig"}]


def endpoint(path, name, **options):
    return {"path": path, "class": f"{CLASSES}.oidc.{name}", "kwargs": {"client_authn_method": None} | options}


def configuration():
    secrets = ["client_secret_basic", "client_secret_post"]
    people = {
        name: {"sub": name, "preferred_username": name, "name": f"{name.capitalize()} Doe", "groups": groups}
        for name, groups in PEOPLE.items()
    }
    grants = {"usage_rules": {"authorization_code": {"supports_minting": ["access_token", "id_token"], "max_usage": 1}}, "expires_in": 3600}
    login = {"verify_endpoint": "/login", "template": "login.html", "db": {"class": "builtins.dict", "kwargs": dict.fromkeys(PEOPLE, PASSWORD)}}
    return {
        "issuer": issuer, "httpc_params": {"verify": False},
        "keys": {"uri_path": "keys", "key_defs": SIGNING, "private_path": str(folder / "idpy.json"), "read_only": False},
        "cookie_handler": {
            "class": f"{CLASSES}.cookie_handler.CookieHandler",
            "kwargs": {"keys": {"key_defs": COOKIE_KEYS, "private_path": str(folder / "idpy-cookies.json"), "read_only": False}},
        },
        "token_handler_args": {
            "jwks_def": {"private_path": str(folder / "idpy-codes.json"), "key_defs": CODE_KEYS}, "code": {"kwargs": {"lifetime": 600}},
            "token": {"class": f"{CLASSES}.token.jwt_token.JWTToken", "kwargs": {"lifetime": 3600}},
            "id_token": {"class": f"{CLASSES}.token.id_token.IDToken", "kwargs": {}},
        },
        "authz": {"class": f"{CLASSES}.authz.AuthzHandling", "kwargs": {"grant_config": grants}},
        "authentication": {
            "user": {
                "acr": "urn:oasis:names:tc:SAML:2.0:ac:classes:InternetProtocolPassword",
                "class": f"{CLASSES}.user_authn.user.UserPassJinja2", "kwargs": login,
            }
        },
        "endpoint": {
            "provider_config": endpoint(".well-known/openid-configuration", "provider_config.ProviderConfiguration"),
            "authorization": endpoint("authorization", "authorization.Authorization", response_types_supported=["code"]),
            "token": endpoint("token", "token.Token", client_authn_method=secrets),
            "userinfo": endpoint("userinfo", "userinfo.UserInfo", client_authn_method=["bearer_header"]),
        },
        "add_on": {"pkce": {"function": f"{CLASSES}.oauth2.add_on.pkce.add_support", "kwargs": {"essential": True}}},
        "scopes_to_claims": {"openid": ["sub"], "profile": ["name", "preferred_username", "groups"], "email": []},
        "template_dir": str(folder),
        "userinfo": {"class": f"{CLASSES}.user_info.UserInfo", "kwargs": {"db": people}},
    }


(folder / "login.html").write_text(LOGIN)
server = Server(OPConfiguration(conf=configuration(), base_path=str(folder)), cwd=str(folder))
server.context.cdb[CLIENT] = {
    "client_id": CLIENT, "client_secret": SECRET, "redirect_uris": [(redirect, {})], "response_types_supported": ["code"],
    "allowed_scopes": ["openid", "profile", "email"], "id_token_signed_response_alg": "ES256",
    "token_endpoint_auth_method": "client_secret_basic",
}
server.keyjar.add_symmetric(CLIENT, SECRET)
application = flask.Flask(__name__)


@application.get("/.well-known/openid-configuration")
def description():
    return service("provider_config")


@application.get("/keys")
def keys():
    return json.loads(server.keyjar.export_jwks_as_json())


@application.get("/authorization")
def authorization():
    return service("authorization")


@application.post("/token")
def token():
    return service("token")


@application.get("/userinfo")
def userinfo():
    return service("userinfo")


@application.post("/login")
def login():
    method = server.context.authn_broker.get_method_by_id("user")
    try:
        name = method.verify(**flask.request.form)
    except FailedAuthentication:
        return "Wrong password", 403
    begun = method.unpack_token(flask.request.form["token"])
    request = AuthorizationRequest().from_urlencoded(begun["query"])
    endpoint = server.get_endpoint("authorization")
    session = endpoint.create_session(request, name, begun["authn_class_ref"], begun["iat"], method)
    return answer(endpoint, request, endpoint.authz_part2(request=request, session_id=session))


def service(name):
    endpoint = server.get_endpoint(name)
    request = flask.request
    about = {
        "headers": {name: value for name, value in request.headers.items(lower=True) if name not in ("cookie", "user-agent")},
        "method": request.method, "url": request.url, "cookie": [{"name": name, "value": value} for name, value in request.cookies.items()],
    }
    fields = request.args.to_dict() if request.method == "GET" else request.form.to_dict()
    parsed = endpoint.parse_request(fields, http_info=about)
    if "error" in parsed:
        return parsed.to_json(), 400, {"Content-Type": "application/json"}
    parsed = AccessTokenRequest(**parsed) if name == "token" else parsed
    found = endpoint.process_request(parsed, http_info=about)
    return found["http_response"] if "http_response" in found else answer(endpoint, parsed, found)


def answer(endpoint, request, found):
    done = endpoint.do_response(request=request, **found)
    places_in_url = done.get("response_placement", endpoint.response_placement) == "url"
    reply = flask.redirect(done["response"]) if places_in_url else flask.make_response(done["response"], done.get("response_code", 200))
    for name, value in done["http_headers"]:
        reply.headers[name] = value
    for cookie in done.get("cookie", []):
        reply.set_cookie(cookie.pop("name"), **{"path": "/"} | cookie)
    return reply


logging.basicConfig(level=logging.INFO)
run_simple("127.0.0.1", port, application, ssl_context=(str(folder / "server.pem"), str(folder / "server.key")))
