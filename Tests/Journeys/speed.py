"""How fast the console's pages answer in a folder with many campaigns and runs.

Usage: speed.py BIN_FOLDER [SCREENSHOT_FOLDER]. BIN_FOLDER holds release binaries. Prints a table, and ends with 1 if the median of a page is
above 100 ms, or if the first page after a restart takes more than some seconds. What a page has read of exports is read by processes of their
own, and not counted. Between two visits of a page something is written to a campaign, to a run or to the record of times, in turn.
"""

import http.client
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time

from house import House, Journey, Person, travel

CAMPAIGNS, RUNS, ROUNDS = 300, 1000, 10
MOST, MOST_AFTER_START = 100, 5000  # milliseconds
# Lists of runs are made again after half a second.
PAUSE = 0.6


class Crowd(House):
    """A folder with many campaigns, and copies of a few runs under other names."""

    def open(self, people):
        super().open(people)
        for number in range(CAMPAIGNS - 1):
            name = f"campaign-{number:03}"
            self.campaign(name, "https://shop.example.com", ["vip"])
            if number % 3 == 0:
                with (self.folder / f"{name}.yaml").open("a") as file:
                    file.write(f'schedule: {{timezone: Europe/Berlin, repeat: "{number % 60} 9 * * *"}}\n')
        project = self.folder / "volley.yaml"
        text = project.read_text()
        project.write_text(text.replace("    approval: required\n", "").replace("1/s", "900/s"))
        for words in (["send", "spring-sale.yaml", "--yes"], ["plan", "campaign-001.yaml"]):
            subprocess.run([str(self.programs / "volley"), *words, "--quiet"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        project.write_text(text)
        (sent,), (planned,) = (list((self.folder / "runs").glob(f"2*-{name}-*.sqlite")) for name in ("spring-sale", "campaign-001"))
        self.sent, self.planned = sent.stem, planned.stem
        for number in range(RUNS - 2):
            self.copy(sent if number % 100 else planned, number)

    def copy(self, run, number):
        """A run of another campaign, an hour older than the one before."""
        campaign, day = f"campaign-{number % (CAMPAIGNS - 1):03}", 24 * 3600 * 1000
        name = f"20260101-000000-{campaign}-{number:04x}"
        path = run.with_name(f"{name}.sqlite")
        shutil.copy(run, path)
        with sqlite3.connect(path) as file:
            file.execute(
                "UPDATE run SET id = ?, campaign = ?, campaign_file = ?, planned_at = planned_at - ?, started_at = started_at - ?, "
                "finished_at = finished_at - ?", (name, campaign, str(self.folder / f"{campaign}.yaml"), *[day + number * 3_600_000] * 3))
        with sqlite3.connect(self.folder / "runs" / "sent.db") as record:
            for table in ("beginning", "scope"):
                for row in record.execute(f"SELECT * FROM {table} WHERE run = ?", (run.stem,)).fetchall():
                    record.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", (name, *row[1:]))
            record.execute("UPDATE beginning SET begun_at = begun_at - ? WHERE run = ?", (day + number * 3_600_000, name))

    def stir(self, number):
        """What the sender and colleagues do between two visits: a campaign, a run and the records of what was sent and of times change."""
        self.campaign("campaign-100", f"https://shop.example.com/{number}", ["vip"])
        with sqlite3.connect(next(self.folder.glob("runs/20260101-*-0011.sqlite"))) as run:
            run.execute("UPDATE run SET finished_at = finished_at + 1")
        for record in ("sent.db", "schedule.sqlite"):
            os.utime(self.folder / "runs" / record)


class SpeedJourney(Journey):
    def paths(self):
        sent, planned, file = self.house.sent, self.house.planned, "file=campaign-003.yaml"
        other = next(path.stem for path in self.house.folder.glob("runs/20260101-*-0007.sqlite"))
        return [
            "/", "/campaigns", f"/campaign?{file}", f"/campaign/form?{file}", f"/campaign/edit?{file}", f"/campaign/history?{file}",
            f"/campaign/preview?{file}", "/campaigns/new", f"/campaigns/new?{file}", f"/campaigns/new?run={sent}", "/calendar", "/calendar?week=2026-11-30",
            "/runs", "/runs?page=20", f"/runs/{sent}", f"/runs/{sent}/report", f"/runs/{other}/report", f"/runs/{planned}",
            f"/comparison?run.{sent}=on&run.{other}=on", "/draft",
            "/suppression", "/suppression/app?app=shop", "/users", "/users/1", "/invite", "/activity", "/account", "/account/proof?to=/runs",
            "/system", "/nowhere",
        ]

    def processor(self):
        """Milliseconds of processor time that the console has used."""
        text = pathlib.Path(f"/proc/{self.console}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(text[11]) + int(text[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def find_console(self):
        # `volley serve` started it.
        pid = self.house.console.pid
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        names = {child: pathlib.Path(f"/proc/{child}/comm").read_text().strip() for child in children}
        self.console = next(child for child, name in names.items() if name.startswith("volley-console"))

    def visit(self, path, cookies):
        """How many milliseconds a page takes, and of the processor's time; its status, and its size."""
        began, before = time.monotonic(), self.processor()
        connection = http.client.HTTPConnection("127.0.0.1", self.house.port)
        connection.request("GET", path, headers={"cookie": cookies, "accept": "text/html"})
        answer = connection.getresponse()
        size = len(answer.read())
        return (time.monotonic() - began) * 1000, self.processor() - before, answer.status, size

    def measure(self):
        self.find_console()
        anna = Person(self.browser, self.house, "anna")
        anna.context.set_default_timeout(120_000)
        anna.enter()
        cookies = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in anna.context.cookies())
        visits = {path: [] for path in self.paths()}
        for number in range(ROUNDS + 1):
            for path in self.paths():
                self.house.stir(number)
                time.sleep(PAUSE)
                visits[path].append(self.visit(path, cookies))
        print("| page | answer | kB | first ms | median ms | slowest ms | processor ms |\n|---|---|---|---|---|---|---|")
        for path, (first, *rest) in visits.items():
            (times, used, status, size) = zip(*rest)
            median = statistics.median(times)
            print(
                f"| {path} | {status[-1]} | {size[-1] // 1000} | {first[0]:.0f} | {median:.0f} | {max(times):.0f} | {statistics.mean(used):.0f} |")
            self.check(median <= MOST, f"{path} takes {median:.0f} ms")
        for wait in (0, 5):
            self.house.console.terminate()
            self.house.console.wait(30)
            self.house.serve()
            self.find_console()
            time.sleep(wait)
            taken, used, *_ = self.visit("/", cookies)
            print(f"The first page {wait} s after a restart takes {taken:.0f} ms ({used:.0f} ms of the processor's time).")
            self.check(taken <= MOST_AFTER_START, f"the first page after a restart takes {taken:.0f} ms")


def walk(journey):
    journey.house.open({"anna": "administrator"})
    journey.measure()


travel(SpeedJourney, Crowd(sys.argv[1]), walk)
