import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { parseExact, toWritable, writeExact } from "../../src/core/exact-json.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { createSandstormExecutor } from "../../src/executors/agent/sandstorm/sandstorm-executor.ts";
import { createOutbound } from "../../src/executors/outbound/outbound.ts";
import { serveAgents } from "../agents/serve-agents.ts";
import { connectService } from "../end-to-end/mcp-service/service-client.ts";
import { toTerminalClient } from "../end-to-end/mcp-terminal/terminal-client.ts";
import { application } from "../end-to-end/support/application.ts";
import { pawl, pawlCommand, startPawl } from "../end-to-end/support/pawl.ts";
import { startFakeHttp } from "../fakes/mcp-server/start-http-server.ts";
import { startFakeModelServer } from "../fakes/model-server/fake-model-server.ts";
import type { ModelRequest } from "../fakes/model-server/model-reply.ts";
import { agentTask } from "../fakes/sandstorm/agent-task.ts";
import { result } from "../fakes/sandstorm/documents.ts";
import { startFakeSandstorm } from "../fakes/sandstorm/fake-sandstorm.ts";
import { stream } from "../fakes/sandstorm/scenarios.ts";
import { rounds } from "../properties/rounds.ts";
import { exactFiles, IDS, PROVIDERS, sayIntegers } from "./exact-application.ts";
import { randomIntegers } from "./random-integers.ts";

const CLIENT = new URL("../../src/client/pawl-client.ts", import.meta.url).href;
const SEED = Number(process.env["PAWL_TEST_SEED"] ?? Date.now() % 1_000_000);
const COUNT = 1_000;
/** `npm run test:all` sends 10,000 integers through everything. */
const SEEDS = Array.from({ length: Math.min(Math.ceil(rounds(1) / 8), 10) }, (_, round) => SEED + round);

/** The files of an application whose tools and models are real servers. */
async function makeFiles(onRequest?: (request: ModelRequest) => void) {
  const web = await startFakeHttp();
  const model = await startFakeModelServer({ replies: sayIntegers, ...(onRequest && { onRequest }) });
  onTestFinished(() => model.close());
  return exactFiles(web.url, model.url);
}

async function serve(onRequest?: (request: ModelRequest) => void) {
  const served = await serveAgents({ files: await makeFiles(onRequest), replies: sayIntegers });
  onTestFinished(() => served.close());
  return served;
}

/** What each step of the chain gave. */
function expectAll(outputs: Json | undefined, ids: string) {
  const { data } = outputs as { data: Readonly<Record<string, JsonObject>> };
  const { each, texts, ...same } = data;
  const all = parseExact(ids) as readonly (number | bigint)[];
  for (const [step, given] of Object.entries(same)) expect([step, writeExact(given)]).toEqual([step, ids]);
  expect(Object.keys(same).sort()).toEqual(["javascript", "kept", "model", "program", "python", "tool", "web"]);
  expect(each).toEqual(all.map((id) => ({ resultType: "generic", data: { id, isOdd: id === 9007199254740993n } })));
  expect(texts).toEqual({
    ids: all,
    parsed: all,
    joined: all,
    same: all,
    large: all.filter((id) => id > 9007199254740992n),
    edge: [9007199254740993n],
  });
}

test.each(SEEDS)("64 bits arrive as they were through every kind of step, and by HTTP (seed %i)", async (seed) => {
  const { url, defects } = await serve();
  const ids = randomIntegers(seed, COUNT);
  const response = await fetch(`${url}/workflows/run/sync`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: `{"workflow":"chain","input":{"ids":${ids}}}`,
  });
  const { data } = parseExact(await response.text()) as { data: JsonObject };
  // Too large for this answer, which says where they are.
  const told = await (await fetch(`${url}${String(data["outputs_ref"])}`)).text();
  expectAll((parseExact(told) as { data: JsonObject }).data["outputs"], ids);
  const shown = await (await fetch(`${url}/runs/${String(data["run_id"])}?whole=true`)).text();
  // The input, and what seven steps gave.
  expect(shown.split(ids).length - 1).toBeGreaterThanOrEqual(8);
  const executed = await fetch(`${url}/execute`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: `{"requestId":"r","requestData":{"source":"internal","payload":{"ids":${ids}}},"context":{"workflowInfo":{"workflowId":"chain"}}}`,
  });
  expectAll(parseExact(await executed.text()), ids);
  expect(defects).toEqual([]);
});

