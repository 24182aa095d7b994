import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { ERAS, isThere } from "../mcp-terminal/terminal-client.ts";
import { AT_ONCE, application, QUESTION, REVIEW, SLOW_ONCE } from "../support/application.ts";
import { startServer } from "../support/server.ts";
import { connectService, endOwner } from "./service-client.ts";

/** Those of the original's MCP server. */
const EIGHT = [
  "run_workflow",
  "run_workflow_yaml",
  "get_run_status",
  "cancel_run",
  "list_runs",
  "save_workflow",
  "create_schedule",
  "delete_schedule",
];

function answering(script = AT_ONCE): Readonly<Record<string, string>> {
  return {
    "workflows/question.yaml": QUESTION,
    "workflows/review.yaml": REVIEW,
    "answers.yaml": script,
    "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
  };
}

function idOf(result: JsonObject): string {
  return String(result["run_id"]);
}

test.each(ERAS)("the original's eight tools do their work for a client of %s", async (_era, negotiation) => {
  const folder = application(answering());
  endOwner(folder);
  const { call, client } = await connectService(folder, negotiation);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(EIGHT));
  for (const { name, title, annotations, outputSchema } of tools) {
    expect({ name, title, outputSchema }).toMatchObject({
      title: expect.any(String),
      outputSchema: { type: "object" },
    });
    expect(Object.keys(annotations ?? {}).sort()).toEqual([
      "destructiveHint",
      "idempotentHint",
      "openWorldHint",
      "readOnlyHint",
    ]);
  }
  // Input as the original took it: the text of an object.
  const ran = await call("run_workflow", {
    workflow_name: "question",
    input_data: '{"question": "?"}',
    wait: true,
  });
  expect(ran).toMatchObject({ status: "completed", outputs: { answer: "42" }, steps: [{ input_prompt: null }] });
  expect(await call("get_run_status", { run_id: idOf(ran) })).toMatchObject({ status: "completed" });
  const yaml = QUESTION.replace("name: question", "name: other");
  const accepted = await call("run_workflow_yaml", { yaml_content: yaml, input_data: { question: "?" } });
  expect(accepted).toMatchObject({ status: "queued" });
  const saved = await call("save_workflow", { name: "other", yaml_content: yaml });
  expect(saved).toMatchObject({ name: "other", version: 1, is_new: true });
  const schedule = await call("create_schedule", {
    workflow_name: "other",
    cron_expression: "0 6 * * *",
    input_data: { question: "?" },
  });
  expect(schedule).toMatchObject({ cron_expression: "0 6 * * *", note: expect.stringContaining("pawl serve") });
  expect(await call("list_runs", { workflow: "other", limit: 5 })).toMatchObject({
    items: [{ run_id: accepted["run_id"] ?? null }],
  });
  expect(await call("delete_schedule", { schedule_id: schedule["schedule_id"] ?? null })).toEqual({
    schedule_id: schedule["schedule_id"],
  });
  expect(await call("list_schedules")).toEqual({ items: [], next_cursor: null });
});

test("a run stays when its client goes, and a server that comes later owns the data and is gone through", async () => {
  const folder = application(answering());
  endOwner(folder);
  const first = await connectService(folder);
  const started = await first.call("run_workflow", { workflow_name: "review", wait: true });
  expect(started).toMatchObject({ status: "awaiting_approval" });
  await first.client.close();

  const second = await connectService(folder);
  const asked = await second.call("list_approvals");
  expect(asked).toMatchObject({ items: [{ run_id: idOf(started), path: "look" }], next_cursor: null });
  // It reads, and so nobody is kept from owning the data; the first one's background process leaves by itself.
  const lock = join(folder, ".pawl", "lock.json");
  if (existsSync(lock)) {
    const { pid } = JSON.parse(readFileSync(lock, "utf8")) as { readonly pid: number };
    if (isThere(pid)) process.kill(pid, "SIGTERM");
    await expect.poll(() => isThere(pid)).toBe(false);
  }
  const server = await startServer([], { cwd: folder });
  expect(await second.call("respond_to_run", { run_id: idOf(started), answer: "approve" })).toMatchObject({
    path: "look",
    answer: "approve",
  });
  await expect
    .poll(async () => (await second.call("get_run_status", { run_id: idOf(started) }))["status"])
    .toBe("completed");
  const owner = JSON.parse(readFileSync(join(folder, ".pawl", "lock.json"), "utf8")) as { readonly pid: number };
  expect(owner.pid).toBe(server.pid);
});

