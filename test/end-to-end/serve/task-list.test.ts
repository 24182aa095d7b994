import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { type RunningServer, startServer } from "../support/server.ts";

const TASK_LIST = fileURLToPath(new URL("../../fixtures/apps/task-list", import.meta.url));

function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "pawl-tasks-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

function startTaskList(data: string): Promise<RunningServer> {
  return startServer(["--app", TASK_LIST, "--data", data], { cwd: data });
}

async function call(server: RunningServer, method: string, path: string, body?: unknown) {
  const init =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await fetch(`${server.url}${path}`, { method, ...init });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}

test("a task list of five routes works over HTTP, and keeps its tasks over a restart", async () => {
  const data = dataFolder();
  const server = await startTaskList(data);
  expect(await call(server, "GET", "/api/tasks")).toMatchObject({ status: 200, body: { tasks: [] } });

  const created = await call(server, "POST", "/api/tasks", { title: "Buy milk" });
  const { id } = created.body;
  expect(created).toMatchObject({ status: 201, body: { title: "Buy milk", status: "open" } });
  expect(created.headers.get("location")).toBe(`/api/tasks/${id}`);
  await call(server, "POST", "/api/tasks", { title: "Write" });

  const done = await call(server, "PUT", `/api/tasks/${id}/status`, { status: "done" });
  expect(done).toMatchObject({ status: 200, body: { id, title: "Buy milk", status: "done" } });
  expect(await call(server, "GET", `/api/tasks/${id}`)).toMatchObject({ status: 200, body: { id, status: "done" } });

  server.kill("SIGTERM");
  expect((await server.ended).code).toBe(0);
  const next = await startTaskList(data);
  const listed = await call(next, "GET", "/api/tasks/");
  expect(listed.body.tasks.map((task: { title: string }) => task.title)).toEqual(["Buy milk", "Write"]);

  expect(await call(next, "DELETE", `/api/tasks/${id}`)).toMatchObject({ status: 204, body: undefined });
  expect(await call(next, "DELETE", `/api/tasks/${id}`)).toMatchObject({
    status: 404,
    body: { error: { code: "NOT_FOUND", message: "There is no such task." } },
  });
  expect((await call(next, "GET", "/api/tasks")).body.tasks).toHaveLength(1);
});

test("what does not fit is refused with what is wrong, and nothing is begun", async () => {
  const server = await startTaskList(dataFolder());
  expect(await call(server, "POST", "/api/tasks", { titel: "x" })).toMatchObject({
    status: 400,
    body: { error: { code: "INPUT_INVALID", details: { violations: [{ path: "" }, { path: "" }] } } },
  });
  expect(await call(server, "PATCH", "/api/tasks")).toMatchObject({ status: 405 });
  expect((await call(server, "PATCH", "/api/tasks")).headers.get("allow")).toBe("GET, HEAD, OPTIONS, POST");
  expect(await call(server, "GET", "/api/task")).toMatchObject({ status: 404 });
  const document = await call(server, "GET", "/app/openapi.json");
  expect(Object.keys(document.body.paths).sort()).toEqual([
    "/api/tasks",
    "/api/tasks/{taskId}",
    "/api/tasks/{taskId}/status",
  ]);
});

test("200 requests at once are all answered, each with a run of its own", async () => {
  const server = await startTaskList(dataFolder());
  const responses = await Promise.all(Array.from({ length: 200 }, (_, n) => call(server, "GET", `/api/tasks/${n}`)));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([404]));
  expect(new Set(responses.map(({ headers }) => headers.get("x-run-id"))).size).toBe(200);
});
