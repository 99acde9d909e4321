"""libtmux as scripts use it: send_keys, and a look by capture_pane every 100 ms. Says what peerDriver.ts describes."""

import os
import re
import select
import shlex
import sys
import time

import libtmux

POLL_SEC = 0.1
QUIET_SEC = 0.3
INTERRUPT_SEC = 0.2
HISTORY_LINES = 200
END_OF_LINES = "END-OF-LINES"

JOB = os.environ["PEER_JOB"]
DIRECTORY = os.environ["PEER_DIR"]
COUNT = int(os.environ["PEER_COUNT"])
SHELL = "exec env PEER_PANE=1 sh -c " + shlex.quote(os.environ["PEER_COMMAND"])


def say(*words):
    print(*words, flush=True)


def heard():
    """The next line from the bench; "" when there is none any more."""
    return sys.stdin.readline()


def begin():
    say("ready")
    heard()


def until(pane, holds):
    while not holds("\n".join(pane.capture_pane())):
        time.sleep(POLL_SEC)


class LineCount:
    """Counts numbered lines, each once, on screens that overlap."""

    def __init__(self):
        self.last = 0
        self.seen = 0

    def screen(self, lines):
        for line in lines:
            found = re.search(r"L(\d{6}) ", line)
            if found is None or int(found.group(1)) <= self.last:
                continue
            self.last = int(found.group(1))
            self.seen += 1


def echo(pane):
    until(pane, lambda text: "ready!" in text)
    begin()
    for at in range(COUNT):
        token = str(100001 + at)
        start = time.monotonic()
        pane.send_keys(token, enter=False, literal=True)
        until(pane, lambda text: token in text)
        say("sample", (time.monotonic() - start) * 1000)


def late_text(pane):
    until(pane, lambda text: "ready!" in text)
    begin()
    for at in range(COUNT):
        pane.send_keys("g", enter=False, literal=True)
        until(pane, lambda text: f"late-{at}." in text)
        say("known", at, time.time() * 1000)


def run(pane):
    until(pane, lambda text: "$" in text)
    begin()
    for _ in range(COUNT):
        command = heard().rstrip("\n")
        typed = f"{command}; echo status:$?"
        start = time.monotonic()
        pane.send_keys("clear")
        pane.cmd("clear-history")
        pane.send_keys(typed, literal=True)
        while True:
            text = "\n".join(pane.capture_pane(start="-"))
            found = re.search(r"status:(\d+)", text)
            if found is not None:
                break
            time.sleep(POLL_SEC)
        after = text.find(typed)
        output = text[text.find("\n", after) + 1 : found.start()]
        say("ran", (time.monotonic() - start) * 1000, found.group(1), output.encode().hex())


def follow(session):
    panes = [session.attached_pane]
    while len(panes) < COUNT:
        panes.append(session.new_window(attach=False, window_shell=SHELL).attached_pane)
    counts = [LineCount() for _ in panes]
    begin()
    is_over = False
    while not is_over:
        is_over = len(select.select([sys.stdin], [], [], 0)[0]) > 0
        for pane, count in zip(panes, counts):
            count.screen(pane.capture_pane(start=-HISTORY_LINES))
        if not is_over:
            time.sleep(POLL_SEC)
    heard()
    for count in counts:
        say("seen", count.seen)


def lines(pane):
    count = LineCount()
    begin()
    start = time.monotonic()
    pane.enter()
    while True:
        captured = pane.capture_pane(start=-HISTORY_LINES)
        count.screen(captured)
        if any(END_OF_LINES in line for line in captured):
            break
        time.sleep(POLL_SEC)
    say("sample", (time.monotonic() - start) * 1000)
    say("seen", count.seen)


def prompt(pane, text):
    """Waits for a screen that is still, and types; libtmux presses Enter at once."""
    before = pane.capture_pane()
    still = 0.0
    while still < QUIET_SEC:
        time.sleep(POLL_SEC)
        now = pane.capture_pane()
        still = still + POLL_SEC if now == before else 0.0
        before = now
    pane.send_keys(text, literal=True)
    say("told", "delivered")


def prompts(pane):
    say("ready")
    for line in iter(heard, ""):
        word, _, text = line.rstrip("\n").partition(" ")
        if word == "launch":
            pane.send_keys("C-c", enter=False)
            time.sleep(INTERRUPT_SEC)
            pane.send_keys(text, literal=True)
        elif word == "prompt":
            prompt(pane, text)


def main():
    socket_path = os.path.join(DIRECTORY, "tmux.sock")
    server = libtmux.Server(socket_path=socket_path, config_file="/dev/null")
    session = server.new_session(session_name="peer", x=90, y=24, window_command=SHELL)
    say("tmux", socket_path)
    jobs = {"echo": echo, "text": late_text, "run": run, "lines": lines, "prompts": prompts}
    if JOB == "follow":
        follow(session)
    else:
        jobs[JOB](session.attached_pane)
    if JOB != "prompts":
        say("done")
        sys.stdin.read()


main()
