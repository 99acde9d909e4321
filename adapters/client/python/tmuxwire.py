"""The tmuxwire daemon from Python: run, wait, follow, submit. Python 3.9 or newer, its standard library and this file.

    import tmuxwire

    pane = tmuxwire.connect().server("main").pane("work")
    result = pane.run("make test")
    print(result["exitCode"], result["output"])
    for event in pane.follow(start="snapshot"):
        if event["kind"] == "output":
            sys.stdout.buffer.write(event["bytes"])

Responses are dicts as the native API returns them (docs/contracts/native.md). Errors are `TmuxwireError` with a `code`. A
stream that loses its connection reconnects and resumes after the last event it has delivered: every byte comes once and
in order, or a `gap` says which bytes are missing. Times are seconds. Several threads may share a client: each call has
its own connection, and abandoning a call also ends it in the daemon.
"""

import base64
import http.client
import json
import os
import random
import socket
import time
import urllib.parse

__all__ = ["Client", "Pane", "Server", "TmuxwireError", "connect"]

# The daemon sends something at least every 15 s; a connection silent for this long is dead.
SILENCE_SEC = 45
CONNECT_SEC = 10
RETRY_MIN_SEC = 0.05
RETRY_MAX_SEC = 5.0
# Limit of one event; a snapshot of the largest screen is far smaller.
MAX_EVENT_BYTES = 64 * 1024 * 1024
# The same request may succeed later.
PASSING = ("CONNECTION_LOST", "SHUTTING_DOWN", "DAEMON_UNREACHABLE")


class TmuxwireError(Exception):
    """The daemon's error, or DAEMON_UNREACHABLE if there was no response. Decide by `code`, show the message."""

    def __init__(self, code, message, status=0, details=None):
        super().__init__(message)
        self.code = code
        self.status = status
        self.details = details or {}


def connect(url=None, socket_path=None, token=None, token_file=None):
    """Connects to the daemon that `tmuxwire serve` starts, over its unix socket or `url` (http://127.0.0.1:7420).

    Omitted arguments come from TMUXWIRE_URL, TMUXWIRE_SOCKET and TMUXWIRE_TOKEN_FILE, else from the daemon's defaults.
    """
    if url is None and socket_path is None:
        url = os.environ.get("TMUXWIRE_URL") or None
    if url is None and socket_path is None:
        socket_path = os.environ.get("TMUXWIRE_SOCKET") or os.path.join(_runtime_dir(), "tmuxwire.sock")
    if token is None:
        token = _read_token(token_file or os.environ.get("TMUXWIRE_TOKEN_FILE") or os.path.join(_state_dir(), "token"))
    return Client(url, socket_path, token)


def _xdg(name):
    path = os.environ.get(name, "")
    return path if os.path.isabs(path) else None


def _state_dir():
    return os.path.join(_xdg("XDG_STATE_HOME") or os.path.expanduser("~/.local/state"), "tmuxwire")


def _runtime_dir():
    base = _xdg("XDG_RUNTIME_DIR")
    return _state_dir() if base is None else os.path.join(base, "tmuxwire")


def _read_token(path):
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        return None


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=SILENCE_SEC)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(CONNECT_SEC)
        self.sock.connect(self._path)
        self.sock.settimeout(SILENCE_SEC)


