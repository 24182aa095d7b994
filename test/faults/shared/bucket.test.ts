import { afterAll, beforeAll, expect, test } from "vitest";
import { application } from "../../end-to-end/support/application.ts";
import { type RunningServer, startServer } from "../../end-to-end/support/server.ts";
import { openBucket, S3_KEYS, type S3Server, startS3Server } from "../../support/s3-server.ts";
import { newTestDatabase } from "../../support/test-database.ts";

const LARGE = "large".repeat(30_000);
const RUNS = 12;

const FILES = {
  "workflows/rows.yaml": `
name: rows
steps:
  - id: row
    prompt: "{input.n}"
    csv_output: { directory: out, filename: all, mode: append }
  - id: large
    depends_on: [row]
    prompt: Write a lot.
`,
  "answers.yaml": `
delay_ms: 0
steps:
  row: {reply: {name: one}}
  large: {reply: "${LARGE}"}
`,
};

let store: S3Server;

beforeAll(async () => {
  store = await startS3Server();
});
afterAll(() => store.stop());

async function ask<T>({ url }: RunningServer, path: string, body?: object): Promise<T> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(`${url}${path}`, body === undefined ? {} : init);
  return ((await answer.json()) as { readonly data: T }).data;
}

test("two processes on two machines with one database and one bucket read each other's values and add to one file", async () => {
  const bucket = await store.makeBucket();
  const env = {
    DATABASE_URL: await newTestDatabase(),
    PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef",
    PAWL_AGENT__PROVIDER: "simulated:answers.yaml",
    STORAGE_BACKEND: "s3",
    STORAGE_BUCKET: bucket,
    STORAGE_ENDPOINT: store.endpoint,
    AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey,
  };
  const servers = await Promise.all([1, 2].map(() => startServer([], { cwd: application(FILES), env })));
  const [one, other] = servers as [RunningServer, RunningServer];
  const ids = await Promise.all(
    Array.from({ length: RUNS }, async (_, n) => {
      const server = n % 2 === 0 ? one : other;
      return (await ask<{ run_id: string }>(server, "/workflows/run", { workflow: "rows", input: { n } })).run_id;
    }),
  );
  for (const id of ids)
    for (const server of [one, other]) {
      const read = () => ask<{ status: string; outputs: { large: string } }>(server, `/runs/${id}?whole=true`);
      await expect.poll(async () => (await read()).status, { timeout: 60_000 }).toBe("completed");
      expect((await read()).outputs.large === LARGE).toBe(true);
    }
  const csv = await (await fetch(`${one.url}/storage/out/all.csv`)).text();
  expect(csv).toBe(`name\r\n${"one\r\n".repeat(RUNS)}`);
  expect(await (await fetch(`${other.url}/storage/out/all.csv`)).text()).toBe(csv);

  const owners: string[] = [];
  for await (const { key } of (await openBucket(store.endpoint, bucket)).list("owners/")) owners.push(key);
  expect(owners).toEqual([expect.stringMatching(/^owners\/database-[0-9a-f]{32}$/)]);
});
