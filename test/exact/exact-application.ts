import { oldSettings } from "../fakes/mcp-server/server-entries.ts";
import type { Play } from "../fakes/model-server/fake-model-server.ts";
import { saidIn } from "../fakes/model-server/shown.ts";

export const IDS = {
  type: "object",
  required: ["ids"],
  properties: { ids: { type: "array", items: { type: "integer" } } },
};

/** Each step gets the integers of the one before, and the answer has those of all. */
const CHAIN = `
workflowId: chain
trigger: { type: http, config: { pathPattern: /chain, method: POST } }
startAt: python
maxSteps: 40
steps:
  python:
    type: jit
    target: scripts/same.py#same
    inputMapping: { ids: trigger.payload.ids }
    transitions: { onSuccess: javascript }
  javascript:
    type: jit
    target: "scripts/same.mjs:same"
    inputMapping: { ids: steps.python.output.ids }
    transitions: { onSuccess: program }
  program:
    type: jit
    target: scripts/program.py
    inputMapping: { ids: steps.javascript.output.ids }
    transitions: { onSuccess: tool }
  tool:
    type: mcp
    target: { server: old, tool: mirror }
    inputMapping: { ids: steps.program.output.ids }
    transitions: { onSuccess: web }
  web:
    type: mcp
    target: { server: web, tool: mirror }
    inputMapping: { ids: steps.tool.output.ids }
    transitions: { onSuccess: keep }
  keep:
    type: mcp
    target: core.state.setRuntimeValue
    inputMapping: { key: "'ids'", value: steps.web.output.ids }
    transitions: { onSuccess: kept }
  kept:
    type: mcp
    target: core.state.getRuntimeValue
    inputMapping: { key: "'ids'" }
    transitions: { onSuccess: model }
  model:
    type: llm
    target:
      prompt: "Say {{ ids | tojson }}"
      model: fake:m
      outputSchema: ${JSON.stringify(IDS)}
    inputMapping: { ids: steps.kept.output.value }
    transitions: { onSuccess: each }
  each:
    type: control
    subtype: loop
    list: steps.model.output.ids
    maxConcurrency: 500
    body:
      type: control
      subtype: formatResponse
      resultType: generic
      data: { id: item, isOdd: item == 9007199254740993 }
    transitions: { onSuccess: texts }
  texts:
    type: jit
    target: scripts/same.py#numbers
    inputMapping:
      ids: map(steps.model.output.ids, x => toNumber(toString(x)))
      parsed: parseJson(toJson(steps.model.output.ids))
      joined: join(steps.model.output.ids, ' ')
      same: filter(steps.model.output.ids, x => contains(steps.model.output.ids, x))
      large: filter(steps.model.output.ids, x => x > 9007199254740992)
      edge: filter(steps.model.output.ids, x => x == 9007199254740993)
    transitions: { onSuccess: answer }
  answer:
    type: control
    subtype: formatResponse
    resultType: generic
    data:
      python: steps.python.output.ids
      javascript: steps.javascript.output.ids
      program: steps.program.output.ids
      tool: steps.tool.output.ids
      web: steps.web.output.ids
      kept: steps.kept.output.value
      each: steps.each.output
      model: steps.model.output.ids
      texts: steps.texts.output
`;

/** What one process computes another one reads, after the wait. */
const REPLAY = (wait: string) => `
workflowId: ${wait === "" ? "straight" : "replay"}
trigger: { type: http, config: { pathPattern: /replay, method: POST } }
startAt: before
steps:
  before:
    type: jit
    target: "scripts/same.mjs:doubles"
    inputMapping: { ids: trigger.payload.ids }
    transitions: { onSuccess: choose }
  choose:
    type: control
    subtype: branch
    branches: [{ condition: steps.before.output.double >= 100000000000000000000, nextStep: ${wait === "" ? "model" : "pause"} }]
    default: never
  never: { type: control, subtype: fail, code: NEVER }
${wait}
  model:
    type: llm
    target: { prompt: "{{ v }} {{ v.double + 1 }} {{ v.big * 3 }} {{ v.double / 2 }}", model: fake:m }
    inputMapping: { v: steps.before.output }
    transitions: { onSuccess: after }
  after:
    type: jit
    target: scripts/same.py#kinds
    inputMapping: { v: steps.before.output, s: toString(steps.before.output), told: steps.model.output }
    transitions: { onSuccess: answer }
  answer:
    type: control
    subtype: formatResponse
    resultType: generic
    data:
      after: steps.after.output
      same: steps.before.output.double == 100000000000000000000
      above: filter(trigger.payload.ids, x => x > steps.before.output.double)
      text: toJson(steps.before.output)
      value: steps.before.output
`;

/** An agent that calls a tool with the integers, and says what it was told. */
const AGENTS = `
name: agents
default_model: "fake:m"
steps:
  - id: ask
    prompt: "Say {input.ids}"
    output_schema: ${JSON.stringify(IDS)}
  - id: again
    depends_on: [ask]
    prompt: "Say {steps.ask.output.ids}"
    output_schema: ${JSON.stringify(IDS)}
`;