class Client:
    def __init__(self, url, socket_path, token):
        self._url = None if url is None else urllib.parse.urlsplit(url)
        if self._url is not None and self._url.scheme not in ("http", "https"):
            raise ValueError("url: give http://127.0.0.1:PORT, or https for another machine")
        self._socket_path = socket_path
        self._token = token

    def servers(self):
        return self.request("GET", ("v1", "servers"))["servers"]

    def server(self, name="main"):
        return Server(self, name)

    def hosts(self):
        """The other machines whose servers are served from here, as they are now."""
        return self.request("GET", ("v1", "hosts"))["hosts"]

    def add_host(self, name, destination, **more):
        """Returns also if the host cannot be used now: `state`, and `why`. Other members as in the API: sshConfig, program, agentless."""
        return self.request("POST", ("v1", "hosts"), dict(more, name=name, destination=destination))

    def host(self, name):
        """Connects if need be, and measures how long its daemon takes to respond."""
        return self.request("GET", ("v1", "hosts", name))

    def remove_host(self, name):
        """What runs there goes on."""
        self.request("DELETE", ("v1", "hosts", name))

    def notifications(self):
        """Where people are told what agents need when no page is open."""
        return self.request("GET", ("v1", "notifications"))["channels"]

    def add_notification(self, kind, url, **more):
        """Other members as in the API: name, token, on, text, quiet."""
        return self.request("POST", ("v1", "notifications"), dict(more, kind=kind, url=url))

    def test_notification(self, name):
        """Returns when the address has taken a test."""
        self.request("POST", ("v1", "notifications", name, "test"), {})

    def remove_notification(self, name):
        self.request("DELETE", ("v1", "notifications", name))

    def agents(self, server=None, state=None, text=None):
        """The coding agents that run, on every server or on this one, in any state or in this one.

        With `text`, those whose screens show it, each with the row (`onScreen`).
        """
        return self.request("GET", ("v1", "agents"), query=_given(server=server, state=state, text=text))["agents"]

    def agent_events(self, resume=True):
        """Events as dicts with a `type`: agents (all that run, first), agent (one that has changed), messages.

        This machine's agents. After a lost connection it begins anew, with those that run; without `resume` that is an error.
        """
        is_open = False
        tries = 0
        while True:
            try:
                connection, response = self._open("GET", ("v1", "agent-events"), headers={"Accept": "text/event-stream"})
                try:
                    for _name, data, _id in _sse(response):
                        event = json.loads(data)
                        if event["type"] == "closed":
                            raise TmuxwireError(event["code"], event["message"])
                        is_open = True
                        tries = 0
                        yield event
                finally:
                    connection.close()
                raise TmuxwireError("DAEMON_UNREACHABLE", "the stream ended")
            except TmuxwireError as error:
                if error.code not in PASSING or not is_open or not resume:
                    raise
            _pause(tries)
            tries += 1

    def agent(self, agent):
        """One agent, by its name or id."""
        return self.request("GET", ("v1", "agents", agent))

    def rename_agent(self, agent, name):
        return self.request("POST", ("v1", "agents", agent, "rename"), {"name": name})

    def start_agent(self, agent, prompt=None, timeout=None, idempotency_key=None, **more):
        """Starts a coding agent and gives it a prompt; returns with the outcome.

        Further members as the API takes them: name, cwd, args, environment, program, server, where, resume, worktree.
        """
        body = _given(agent=agent, prompt=prompt, timeoutMs=_ms(timeout), **more)
        return self.request("POST", ("v1", "agents"), body, idempotency_key=idempotency_key)

    def resume_agents(self, agents=None, plan=False):
        """Brings back agents (their names; default: all) that ran when their tmux server ended, or says what it would do."""
        which = {"all": True} if agents is None else {"agents": list(agents)}
        return self.request("POST", ("v1", "agents", "resume"), {**which, "plan": plan})["agents"]

    def worktrees(self):
        return self.request("GET", ("v1", "worktrees"))["worktrees"]

    def remove_worktree(self, name):
        """Fails with WRONG_STATE while anything would be lost."""
        return self.request("DELETE", ("v1", "worktrees", name))

    def tell(self, agent, text, wait=None, timeout=None, idempotency_key=None, **more):
        """A message for the agent's process alone; `wait` is "taken" or "done". Other members as in the API: when, ttlSec."""
        body = dict(_given(wait=wait, timeoutMs=_ms(timeout)), text=text, **more)
        return self.request("POST", self._agent(agent, "messages"), body, idempotency_key=idempotency_key)

    def messages(self, agent=None):
        return self.request("GET", ("v1", "messages"), query=_given(agent=agent))["messages"]

    def timeline(self, agent=None, query=None, kind=None, before=None, limit=None, server=None):
        """The newest first; `next` of the response is `before` for older ones."""
        members = _given(agent=agent, query=query, kind=kind, before=before, limit=limit, server=server)
        return self.request("GET", ("v1", "timeline"), query=members)

    def cancel_message(self, message):
        return self.request("DELETE", ("v1", "messages", message))

    def wait_agent(self, agent, *states, timeout=None, **more):
        """Until the first of ready, asking, done, ended, stalled that is given."""
        body = dict(_given(timeoutMs=_ms(timeout)), **{"for": list(states)}, **more)
        return self.request("POST", self._agent(agent, "wait"), body)

    def answer_agent(self, agent, answer, idempotency_key=None, **more):
        body = dict(more, answer=answer)
        return self.request("POST", self._agent(agent, "answer"), body, idempotency_key=idempotency_key)

    def interrupt_agent(self, agent):
        self.request("POST", self._agent(agent, "interrupt"), {})

    def end_agent(self, agent, force=None, timeout=None):
        return self.request("POST", self._agent(agent, "end"), _given(force=force, timeoutMs=_ms(timeout)))

    @staticmethod
    def _agent(agent, operation):
        return ("v1", "agents", agent, operation)

    def request(self, method, path, body=None, query=None, idempotency_key=None):
        """Sends any request of the API, JSON in and JSON out. `path` is a sequence of segments."""
        headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
        connection, response = self._open(method, path, body, query, headers)
        try:
            # A late response has status 200 even if it is an error.
            result = json.loads(_guarded(response.read))
        except ValueError as error:
            raise TmuxwireError("INTERNAL_ERROR", "the response is not JSON", response.status) from error
        finally:
            connection.close()
        if isinstance(result, dict) and "error" in result:
            raise _error_of(result["error"], response.status)
        return result

    def _open(self, method, path, body=None, query=None, headers=None):
        target = "/" + "/".join(urllib.parse.quote(str(part), safe="") for part in path)
        given = {name: _query_value(value) for name, value in (query or {}).items() if value is not None}
        if given:
            target += "?" + urllib.parse.urlencode(given)
        headers = dict(headers or {})
        if self._token is not None:
            headers["Authorization"] = "Bearer " + self._token
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        connection = self._connection()
        try:
            _guarded(lambda: connection.request(method, target, body=data, headers=headers))
            response = _guarded(connection.getresponse)
            if response.status >= 300:
                raise _error_from(_guarded(response.read), response.status)
            return connection, response
        except BaseException:
            connection.close()
            raise

    def _connection(self):
        if self._url is None:
            return _UnixConnection(self._socket_path)
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        return kind(self._url.hostname, self._url.port, timeout=SILENCE_SEC)


