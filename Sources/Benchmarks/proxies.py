#!/usr/bin/env python3
"""How much of its rate Volley's transport keeps through other people's proxies (Debian's squid, tinyproxy, dante-server, microsocks).

    proxies.py BINARIES [PUSHES [ROUNDS [LATENCY]]]

BINARIES is the folder of `volley` and `volley-bench`. The sender has its own core; the proxy shares the other one with the simulator,
which holds back every answer for LATENCY milliseconds. With 20, and one connection with 1,000 streams, no core is full, and the result
shows what the route itself loses. With 0 it shows what a proxy costs where there are not enough cores. The direct route and each proxy
take turns. Prints Markdown: medians of all rounds, shares of the direct rate of the same round, CPU in µs per push. Sends load to
127.0.0.1 only.
"""
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

binaries, pushes, rounds = sys.argv[1], int((sys.argv[2:] + ["200000"])[0]), int((sys.argv[3:] + ["7"])[0])
latency = (sys.argv[4:] + ["20"])[0]
folder = tempfile.mkdtemp(prefix="volley-proxies-")
os.chmod(folder, 0o755)
writable = os.path.join(folder, "w")
os.mkdir(writable)
os.chmod(writable, 0o777)
ticks = os.sysconf("SC_CLK_TCK")
cores = sorted(os.sched_getaffinity(0))
near, far = cores[0], cores[-1]


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def start(core, port, *command):
    process = subprocess.Popen(
        ["taskset", "-c", str(core), *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=open(f"{writable}/{port}.log", "w"))
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            time.sleep(0.05)
    sys.exit(f"{command[0]} does not listen; see {writable}/{port}.log")


def written(name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def cpu(process):
    """CPU seconds of a process and its children, from utime, stime, cutime and cstime."""
    total = 0
    pids = [process.pid]
    while pids:
        pid = pids.pop()
        with open(f"/proc/{pid}/stat") as file:
            total += sum(map(int, file.read().rsplit(")", 1)[1].split()[11:15]))
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                pids += map(int, file.read().split())
    return total / ticks


def squid(port, listens):
    return ["/usr/sbin/squid", "-n", f"volley{port}", "-N", "-f", written(f"squid{port}.conf", f"""
{listens}
http_access allow all
cache deny all
cache_mem 8 MB
access_log none
cache_log {writable}/squid{port}.log
pid_filename {writable}/squid{port}.pid
coredump_dir {writable}
pinger_enable off
visible_hostname localhost
sslproxy_session_cache_size 0
""")]


def tinyproxy(port):
    return ["/usr/bin/tinyproxy", "-d", "-c", written("tinyproxy.conf", f"""
Listen 127.0.0.1
Port {port}
Allow 127.0.0.1
Timeout 600
MaxClients 100
LogFile "{writable}/tinyproxy.log"
PidFile "{writable}/tinyproxy.pid"
""")]


def dante(port):
    return ["/usr/sbin/danted", "-p", f"{writable}/danted.pid", "-f", written("danted.conf", f"""
logoutput: {writable}/danted.log
internal: 127.0.0.1 port = {port}
external: lo
clientmethod: none
socksmethod: none
user.privileged: root
user.unprivileged: root
client pass {{ from: 127.0.0.0/8 to: 0.0.0.0/0 }}
socks pass {{ from: 127.0.0.0/8 to: 0.0.0.0/0 }}
""")]


def certificate():
    """Make a certificate for a proxy. SSL_CERT_FILE makes the sender trust it."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", f"{folder}/proxy.key", "-out", f"{folder}/proxy.pem"],
        check=True, stderr=subprocess.DEVNULL)
    os.chmod(f"{folder}/proxy.key", 0o644)
    return f"{folder}/proxy.pem", f"{folder}/proxy.key"


running = []
try:
    server_port = free_port()
    server = start(
        far, server_port, f"{binaries}/volley", "simulate", "--port", str(server_port), "--ca", "ca.pem", "--key", "key.p8", "--latency", latency,
        "--for", "3600")
    running.append(server)
    pem, key = certificate()
    ways = [("none", None, None)]
    for name, scheme, command in [
        ("squid, `http`", "http", lambda port: squid(port, f"http_port 127.0.0.1:{port}")),
        ("squid, `https` (TLS in TLS)", "https", lambda port: squid(port, f"https_port 127.0.0.1:{port} tls-cert={pem} tls-key={key}")),
        ("tinyproxy, `http`", "http", tinyproxy),
        ("dante, `socks5h`", "socks5h", dante),
        ("microsocks, `socks5h`", "socks5h", lambda port: ["/usr/bin/microsocks", "-i", "127.0.0.1", "-p", str(port)]),
    ]:
        port = free_port()
        process = start(far, port, *command(port))
        running.append(process)
        ways.append((name, f"{scheme}://localhost:{port}", process))
    found = {name: [] for name, _, _ in ways}
    for _ in range(rounds):
        for name, address, process in ways:
            before = cpu(process) if process else 0, cpu(server)
            line = subprocess.run(
                ["taskset", "-c", str(near), f"{binaries}/volley-bench", "deliver", str(server_port), "ca.pem", "key.p8", str(pushes), "1", "1"]
                + ([address] if address else []),
                cwd=folder, env=dict(os.environ, SSL_CERT_FILE=pem), stdout=subprocess.PIPE, check=True).stdout
            result = json.loads(line)
            if result["accepted"] != pushes:
                sys.exit(f"{name}: {result['accepted']} of {pushes} accepted")
            rate = pushes / result["seconds"] * 1e6
            costs = [result["cpu"], (cpu(process) - before[0]) * 1e6 if process else 0, (cpu(server) - before[1]) * 1e6]
            found[name].append([rate, rate / found["none"][-1][0] if name != "none" else 1] + [cost / pushes for cost in costs])
    print("| proxy | pushes/s | share of direct | from | to | sender | proxy | server |\n|---|---|---|---|---|---|---|---|")
    for name, rows in found.items():
        rate, share, *costs = [statistics.median(column) for column in zip(*rows)]
        shares = [row[1] for row in rows]
        print(f"| {name} | {rate:,.0f} | {share:.0%} | {min(shares):.0%} | {max(shares):.0%} | " + " | ".join(f"{cost:.2f}" for cost in costs) + " |")
finally:
    for process in running:
        process.send_signal(signal.SIGTERM)
    for process in running:
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
    shutil.rmtree(folder, ignore_errors=True)
