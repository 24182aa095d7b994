import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { largeRun } from "../support/large-run.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const SMALL_HEAP = { NODE_OPTIONS: "--max-old-space-size=600" };

async function ask(server: RunningServer, path: string) {
  const response = await fetch(server.url + path);
  return { status: response.status, text: await response.text() };
}

async function startRun(server: RunningServer, steps: number): Promise<string> {
  const response = await fetch(`${server.url}/workflows/run/sync`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ workflow: largeRun(steps) }),
  });
  const { data } = (await response.json()) as { readonly data: { readonly run_id: string } };
  return data.run_id;
}

test("a run of many large outputs is described by references, and a server with a small heap answers what asks for all of it", async () => {
  const server = await startServer([], { cwd: application({}), env: SMALL_HEAP });
  const id = await startRun(server, 40);
  const answers = await Promise.all(Array.from({ length: 4 }, () => ask(server, `/runs/${id}`)));
  for (const { status, text } of answers) {
    expect(status).toBe(200);
    expect(text.length).toBeLessThan(100_000);
  }
  const doors = [
    `/runs/${id}?whole=true`,
    `/runs/${id}?whole=true&prompts=false`,
    `/runs/${id}/steps/s7%231?whole=true`,
    `/runs/${id}/steps?limit=1000`,
    `/runs/${id}/events?limit=1000`,
    `/runs/${id}/logs?limit=50`,
    `/runs/compare?a=${id}&b=${id}`,
    "/runs?limit=200",
  ];
  const attacked = await Promise.all(
    doors.flatMap((door) => [door, door, door, door]).map((door) => ask(server, door)),
  );
  const refused = attacked.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
  const address = `GET /runs/${id}/steps/PATH?whole=true`;
  for (const { text } of refused) {
    expect(text).toContain("ANSWER_TOO_LARGE");
    expect(text).toContain(address);
  }
  // What was refused has left nothing behind.
  const part = await ask(server, `/runs/${id}/steps/s7%231?whole=true`);
  expect([part.status, part.text.length > 7_000_000]).toEqual([200, true]);
  expect(JSON.parse((await ask(server, `/runs/compare?a=${id}&b=${id}`)).text)).toMatchObject({
    data: { outputs: { changed: false } },
  });
}, 120_000);

test("a run whose values exceed what a run may store fails with a code", async () => {
  const files = { "pawl.yaml": "limits: {max_run_bytes: 20000000}\n" };
  const server = await startServer([], { cwd: application(files), env: SMALL_HEAP });
  const id = await startRun(server, 5);
  const { data } = JSON.parse((await ask(server, `/runs/${id}`)).text);
  expect(data).toMatchObject({ status: "failed", error: { code: "RUN_TOO_LARGE" } });
  expect(data.error.remedy).toContain("limits.max_run_bytes");
}, 60_000);