def _pause(tries):
    pause = min(RETRY_MAX_SEC, RETRY_MIN_SEC * 2 ** min(tries, 16))
    time.sleep(pause / 2 + random.random() * pause / 2)


def _query_value(value):
    return str(value).lower() if isinstance(value, bool) else value


def _guarded(call):
    try:
        return call()
    except (OSError, http.client.HTTPException) as error:
        raise TmuxwireError("DAEMON_UNREACHABLE", "cannot reach the daemon: %s" % error) from error


def _error_of(error, status):
    return TmuxwireError(error["code"], error["message"], status, error.get("details"))


def _error_from(body, status):
    try:
        return _error_of(json.loads(body)["error"], status)
    except (ValueError, KeyError, TypeError):
        # The guard's plain-text refusal, or a proxy's page.
        code = {401: "UNAUTHORIZED", 403: "FORBIDDEN"}.get(status, "INTERNAL_ERROR")
        return TmuxwireError(code, "unexpected response %d: %s" % (status, body[:100].decode("latin-1")), status)


class Server:
    def __init__(self, client, name):
        self._client = client
        self._path = ("v1", "servers", name)

    def sessions(self):
        return self._client.request("GET", self._path + ("sessions",))["sessions"]

    def panes(self):
        return self._client.request("GET", self._path + ("panes",))["panes"]

    def create_session(self, name=None, cwd=None, command=None, cols=None, rows=None, remain_on_exit=None):
        body = _given(name=name, cwd=cwd, command=command, cols=cols, rows=rows, remainOnExit=remain_on_exit)
        return self._client.request("POST", self._path + ("sessions",), body)

    def kill_session(self, session):
        self._client.request("DELETE", self._path + ("sessions", session))

    def pane(self, pane):
        """`pane` is a number (5 or "%5"), or a session's name for its active pane."""
        return Pane(self._client, self._path + ("panes", pane))


