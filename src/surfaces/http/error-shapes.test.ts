import { expect, test } from "vitest";
import { HttpWorld } from "../../../test/fakes/http-world.ts";

const KEY = { "x-api-key": "configured" };
const JSON_BODY = { "content-type": "application/json" };

/** What is asked, by the method and path, the status and the code of the answer. */
const REFUSED: readonly (readonly [way: string, init: RequestInit, status: number, code: string])[] = [
  ["GET /runs/none", { headers: KEY }, 404, "RUN_NOT_FOUND"],
  ["GET /runs", {}, 401, "UNAUTHORIZED"],
  ["GET /runs?limit=many", { headers: KEY }, 400, "REQUEST_INVALID"],
  ["GET /nowhere", { headers: KEY }, 404, "PATH_NOT_FOUND"],
  ["GET /api/nowhere", { headers: KEY }, 404, "PATH_NOT_FOUND"],
  ["DELETE /healthz", { headers: KEY }, 405, "METHOD_NOT_ALLOWED"],
  ["PUT /runs", { headers: KEY }, 405, "METHOD_NOT_ALLOWED"],
  ["POST /workflows/run", { headers: { ...KEY, ...JSON_BODY }, body: "{" }, 400, "REQUEST_INVALID"],
  ["POST /workflows/run", { headers: { ...KEY, ...JSON_BODY }, body: "{}" }, 400, "REQUEST_INVALID"],
  [
    "POST /workflows/run",
    { headers: { ...KEY, "content-type": "text/csv" }, body: "a,b" },
    415,
    "CONTENT_TYPE_REFUSED",
  ],
  ["POST /workflows/run", { headers: { ...KEY, ...JSON_BODY }, body: " ".repeat(5_000) }, 413, "BODY_TOO_LARGE"],
  ["POST /queues/none/messages", { headers: { ...KEY, ...JSON_BODY }, body: "{}" }, 404, "QUEUE_UNKNOWN"],
  ["POST /triggers/none", { headers: { ...KEY, ...JSON_BODY }, body: "{}" }, 404, "EVENT_UNKNOWN"],
];

async function ask(way: string, init: RequestInit) {
  const world = new HttpWorld([], { server: { api_key: "configured", max_body_bytes: 4_000 } });
  const [method = "", path = ""] = way.split(" ");
  const answer = await world.request(path, { ...init, method });
  return { status: answer.status, body: (await answer.json()) as { readonly error?: { readonly details?: unknown } } };
}

test.each(REFUSED)("%s %j is refused in the one envelope: %i %s", async (way, init, status, code) => {
  const { status: got, body } = await ask(way, init);
  expect([got, body]).toEqual([
    status,
    {
      data: null,
      error: {
        code,
        message: expect.stringMatching(/./),
        remedy: expect.stringMatching(/./),
        details: body.error?.details,
        request_id: expect.stringMatching(/./),
      },
    },
  ]);
  expect(body.error?.details).toBeDefined();
});

/** Clients of these protocols know their own forms. */
test("the sandbox protocol and the agents' routes refuse in the forms of their own", async () => {
  const init = { headers: { ...KEY, ...JSON_BODY }, body: "{" };
  const execute = await ask("POST /execute", init);
  expect([execute.status, execute.body]).toMatchObject([
    400,
    { error: expect.any(String), details: { code: "REQUEST_INVALID", requestId: expect.any(String) } },
  ]);
  const agents = await ask("POST /agents/none/execute", init);
  expect(agents.body).toMatchObject({
    detail: expect.any(String),
    code: expect.any(String),
    request_id: expect.any(String),
  });
  for (const { body } of [execute, agents]) expect(body).not.toHaveProperty("data");
});
