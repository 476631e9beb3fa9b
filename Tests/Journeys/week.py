#!/usr/bin/env python3
"""A week of `volley schedule` in some minutes: its clock of the day runs fast (fastclock.c), and it waits as ever. Two campaigns go out every hour and
every six hours to the built-in simulator. Every minute it is looked at: memory, files, threads, children that were not waited for. Fails if anything but the number of runs grew, or memory passed 100 MB. Usage: week.py FOLDER-OF-BINARIES [MINUTES [HOURLY-CAMPAIGNS [DEVICES]]];
with six hourly campaigns it makes a thousand runs."""
import glob, os, re, signal, subprocess, sys, tempfile, time

binaries, minutes = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 10
hourly, devices = (int(sys.argv[place]) if len(sys.argv) > place else usual for place, usual in [(3, 1), (4, 2000)])
speed = round(7 * 86_400 / (minutes * 60))
folder = tempfile.mkdtemp(prefix="volley-week-")
library = os.path.join(folder, "fastclock.so")
source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fastclock.c")
subprocess.run([os.environ.get("CC", "clang"), "-shared", "-fPIC", "-O2", "-o", library, source], check=True)
volley = os.path.join(os.path.abspath(binaries), "volley")

def write(name, text):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)

write("volley.yaml", "runs: runs\nmonitoring: {prometheus: volley.prom, health: health.json}\n"
      "notices: [{command: [\"true\"]}]\napps:\n  shop:\n    topic: com.example.shop\n"
      "    environment: simulator\n    columns: {token: device_token}\n")
write("devices.csv", "device_token\n" + "".join(f"{number:064x}\n" for number in range(1, devices + 1)))
for name, rule in [(f"hourly-{number}", f"{number * 60 // hourly} * * * *") for number in range(hourly)] + [("six-hourly", "30 */6 * * *")]:
    write(f"{name}.yaml", f"name: {name}\napp: shop\naudience: {{devices: devices.csv, everyone: true}}\n"
          f"content: {{title: Hello, body: World}}\nschedule: {{repeat: \"{rule}\", timezone: UTC, late: send}}\n")
subprocess.run(["touch", "-d", "2026-01-01", f"{folder}/devices.csv"], check=True)

environment = dict(os.environ, LD_PRELOAD=library, CLOCK_SPEED=str(speed), NO_COLOR="1")
log = open(os.path.join(folder, "log.txt"), "w")
process = subprocess.Popen([volley, "schedule", ".", "--metrics", "127.0.0.1:0"], cwd=folder, env=environment, stderr=log, stdout=log)

def text(path):
    """What a file holds; nothing if it is gone."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""

def look():
    root = f"/proc/{process.pid}"
    status = open(f"{root}/status").read()
    # Programs of hooks are children of the threads that start them.
    children = " ".join(text(path) for path in glob.glob(f"{root}/task/*/children")).split()
    zombies = sum("Z (zombie)" in text(f"/proc/{child}/status") for child in children)
    runs = len(glob.glob(f"{folder}/runs/20*.sqlite"))
    return dict(memory=int(re.search(r"VmRSS:\s+(\d+)", status)[1]) // 1024, files=len(os.listdir(f"{root}/fd")),
                threads=int(re.search(r"Threads:\s+(\d+)", status)[1]), zombies=zombies, runs=runs)

print(f"clock times {speed}, {minutes:g} minutes\n\n| day | runs | memory MB | open files | threads | zombies |\n|---|---|---|---|---|---|", flush=True)
looks, start = [], time.monotonic()
try:
    while time.monotonic() - start < minutes * 60 and process.poll() is None:
        time.sleep(min(60, minutes * 60 / 10))
        # Between two runs, approximately: the lowest of several counts.
        found = [look() for _ in range(20) if time.sleep(0.05) is None]
        seen = {name: min(one[name] for one in found) for name in found[0]}
        looks.append(seen)
        day = (time.monotonic() - start) * speed / 86_400
        print(f"| {day:.1f} | {seen['runs']} | {seen['memory']} | {seen['files']} | {seen['threads']} | {seen['zombies']} |", flush=True)
finally:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    code = process.wait(60)

problems = []
if code != 130:
    problems.append(f"it ended with {code}")
# Dispatch keeps a few threads more for its queues where the machine is busy.
# The first looks are of a process that has not done everything once.
begin, end = looks[len(looks) // 3], looks[-1]
for name, slack in [("memory", max(16, begin["memory"] // 5)), ("files", 2), ("threads", 6), ("zombies", 0)]:
    if end[name] > begin[name] + slack:
        problems.append(f"{name} grew from {begin[name]} to {end[name]}")
if end["memory"] > 100:
    problems.append(f"memory is {end['memory']} MB")
due = 7 * (24 * hourly + 4)
if looks[-1]["runs"] < due * 0.9:
    problems.append(f"{looks[-1]['runs']} runs, of about {due}")
said = text(os.path.join(folder, "log.txt"))
for words in ["cannot be", "has mistakes", "skipped"]:
    if words in said:
        problems.append(f"the log says '{words}': {next(line for line in said.splitlines() if words in line)[:300]}")
print("\n" + ("\n".join(problems) if problems else "nothing grew but the runs"))
if not problems:
    subprocess.run(["rm", "-r", folder])
sys.exit(1 if problems else 0)
