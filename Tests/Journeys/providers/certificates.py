"""A certificate for localhost, with an authority of its own, for providers on loopback. Usage: certificates.py FOLDER"""

import datetime
import ipaddress
import pathlib
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def make(folder):
    """Writes ca.pem, server.pem and server.key."""
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Journey's authority")])
    authority = certificate(subject, subject, authority_key.public_key(), x509.BasicConstraints(ca=True, path_length=0))
    authority = authority.add_extension(x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key()), False)
    server = certificate(
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")]), subject, key.public_key(),
        x509.BasicConstraints(ca=False, path_length=None),
    ).add_extension(x509.SubjectAlternativeName(names), False)
    pem = serialization.Encoding.PEM
    (folder / "ca.pem").write_bytes(authority.sign(authority_key, hashes.SHA256()).public_bytes(pem))
    (folder / "server.pem").write_bytes(server.sign(authority_key, hashes.SHA256()).public_bytes(pem))
    (folder / "server.key").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


def certificate(subject, issuer, key, constraints):
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
        .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1)).add_extension(constraints, True)
    )


make(pathlib.Path(sys.argv[1]))
