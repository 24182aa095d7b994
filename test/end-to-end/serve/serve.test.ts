import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { startFakeModelServer } from "../../fakes/model-server/fake-model-server.ts";
import { application } from "../support/application.ts";
import { pawl, startPawl } from "../support/pawl.ts";
import { PROFILE } from "../support/profile.ts";
import { type RunningServer, startServer } from "../support/server.ts";

function answering(workflowId: string, path: string, word: string): string {
  return `
workflowId: ${workflowId}
trigger: { type: http, config: { pathPattern: ${path}, method: GET } }
startAt: answer
steps:
  answer:
    type: control
    subtype: formatResponse
    resultType: generic
    data: { word: "'${word}'" }
    transitions: { end: true }
`;
}

/** Waits, then says who asked. */
const SLOW = `
workflowId: slow
trigger: { type: queue, config: { queueName: work } }
startAt: pause
steps:
  pause:
    type: control
    subtype: wait
    duration: 3s
    transitions: { onSuccess: answer }
  answer:
    type: control
    subtype: formatResponse
    resultType: generic
    data: { asked: trigger.requestData }
    transitions: { end: true }
`;

/** As long under way as the test wants: a model is asked whose answer the test has in its hands. */
const HELD = {
  "prompts/ask.yaml": "template: Are you there?\n",
  "workflows/held.yaml": `
workflowId: held
trigger: { type: queue, config: { queueName: held } }
startAt: ask
steps:
  ask:
    type: llm
    target: { promptTemplate: prompts/ask.yaml }
    transitions: { onSuccess: answer }
  answer:
    type: control
    subtype: formatResponse
    resultType: generic
    data: { asked: trigger.requestData }
    transitions: { end: true }
`,
};

async function heldApplication(): Promise<{ readonly app: string; readonly release: () => void }> {
  const isReleased = Promise.withResolvers<void>();
  const model = await startFakeModelServer({
    replies: () => isReleased.promise.then(() => ({ do: "say", text: "Yes." })),
  });
  onTestFinished(() => model.close());
  const models = { default: "fake:m", providers: { fake: { kind: "openai-compatible", base_url: model.url } } };
  return { app: application({ ...HELD, "pawl.yaml": JSON.stringify({ models }) }), release: isReleased.resolve };
}

const HELLO = { "workflows/hello.yaml": answering("hello", "/hello", "hello") };

function serve(app: string, env: Readonly<Record<string, string>> = {}): Promise<RunningServer> {
  return startServer([], { cwd: app, env });
}

function execute(server: RunningServer, workflowId: string, payload: unknown = {}): Promise<Response> {
  const requestData = { source: "internal", payload };
  const body = JSON.stringify({ requestData, context: { workflowInfo: { workflowId } } });
  return fetch(`${server.url}/execute`, { method: "POST", headers: { "content-type": "application/json" }, body });
}

async function wordOf(server: RunningServer, path = "/hello"): Promise<unknown> {
  const response = await fetch(`${server.url}${path}`);
  return response.status === 200 ? ((await response.json()) as { word: string }).word : response.status;
}

async function runs(app: string): Promise<readonly { readonly run_id: string; readonly status: string }[]> {
  const { stdout } = await pawl(["runs", "ls", "--json"], { cwd: app });
  return JSON.parse(stdout).data.items;
}

