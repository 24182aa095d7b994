"""
An MCP server as people wrote them by hand: the standard library alone, revision 2024-11-05, a thread for each call.

    python3 old_server.py [--http] [FAULT...]

A fault is `many=N` (N tools in pages of 100), `endless` (a list that never ends), `broken` (tools that are none),
`deaf` (pings are not answered once `deafen` was called), `tools=NAME,NAME` (these, which do nothing, in place of its own),
`tools-file=PATH` (the same from a file, with each listing), `hang=METHOD` (never answered), `log=PATH` (gets a line for each call of `raw`), `on:METHOD=TEXT` (that text as it is, with `ID` for the id, in place of the answer).
With `--http` each answer is the body of a response, and the URL is said on stdout.
"""

import json
import os
import queue
import random
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

faults = dict(argument.partition("=")[::2] for argument in sys.argv[1:])
lock = threading.Lock()
grown = []
deaf = threading.Event()
response = threading.local()
raw_calls = []


def write(text):
    if hasattr(response, "lines"):
        return response.lines.append(text)
    with lock:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}))


def say(id, text, **more):
    send({"id": id, "result": {"content": [{"type": "text", "text": text}], **more}})


def tool(name, **more):
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def list_tools(cursor):
    start = int(cursor or 0)
    if "endless" in faults:
        return {"tools": [tool(f"tool_{start}")], "nextCursor": str(start + 1)}
    if "many" in faults:
        count = int(faults["many"])
        page = [tool(f"tool_{index}") for index in range(start, min(count, start + 100))]
        return {"tools": page, **({"nextCursor": str(start + 100)} if start + 100 < count else {})}
    if "tools" in faults:
        return {"tools": [tool(name) for name in faults["tools"].split(",")]}
    if "tools-file" in faults:
        return {"tools": [tool(name) for name in [*open(faults["tools-file"]).read().split(), "grow", "where"]]}
    tools = [tool(name, **described.get(name, {})) for name in TOOLS] + [tool(name) for name in grown]
    if "broken" in faults:
        tools += [
            7,
            {"description": "without a name", "inputSchema": {"type": "object"}},
            {"name": "no_schema"},
            tool("text_schema", inputSchema={"type": "string"}),
            tool("wrong_schema", inputSchema={"type": "object", "properties": {"a": {"type": "integr"}}}),
            tool("far_schema", inputSchema={"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}),
            tool("huge_schema", inputSchema={"type": "object", "description": "x" * 300_000}),
            tool("untyped", inputSchema={"properties": {"a": {"type": "string"}}}, annotations="yes", title=7),
            tool("strange words", description="Deletes\u001b[2J\u202e\u0000 nothing\n" + "x" * 20_000),
        ]
    return {"tools": tools}


def whoami(id, arguments, _):
    """Answers come in another order than the questions."""
    time.sleep(random.random() / 50)
    say(id, json.dumps({"you": arguments.get("caller"), "pid": os.getpid()}))


def where(id, *_):
    say(id, json.dumps({"python": sys.executable, "prefix": sys.prefix, "cwd": os.getcwd(), "pid": os.getpid()}))


def wrong_ids(id, *_):
    for wrong in [999_999, "abc", None, -1]:
        say(wrong, "for somebody else")
    write('{"jsonrpc": "2.0"}\n[]\n{"id": 1, "result"')
    say(id, "for you")


def garbage(*_):
    with lock:
        while True:
            sys.stdout.write("Starting up, please wait...\n" * 1_000)


def flood(id, _, meta):
    token = meta.get("progressToken")
    send_progress = lambda count: {"method": "notifications/progress", "params": {"progressToken": token, "progress": count}}
    lines = [json.dumps({"jsonrpc": "2.0", **send_progress(count)}) for count in range(1_000)]
    while True:
        write("\n".join(lines))


def chatter(id, _, meta):
    for count in range(2_000):
        params = {"progressToken": meta.get("progressToken"), "progress": count, "message": "m" * 5_000}
        send({"method": "notifications/progress", "params": params})
    say(id, "enough")


def huge(id, *_):
    say(id, "x" * 100_000_000)


def grow(id, arguments, _):
    """Has another tool from now on; or, with a name in `describes`, says something else of that one."""
    if "describes" in arguments:
        described[arguments["describes"]] = {"description": arguments["as"]}
    else:
        grown.append("grown")
    send({"method": "notifications/tools/list_changed"})
    say(id, "grown")


def deafen(id, *_):
    deaf.set()
    say(id, "I do not hear you any more.")


def silence(*_):
    pass


def ask(id, arguments, _):
    """Asks the client something in the middle of a call, whether or not the client has said that it can be asked."""
    own = f"ask-{id}"
    asked[own] = queue.Queue()
    send({"id": own, "method": arguments["method"], "params": arguments.get("params") or {}})
    say(id, json.dumps(asked[own].get(timeout=20)))


def book(id, arguments, _):
    """Books seats, once a person has said how many: a line in `log` for each booking. Waits for `patience` seconds at most."""
    own = f"book-{id}"
    asked[own] = queue.Queue()
    with open(arguments["log"], "a") as log:
        log.write("asked\n")
    send({"id": own, "method": "elicitation/create", "params": arguments.get("params") or SEATS})
    try:
        told = asked[own].get(timeout=arguments.get("patience", 60))
    except queue.Empty:
        return say(id, "Nobody answered.", isError=True)
    if told.get("result", {}).get("action") != "accept":
        return say(id, json.dumps(told.get("result") or told.get("error")))
    with open(arguments["log"], "a") as log:
        log.write(f"booked {json.dumps(told['result'].get('content'))}\n")
    say(id, "Booked " + json.dumps(told["result"].get("content")))


SEATS = {
    "message": "How many seats?\u001b[2J",
    "requestedSchema": {
        "type": "object",
        "properties": {"seats": {"type": "integer", "minimum": 1}, "row": {"type": "string", "default": "front"}},
        "required": ["seats"],
    },
}


def mirror(id, arguments, _):
    say(id, json.dumps(arguments), structuredContent=arguments)


def raw(id, arguments, _):
    """Answers with texts as they are, `ID` standing for the id."""
    raw_calls.append(id)
    if "log" in faults:
        with open(faults["log"], "a") as log:
            log.write("raw\n")
    response.type = arguments.get("type", "application/json")
    response.status = arguments.get("status", 200)
    for text in arguments.get("texts", []):
        write(text.replace("ID", json.dumps(id)))


def count_raw(id, *_):
    say(id, str(len(raw_calls)))


asked = {}
described = {}
TOOLS = {f.__name__: f for f in [ask, book, raw, count_raw, whoami, where, wrong_ids, garbage, flood, chatter, huge, grow, deafen, silence, mirror]}


def answer(message):
    id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method is not None and method == faults.get("hang"):
        return threading.Event().wait()
    if f"on:{method}" in faults:
        return write(faults[f"on:{method}"].replace("ID", json.dumps(id)))
    if method is None:
        if id in asked:
            asked[id].put(message)
    elif method == "initialize":
        capabilities = {"tools": {"listChanged": True}}
        server = {"name": "old", "version": "0.1"}
        send({"id": id, "result": {"protocolVersion": "2024-11-05", "capabilities": capabilities, "serverInfo": server}})
    elif method == "tools/list":
        send({"id": id, "result": list_tools(params.get("cursor"))})
    elif method == "tools/call":
        TOOLS[params["name"]](id, params.get("arguments") or {}, params.get("_meta") or {})
    elif method == "ping" and not deaf.is_set():
        send({"id": id, "result": {}})
    elif id is not None and method != "ping":
        send({"id": id, "error": {"code": -32601, "message": f"I do not know {method}."}})


class Answers(BaseHTTPRequestHandler):
    def do_POST(self):
        response.lines, response.type, response.status = [], "application/json", 200
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer(message)
        body = "\n".join(response.lines).encode()
        self.send_response(response.status if "id" in message else 202)
        self.send_header("content-type", response.type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send_error(405)

    def log_message(self, *_):
        pass


if "--http" in faults:
    listener = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    listener.daemon_threads = True
    write(f"http://127.0.0.1:{listener.server_port}/mcp")
    listener.serve_forever()

for line in sys.stdin:
    threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()
