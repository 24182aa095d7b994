import { once } from "node:events";
import { statSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/contracts/temporary-folder.ts";
import type { Json } from "../../core/json.ts";
import type { OpenApplication } from "../../operations/application/ports.ts";
import type { Journal } from "../../ports/journal.ts";
import { createApp } from "../create-app.ts";
import { OwnerClient } from "./owner-client.ts";

const REVIEW = `
name: review
steps:
  - id: look
    type: approval
    approval_config: { message: Is it good? }
`;

async function openApp(appDir: string) {
  const app = await createApp({
    appDir,
    flags: {},
    environment: {},
    program: [],
    tell: () => undefined,
    onDefect: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(() => end(app));
  return app;
}

/** A process that owns its data, and another one that goes through it. */
async function open() {
  const app = await openApp(temporaryFolder());
  const { ownerSocket: path } = await app.host();
  const { journal } = await app.records();
  return { app, path, journal, client: await connectTo(path) };
}

async function end(app: OpenApplication): Promise<void> {
  await app.park(AbortSignal.abort());
  await app.close();
}

async function connectTo(path: string): Promise<OwnerClient> {
  const client = await OwnerClient.connect(path);
  onTestFinished(() => client.park());
  return client;
}

function startReview(client: OwnerClient) {
  const graph = { name: "not trusted" } as never;
  return client.startRun({ runId: "r1", definition: { text: REVIEW, graph }, input: {}, options: {} });
}

async function eventsOf(journal: Journal): Promise<Json> {
  const record = await journal.findRun("r1");
  const rows =
    record === undefined || record === "ambiguous"
      ? []
      : await journal.readEvents(record.no, { afterSeq: 0, limit: 100 });
  return rows.map(({ event }) => event) as unknown as Json;
}

test("nobody but the user may open the socket", async () => {
  const { path } = await open();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a start carries the text, and the owner compiles it itself", async () => {
  const { client } = await open();
  expect(await startReview(client)).toMatchObject({ id: "r1", workflow: "review", dialect: "sandcastle" });
  expect(await client.settled("r1")).toMatchObject({ status: "awaiting_approval" });
});

test("a decision is recorded with the surface that the person has come through", async () => {
  const { client, journal } = await open();
  await startReview(client);
  await client.request("r1", { type: "answer", path: "look", answer: { answer: "reject", by: "cli", comment: "No." } });
  expect(await eventsOf(journal)).toContainEqual(
    expect.objectContaining({ type: "approvalAnswered", by: "cli", comment: "No." }),
  );
});

test("an error of the owner is the caller's, with its code and remedy", async () => {
  const { client } = await open();
  const unknown = { code: "RUN_NOT_FOUND", remedy: expect.stringContaining("pawl runs ls") };
  await expect(client.request("r2", { type: "cancel" })).rejects.toMatchObject(unknown);
  await expect(client.callTerminal({ tool: "no_tool", request: {} }, AbortSignal.any([]))).rejects.toThrow();
});

test("whoever watches is told what has happened, then what happens", async () => {
  const { client, journal } = await open();
  await startReview(client);
  await client.settled("r1");
  const told: unknown[] = [];
  const ended = Promise.withResolvers<void>();
  const stop = client.watch("r1", (notice) => {
    if (notice.type !== "event") return;
    told.push(notice.event);
    if (notice.event.type === "runFinished") ended.resolve();
  });
  await expect.poll(() => told.length).toBeGreaterThan(0);
  await client.request("r1", { type: "answer", path: "look", answer: { answer: "approve" } });
  await ended.promise;
  stop();
  expect(told).toEqual(await eventsOf(journal));
});

test("when the owner goes, what is pending rejects with OWNER_GONE, and so does what comes after", async () => {
  const { app, client } = await open();
  await startReview(client);
  const gone = new Promise<void>((resolve) => client.whenGone(resolve));
  await end(app);
  await gone;
  await expect(client.settled("r1")).rejects.toMatchObject({ code: "OWNER_GONE" });
  await expect(startReview(client)).rejects.toMatchObject({ code: "OWNER_GONE" });
});

const HOSTILE = [
  "nonsense\r\n\r\n",
  "\u0000\u0001\u0002",
  "GET /owner/runs/%00/notices HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
  "GET /owner/terminals/x/screen?columns=1e9&rows=-1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
  post("/owner/runs", "{}"),
  post("/owner/runs", '{"runId": 7, "text": "x", "input": [], "options": {}}'),
  post("/owner/runs", '{"__proto__": {"a": 1}, "runId": "r1", "text": "x", "input": {}, "options": {}}'),
  post("/owner/tools/__proto__", "{}"),
  post("/owner/runs/r1/requests", '{"request": {"type": "answer", "path": 7}}'),
  post("/approvals/r1:look/approve", "[".repeat(100_000)),
];

function post(path: string, body: string): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

test.each(HOSTILE)("the owner lives on after %.60j", async (sent) => {
  const { path, client } = await open();
  const socket = connect(path);
  socket.on("error", () => undefined);
  socket.end(sent);
  socket.resume();
  await once(socket, "close");
  expect(await startReview(client)).toMatchObject({ id: "r1" });
});

test("an owner that is stopped is told from one that works: what it is asked to do at once is not waited for without end", async () => {
  const stopped = createServer();
  const path = join(temporaryFolder(), "socket");
  stopped.listen(path);
  await once(stopped, "listening");
  const client = await OwnerClient.connect(path, 50);
  onTestFinished(async () => {
    await client.park();
    stopped.close();
  });
  const settled = expect(client.settled("r1")).rejects.toMatchObject({ code: "OWNER_GONE" });
  const silent = { code: "OWNER_SILENT", remedy: expect.stringContaining("may still be done") };
  await expect(
    client.request("r1", { type: "answer", path: "gate", answer: { answer: "approve" } }),
  ).rejects.toMatchObject(silent);
  await expect(client.request("r1", { type: "cancel" })).rejects.toMatchObject(silent);
  // A run may take any time.
  await client.park();
  await settled;
});

test("a run that waits for a place, or for its turn, is no reason to give up its owner", async () => {
  const appDir = temporaryFolder();
  await (await openApp(appDir)).host();
  const guest = await (await openApp(appDir)).host();
  const text =
    "name: w\nconcurrency: { limit: 1 }\nsteps: [{ id: a, type: approval, approval_config: { message: m } }]\n";
  const turns =
    "name: t\nrate: { limit: 1, per: 1h }\nsteps: [{ id: a, type: approval, approval_config: { message: m } }]\n";
  const graph = { name: "not trusted" } as never;
  for (const definition of [text, turns].map((each) => ({ text: each, graph }))) {
    await guest.startRun({ runId: `${definition.text[6]}1`, definition, input: {}, options: {} });
    const { id } = await guest.startRun({ runId: `${definition.text[6]}2`, definition, input: {}, options: {} });
    expect(await guest.settled(id)).toMatchObject({ status: "queued", parked: true });
  }
});
