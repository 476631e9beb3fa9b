"""A provider of identities by oidc-provider-mock, which is Authlib's server: neither passwords nor sessions.

Usage: authlib_mock.py FOLDER PORT REDIRECT. FOLDER has the certificates; any redirect will do.
"""

import pathlib
import sys

from oidc_provider_mock import User, app
from werkzeug.serving import run_simple

folder = pathlib.Path(sys.argv[1])
PEOPLE = {"edith": "marketing-editors", "otto": "warehouse"}
users = [User(sub=name, claims={"preferred_username": name, "groups": [group]}) for name, group in PEOPLE.items()]
run_simple(
    "127.0.0.1", int(sys.argv[2]), app(user_claims=users), threaded=True,
    ssl_context=(str(folder / "server.pem"), str(folder / "server.key")),
)
