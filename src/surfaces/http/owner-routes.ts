import type { Context, Hono } from "hono";
import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Answerer } from "../../core/trust/approvers.ts";
import type { Driving, Place, Stores } from "../../operations/application/ports.ts";
import { parseInput } from "../../operations/fields.ts";
import { compileStart } from "../../operations/repeat/compile-start.ts";
import { jsonObjectSchema } from "../../operations/schemas.ts";
import type { ScreenView } from "../../ports/terminals/terminal-views.ts";
import { answerJson } from "./answer-json.ts";
import type { HttpEnv } from "./http-parts.ts";
import { readJsonBody } from "./read-body.ts";

/** A definition of 1 MB with an input as large as an output may be, escaped. */
export const MAX_OWNER_BODY = 64 * 1024 * 1024;
/** A watcher who does not read is disconnected before it costs the owner more memory than this. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
/** Live output is left out for a watcher who has this much unread. */
const MAX_UNREAD_LIVE_BYTES = 256 * 1024;
/** No screen is larger, and each of its cells costs time. */
const side = z.coerce.number().int().min(1).max(1_000);
/** A person does not look at more terminals at once. */
const MAX_VIEWS = 64;

const wholeNumber = z.int().min(0);

/** A start as another process has prepared it. Callers send the text and never a graph: it is compiled here. */
const startSchema = z.strictObject({
  runId: z.string(),
  text: z.string(),
  source: z.string().optional(),
  input: jsonObjectSchema,
  options: jsonObjectSchema,
  maxCostMicro: wholeNumber.optional(),
  uses: z
    .strictObject({
      maxTokens: wholeNumber.optional(),
      maxTries: wholeNumber.optional(),
      maxDurationMs: wholeNumber.optional(),
    })
    .optional(),
  onExceeded: z.literal("ask").optional(),
  callbackUrl: z.string().optional(),
  tenantId: z.string().optional(),
  parentRunId: z.string().optional(),
  lineage: z.strictObject({ kind: z.enum(["rerun", "fork"]), run: z.string(), fromPath: z.string() }).optional(),
});

const requestSchema = z.strictObject({
  request: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("resume"), releases: z.boolean().optional() }),
    z.strictObject({ type: z.literal("cancel"), by: z.string().optional(), reason: z.string().optional() }),
    z.strictObject({
      type: z.literal("answer"),
      path: z.string(),
      answer: z.strictObject({
        answer: z.enum(["approve", "reject", "skip"]),
        by: z.string().optional(),
        who: z.custom<Answerer>().optional(),
        comment: z.string().optional(),
        asked: wholeNumber.optional(),
        edited: z.custom<Json>().optional(),
      }),
    }),
    z.strictObject({
      type: z.literal("signal"),
      name: z.string(),
      payload: z.custom<Json>(),
      key: z.strictObject({ key: z.string(), hash: z.string() }).exactOptional(),
      path: z.string().exactOptional(),
    }),
  ]),
});

const terminalCallSchema = z.strictObject({
  request: jsonObjectSchema,
  tenantId: z.string().optional(),
  reach: z.union([z.literal("anywhere"), z.array(z.string())]).optional(),
});

const windowSchema = z.strictObject({ columns: side, rows: side });

/**
 * Adds the routes by which the owner of the data works for other processes of the same user, beside the service's own routes.
 * Returns their patterns.
 */
