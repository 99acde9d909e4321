"""Drives a REPL: python3 repl.py. `adapters/client/python` must be on PYTHONPATH."""

import tmuxwire

server = tmuxwire.connect().server()
server.create_session(name="calculator", command=["python3", "-q"])
pane = server.pane("calculator")
try:
    pane.wait({"pattern": {"literal": ">>> "}}, start="tail:100", timeout=30)
    for question in ("6 * 7", "sum(range(10))"):
        # The wait starts before the text is typed, and the echo of the typed text does not match.
        answer = pane.wait(
            {"pattern": {"regex": r"^\d+$", "multiline": True}},
            send=[{"kind": "text", "text": question}, {"kind": "enter"}],
            timeout=30,
        )
        print(question, "=", answer["matched"][0]["text"])
finally:
    server.kill_session("calculator")
