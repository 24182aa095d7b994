import { expect, test } from "vitest";
import { answerJson, type FakeEndpoint, startEndpoint } from "../../../test/fakes/uhlp-endpoint.ts";
import type { EndpointCall } from "../../ports/tools/tool-endpoint.ts";
import { findAllowed, UhlpEndpoint, type UhlpEndpointOptions } from "./uhlp-endpoint.ts";

const NEVER = new AbortController().signal;
const CALL: EndpointCall = {
  tool: "core.llm.generate",
  params: { prompt: "Hi" },
  context: { appId: "a", requestId: "r" },
};

test("a tool is asked for with its parameters and its context, and `data` is the output", async () => {
  const endpoint = await startEndpoint(answerJson({ data: { completion: "Hello" } }));
  const outcome = await clientOf(endpoint).call({ ...CALL, idempotencyKey: "key" }, NEVER);
  expect(outcome).toEqual({ status: "succeeded", output: { completion: "Hello" }, costMicro: 0 });
  expect(endpoint.requests).toEqual([
    { tool: "core.llm.generate", params: { prompt: "Hi" }, context: { appId: "a", requestId: "r" } },
  ]);
  expect(endpoint.headers[0]).toMatchObject({ "x-request-id": "r", "idempotency-key": "key" });
});

test("an error keeps the code that the endpoint gave it", async () => {
  const endpoint = await startEndpoint(
    answerJson({ error: { code: "QUOTA", message: "No more today.", details: [1] } }, 429),
  );
  expect(await clientOf(endpoint).call(CALL, NEVER)).toMatchObject({
    status: "failed",
    code: "QUOTA",
    message: "No more today.",
    details: [1],
    effect: "unknown",
  });
});

for (const [what, answer, code] of [
  ["`success: false`", { success: false, error: "The disk is full." }, "MCP_TOOL_FAILED"],
  ["`success: false` alone", { success: false }, "MCP_TOOL_FAILED"],
  ["an error without a code", { error: { message: "Odd." } }, "MCP_TOOL_FAILED"],
  ["no data", { result: 1 }, "ENDPOINT_FAILED"],
  ["a list", [1, 2], "ENDPOINT_FAILED"],
] as const) {
  test(`an answer with ${what} is the failure ${code}`, async () => {
    const endpoint = await startEndpoint(answerJson(answer));
    expect(await clientOf(endpoint).call(CALL, NEVER)).toMatchObject({ status: "failed", code });
  });
}

test("an answer that is no JSON, empty, or has a bad status is no success", async () => {
  const garbage = await startEndpoint((_, response) => response.end("<html>oops</html>"));
  expect(await clientOf(garbage).call(CALL, NEVER)).toMatchObject({
    code: "ENDPOINT_FAILED",
    message: expect.stringContaining("<html>oops</html>"),
  });
  const empty = await startEndpoint((_, response) => response.writeHead(502).end());
  expect(await clientOf(empty).call(CALL, NEVER)).toMatchObject({ code: "ENDPOINT_FAILED", retryable: true });
  const failing = await startEndpoint(answerJson({ data: 1 }, 500));
  expect(await clientOf(failing).call(CALL, NEVER)).toMatchObject({ status: "failed" });
});

test("a redirect is not followed", async () => {
  const target = await startEndpoint(answerJson({ data: "secret" }));
  const endpoint = await startEndpoint((_, response) => response.writeHead(307, { location: target.url }).end());
  expect(await clientOf(endpoint).call(CALL, NEVER)).toMatchObject({
    code: "ENDPOINT_FAILED",
    message: expect.stringContaining("redirect"),
  });
  expect(target.requests).toEqual([]);
});

test("an answer that does not come in time is a time-out, and one that is too large is not held", async () => {
  const silent = await startEndpoint(() => undefined);
  expect(await clientOf(silent, { timeoutMs: 200 }).call(CALL, NEVER)).toMatchObject({ code: "TIMEOUT" });
  const half = await startEndpoint((_, response) => response.write('{"data":'));
  expect(await clientOf(half, { timeoutMs: 200 }).call(CALL, NEVER)).toMatchObject({ code: "TIMEOUT" });
  const huge = await startEndpoint(answerJson({ data: "x".repeat(20_000) }));
  expect(await clientOf(huge, { maxResponseBytes: 10_000 }).call(CALL, NEVER)).toMatchObject({
    code: "OUTPUT_TOO_LARGE",
  });
});