describe("starting", () => {
  test("says where it listens, on stdout and in the lock", async () => {
    const app = application(HELLO);
    const process = startPawl(["serve", "--port", "0", "--json"], { cwd: app });
    const { data } = JSON.parse(await process.printed("}\n"));
    expect(data).toMatchObject({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      routes: [{ method: "GET", path: "/hello", workflow: "hello", file: "workflows/hello.yaml" }],
    });
    const lock = () => JSON.parse(readFileSync(join(app, ".pawl/lock.json"), "utf8"));
    if (PROFILE === "embedded") expect(lock()).toMatchObject({ url: data.url });
    expect(await (await fetch(`${data.url}/healthz`)).json()).toEqual({ status: "ok" });
  });

  test("refuses an address that other machines reach", async () => {
    const { code, stderr } = await pawl(["serve", "--host", "0.0.0.0", "--port", "0"], { cwd: application(HELLO) });
    expect([code, stderr]).toEqual([2, expect.stringContaining("HOST_REFUSED")]);
  });

  test("listens on UHLP_SANDBOX_PORT, and says where a port is taken", async () => {
    const first = await serve(application(HELLO));
    const { port } = new URL(first.url);
    const second = startPawl(["serve"], { cwd: application(HELLO), env: { UHLP_SANDBOX_PORT: port } });
    const { code, stderr } = await second.ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`127.0.0.1:${port} cannot be listened on: it is in use`),
    ]);
  });

  test("refuses a data directory that another server drives", async () => {
    const app = application(HELLO);
    const first = await serve(app);
    const { code, stderr } = await pawl(["serve", "--port", "0"], { cwd: app });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`already, at ${first.url}.`)]);
  });

  test("serves what it can, and shows what it cannot", async () => {
    const server = await serve(
      application({
        ...HELLO,
        "workflows/broken.yaml": "workflowId: broken\nstartAt: nowhere\nsteps: {}\n",
        "workflows/zz-second.yaml": answering("second", "/hello/", "second"),
        "workflows/own.yaml": answering("own", "/execute", "own"),
      }),
    );
    expect(await wordOf(server)).toBe("hello");
    server.kill("SIGTERM");
    const { stderr } = await server.ended;
    expect(stderr).toContain("workflows/broken.yaml has problems: it is not served.");
    expect(stderr).toMatch(/ROUTE_AMBIGUOUS workflows\/zz-second\.yaml:\d+:\d+.* workflows\/hello\.yaml:\d+:\d+/);
    expect(stderr).toContain("ROUTE_RESERVED workflows/own.yaml");
  });
});

