import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startFakeModelServer } from "../../fakes/model-server/fake-model-server.ts";
import { application } from "../support/application.ts";
import { startServer } from "../support/server.ts";

const MAIL = "ada.planted@example.com";
const CARD = "4111 1111 1111 1111";
const TICKET = "PLANTED-4711";
const LEAKS = ["ada.planted", "4111 1111", "4111111111111111", TICKET];

const DESK = `
name: desk
default_model: "fake:one"
policies:
  - id: people
    patterns: [email, card, { regex: 'PLANTED-\\d+', name: ticket }]
    action: redact
steps:
  - id: ask
    prompt: Who wrote?
  - id: each
    depends_on: [ask]
    parallel_over: input.numbers
    prompt: "Again, {item}: {steps.ask.output}"
  - id: sure
    type: approval
    depends_on: [each]
    approval_config: { message: "Send it?", show_data: steps.each.output }
  - id: report
    depends_on: [sure]
    prompt: "Report {steps.each.output}"
    csv_output: { directory: out, mode: append, filename: rows.csv }
`;

test("what a policy redacts is in no file of the data directory, in no answer, on no stream and in no line of the log", async () => {
  const text = `{"from": "${MAIL}", "cards": ["${CARD}", 4111111111111111], "about": "${TICKET} by ${MAIL}"}`;
  const model = await startFakeModelServer({ replies: () => ({ do: "say", text }), keepsRequests: true });
  onTestFinished(() => model.close());
  const cwd = application({
    "workflows/desk.yaml": DESK,
    "pawl.yaml": JSON.stringify({
      agent: { provider: "inline" },
      models: { default: "fake:one", providers: { fake: { kind: "openai-compatible", base_url: model.url } } },
    }),
  });
  const answers: string[] = [];
  const server = await startServer([], { cwd, env: { LOG_LEVEL: "trace" } });
  const ask = async (path: string, body?: unknown) => {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    };
    const response = await fetch(server.url + path, body === undefined ? {} : init);
    const answer = await response.text();
    answers.push(answer);
    return answer;
  };
  const { data, error } = JSON.parse(await ask("/workflows/run", { workflow: "desk", input: { numbers: [1, 2] } }));
  expect(error).toBeNull();
  const runId: string = data.run_id;
  const streamed = ask(`/runs/${runId}/stream?progress=true`);
  await expect.poll(() => ask("/approvals")).toContain(runId);
  const [approval] = JSON.parse(await ask("/approvals")).data.items;
  await ask(`/approvals/${encodeURIComponent(approval.approval_id)}/approve`, {});
  const stream = await streamed;
  const run = JSON.parse(await ask(`/runs/${runId}`)).data;
  await ask(`/runs/${runId}/logs`);
  server.kill("SIGTERM");
  const { stdout, stderr } = await server.ended;

  expect(run.status).toBe("completed");
  expect(run.steps[0].output_data).toEqual({
    from: "[email]",
    cards: ["[card]", "[card]"],
    about: "[ticket] by [email]",
  });
  expect(run.steps[0].violations).toEqual([
    {
      policy: "people",
      action: "redact",
      found: { email: 2, card: 2, ticket: 1 },
      why: expect.stringContaining("email (2)"),
    },
  ]);
  expect(stream).toContain("event: end");
  expect(leaksIn(answers.join("\n"))).toEqual([]);
  expect(leaksIn(stdout + stderr)).toEqual([]);
  // Not even a later step is told.
  expect(leaksIn(JSON.stringify(model.requests.map(({ body }) => body)))).toEqual([]);
  const folder = join(cwd, ".pawl");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const contents = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));
  const leaks = contents.flatMap((content, index) => leaksIn(content).map((leak) => `${files[index]?.name}: ${leak}`));
  expect(files.some(({ name }) => name === "rows.csv")).toBe(true);
  expect(contents.some((content) => content.includes("[ticket] by [email]"))).toBe(true);
  expect(leaks).toEqual([]);
});

function leaksIn(text: string): readonly string[] {
  return LEAKS.filter((leak) => text.includes(leak));
}
