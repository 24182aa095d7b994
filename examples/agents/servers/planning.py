"""An MCP server over stdio with nothing but Python's standard library: it keeps plans for as long as it runs."""

import json
import sys

PLANS = {}

NAME = {"type": "string", "minLength": 1}
TOOLS = [
    {
        "name": "save_plan",
        "description": "Saves a plan under a name; one of the same name is replaced.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": NAME,
                "content": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["name", "content"],
        },
        "annotations": {"idempotentHint": True, "destructiveHint": False, "openWorldHint": False},
    },
    {
        "name": "list_plans",
        "description": "Lists the names of the plans, those with a tag only if one is given.",
        "inputSchema": {"type": "object", "properties": {"tag": {"type": "string"}}},
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
]


def save_plan(name, content, tags=()):
    PLANS[name] = {"content": content, "tags": list(tags)}
    return f'The plan "{name}" is saved: {len(content)} characters.'


def list_plans(tag=None):
    names = [name for name, plan in PLANS.items() if tag is None or tag in plan["tags"]]
    return ", ".join(sorted(names)) or "There are no plans."


def call_tool(params):
    tools = {"save_plan": save_plan, "list_plans": list_plans}
    try:
        return {"content": [{"type": "text", "text": tools[params["name"]](**params.get("arguments") or {})}]}
    except (KeyError, TypeError, AttributeError) as error:
        # For the model, which may try again: it is no fault of the protocol.
        return {"isError": True, "content": [{"type": "text", "text": f"{params.get('name')}: {error}"}]}


def initialize(params):
    return {
        "protocolVersion": params.get("protocolVersion", "2025-06-18"),
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "planning", "version": "1.0.0"},
    }


METHODS = {
    "initialize": initialize,
    "ping": lambda _: {},
    "tools/list": lambda _: {"tools": TOOLS},
    "tools/call": call_tool,
}


def main():
    for line in sys.stdin:
        message = json.loads(line)
        # A notification has no id, and wants no answer.
        if "id" not in message or "method" not in message:
            continue
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        method = METHODS.get(message["method"])
        if method is None:
            answer["error"] = {"code": -32601, "message": f"There is no method {message['method']}."}
        else:
            answer["result"] = method(message.get("params") or {})
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