test("who cancels a call that waits hears of progress until then, and its run goes on until it is cancelled", async () => {
  const folder = application(answering(SLOW_ONCE));
  endOwner(folder);
  const { call, client } = await connectService(folder);
  const heard: string[] = [];
  const stop = new AbortController();
  const waiting = call(
    "run_workflow",
    { workflow_name: "question", input_data: { question: "?" }, wait: true },
    { signal: stop.signal, onprogress: ({ message = "" }) => heard.push(message) },
  );
  await expect.poll(() => heard.some((message) => message.includes("answer"))).toBe(true);
  stop.abort();
  await expect(waiting).rejects.toThrow();
  const latest = async () => {
    const { structuredContent } = await client.callTool({ name: "list_runs", arguments: {} });
    return structuredContent as { readonly items: readonly { readonly status: string; readonly run_id: string }[] };
  };
  expect((await latest()).items[0]?.status).toBe("running");
  const run_id = (await latest()).items[0]?.run_id ?? "";
  expect(await call("cancel_run", { run_id })).toMatchObject({ run_id });
  await expect.poll(async () => (await latest()).items[0]?.status).toBe("cancelled");
});

test("a call that waits is answered after `wait_seconds` with the run as it is, and how to go on", async () => {
  const folder = application(answering(SLOW_ONCE));
  endOwner(folder);
  const { call } = await connectService(folder);
  const request = { workflow_name: "question", input_data: { question: "?" }, wait: true, wait_seconds: 0.2 };
  const early = await call("run_workflow", request);
  expect(early).toMatchObject({ completed_at: null, error: null, next: expect.stringContaining("get_run_status") });
  await call("cancel_run", { run_id: idOf(early) });
});

test("what is refused says its code and the next thing to do, and starts no process", async () => {
  const folder = application(answering());
  const { client, refusal } = await connectService(folder);
  expect(await refusal("run_workflow", { workflow_name: "questoin" })).toMatch(/^WORKFLOW_NOT_FOUND: .*"questoin"/);
  expect(await refusal("run_workflow", { workflow_name: "question", wiat: true })).toMatch(/^REQUEST_INVALID: .*wiat/);
  expect(await refusal("save_workflow", { yaml_content: "name: x\nsteps: 3\n" })).toMatch(/^DEFINITION_INVALID: /);
  const { _meta, isError } = await client.callTool({ name: "get_run_status", arguments: { run_id: "nothing" } });
  expect({ _meta, isError }).toMatchObject({
    isError: true,
    _meta: { "pawl/error": { code: "RUN_NOT_FOUND", remedy: expect.stringContaining("pawl runs ls") } },
  });
  expect(existsSync(join(folder, ".pawl", "lock.json"))).toBe(false);
});

test("workflows, runs, schedules and health are resources", async () => {
  const folder = application(answering());
  endOwner(folder);
  const { call, client } = await connectService(folder);
  const ran = await call("run_workflow", { workflow_name: "question", input_data: { question: "?" }, wait: true });
  const read = async (uri: string) => {
    const [first] = (await client.readResource({ uri })).contents;
    return JSON.parse(first !== undefined && "text" in first ? first.text : "null") as JsonObject;
  };
  expect(await read("pawl://health")).toMatchObject({ status: "ok", db: "ok" });
  expect(await read("sandcastle://workflows")).toMatchObject({ items: [{ name: "question" }, { name: "review" }] });
  expect(await read("workflow://question")).toMatchObject({ text: QUESTION });
  expect(await read(`run://${idOf(ran)}`)).toMatchObject({ status: "completed" });
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    "workflow://{workflow_name}",
    "run://{run_id}",
    "schedule://{schedule_id}",
  ]);
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(expect.arrayContaining(["pawl://runs", `run://${idOf(ran)}`]));
  const ref = { type: "ref/resource", uri: "workflow://{workflow_name}" } as const;
  const completed = await client.complete({ ref, argument: { name: "workflow_name", value: "qu" } });
  expect(completed.completion.values).toEqual(["question"]);
  await expect(client.readResource({ uri: "run://nothing" })).rejects.toThrow(/nothing/);
});
