"""A provider of identities by Django and django-oauth-toolkit: sessions, a login page and a page of consent; RS256.

Usage: django_toolkit.py FOLDER PORT REDIRECT. FOLDER has the certificates; the database goes there.
"""

import pathlib
import sys

import django
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings
from django.core.management import call_command
from django.urls import include, path
from werkzeug.serving import run_simple

CLIENT, SECRET, PASSWORD = "volley", "s3cret&+%of-a-journey", "seven spoons under a lantern"
PEOPLE = {"edith": ["marketing-editors"], "ben": ["marketing-leads"], "dana": ["it"], "otto": ["warehouse"]}
LOGIN = """<!doctype html><html lang="en"><title>Log in</title><main><h1>Log in</h1><form method="post">{% csrf_token %}{{ form.as_p }}
<input type="hidden" name="next" value="{{ next }}"><button>Log in</button></form></main></html>"""
CONSENT = """<!doctype html><html lang="en"><title>Authorize</title><main><h1>Authorize {{ application.name }}?</h1>
<form method="post">{% csrf_token %}{% for field in form %}{% if field.is_hidden %}{{ field }}{% endif %}{% endfor %}
<button name="allow" value="Authorize">Authorize</button> <button>Cancel</button></form></main></html>"""


def configure(folder, port):
    key = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    templates = {"registration/login.html": LOGIN, "oauth2_provider/authorize.html": CONSENT}
    settings.configure(
        SECRET_KEY="of a journey", ALLOWED_HOSTS=["localhost"], ROOT_URLCONF=__name__, LOGIN_URL="/accounts/login/", USE_TZ=True,
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(folder / "provider.sqlite"), "OPTIONS": {"timeout": 20}}},
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "oauth2_provider"],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "OPTIONS": {
                    "loaders": [("django.template.loaders.locmem.Loader", templates)],
                    "context_processors": ["django.template.context_processors.request"],
                },
            }
        ],
        # For passwords and the client secret; the usual one takes half a second for each.
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True, "OIDC_RSA_PRIVATE_KEY": key.decode(), "OIDC_ISS_ENDPOINT": f"https://localhost:{port}/o",
            "SCOPES": {"openid": "Sign in", "profile": "Name", "email": "Address"}, "PKCE_REQUIRED": True,
            "OAUTH2_VALIDATOR_CLASS": f"{__name__}.Validator",
        },
    )
    django.setup()


def fill(redirect):
    from django.contrib.auth.models import Group, User
    from oauth2_provider.models import Application

    call_command("migrate", verbosity=0)
    if Application.objects.exists():
        return
    Application.objects.create(
        name="Volley", client_id=CLIENT, client_secret=SECRET, client_type="confidential", redirect_uris=redirect,
        authorization_grant_type="authorization-code", algorithm="RS256",
    )
    for name, groups in PEOPLE.items():
        user = User.objects.create_user(name, password=PASSWORD, first_name=name.capitalize(), last_name="Doe")
        user.groups.set([Group.objects.get_or_create(name=group)[0] for group in groups])


folder, port = pathlib.Path(sys.argv[1]), int(sys.argv[2])
configure(folder, port)

# These modules read the settings.
from django.contrib.auth.views import LoginView
from django.core.wsgi import get_wsgi_application
from oauth2_provider.oauth2_validators import OAuth2Validator

urlpatterns = [path("accounts/login/", LoginView.as_view()), path("o/", include("oauth2_provider.urls", namespace="oauth2_provider"))]


class Validator(OAuth2Validator):
    # Claims that need no scope.
    oidc_claim_scope = None

    def get_additional_claims(self, request):
        user = request.user
        groups = list(user.groups.values_list("name", flat=True))
        return {"preferred_username": user.get_username(), "name": user.get_full_name(), "groups": groups}


fill(sys.argv[3])
run_simple(
    "127.0.0.1", port, get_wsgi_application(), threaded=True, ssl_context=(str(folder / "server.pem"), str(folder / "server.key"))
)