/** A program of somebody else: JSON of its process is as ever. */
const PROGRAM = `
import { createPawlClient } from ${JSON.stringify(CLIENT)};
const client = createPawlClient({ url: process.argv[1] });
const ids = process.argv[2].split(",").map((each) => (Number.isSafeInteger(Number(each)) ? Number(each) : BigInt(each)));
const { run_id: id } = await client.call("POST /workflows/run", { workflow: "chain", input: { ids } });
let recorded = 0;
for await (const { event, data } of client.followRun(id, { events: true })) {
  if (event === "event" && data.event.type === "stepSucceeded") recorded += 1;
}
const { outputs } = await client.call("GET /runs/{id}", { id, whole: true });
console.log(JSON.stringify([recorded > 0, JSON.parse("9007199254740993"), outputs.data.model.map(String).join()]));
`;

test.each(SEEDS)("the client library sends and gets bigints, in any process (seed %i)", async (seed) => {
  const { url } = await serve();
  const ids = randomIntegers(seed, COUNT).slice(1, -1);
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", PROGRAM, url, ids]);
  // The program has rounded 2^53 + 1 by its own parser.
  expect(JSON.parse(stdout)).toEqual([true, 2 ** 53, ids]);
});

test.each(SEEDS)("clients of MCP get them over stdio and HTTP (seed %i)", async (seed) => {
  const files = await makeFiles();
  // Few enough for the answer to have all outputs in it.
  const ids = randomIntegers(seed, 15);
  const asked = toWritable({ workflow_name: "chain", input_data: { ids: parseExact(ids) }, wait: true });
  const { url } = await serve();
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  onTestFinished(() => client.close());
  expectAll((await toTerminalClient(client, 0).call("run_workflow", asked))["outputs"], ids);
  const { call } = await connectService(application(files));
  expectAll((await call("run_workflow", asked))["outputs"], ids);
});

test.each(SEEDS)("the command line takes and prints them, also after a kill (seed %i)", async (seed) => {
  const ids = randomIntegers(seed, COUNT);
  const cwd = application({ ...(await makeFiles()), "input.json": `{"ids":${ids}}`, "input.yaml": `ids: ${ids}\n` });
  const killed = startPawl(["run", "chain", "--input", "input.json"], { cwd });
  const runId = await killed.runId();
  await killed.said("tool");
  killed.kill("SIGKILL");
  await killed.ended;
  const resumed = await pawl(["runs", "resume", runId], { cwd });
  expectAll(parseExact(resumed.stdout), ids);
  const given = await pawl(["run", "chain", "-i", `ids=${ids}`, "--json"], { cwd });
  expectAll((parseExact(given.stdout) as { data: { outputs: Json } }).data.outputs, ids);
  const rerun = await pawl(["runs", "rerun", runId, "--from", "texts"], { cwd });
  expectAll(parseExact(rerun.stdout), ids);
});

