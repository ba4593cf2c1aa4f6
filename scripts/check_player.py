"""The work of check_player.sh: python3 check_player.py CHROMIUM PAGE.html [FOLDER]."""

import base64
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import zlib

SIZE = (960, 640)
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--force-device-scale-factor=1", f"--window-size={SIZE[0]},{SIZE[1]}",
]
SECONDS = 90


def stop(sentence):
    sys.exit(f"check_player: {sentence}")


def embedded(page):
    """The data of the page: times, number of frames, and whether anything moves between the two times we look at."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    if not found:
        stop("the page holds no data element")
    try:
        data = json.loads(found[1])
        times = [t for (t,) in struct.iter_unpack("<d", base64.b64decode(data["times"]))]
        frames = base64.b64decode(data["frames"])
    except (ValueError, KeyError, struct.error) as error:
        stop(f"the data of the page cannot be read: {error}")
    if len(times) != data["count"] or not times:
        stop(f"the page says {data['count']} frames and holds {len(times)} times")
    return data, times, frames


def numbers(data, frames, index):
    stride = len(frames) // data["count"]
    return struct.unpack(f"<{stride // 4}f", frames[index * stride:(index + 1) * stride])


def look_at(data, times, frames):
    """Two frames to compare: the first, and the one that lies farthest from it; with their distance against the scene."""
    first = numbers(data, frames, 0)
    best, far, size = 0, 0.0, 1e-30
    for index in range(0, len(times), max(1, len(times) // 60)):
        now = numbers(data, frames, index)
        size = max([size] + [abs(x) for x in now])
        away = max((abs(x - y) for x, y in zip(first, now)), default=0.0)
        if away > far:
            best, far = index, away
    return best, far / size


def run(chromium, url, *flags):
    with tempfile.TemporaryDirectory(prefix="pliant-chromium-") as profile:
        command = [chromium, *FLAGS, f"--user-data-dir={profile}", *flags, url]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            stop(f"chromium took more than {SECONDS} s for {url}")
        if process.returncode != 0:
            stop(f"chromium ended with {process.returncode}: {err.decode(errors='replace')[-400:]}")
        return out.decode(errors="replace")


def pixels(path):
    """Rows of (r, g, b) bytes of a PNG file of 8 bits per channel."""
    raw = path.read_bytes()
    if raw[:8] != b"\x89PNG\r\n\x1a\n":
        stop(f"{path} is no PNG file")
    at, packed = 8, b""
    while at < len(raw):
        length, kind = struct.unpack(">I4s", raw[at:at + 8])
        body = raw[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            if depth != 8 or colour not in (2, 6) or interlaced:
                stop(f"{path} is a PNG file of a kind this script does not read")
            step = 3 if colour == 2 else 4
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    plain = zlib.decompress(packed)
    rows, above, stride = [], bytearray(width * step), width * step
    for y in range(height):
        start = y * (stride + 1)
        row, way = bytearray(plain[start + 1:start + 1 + stride]), plain[start]
        if way == 1:
            for i in range(step, stride):
                row[i] = (row[i] + row[i - step]) & 255
        elif way == 2:
            row = bytearray((a + b) & 255 for a, b in zip(row, above))
        elif way == 3:
            for i in range(stride):
                left = row[i - step] if i >= step else 0
                row[i] = (row[i] + (left + above[i]) // 2) & 255
        elif way == 4:
            for i in range(stride):
                left, corner = (row[i - step], above[i - step]) if i >= step else (0, 0)
                up = above[i]
                p = left + up - corner
                a, b, c = abs(p - left), abs(p - up), abs(p - corner)
                row[i] = (row[i] + (left if a <= b and a <= c else up if b <= c else corner)) & 255
        rows.append([tuple(row[i:i + 3]) for i in range(0, stride, step)])
        above = row
    return rows


def stage(rows):
    """The pixels of the picture itself, without title and controls."""
    height = len(rows)
    return [pixel for row in rows[height // 8:height * 7 // 10] for pixel in row]


def main():
    if len(sys.argv) not in (3, 4):
        stop("usage: check_player.py CHROMIUM PAGE.html [FOLDER]")
    chromium, path = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if not path.is_file():
        stop(f"{path} is no file")
    text = path.read_text(encoding="utf-8")
    data, times, frames = embedded(text)
    later, moved = look_at(data, times, frames)
    with tempfile.TemporaryDirectory(prefix="pliant-player-") as scratch:
        folder = pathlib.Path(sys.argv[3] if len(sys.argv) == 4 else scratch)
        folder.mkdir(parents=True, exist_ok=True)
        pictures = []
        for index in [0, later]:
            time = times[index]
            url = f"{path.as_uri()}#t={time!r}&paused"
            dom = run(chromium, url, "--dump-dom")
            status = re.search(r'<output id="status"[^>]*>(.*?)</output>', dom, re.S)
            if not status:
                stop("the page has no status line")
            said = re.fullmatch(r"ready frames=(\d+) time=(-?[\d.]+) drawn=(\d+)", status[1].strip())
            if not said:
                stop(f"the page says: {status[1].strip()}")
            if int(said[1]) != len(times):
                stop(f"the page says {said[1]} frames and holds {len(times)}")
            if abs(float(said[2]) - time) > 0.001:
                stop(f"the page shows the time {said[2]}, asked for {time:.3f}")
            parts = data["points"] + len(data["bodies"])
            if (int(said[3]) > 0) != (parts > 0):
                stop(f"the page drew {said[3]} parts of a scene of {parts} points and bodies")
            picture = folder / f"{path.stem}-{index:04}.png"
            run(chromium, url, f"--screenshot={picture}")
            if not picture.is_file():
                stop(f"chromium wrote no picture of {url}")
            pictures.append(stage(pixels(picture)))
    for index, picture in zip([0, later], pictures):
        colours = len(set(picture))
        if colours < 40:
            stop(f"the picture of frame {index} is blank ({colours} colours)")
    if moved < 0.01:
        print("check_player: the scene hardly moves; the pictures were not compared")
    else:
        differ = sum(max(abs(x - y) for x, y in zip(p, q)) > 24 for p, q in zip(*pictures))
        if differ < 50:
            stop(f"the pictures of t = {times[0]:.3f} and t = {times[later]:.3f} differ in {differ} pixels only")
    print(f"check_player: ok: {path.name}, {len(text)} bytes, {len(times)} frames, t = {times[0]:.3f} and {times[later]:.3f}")


main()
