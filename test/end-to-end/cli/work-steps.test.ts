import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { answerWith, WebhookReceiver } from "../../fakes/webhook-receiver.ts";
import { ROOT } from "../../support/fixtures.ts";
import { needs } from "../../support/needs.ts";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";

const JSON_ANSWER = { "content-type": "application/json" };

function copyExample(): string {
  const folder = mkdtempSync(join(tmpdir(), "pawl-app-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  cpSync(join(ROOT, "examples/work-steps"), folder, { recursive: true });
  return folder;
}

test("steps of every type that asks no agent do their work", async () => {
  needs("bwrap", "python3");
  const server = await WebhookReceiver.listen();
  server.replies.push(answerWith(200, JSON_ANSWER, '{"rates": {"USD": 1.25}}'));
  const folder = copyExample();
  const env = { PAWL_OUTBOUND__ALLOW: "127.0.0.1", RATES_TOKEN: "hunter-2-hunter" };
  const args = ["run", "invoice.yaml", "--json", "-i", `api=${server.url("/latest")}`, "-i", "amount=20"];
  const { code, stdout, stderr } = await pawl(args, { cwd: folder, env });
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  expect(JSON.parse(stdout).data).toMatchObject({
    outputs: {
      rates: { status: 200, body: { rates: { USD: 1.25 } } },
      convert: { total: 25 },
      keep: { success: true },
      show: { success: true },
      note: "Please pay 25 USD.",
    },
  });
  expect(server.first).toMatchObject({
    path: "/latest?base=EUR&symbols=USD",
    headers: { authorization: "Bearer hunter-2-hunter" },
  });
  expect(stdout + stderr).not.toContain("hunter-2");
});

test("an address that is not public is refused, and an output that does not fit its schema is a failure", async () => {
  const server = await WebhookReceiver.listen();
  server.replies.push(answerWith(200, JSON_ANSWER, '{"a": "text"}'));
  const folder = application({
    "ask.yaml": `
name: ask
steps:
  - id: ask
    type: http
    url: ${server.url()}
    output_schema: { properties: { body: { properties: { a: { type: number } } } } }
`,
  });
  const refused = await pawl(["run", "ask.yaml"], { cwd: folder });
  expect([refused.code, server.received.length]).toEqual([1, 0]);
  expect(refused.stderr).toContain("HTTP_NOT_ALLOWED");
  const unfit = await pawl(["run", "ask.yaml"], { cwd: folder, env: { PAWL_OUTBOUND__ALLOW: "127.0.0.1" } });
  expect(unfit.stderr).toContain("OUTPUT_INVALID");
});