describe("while it serves", () => {
  test("other commands go through it", async () => {
    const app = application(HELLO);
    await serve(app);
    const { code, stdout } = await pawl(["run", "hello", "--json"], { cwd: app });
    expect([code, JSON.parse(stdout).data.outputs]).toEqual([0, { resultType: "generic", data: { word: "hello" } }]);
  });

  test("edits are served at once; a broken one keeps the last good version and is shown", async () => {
    const app = application(HELLO);
    const server = await serve(app);
    expect(await wordOf(server)).toBe("hello");
    const file = join(app, "workflows/hello.yaml");

    writeFileSync(file, answering("hello", "/hello", "good day"));
    await expect.poll(() => wordOf(server)).toBe("good day");

    writeFileSync(file, "workflowId: hello\nstartAt: [\n");
    await server.said("its last good version stays in use");
    expect(await wordOf(server)).toBe("good day");

    writeFileSync(join(app, "workflows/bye.yaml"), answering("bye", "/bye", "bye"));
    await expect.poll(() => wordOf(server, "/bye")).toBe("bye");
  });

  test("what is no HTTP, or too much of it, does no harm", async () => {
    const server = await serve(application(HELLO));
    const raw = async (bytes: string) => {
      const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
      socket.end(bytes);
      return (await text(socket)).split("\r\n")[0];
    };
    expect(await raw("hello\r\n\r\n")).toBe("HTTP/1.1 400 Bad Request");
    expect(await raw("GET /hello HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")).toContain(" 403 ");
    expect(await raw("GET /hello HTTP/1.1\r\nConnection: close\r\n\r\n")).toContain(" 400 ");
    expect(await raw("GET /%E0%A4%A HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")).toContain(" 400 ");
    expect(await raw("GET //hello/../x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")).toContain(" 404 ");
    expect(await raw(`GET /${"x".repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)).toContain(
      " 431 ",
    );
    expect(await raw("POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n")).toContain(
      " 413 ",
    );
    const half = "POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{";
    await raw(half);
    expect(await wordOf(server)).toBe("hello");
  });

  test("one script is run as a request asks for it, with what it is given", async () => {
    const app = application({
      ...HELLO,
      "scripts/add.mjs": "export function add({ a, b }) { return { sum: a + b }; }\n",
    });
    const server = await serve(app, { PAWL_SERVER__DEBUG: "true" });
    const ask = async (script: string) => {
      const taskDetails = { language: "javascript", script, function: "add", params: { a: 1, b: 2 } };
      const body = JSON.stringify({
        requestData: { source: "internal" },
        context: { handlerType: "JIT", taskDetails },
      });
      const response = await fetch(`${server.url}/execute`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-debug": "1" },
        body,
      });
      return [response.status, await response.json()];
    };
    expect(await ask("scripts/add.mjs")).toMatchObject([
      200,
      { resultType: "generic", data: { sum: 3 }, debug: { steps: [{ path: "jit#1", output: { sum: 3 } }] } },
    ]);
    const [status, refused] = await ask("scripts/none.mjs");
    expect([status, JSON.stringify(refused)]).toEqual([400, expect.not.stringContaining(app)]);
  });

  test("a client that goes away does not end its run", async () => {
    const { app, release } = await heldApplication();
    const server = await serve(app);
    const gone = new AbortController();
    const body = JSON.stringify({
      requestData: { source: "internal" },
      context: { workflowInfo: { workflowId: "held" } },
    });
    const answer = fetch(`${server.url}/execute`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      signal: gone.signal,
    });
    await expect.poll(() => runs(app)).toHaveLength(1);
    gone.abort();
    await expect(answer).rejects.toThrow();
    release();
    await expect.poll(() => runs(app)).toMatchObject([{ status: "completed" }]);
  });
});

/** Over a database a server drives its runs beside others from the beginning. */
describe.runIf(PROFILE === "embedded")("beside a process that drives a run", () => {
  test("it listens at once, what it is asked goes on there, and it drives the runs when the other run has ended", async () => {
    const { app, release } = await heldApplication();
    writeFileSync(join(app, "workflows/hello.yaml"), HELLO["workflows/hello.yaml"]);
    const running = startPawl(["run", "workflows/held.yaml"], { cwd: app });
    await running.said("ask#1 started");
    // Both are as slow as the machine is.
    const alone = await timed(() => serve(application(HELLO)));
    const beside = await timed(() => serve(app));
    expect(beside.ms - alone.ms).toBeLessThan(2_000);
    const server = beside.value;

    const lock = () => JSON.parse(readFileSync(join(app, ".pawl/lock.json"), "utf8"));
    await expect.poll(lock).toMatchObject({ pid: running.pid, url: server.url });
    expect((await pawl(["serve", "--port", "0"], { cwd: app })).stderr).toContain("DATA_LOCKED");
    expect(await wordOf(server)).toBe("hello");

    release();
    expect(await running.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("asked") });
    const events = await pawl(["runs", "events", await running.runId(), "--json"], { cwd: app });
    expect(stepEvents(events.stdout)).toEqual(["ask#1 stepStarted", "ask#1 stepSucceeded", "answer#1 stepSucceeded"]);
    await expect.poll(lock).toMatchObject({ pid: server.pid, url: server.url });
    expect(await wordOf(server)).toBe("hello");
  });

  test("it goes on with runs that it was asked for and that have not ended with the other one", async () => {
    const { app, release } = await heldApplication();
    const running = startPawl(["run", "workflows/held.yaml"], { cwd: app });
    await running.said("ask#1 started");
    const server = await serve(app);
    const answer = execute(server, "held", { n: 1 });
    await expect.poll(() => runs(app)).toHaveLength(2);
    await pawl(["runs", "cancel", await running.runId()], { cwd: app });
    await running.said(`and goes on in the server at ${server.url}`);
    await running.ended;
    release();
    expect(await (await answer).json()).toMatchObject({ data: { asked: { payload: { n: 1 } } } });
  });
});

async function timed<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const begunAt = performance.now();
  return { value: await work(), ms: performance.now() - begunAt };
}

function stepEvents(printed: string): readonly string[] {
  const items = JSON.parse(printed).data.items as {
    readonly event: { readonly type: string; readonly path?: string };
  }[];
  return items.flatMap(({ event: { type, path } }) =>
    /^step(Started|Succeeded|Interrupted)$/.test(type) ? [`${path} ${type}`] : [],
  );
}

describe("stopping and dying", () => {
  test("whoever waits when it stops gets 503 and the run's id, and the run goes on with the next one", async () => {
    const { app, release } = await heldApplication();
    const server = await serve(app, { PAWL_SERVER__STOP_GRACE_MS: "100" });
    const answer = execute(server, "held");
    await expect.poll(() => runs(app)).toHaveLength(1);
    server.kill("SIGTERM");
    const response = await answer;
    const { details } = (await response.json()) as { readonly details: { readonly run_id: string } };
    expect(response.status).toBe(503);
    expect((await server.ended).code).toBe(0);
    release();
    await serve(app);
    await expect.poll(() => runs(app)).toMatchObject([{ run_id: details.run_id, status: "completed" }]);
  });

  test("a request that is nearly done is answered before it stops", async () => {
    const { app, release } = await heldApplication();
    const server = await serve(app, { PAWL_SERVER__STOP_GRACE_MS: "30000" });
    const answer = execute(server, "held", { n: 1 });
    await expect.poll(() => runs(app)).toHaveLength(1);
    server.kill("SIGTERM");
    await server.said("Stopping");
    release();
    expect(await (await answer).json()).toMatchObject({ data: { asked: { payload: { n: 1 } } } });
    expect((await server.ended).code).toBe(0);
  });

  test("a second signal waits for nothing", async () => {
    const { app } = await heldApplication();
    const server = await serve(app, { PAWL_SERVER__STOP_GRACE_MS: "600000" });
    const answer = execute(server, "held").catch(() => undefined);
    await expect.poll(() => runs(app)).toHaveLength(1);
    server.kill("SIGTERM");
    await server.said("Stopping");
    server.kill("SIGTERM");
    expect((await server.ended).code).toBe(0);
    await answer;
  });

  test("a run whose server is killed during the request ends after a restart", async () => {
    const { app, release } = await heldApplication();
    const server = await serve(app);
    const answer = execute(server, "held").catch(() => undefined);
    await expect.poll(() => runs(app)).toHaveLength(1);
    server.kill("SIGKILL");
    await server.ended;
    await answer;
    release();
    await serve(app);
    await expect.poll(() => runs(app)).toMatchObject([{ status: "completed" }]);
  });

  test("a message that comes again after a restart has the run that it had", async () => {
    const app = application({ "workflows/slow.yaml": SLOW });
    const send = async (server: RunningServer) => {
      const body = JSON.stringify({ messageId: "m-1", payload: { n: 1 } });
      const response = await fetch(`${server.url}/queues/work/messages`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      return ((await response.json()) as { data: { runs: readonly { run_id: string; duplicate: boolean }[] } }).data
        .runs;
    };
    const first = await serve(app);
    const [run] = await send(first);
    expect(run).toMatchObject({ duplicate: false });
    first.kill("SIGKILL");
    await first.ended;
    const second = await serve(app);
    expect(await send(second)).toMatchObject([{ run_id: run?.run_id, duplicate: true }]);
    await expect.poll(() => runs(app)).toMatchObject([{ status: "completed" }]);
  });
});

describe("`pawl run --request`", () => {
  const request = (context: unknown) =>
    JSON.stringify({ requestId: "r", requestData: { source: "cron", cronDetails: { jobId: "j" } }, context });

  test("runs a workflow on a whole request", async () => {
    const app = application({
      "workflows/slow.yaml": SLOW,
      "request.json": request({ workflowInfo: { workflowId: "slow", startAt: "answer" } }),
    });
    const { code, stdout } = await pawl(["run", "slow", "--request", "request.json", "--json"], { cwd: app });
    expect([code, JSON.parse(stdout).data.outputs.data]).toMatchObject([0, { asked: { cronDetails: { jobId: "j" } } }]);
  });

  test("refuses another workflow's request, and other dialects", async () => {
    const app = application({
      ...HELLO,
      "plain.yaml": "name: plain\nsteps: [{id: a, prompt: hi}]\n",
      "request.json": request({ workflowInfo: { workflowId: "slow" } }),
    });
    for (const workflow of ["hello", "plain.yaml"]) {
      const { code, stderr } = await pawl(["run", workflow, "--request", "request.json"], { cwd: app });
      expect([code, stderr]).toEqual([2, expect.stringContaining("USAGE")]);
    }
  });
});