class Pane:
    def __init__(self, client, path):
        self._client = client
        self._path = path

    def info(self):
        return self._client.request("GET", self._path)

    def run(self, command, timeout=None, max_output_bytes=None):
        """Runs a command in a shell that is at its prompt; returns `output` and `exitCode`. After TIMEOUT it keeps running."""
        body = _given(command=command, timeoutMs=_ms(timeout), maxOutputBytes=max_output_bytes)
        return self._post("run", body)

    def wait(self, predicates=None, timeout=None, send=None, start=None, **more):
        """Waits until all conditions hold: `wait({"pattern": {"literal": "ready"}})`, `wait(ready="idle")`, `wait(exit=True)`.

        `send` is a list of input parts that are typed once the wait is armed. TIMEOUT is an error with `details`.
        """
        body = dict(predicates or {}, **more)
        body.update(_given(timeoutMs=_ms(timeout)))
        if start is not None:
            body["from"] = start
        if send is not None:
            body["send"] = {"parts": send}
        return self._post("wait", body)

    def input(self, parts, profile=None):
        """`{"kind": "text", "text": …}`, `{"kind": "keys", "keys": ["C-c"]}`, `{"kind": "enter"}`, in order.

        With `profile` (also of `type` and `keys`) only for that program: refused when another reads from the pane.
        """
        return self._post("input", _given(parts=parts, profile=profile))

    def type(self, text, enter=False, profile=None):
        return self.input([{"kind": "text", "text": text}] + ([{"kind": "enter"}] if enter else []), profile)

    def keys(self, *keys, profile=None):
        return self.input([{"kind": "keys", "keys": list(keys)}], profile)

    def capture(self, lines=None, joined=None):
        return self._client.request("GET", self._path + ("capture",), query={"lines": lines, "joined": joined})

    def submit(self, text, timeout=None, idempotency_key=None, **more):
        """Gives a prompt to the program: types it, waits until the screen shows it, presses Enter, confirms. Read `outcome`.

        A second call with the same `idempotency_key` for the same pane does nothing but return the first one's result.
        """
        body = _given(text=text, timeoutMs=_ms(timeout), **more)
        return self._post("submit", body, idempotency_key)

    def choose(self, answer, idempotency_key=None, **more):
        """Answers the dialog that is open: `{"kind": "option", "index": 0}`."""
        return self._post("choose", _given(answer=answer, **more), idempotency_key)

    def interrupt(self):
        self._post("interrupt", {})

    def follow(self, start="now", readiness=False, resume=True):
        """Events as dicts with a `kind`: open, output (`bytes`, `position`), gap, snapshot (`bytes`), resize, exit,
        readiness, closed. `start` is now, snapshot, tail:LINES or a position. Ends when the pane does, or when the
        generator is closed. Without `resume` a lost connection is an error."""
        last_id = None
        is_open = False
        tries = 0
        while True:
            try:
                for event, event_id in self._connection(start, readiness, last_id):
                    tries = 0
                    if event["kind"] == "closed":
                        # The daemon is stopping, not the pane: resume.
                        if event["code"] in PASSING and resume:
                            raise TmuxwireError(event["code"], event["message"])
                        yield event
                        return
                    if event_id:
                        last_id = event_id
                    if event["kind"] == "open":
                        if is_open:
                            continue
                        is_open = True
                    yield event
                raise TmuxwireError("DAEMON_UNREACHABLE", "the stream ended before the pane did")
            except TmuxwireError as error:
                if is_open and error.code == "NOT_FOUND":
                    yield {"kind": "closed", "code": error.code, "message": str(error)}
                    return
                # A stream that could not be opened is an error; one that is lost later is resumed.
                if error.code not in PASSING or not is_open or not resume:
                    raise
            _pause(tries)
            tries += 1

    def _connection(self, start, readiness, last_id):
        headers = {"Accept": "text/event-stream"}
        if last_id is not None:
            headers["Last-Event-ID"] = last_id
        query = {"from": start if last_id is None else None, "readiness": True if readiness else None}
        connection, response = self._client._open("GET", self._path + ("stream",), None, query, headers)
        # A gap is delivered together with the snapshot that ends it, so that no gap is delivered twice.
        gap = None
        try:
            for name, data, event_id in _sse(response):
                event = _decoded(name, data, event_id)
                if event is None:
                    continue
                if event["kind"] == "gap":
                    gap = event
                    continue
                if gap is not None:
                    yield gap, None
                    gap = None
                yield event, event_id
        finally:
            connection.close()

    def _post(self, operation, body, idempotency_key=None):
        return self._client.request("POST", self._path + (operation,), body, idempotency_key=idempotency_key)


def _given(**members):
    return {name: value for name, value in members.items() if value is not None}


def _ms(seconds):
    return None if seconds is None else max(1, round(seconds * 1000))


def _sse(response):
    """Events as (name, data, id). An incomplete event is never delivered."""
    name, data, event_id, size = "message", [], "", 0
    while True:
        line = _guarded(lambda: response.readline(MAX_EVENT_BYTES + 1))
        size += len(line)
        if size > MAX_EVENT_BYTES:
            raise TmuxwireError("PROTOCOL_ERROR", "an event of the stream is too long")
        if not line.endswith(b"\n"):
            return
        text = line.rstrip(b"\n").decode("utf-8")
        if text == "":
            if data:
                yield name, "\n".join(data), event_id
            name, data, event_id, size = "message", [], "", 0
            continue
        field, _, value = text.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id":
            event_id = value


def _decoded(name, data, event_id):
    """None for an event that this version does not know."""
    if name == "output":
        return {"kind": "output", "bytes": base64.b64decode(data), "position": event_id}
    if name not in ("open", "gap", "snapshot", "resize", "exit", "readiness", "closed"):
        return None
    event = dict(json.loads(data), kind=name)
    if name == "snapshot":
        event["bytes"] = base64.b64decode(event.pop("data"))
    return event