export function mountOwnerRoutes(
  http: Hono<HttpEnv>,
  app: Place & Stores & Driving,
  successors: { add(url: string): () => void },
): readonly string[] {
  const views = new Map<string, ScreenView>();
  http.post("/owner/runs", async (c) => {
    const { text, source, ...start } = await readFields(c, startSchema);
    const definition = await compileStart(app, { text, source, options: start.options });
    return answer(c, await (await app.host()).startRun({ ...start, definition }));
  });
  http.post("/owner/runs/:id/requests", async (c) => {
    const { request } = await readFields(c, requestSchema);
    return answer(c, await (await app.host()).request(c.req.param("id"), request));
  });
  http.delete("/owner/runs/:id", async (c) => {
    await (await app.host()).deleteRun(c.req.param("id"));
    return answer(c, null);
  });
  http.get("/owner/runs/:id/settled", async (c) => {
    const { output: _, ...record } = await (await app.host()).settled(c.req.param("id"));
    return answer(c, record);
  });
  http.get("/owner/waits", async (c) => answer(c, await app.waits(c.req.query("runs")?.split(",") ?? [])));
  http.get("/owner/runs/:id/notices", async (c) => streamNotices(app, c.req.param("id")));
  // A server waits for the data as long as it reads the answer.
  http.get("/owner/successor", (c) => streamUntilGone(successors.add(c.req.query("url") ?? "")));
  http.post("/owner/outbox/finished", async (c) => {
    const { ids } = await readFields(c, z.strictObject({ ids: z.array(wholeNumber) }));
    await (await app.records()).journal.finishOutbox(ids);
    return answer(c, null);
  });
  http.post("/owner/tools/:name", async (c) => {
    const call = { tool: c.req.param("name"), ...(await readFields(c, terminalCallSchema)) };
    return answer(c, await (await app.host()).callTerminal(call, goneOf(c)));
  });
  const terminals = async () => (await app.host()).terminals();
  http.get("/owner/terminals", async (c) => answer(c, await (await terminals()).list()));
  http.delete("/owner/terminals/:id", async (c) => {
    await (await terminals()).kill(c.req.param("id"));
    return answer(c, null);
  });
  http.post("/owner/terminals/:id/keys", async (c) => {
    await (await terminals()).type(c.req.param("id"), (await readFields(c, z.strictObject({ data: z.string() }))).data);
    return answer(c, null);
  });
  http.get("/owner/terminals/:id/screen", async (c) => {
    const { view: name, ...window } = parseInput(windowSchema.extend({ view: z.uuid() }), c.req.query());
    if (views.size >= MAX_VIEWS)
      throw new PawlError("SERVER_BUSY", { message: `At most ${MAX_VIEWS} screens can be watched at once.` });
    const view = await (await terminals()).watchScreen(c.req.param("id"), window);
    views.set(name, view);
    return streamScreen(view, () => views.delete(name));
  });
  http.put("/owner/views/:name", async (c) => {
    views.get(c.req.param("name"))?.setWindow(await readFields(c, windowSchema));
    return answer(c, null);
  });
  return http.routes.map(({ path }) => path).filter((path) => path.startsWith("/owner/"));
}

async function readFields<Input extends z.ZodObject>(c: Context<HttpEnv>, schema: Input): Promise<z.output<Input>> {
  return parseInput(schema, (await readJsonBody(c.req.raw, MAX_OWNER_BODY)) as JsonObject);
}

/** Records, lists and answers of tools are plain data: what JSON leaves out of them is absent anyway. */
function answer(c: Context<HttpEnv>, data: object | Json): Response {
  return answerJson(c, { data, error: null });
}

/** Aborts when the caller has gone, or does not want the answer any more. */
function goneOf(c: Context<HttpEnv>): AbortSignal {
  const gone = new AbortController();
  const { outgoing } = c.env;
  outgoing.once("close", () => gone.abort());
  return gone.signal;
}

/** A notice on each line: all that has happened in the run, then what happens. */
async function streamNotices(app: Driving, runId: string): Promise<Response> {
  const host = await app.host();
  const size = new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES });
  let stop: () => void = () => undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // The first byte tells that it is watched from now on.
        controller.enqueue(toLine(null));
        stop = host.watch(runId, (notice) => {
          const room = controller.desiredSize ?? 0;
          if (notice.type === "live" && room < MAX_UNREAD_BYTES - MAX_UNREAD_LIVE_BYTES) return;
          if (room > 0) return controller.enqueue(toLine(notice));
          stop();
          controller.error(new Error("A process that watches a run does not read what it is told."));
        });
      },
      cancel: () => stop(),
    },
    size,
  );
  return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
}

function streamUntilGone(gone: () => void): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(toLine(null)),
    cancel: gone,
  });
  return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
}

/** A change on each line, each made when the one before has been taken. */
function streamScreen(view: ScreenView, closed: () => void): Response {
  const end = () => {
    view.close();
    closed();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const change = await view.next();
          controller.enqueue(toLine(change));
          if (change.end === undefined) return;
          end();
          controller.close();
        } catch (error) {
          end();
          controller.error(error);
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
}

const encoder = new TextEncoder();

function toLine(value: object | null): Uint8Array {
  return encoder.encode(`${writeExact(value)}\n`);
}
