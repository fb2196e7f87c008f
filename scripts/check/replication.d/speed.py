"""The speed of replication beside Litestream, against one server. Part of scripts/check/replication."""
import datetime
import json
import os
import pathlib
import re
import signal
import sqlite3
import statistics
import subprocess
import threading
import time

from servers import Proxy, Store


# Runs the command after it, and prints its greatest memory in MB.
PEAK = ("import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr); sys.exit(code)")


def wait_until(condition, seconds, problem):
    end = time.time() + seconds
    while not condition():
        if time.time() > end:
            raise SystemExit(f"replication: {problem}")
        time.sleep(0.05)


class Watched:
    """A process whose processor time and memory are read while it runs."""

    # Those that were not stopped.
    running = []

    def __init__(self, command, log, **options):
        self.log = open(log, "w+")
        self.process = subprocess.Popen([str(w) for w in command], stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        **options)
        Watched.running.append(self.process)
        self.lines = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append((time.time(), line))

    def durable(self):
        """The restore points: the times that they have, and those at which they were durable."""
        points = [(at, json.loads(line)) for at, line in list(self.lines) if '"durable"' in line]
        return [(datetime.datetime.fromisoformat(p["time"].replace("Z", "+00:00")).timestamp(), at) for at, p in points]

    def seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        Watched.running.remove(self.process)


class Requests:
    """The requests in the server's log since a moment."""

    def __init__(self, log):
        self.log, self.start = log, log.stat().st_size

    def counts(self):
        with open(self.log, errors="replace") as text:
            text.seek(self.start)
            lines = text.read().split("\n")
        found = {"PUT": 0, "LIST": 0, "GET": 0, "other": 0}
        for method, path in re.findall(r'"([A-Z]+) (\S+) HTTP', "\n".join(lines)):
            kind = "LIST" if method == "GET" and ("list-type" in path or "?" in path and "prefix" in path) else method
            found[kind if kind in found else "other"] += 1
        return found


class Writer:
    """Commits small rows, in an encrypted database by the stock shell, or in an unencrypted one."""

    def __init__(self, path, key):
        self.commits, self.key = [], key
        if key:
            self.shell = subprocess.Popen(
                ["sqlcipher", "-batch", "-init", "/dev/null", str(path)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True, bufsize=1)
            self.run(f"PRAGMA key = \"x'{key}'\";")
        else:
            self.db = sqlite3.connect(path, isolation_level=None)
        self.run("PRAGMA journal_mode = wal; CREATE TABLE IF NOT EXISTS a (id INTEGER PRIMARY KEY, bytes);")

    def run(self, sql):
        if not self.key:
            return self.db.executescript(sql)
        self.shell.stdin.write(sql + "\nSELECT 'done';\n")
        self.shell.stdin.flush()
        while self.shell.stdout.readline().strip() != "done":
            pass

    def load(self, seconds, rate):
        """Returns the longest and the median time of a commit in milliseconds."""
        begun, times = time.time(), []
        for number in range(int(seconds * rate)):
            time.sleep(max(0, begun + number / rate - time.time()))
            before = time.time()
            self.run("INSERT INTO a (bytes) VALUES (randomblob(200));")
            self.commits.append(time.time())
            times.append(1000 * (self.commits[-1] - before))
        return max(times), statistics.median(times)

    def large(self, megabytes):
        self.run(f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {megabytes * 25}) "
                 "INSERT INTO a (bytes) SELECT randomblob(40000) FROM n;")

    def close(self):
        if self.key:
            self.shell.stdin.close()
            self.shell.wait()
        else:
            self.db.close()


