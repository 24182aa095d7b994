import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HttpWorld } from "../../../test/fakes/http-world.ts";
import { task, uhlpGraph } from "../../../test/fakes/uhlp-graph.ts";
import { listenOn } from "../../app/server/listen-on.ts";

const HELLO = uhlpGraph({ name: "hello", steps: [task("work")] });
const REVIEW = `
name: review
steps:
  - id: look
    type: approval
    approval_config: {message: "Is it good?", show_data: input.draft}
`;

async function run(world: HttpWorld, body: string, headers: Record<string, string> = {}) {
  const response = await world.request("/workflows/run/sync", { method: "POST", body, headers });
  const { data, error } = (await response.json()) as {
    readonly data: { readonly input_data: { readonly requestData: { readonly payload: unknown } } } | null;
    readonly error: { readonly message: string } | null;
  };
  return error === null ? data?.input_data.requestData.payload : error.message;
}

test.each(["text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "multipart/form-data", ""])(
  "a change that says it is %j, as any page could send it, is refused on every route",
  async (type) => {
    const world = new HttpWorld([]);
    const paths = ["/workflows/run", "/runs/none/cancel", "/execute", "/keys"];
    for (const path of [...paths, "/agents/a/execute"]) {
      const response = await world.post(path, "{}", { "content-type": type });
      expect([path, response.status]).toEqual([path, 415]);
    }
  },
);

describe("what clients of many kinds send as JSON", () => {
  test("has no hundreds of thousands of lists and objects: to make them keeps all others waiting", async () => {
    const world = new HttpWorld([HELLO], { server: { max_body_bytes: 5_000_000 } });
    const bodyOf = (part: string, count: number) =>
      JSON.stringify({ workflow: "hello", input: { list: 0 } }).replace(
        ":0",
        `:[${Array(count).fill(part).join(",")}]`,
      );
    expect(await run(world, bodyOf("{}", 300_000))).toContain("300003 lists and objects");
    for (const body of [bodyOf("1", 300_000), bodyOf('{"name":"aaaaa"}', 120_000)])
      expect((await world.request("/workflows/run/sync", { method: "POST", body })).status).toBe(200);
  });

  test("may begin with a byte order mark", async () => {
    const world = new HttpWorld([HELLO]);
    expect(await run(world, '\ufeff{"workflow": "hello", "input": {"a": 1}}')).toEqual({ a: 1 });
  });

  test("may say null for what it leaves out", async () => {
    const world = new HttpWorld([HELLO]);
    const left = { workflow_name: null, callback_url: null, idempotency_key: null, max_cost_usd: null, version: null };
    expect(await run(world, JSON.stringify({ workflow: "hello", input: { a: null }, ...left }))).toEqual({ a: null });
  });

  test("approves what was shown where the edited data are null", async () => {
    const world = new HttpWorld([], { agent: { provider: "simulated" } });
    const parked = await world.post("/workflows/run/sync", { workflow: REVIEW, input: { draft: "A draft." } });
    const { data } = (await parked.json()) as { readonly data: { readonly run_id: string } };
    const answer = { comment: null, edited_data: null };
    expect((await world.post(`/api/approvals/${data.run_id}:look/approve`, answer)).status).toBe(200);
    await vi.waitFor(async () => {
      const shown = await (await world.request(`/runs/${data.run_id}`)).json();
      expect(shown).toMatchObject({ data: { status: "completed", outputs: { look: "A draft." } } });
    });
  });

  test("is refused where it is compressed, and the answer says so", async () => {
    const world = new HttpWorld([HELLO]);
    expect(await run(world, '{"workflow": "hello"}', { "content-encoding": "br" })).toContain("`Content-Encoding: br`");
  });

  test.each([
    [
      "an exponent",
      "1e400",
      "The body cannot be kept: The number 1e400 in JSON at position 44 is too large for a double.",
    ],
    [
      "a negative one",
      "-1e309",
      "The body cannot be kept: The number 1e309 in JSON at position 45 is too large for a double.",
    ],
    [
      "four hundred digits",
      "9".repeat(400),
      "The body cannot be kept: An integer of more than 300 digits in JSON at position 44.",
    ],
  ])("is refused where a number is none that can be kept: %s", async (_, n, message) => {
    const world = new HttpWorld([HELLO]);
    expect(await run(world, `{"workflow": "hello", "input": {"a": [{"b": ${n}}]}}`)).toBe(message);
    expect(await run(world, '{"workflow": "hello", "input": {"a": 1e99}}')).toEqual({ a: 1e99 });
  });

  test("is refused where it wants to be called back by something else than HTTP", async () => {
    const world = new HttpWorld([HELLO]);
    for (const url of ["javascript:alert(1)", "file:///etc/passwd", "ftp://example.com/"]) {
      const message = await run(world, JSON.stringify({ workflow: "hello", callback_url: url }));
      expect(message).toContain("body.callback_url: must be an address that begins with http:// or https://");
    }
  });
});

describe("a body over a real connection", () => {
  async function listen(world: HttpWorld) {
    const listener = await listenOn((request, env) => world.http.fetch(request, env as never), {
      address: "127.0.0.1",
      port: 0,
    });
    onTestFinished(() => {
      listener.hurry(AbortSignal.abort());
      return listener.close();
    });
    const socket = connect(Number(new URL(listener.url).port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.setEncoding("utf8");
    await once(socket, "connect");
    return socket;
  }

  test("of no chunks is no body", async () => {
    const world = new HttpWorld([HELLO]);
    const socket = await listen(world);
    const headers = "Host: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n";
    socket.write(`POST /runs/none/cancel HTTP/1.1\r\n${headers}\r\n0\r\n\r\n`);
    const [answer] = (await once(socket, "data")) as [string];
    expect(answer).toContain("RUN_NOT_FOUND");
  });

  test("that breaks off is the client's doing and no defect of the server", async () => {
    const world = new HttpWorld([HELLO]);
    const socket = await listen(world);
    const headers = "Host: 127.0.0.1\r\nContent-Length: 100\r\nExpect: 100-continue\r\n";
    socket.write(`POST /workflows/run HTTP/1.1\r\n${headers}\r\n`);
    // Now the server waits for the body.
    expect((await once(socket, "data"))[0]).toContain("100 Continue");
    socket.write("{");
    socket.destroy();
    await vi.waitFor(() => expect(world.logged).toMatchObject([{ route: "/workflows/run", status: 400 }]));
    expect(world.defects).toEqual([]);
  });
});