test("what a run computes in one process it reads the same in another, doubles that look like integers too", async () => {
  const ids = randomIntegers(SEED, 50);
  const cwd = application({ ...(await makeFiles()), "input.json": `{"ids":${ids}}` });
  const straight = await pawl(["run", "straight", "--input", "input.json"], { cwd });
  const waiting = await pawl(["run", "replay", "--input", "input.json", "--json"], { cwd });
  const { run_id } = (parseExact(waiting.stdout) as { data: { run_id: string } }).data;
  const { stdout } = await pawl(["runs", "signal", run_id, "go", "--payload", "9007199254740993"], { cwd });
  expect(parseExact(stdout)).toEqual(parseExact(straight.stdout));
  expect(parseExact(stdout)).toMatchObject({
    data: {
      same: true,
      text: '{"big":9223372036854775808,"double":100000000000000000000,"far":1e+21,"small":5,"half":0.5,"first":9007199254740993}',
      after: {
        told: expect.stringContaining(" 100000000000000000001 27670116110564327424 5e+19"),
        kinds: [
          ["big", "int"],
          ["double", "int"],
          ["far", "float"],
          ["small", "int"],
          ["half", "float"],
          ["first", "int"],
        ],
      },
    },
  });
});

test.each(SEEDS)("agents inside Pawl read and say them, and call tools with them (seed %i)", async (seed) => {
  const ids = randomIntegers(seed, COUNT);
  const read: string[] = [];
  const { post } = await serve(({ shown }) => {
    read.push(...shown.messages.flatMap(({ results }) => results.map(({ text }) => text)));
  });
  const asked = await post("/workflows/run/sync", { workflow: "agents", input: { ids: parseExact(ids) } });
  expect(asked.body.data.outputs).toEqual({ ask: { ids: parseExact(ids) }, again: { ids: parseExact(ids) } });
  for (const provider of PROVIDERS) {
    const { body } = await post(`/agents/${provider} caller/execute`, { user_message: `Say ${ids}` });
    const { text } = body.final_response.content[0];
    expect([provider, parseExact(text)]).toEqual([provider, { ids: parseExact(ids) }]);
    // What the tool was given and said, as the model read it.
    expect(read.splice(0).join().replaceAll(" ", "")).toContain(ids);
  }
});

test.each(SEEDS)("Sandcastle steps, tables, people and reruns keep them (seed %i)", async (seed) => {
  const ids = randomIntegers(seed, COUNT);
  const echo = await startEcho();
  const input = `{"url":"${echo.url}","ids":${ids}}`;
  const cwd = application({ ...(await makeFiles()), "input.json": input });
  const asked = await pawl(["run", "cast", "--input", "input.json", "--json"], { cwd });
  const { run_id } = (parseExact(asked.stdout) as { data: { run_id: string } }).data;
  const { stdout } = await pawl(["approve", run_id], { cwd });
  const fixed = ["9007199254740993", "9007199254740993", "-9223372036854775808"];
  const { tool, each } = parseExact(stdout) as JsonObject;
  expect(tool).toEqual({ ids: parseExact(ids), odd: 9007199254740995n, fixed: fixed.map(BigInt) });
  expect(each).toEqual(fixed.map((id) => ({ id: BigInt(id) })));
  expect(echo.heard).toEqual(["/?preset=9007199254740993 9007199254740993"]);
  const table = await pawl(["storage", "get", `tables/code-${run_id}.csv`], { cwd });
  expect(table.stdout).toBe(`id\r\n${JSON.parse(ids.replace(/-?\d+/g, '"$&"')).join("\r\n")}\r\n`);
  const report = await pawl(["storage", "get", `tables/code-${run_id}.html`], { cwd });
  for (const id of [...fixed, "18446744073709551615"]) expect(report.stdout).toContain(id);
  const edited = '{"ids":[9007199254740993],"odd":9007199254740994,"fixed":[9007199254740997]}';
  const other = await pawl(["runs", "rerun", run_id, "--from", "look", "--json"], { cwd });
  const { data } = parseExact(other.stdout) as { data: { run_id: string } };
  const answered = await pawl(["approve", data.run_id, "--edit", edited], { cwd });
  expect(parseExact(answered.stdout)).toMatchObject({
    tool: { ids: [9007199254740993n], odd: 9007199254740994n },
    each: [{ id: 9007199254740997n }],
  });
  const refused = await pawl(["run", "cast", "--input", "input.json", "-i", "odd=9007199254740994"], { cwd });
  expect(refused.stderr).toContain("INPUT_INVALID");
});