def figures(name, trial, store, place, log, key, replicate, restore):
    path, seconds = place / "speed.db", trial.options.seconds
    writer = Writer(path, key)
    before = writer.load(3, 100)
    replicator = Watched(replicate(path), place / "log", env=store.variables)
    time.sleep(3)
    requests, used = Requests(log), replicator.seconds()
    slowest, median = writer.load(seconds, 100)
    counts, used = requests.counts(), replicator.seconds() - used
    print(f"speed: {name}: {counts['PUT'] / seconds:.2f} PUT a second, {counts['LIST']} LIST; {used:.2f} s of "
          f"processor time in {seconds} s; a commit {median:.2f} ms, {before[1]:.2f} without", flush=True)
    states = replicator.durable()
    if states:
        lags = [at - captured for captured, at in states]
        print(f"speed: {name}: from the capture of a restore point to durable {statistics.median(lags):.3f} s in the "
              "median", flush=True)
    requests = Requests(log)
    time.sleep(60)
    print(f"speed: {name}: idle for a minute: {requests.counts()}", flush=True)
    used = replicator.seconds()
    writer.large(100)
    time.sleep(20)
    for _ in range(3):
        writer.run("INSERT INTO a (bytes) VALUES (1);")
        time.sleep(2)
    size = (path.parent / (path.name + "-wal")).stat().st_size / 1e6
    used = replicator.seconds() - used
    print(f"speed: {name}: a transaction of 100 MB: {replicator.peak():.0f} MB of memory, {used:.2f} s of processor "
          f"time; the log has {size:.1f} MB afterwards", flush=True)
    replicator.stop()
    writer.close()
    times = []
    for number in range(3):
        begun = time.time()
        subprocess.run([str(w) for w in restore(place / f"out-{number}.db")], env=store.variables, check=True,
                       capture_output=True)
        times.append(time.time() - begun)
    print(f"speed: {name}: restore of 100 MB: {', '.join(f'{t:.2f}' for t in times)} s", flush=True)


def lags(name, store, place, key, replicate, seconds=30):
    """From a commit to the end of the first upload that began after it, seen by a proxy, the same way for both."""
    for rate, title in [(100, "100 commits a second"), (0.4, "a commit each 2.5 s")]:
        proxy, path = Proxy(store), place / f"lag-{rate}.db"
        writer = Writer(path, key)
        writer.load(1, 20)
        replicator = Watched(
            replicate(path, proxy.endpoint), place / "log", env=Store(proxy.endpoint).variables)
        time.sleep(4)
        writer.commits.clear()
        writer.load(seconds, rate)
        time.sleep(2)
        puts = [p for p in proxy.puts if not p[2].partition("?")[0].endswith(("/head", "/writer"))]
        waits = [min((end - at for begun, end, _ in puts if begun >= at), default=None) for at in writer.commits]
        waits = sorted(w for w in waits if w is not None)
        print(f"speed: {name}: {title}: from a commit to durable {statistics.median(waits):.3f} s in the median, "
              f"{waits[len(waits) * 99 // 100]:.3f} s in 99 %, {len(puts) / (seconds + 6):.2f} PUT a second",
              flush=True)
        replicator.stop()
        writer.close()
        proxy.end()


def run(trial, store, programs, log):
    place = trial.fresh()
    for name in ["ours", "peer"]:
        (place / name).mkdir()

    def ours(path):
        return [trial.program, "replicate", path, f"s3://bucket/{place.name}-{path.stem}", "--json"]

    def theirs(path, endpoint=store.endpoint):
        url = f"s3://bucket/{place.name}-peer-{path.stem}?endpoint={endpoint}&forcePathStyle=true&region=us-east-1"
        return [programs / "litestream", "replicate", path, url]

    figures(
        "strongroom", trial, store, place / "ours", log, "0f" * 32, ours,
        lambda out: [trial.program, "restore", f"s3://bucket/{place.name}-speed", out])
    figures(
        "litestream, of an unencrypted database", trial, store, place / "peer", log, None, theirs,
        lambda out: [programs / "litestream", "restore", "-o", out, theirs(pathlib.Path("speed.db"))[-1]])
    lags("strongroom", store, place / "ours", "0f" * 32, lambda path, _: ours(path))
    lags("litestream, of an unencrypted database", store, place / "peer", None, theirs)