test("whoever stops waiting is told so, and a port where nobody listens had no effect", async () => {
  const stop = new AbortController();
  const silent = await startEndpoint(() => stop.abort());
  expect(await clientOf(silent).call(CALL, stop.signal)).toMatchObject({ code: "INTERRUPTED" });
  const gone = "http://127.0.0.1:9";
  const client = new UhlpEndpoint({ configured: gone, allowed: [] });
  expect(await client.call(CALL, NEVER)).toMatchObject({ code: "MCP_UNREACHABLE" });
});

test("only known endpoints are asked", async () => {
  const endpoint = await startEndpoint(answerJson({ data: 1 }));
  const none = new UhlpEndpoint({ allowed: [] });
  expect(await none.call(CALL, NEVER)).toMatchObject({ code: "ENDPOINT_NOT_ALLOWED", effect: "none" });
  const call = { ...CALL, endpoint: endpoint.url };
  expect(await none.call(call, NEVER)).toMatchObject({ code: "ENDPOINT_NOT_ALLOWED" });
  expect(endpoint.requests).toEqual([]);
  const listed = new UhlpEndpoint({ allowed: [endpoint.origin] });
  expect(await listed.call(call, NEVER)).toMatchObject({ status: "succeeded" });
});

test("an origin allows everything below it, a longer URL only itself", () => {
  const settings = {
    configured: "http://one.example/tools",
    allowed: ["https://two.example", "http://three.example/mcp"],
  };
  const allowed = (url: string) => findAllowed(url, settings) !== undefined;
  for (const url of [
    "http://one.example/tools",
    "https://two.example",
    "https://two.example/any/path?x=1",
    "https://two.example:443/",
    "http://three.example/mcp",
    "HTTP://THREE.example/mcp",
  ]) {
    expect([url, allowed(url)]).toEqual([url, true]);
  }
  for (const url of [
    "http://one.example/",
    "http://one.example/tools/more",
    "http://one.example/tools?x=1",
    "http://two.example/",
    "https://two.example:444/",
    "https://two.example.evil.example/",
    "https://user:pass@two.example/",
    "https://two.example@evil.example/",
    "http://three.example/mcp/../admin",
    "file:///etc/passwd",
    "",
  ]) {
    expect([url, allowed(url)]).toEqual([url, false]);
  }
});

test("a definition is taken as it stands, or decoded where it is nothing but base64", async () => {
  const yaml = "startAt: a\nsteps: {}\n";
  const packed = Buffer.from(yaml).toString("base64");
  for (const data of [
    { content: yaml, revision: "7" },
    { content: packed, revision: "7" },
    { content: packed, encoding: "base64", revision: "7" },
  ]) {
    const endpoint = await startEndpoint(answerJson({ data }));
    const file = { context: { appId: "a" }, filePath: "workflows/a.yaml" };
    expect(await clientOf(endpoint).readDefinitionFile(file, NEVER)).toEqual({ content: yaml, revision: "7" });
    expect(endpoint.requests[0]).toMatchObject({
      tool: "core.state.getDefinitionFileContent",
      params: { app_id: "a", file_path: "workflows/a.yaml" },
    });
  }
});

test("text that only looks like base64 stays text", async () => {
  for (const content of ["print", "cGFzcw==", "passpasspasspasspass", "aGVsbG8gd29ybGQhISEh: x"]) {
    const endpoint = await startEndpoint(answerJson({ data: { content } }));
    const file = { context: {}, filePath: "a.py" };
    expect(await clientOf(endpoint).readDefinitionFile(file, NEVER)).toEqual({ content });
  }
});

test("a definition that is not there fails with what the endpoint says", async () => {
  const endpoint = await startEndpoint(answerJson({ error: { code: "NOT_HERE", message: "No such file." } }));
  const file = { context: {}, filePath: "a.yaml" };
  await expect(clientOf(endpoint).readDefinitionFile(file, NEVER)).rejects.toMatchObject({
    code: "ENDPOINT_FAILED",
    message: "a.yaml: NOT_HERE: No such file.",
  });
  const missing = await startEndpoint(answerJson({ error: { code: "NOT_FOUND", message: "No such file." } }));
  await expect(clientOf(missing).readDefinitionFile(file, NEVER)).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
  const refused = new UhlpEndpoint({ allowed: [] }).readDefinitionFile({ ...file, endpoint: endpoint.url }, NEVER);
  await expect(refused).rejects.toMatchObject({ code: "ENDPOINT_NOT_ALLOWED" });
});

function clientOf({ url }: FakeEndpoint, more: Partial<UhlpEndpointOptions> = {}): UhlpEndpoint {
  return new UhlpEndpoint({ configured: url, allowed: [], ...more });
}