test("schedules, simulated agents and sub-workflows keep them", async () => {
  const cwd = application({
    "workflows/parent.yaml": `
name: parent
steps:
  - { id: ask, prompt: "Which of {input.n}?" }
  - id: child
    type: sub_workflow
    depends_on: [ask]
    sub_workflow: { workflow: child, input_mapping: { n: steps.ask.output.id, m: input.n } }
`,
    "workflows/child.yaml": `
name: child
steps:
  - { id: ask, prompt: "Is it {input.n} or {input.m}?", output_schema: { type: object, properties: { id: { type: integer, minimum: 9007199254740993 } } } }
`,
    "script.yaml": "delay_ms: 0\nsteps:\n  ask: [{ reply: { id: 9007199254740993 } }]\n",
  });
  const ran = await pawl(["run", "parent", "-i", "n=-9223372036854775808", "--agent", "simulated:script.yaml"], {
    cwd,
  });
  expect(parseExact(ran.stdout)).toMatchObject({ child: { ask: { id: 9007199254740993n } } });
  const plain = await pawl(["run", "child", "-i", "n=1", "-i", "m=2", "--agent", "simulated"], { cwd });
  expect(parseExact(plain.stdout)).toEqual({ ask: { id: 9007199254740993n } });
  const made = await pawl(["schedules", "create", "child", "0 6 * * *", "-i", "n=18446744073709551615", "--json"], {
    cwd,
  });
  expect(made.stdout).toContain("18446744073709551615");
  const listed = await pawl(["schedules", "ls", "--json"], { cwd });
  expect(listed.stdout).toContain('"n":18446744073709551615');
});

test("a number that nothing can hold is refused by its name, whoever sends it", async () => {
  const said = "The number 1e400 in JSON";
  const files = { "workflows/child.yaml": "name: child\nsteps: [{ id: ask, prompt: 'Is it {input.n}?' }]\n" };
  const cwd = application({ ...files, "input.json": '{"n":1e400}' });
  for (const given of [
    ["-i", "n=1e400"],
    ["--input", "input.json"],
  ]) {
    const { code, stderr } = await pawl(["run", "child", ...given, "--agent", "simulated"], { cwd });
    expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining(said)]);
  }
  const { url } = await serve();
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const call =
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"run_workflow","arguments":{"workflow_name":"child","input_data":{"n":1e400}}}}';
  for (const [path, body] of [
    ["/workflows/run", '{"workflow":"child","input":{"n":1e400}}'],
    ["/mcp", call],
  ]) {
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body: body ?? "" });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(said)]);
  }
  const { command, env } = pawlCommand(["mcp"], { cwd });
  const [program = "", ...args] = command;
  const server = spawn(program, args, { env, cwd, stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(() => void server.kill("SIGKILL"));
  server.stdin.write(`${call}\n`);
  const [line] = (await once(server.stdout, "data")) as [Buffer];
  expect(JSON.parse(String(line))).toMatchObject({ id: 7, error: { message: expect.stringContaining(said) } });
});

/** A server that answers with what it was sent. */
async function startEcho() {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push(`${request.url} ${request.headers["x-preset"]}`);
    response.setHeader("content-type", "application/json");
    request.pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

test.each(SEEDS)("agents of Sandstorm are asked and answer with them (seed %i)", async (seed) => {
  const ids = parseExact(randomIntegers(seed, COUNT));
  const said = stream([result({ result: "", structured_output: { ids } })]);
  const server = await startFakeSandstorm({ play: () => said });
  onTestFinished(() => server.close());
  const executor = createSandstormExecutor({ outbound: createOutbound({ allow: [] }), baseUrl: server.url });
  const task = agentTask({ output_schema: IDS, prompt: writeExact(ids) });
  expect(await executor.run(task, new AbortController().signal)).toMatchObject({ output: { ids } });
});
