"""A month of a large database, computed with the constants of the sources. Part of scripts/check/replication."""
import pathlib
import re

SOURCES = pathlib.Path(__file__).resolve().parents[3] / "Sources" / "StrongroomReplica"
MONTH = 30 * 86400
PAGE = 4096

# Distinct pages that change in a second, of a database of 10 GB with pages of 4 KiB.
LOADS = [("a commit a minute", 6 / 60), ("8 pages a second", 8), ("50 pages a second", 50), ("300 pages a second", 300)]

# Milliseconds of a request, and bytes a second of the line to the destination.
LATENCY, BANDWIDTH = 20, 100e6


def constant(file, pattern):
    found = re.search(pattern, (SOURCES / file).read_text())
    if not found:
        raise SystemExit(f"replication: {file} has no {pattern}")
    return eval(found.group(1).replace("_", ""), {})  # A number such as 8 << 20.


class Constants:
    """The constants that decide about requests and bytes."""

    def __init__(self):
        self.interval = constant("DatabaseReplica.swift", r"interval = (\d+)") / 1000
        self.heartbeat = constant("Shipping/Engine.swift", r"heartbeat: Int64 = ([\d_]+)") / 1000
        self.part = constant("Shipping/Shipper.swift", r"partSize = ([\d <]+)")
        self.least = constant("Shipping/Shipper.swift", r"max\(databaseSize, ([\d <]+)\)")
        self.count = constant("Shipping/Shipper.swift", r"countSinceFull >= ([\d_]+)")
        self.share = constant("Shipping/Shipper.swift", r"databaseSize / (\d+)")
        self.parallel = constant("Destinations/S3Destination.swift", r"requestsAtOnce = (\d+)")


def month(constants, size, rate):
    """Returns the figures of a month with `rate` distinct changed pages a second."""
    # Fewer pages than points: each point has one commit's, 6 pages.
    points = min(1 / constants.interval, rate / 6) if rate < 6 else 1 / constants.interval
    point = rate / points * PAGE + 300
    puts = changes = full = full_bytes = longest = longest_bytes = 0
    count = since = 0
    for _ in range(int(MONTH * points)):
        puts, changes, count, since = puts + 1, changes + point, count + 1, since + point
        longest, longest_bytes = max(longest, count), max(longest_bytes, since)
        if count >= constants.count and since > size / constants.share or since > max(size, constants.least):
            full, full_bytes, puts = full + 1, full_bytes + size, puts + size / constants.part + 1
            count = since = 0
    objects = longest + size / constants.part
    line, requests = (size + longest_bytes) / BANDWIDTH, objects * LATENCY / 1000 / constants.parallel
    return {
        "PUT": puts, "other requests": MONTH / constants.heartbeat, "changes": changes, "full": full,
        "full bytes": full_bytes, "amplification": (changes + full_bytes) / changes, "objects": objects,
        "restore": max(line, requests), "limit": "requests" if requests > line else "line"}


def text(size=10e9):
    constants = Constants()
    lines = ["| load | PUT a month | changes | full restore points | write amplification | longest restore |",
             "| --- | --- | --- | --- | --- | --- |"]
    for name, rate in LOADS:
        found = month(constants, size, rate)
        lines.append(
            f"| {name} | {found['PUT'] / 1e6:.2f} million | {found['changes'] / 1e9:.1f} GB | {found['full']}, "
            f"{found['full bytes'] / 1e9:.0f} GB | {found['amplification']:.1f} | {found['objects']:,.0f} objects, "
            f"{found['restore']:.0f} s ({found['limit']}) |")
    lines.append(f"{MONTH / constants.heartbeat:,.0f} heartbeats and looks, no LIST; {constants.parallel} requests at "
                 f"once, {LATENCY} ms each, {BANDWIDTH / 1e6:.0f} MB a second")
    return "\n".join(lines)