const SCRIPTS = {
  "scripts/same.py": `
def same(input):
    assert all(type(each) is int for each in input["ids"])
    return input
def numbers(input):
    input["joined"] = [int(each) for each in input["joined"].split(" ")]
    return input
def rows(input):
    return {**input, "rows": [{"id": each} for each in input["ids"]]}
def kinds(input):
    return {"told": input["told"], "s": input["s"], "kinds": [[name, type(each).__name__] for name, each in input["v"].items()]}
`,
  "scripts/program.py": "import json, sys\nprint(json.dumps(json.load(sys.stdin)))\n",
  "scripts/same.mjs": `
export function doubles({ ids }) {
  return { big: 2n ** 63n, double: 1e20, far: 1e21, small: 5n, half: 0.5, first: ids[2] };
}
export function same({ ids }) {
  const sum = ids.reduce((sum, each) => sum + BigInt(each), 0n);
  return { ids: JSON.parse(JSON.stringify(ids.map(String))).map(BigInt), sum };
}
`,
};

export function exactFiles(webUrl: string, model: string): Readonly<Record<string, string>> {
  const old = oldSettings();
  const toProvider = (kind: string) => ({ kind, base_url: model, api_key: "any" });
  const providers = Object.fromEntries(Object.entries(APIS).map(([name, kind]) => [name, toProvider(kind)]));
  return {
    ...SCRIPTS,
    "workflows/chain.yaml": CHAIN,
    "workflows/straight.yaml": REPLAY(""),
    "workflows/replay.yaml": REPLAY(
      "  pause: { type: control, subtype: wait, event: go, transitions: { onSuccess: model } }",
    ),
    "workflows/cast.yaml": CAST,
    "workflows/agents.yaml": AGENTS,
    "agents.json": JSON.stringify({ agents: CALLERS }),
    ".mcp.json": JSON.stringify({ mcpServers: { old, web: { type: "http", url: webUrl } } }),
    "pawl.yaml": JSON.stringify({
      agent: { provider: "inline" },
      models: { default: "fake:m", providers },
      outbound: { allow: ["127.0.0.1"] },
      uhlp: { max_steps: 100 },
    }),
  };
}

/** Sandcastle: outside work, a person, tables, numbers of the file itself. */
const CAST = `
name: cast
default_model: "fake:m"
input_schema:
  required: [ids]
  properties:
    ids: { type: array, items: { type: integer, maximum: 100000000000000000000 } }
    preset: { type: integer, default: 9007199254740993 }
    odd: { enum: [9007199254740993, 9007199254740995], default: 9007199254740995 }
steps:
  - id: web
    type: http
    method: POST
    url: "{input.url}"
    query: { preset: "{input.preset}" }
    headers: { X-Preset: "{input.preset}" }
    body: { ids: "{input.ids}", fixed: [9007199254740993, 0x20000000000001, -9223372036854775808] }
  - id: code
    type: code
    depends_on: [web]
    script: scripts/same.py#rows
    params: { ids: "{steps.web.output.body.ids}", odd: "{input.odd}", fixed: "{steps.web.output.body.fixed}" }
    csv_output: { directory: tables, rows: rows }
    report: { directory: tables }
  - id: look
    type: approval
    depends_on: [code]
    approval_config: { message: "Is {input.preset} right?", show_data: steps.code.output, allow_edit: true }
  - id: tool
    type: mcp
    depends_on: [look]
    tool: old.mirror
    params: { ids: "{steps.look.output.ids}", odd: "{steps.look.output.odd}", fixed: "{steps.look.output.fixed}" }
  - id: each
    depends_on: [tool]
    type: mcp
    parallel_over: steps.tool.output.fixed
    tool: old.mirror
    params: { id: "{item}" }
`;

/** The APIs of models, by the names of their providers here. */
const APIS = { fake: "anthropic", chat: "openai-compatible", responses: "openai", gemini: "google" };
export const PROVIDERS = Object.keys(APIS);

const CALLERS = PROVIDERS.map((name) => {
  return { name: `${name} caller`, model: `${name}:m`, system_prompt: "Call mirror.", client_ids: ["old"] };
});

/** Says the list of integers that it was last asked for, as it was written. */
export const sayIntegers: Play = ({ shown }) => {
  const asked = saidIn(shown).join("\n");
  const [list = "[]"] = asked.match(/\[[-\d, ]{100,}\]/g)?.slice(-1) ?? [];
  const isFirst = shown.messages.every(({ results }) => results.length === 0);
  if (shown.system.includes("Call mirror.") && isFirst)
    return { do: "say", calls: [{ name: "mirror", json: `{"ids": ${list}}` }] };
  return { do: "say", text: list === "[]" ? asked : `{"ids": ${list}}` };
};
