"""Speaks TLS on a loopback port, and passes what it hears on to another one: an https proxy in front of a plain one.

Usage: tls_front.py PORT TARGET_PORT CERTIFICATE_AND_KEY SECONDS"""

import socket
import ssl
import sys
import threading

port, target, pem, seconds = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(pem)
context.set_alpn_protocols(["http/1.1"])


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client):
    try:
        inner = context.wrap_socket(client, server_side=True)
    except (OSError, ssl.SSLError):
        return
    outer = socket.create_connection(("127.0.0.1", target))
    threading.Thread(target=pump, args=(outer, inner), daemon=True).start()
    pump(inner, outer)


threading.Timer(seconds, lambda: __import__("os")._exit(0)).start()
listener = socket.create_server(("127.0.0.1", port))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
