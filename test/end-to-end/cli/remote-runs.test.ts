import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { AT_ONCE, application, QUESTION, REVIEW, SLOW_ONCE } from "../support/application.ts";
import { pawl, startPawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

const SIGNAL = `
name: signalled
steps:
  - id: hold
    type: wait
    event: go
`;

const ECHO = `
workflowId: echo
startAt: shape
steps:
  shape:
    type: control
    subtype: formatResponse
    data: { word: trigger.requestData.payload.word }
`;

const AGENTS = JSON.stringify({
  agents: [{ name: "A", client_ids: [], instructions: "x" }],
  workflows: [
    { name: "first", steps: ["A"] },
    { name: "second", steps: ["A"] },
  ],
});

function answering(script = AT_ONCE): string {
  return application({
    "workflows/question.yaml": QUESTION,
    "workflows/review.yaml": REVIEW,
    "workflows/signalled.yaml": SIGNAL,
    "answers.yaml": `${script}  A: {reply: "Hello.", delay_ms: 0}\n`,
    "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
  });
}

/** Without what differs from one run to the next. */
function shown(stderr: string): string {
  return stderr
    .replaceAll(/\[ *[\d.]+ m?s\]/g, "[TIME]")
    .replaceAll(/ in [\d.]+ m?s/g, " in TIME")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}(-[0-9a-f-]+)?/g, "ID");
}

test("a run of a server is shown as one of this machine, with what it waits for", async () => {
  const folder = answering();
  const { url } = await startServer([], { cwd: folder });
  for (const args of [["question", "-i", "question=why"], ["review"], ["signalled"]]) {
    const near = await pawl(["run", ...args], { cwd: folder });
    const far = await pawl(["run", ...args, "--url", url], { cwd: folder });
    expect({ ...far, stderr: shown(far.stderr) }).toEqual({ ...near, stderr: shown(near.stderr) });
  }
});

test("a run is followed through a server that is killed and starts again", async () => {
  const folder = answering(SLOW_ONCE);
  const first = await startServer([], { cwd: folder });
  const watching = startPawl(["run", "question", "-i", "question=why", "--url", first.url], { cwd: folder });
  await watching.said("answer started");
  first.kill("SIGKILL");
  await watching.said("is lost");
  await startServer(["--port", new URL(first.url).port], { cwd: folder });
  expect(await watching.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("42") });
});

test("events, every run that was parked and one workflow of a file go through a server too", async () => {
  const folder = answering();
  const elsewhere = application({
    "agents.json": AGENTS,
    "request.json": '{"requestData": {"payload": {"word": "hi"}}}',
  });
  const { url } = await startServer([], { cwd: folder });
  const far = (...args: readonly string[]) => pawl([...args, "--url", url], { cwd: elsewhere });
  const { stdout } = await far("run", "question", "-i", "question=why", "--json");
  const { data } = JSON.parse(stdout) as { readonly data: JsonObject };
  const events = await pawl(["runs", "events", String(data["run_id"]), "--json=lines"], { cwd: folder });
  expect(await far("runs", "events", String(data["run_id"]), "--json=lines")).toEqual(events);
  expect(events.stdout).toContain('"runStarted"');

  expect(await far("run", "agents.json#second", "-i", "message=hi", "--json")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"workflow_name":"second"'),
  });
  expect(await far("run", "agents.json#third", "-i", "message=hi")).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/WORKFLOW_NOT_FOUND.*third.*first, second/s),
  });
  expect(await far("plan", "agents.json#first", "-i", "message=hi")).toMatchObject({ code: 0 });
  expect(await far("runs", "resume", "--all")).toMatchObject({ code: 0, stderr: expect.stringContaining("No run") });
});

test("a request of POST /execute is sent as it is, and its run is shown", async () => {
  const folder = application({
    "workflows/echo.yaml": ECHO,
    "request.json": '{"requestId": "r", "requestData": {"source": "internal", "payload": {"word": "hi"}}}',
    "bad.json": '{"requestData": 7}',
  });
  const { url } = await startServer([], { cwd: folder });
  const asked = ["run", "echo", "--request", "request.json"];
  const near = await pawl(asked, { cwd: folder });
  const far = await pawl([...asked, "--url", url], { cwd: folder });
  expect(far).toMatchObject({ code: near.code, stdout: near.stdout });
  expect(near.code).toBe(0);
  const wrong = await pawl(["run", "echo", "--request", "bad.json", "--url", url], { cwd: folder });
  expect(wrong).toMatchObject({ stderr: expect.stringContaining("REQUEST_INVALID") });
  const both = await pawl([...asked, "-i", "a=1", "--url", url], { cwd: folder });
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("-i") });
});

test("lists are as long as they are, in as many pages as a server gives them", async () => {
  const files = Array.from({ length: 230 }, (_, n) => [
    join("workflows", `w${n}.yaml`),
    QUESTION.replace("name: question", `name: w${n}`),
  ]);
  const folder = application(Object.fromEntries(files) as Record<string, string>);
  const { url } = await startServer([], { cwd: folder });
  const { stdout } = await pawl(["workflows", "ls", "--json", "--url", url], { cwd: folder });
  expect(JSON.parse(stdout)).toMatchObject({ data: { items: { length: 230 }, next_cursor: null } });
});

test.each([
  ["a proxy in place of a server", 502, "text/html", "<h1>Bad gateway</h1>", /NOT_A_PAWL_SERVER.*stands before it/s],
  ["a login page", 401, "text/html", "<form>", /NOT_A_PAWL_SERVER.*login of its own/s],
  ["a page that points elsewhere", 302, "text/html", "", /points to https:\/\/elsewhere\.example\/login/],
  ["another service", 200, "application/json", '{"hello": 1}', /NOT_A_PAWL_SERVER.*prints its own/s],
  ["JSON that is cut off", 200, "application/json", '{"data": {"it', /NOT_A_PAWL_SERVER/],
])("%s is told from a server", async (_, status, type, body, says) => {
  const server = createServer((_request, response) => {
    response.writeHead(status, { "content-type": type, location: "https://elsewhere.example/login" });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const asked = await pawl(["runs", "ls", "--url", `http://127.0.0.1:${port}`], { cwd: application({}) });
  expect(asked).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(says) });
});
