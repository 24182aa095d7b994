import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { pawl } from "../end-to-end/support/pawl.ts";
import { fakeSettings } from "../fakes/mcp-server/server-entries.ts";
import { playScript } from "../fakes/model-server/play-script.ts";
import { saidIn } from "../fakes/model-server/shown.ts";
import { serveAgents } from "./serve-agents.ts";

/** What somebody may put into a page, so that a program that reads it gives away what it knows. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: that is what is tested
const ODD = "{{ input.message }} ${HOME} ${PATH} {storage.x} {steps.Reader.output} {input.message} $& ";
const MIB = 1_000_000;

const AGENTS = {
  clients: [{ client_id: "fake", ...fakeSettings() }],
  agents: [
    { name: "Remembers", client_ids: [], model: "fake:m", system_prompt: "You remember.", include_history: "True" },
    { name: "Cashier", model: "fake:m", system_prompt: "You charge.", client_ids: ["fake"], approve: ["echo"] },
    { name: "Reader", model: "fake:m", system_prompt: "You read.", client_ids: ["fake"], max_iterations: "4" },
    { name: "Listener", model: "fake:m", system_prompt: "You listen.", client_ids: [] },
    { name: "Dear", model: "fake:m", system_prompt: "You cost.", client_ids: [], max_cost_usd: 1 },
  ],
  workflows: [
    { name: "Talk", steps: ["Remembers"] },
    { name: "Pay", steps: ["Cashier"] },
    { name: "Read and listen", steps: ["Reader", "Listener"] },
    { name: "Spend", steps: ["Dear"] },
  ],
};

const replies = playScript({
  turns: [
    { when: { system: "remember", last: "my name is" }, say: "I shall remember it." },
    { when: { system: "remember", said: "my name is" }, say: "You have told me before." },
    { when: { system: "remember" }, say: "Nobody has told me." },
    { when: { system: "charge", results: 0 }, call: { name: "echo", input: { amount: 5 } } },
    { when: { system: "charge", results: 1 }, say: "Charged." },
    { when: { system: "read", results: 0 }, call: { name: "huge", input: { bytes: MIB, of: ODD } } },
    { when: { system: "read", results: 1 }, say: ODD },
    { when: { system: "listen" }, say: "Heard." },
  ],
});

let served: Awaited<ReturnType<typeof serveAgents>>;
beforeAll(async () => {
  served = await serveAgents({ files: { "agents.json": JSON.stringify(AGENTS) }, replies });
});
afterAll(() => served.close());

describe("a session", () => {
  const talk = (message: string, session_id?: string) =>
    served.post("/workflows/Talk/execute", {
      initial_user_message: message,
      ...(session_id === undefined ? {} : { session_id }),
    });
  const ask = (message: string, session_id: string) =>
    served.post("/agents/Remembers/execute", { user_message: message, session_id });

  test("is known to an agent in the next request, at its own route and in a workflow", async () => {
    expect((await talk("Hello, my name is Ann.", "s-1")).body.final_message).toBe("I shall remember it.");
    expect((await talk("Who am I?", "s-1")).body.final_message).toBe("You have told me before.");
    const { body } = await ask("Who am I?", "s-1");
    expect(body.final_response.content).toEqual([{ type: "text", text: "You have told me before." }]);
    // The exchanges of the session, and this one.
    expect(body.conversation.map(({ role }: { role: string }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
  });

  test("that begins at the agent's route goes on in a workflow; another one knows nothing of it", async () => {
    await ask("Hello, my name is Bob.", "s-2");
    expect((await talk("Who am I?", "s-2")).body.final_message).toBe("You have told me before.");
    expect((await talk("Who am I?", "s-3")).body.final_message).toBe("Nobody has told me.");
    expect((await talk("Who am I?")).body.final_message).toBe("Nobody has told me.");
  });
});

describe("a tool that needs a person's yes", () => {
  const WAYS = [
    ["/workflows/Pay/execute", { initial_user_message: "Charge 5." }, { workflow_name: "Pay", final_message: null }],
    ["/agents/Cashier/execute", { user_message: "Charge 5." }, { final_response: null }],
    [
      "/execution/workflows/linear/Pay/run",
      { initial_input: "Charge 5." },
      { workflow_name: "Pay", final_output: null },
    ],
  ] as const;
  for (const [path, body, shape] of WAYS) {
    test(`${path} is answered with 202; arguments that the person changes are what the tool gets`, async () => {
      const asked = await served.post(path, body);
      expect(asked).toMatchObject({ status: 202, body: { ...shape, status: "awaiting_approval" } });
      const { run_id: runId } = asked.body;
      const { body: open } = await served.get("/approvals");
      const approval = open.data.items.find((each: { run_id: string }) => each.run_id === runId);
      expect(approval).toMatchObject({ allow_edit: true, shown: { amount: 5 } });

      const answer = { edited_data: { amount: 4 }, comment: "Less." };
      const approved = await served.post(`/approvals/${encodeURIComponent(approval.approval_id)}/approve`, answer);
      expect(approved.status).toBe(200);

      const run = async () => (await served.get(`/runs/${runId}`)).body.data;
      await expect.poll(run).toMatchObject({ status: "completed" });
      const result = served.model.requests.at(-1)?.shown.messages.at(-1)?.results[0]?.text ?? "";
      // `echo` says with what it was called; the model is told who has changed that.
      expect(result).toContain('A person changed the arguments to {"amount":4}');
      expect(result).toContain('"args":{"amount":4}');
      expect(result).not.toContain('"amount":5');
    });
  }
});

test("a result of 1 MB that looks like templates is cut for the model, kept whole, and nothing in it is expanded", async () => {
  const { status, body } = await served.post("/workflows/Read%20and%20listen/execute", { initial_user_message: "Go" });

  expect([status, body.status, body.final_message]).toEqual([200, "completed", "Heard."]);
  const last = (system: string) => served.model.requests.findLast(({ shown }) => shown.system.includes(system))?.shown;
  const text = last("You read")?.messages.at(-1)?.results[0]?.text ?? "";
  expect(text.length).toBeLessThan(66_000);
  expect(text.startsWith(ODD.repeat(100))).toBe(true);
  expect(text).toMatch(/\[Cut here: \d+ more of 1000000 characters\./);
  // A model without a price has not cost nothing.
  expect(body.steps[0].cost_usd).toBeNull();
  // What an agent says is the next one's message as it stands.
  const heard = last("You listen");
  expect(heard === undefined ? [] : saidIn(heard)).toEqual([ODD]);
  expect(body.steps[0].message).toBe(ODD);
  const whole = filesIn(join(served.folder, ".pawl", "blobs")).filter((file) => statSync(file).size > MIB);
  expect(whole.map((file) => readFileSync(file, "utf8")).join("")).toContain(ODD.repeat(9_000));
});

test("an agent under a budget whose model has no price is refused before anything is asked", async () => {
  const before = served.model.requests.length;
  const ways = [
    ["/workflows/Spend/execute", { initial_user_message: "Hi" }],
    ["/agents/Dear/execute", { user_message: "Hi" }],
  ] as const;
  for (const [path, body] of ways) {
    expect(await served.post(path, body)).toMatchObject({
      status: 400,
      body: { code: "PRICE_UNKNOWN", detail: expect.stringContaining("fake:m"), remedy: expect.any(String) },
    });
  }
  // The command goes through the process that serves.
  const { code, stdout } = await pawl(["run", "agents.json#Spend", "-i", "message=Hi", "--json"], {
    cwd: served.folder,
  });
  expect([code, JSON.parse(stdout).error]).toEqual([2, expect.objectContaining({ code: "PRICE_UNKNOWN" })]);
  expect(served.model.requests).toHaveLength(before);
});

describe("an agents file that cannot be used", () => {
  const OTHER = JSON.stringify({
    workflowId: "plain",
    startAt: "a",
    steps: {
      a: {
        type: "control",
        subtype: "formatResponse",
        resultType: "generic",
        dataMapping: { x: "1" },
        transitions: { end: true },
      },
    },
  });

  test("is told at the start and with 503, while others go on, until it is mended", async () => {
    const broken = await serveAgents({
      files: { "agents.json": '{"agents": [{"name": "A",}]}', "workflows/plain.json": OTHER },
      replies,
    });
    onTestFinished(() => broken.close());
    expect(broken.told.join("\n")).toContain("agents.json:1:25 error JSON_SYNTAX JSON has no comma before `}`.");

    for (const [path, field] of ROUTES) {
      expect(await broken.post(path, { [field]: "Hi" })).toMatchObject({
        status: 503,
        body: { code: "DEFINITION_INVALID", detail: expect.stringContaining("agents.json") },
      });
    }
    expect((await broken.post("/workflows/run/sync", { workflow: "plain", input: {} })).status).toBe(200);
    expect((await broken.get("/status")).status).toBe(200);

    const good = { agents: [{ name: "A", client_ids: [], model: "fake:m", system_prompt: "You listen." }] };
    broken.write("agents.json", JSON.stringify({ ...good, workflows: [{ name: "W", steps: ["A"] }] }));
    expect((await broken.post("/agents/A/execute", { user_message: "Hi" })).status).toBe(200);
    const atWorkflow = async () => (await broken.post("/workflows/W/execute", { initial_user_message: "Hi" })).status;
    await expect.poll(atWorkflow).toBe(200);
    expect(broken.defects).toEqual([]);
  });

  test("or is configured and missing is told at the start and with 503, while others go on", async () => {
    const environment = { HOST_CONFIG_PATH: "conf/host.json" };
    const missing = await serveAgents({ files: { "workflows/plain.json": OTHER }, replies, environment });
    onTestFinished(() => missing.close());
    expect(missing.told.join("\n")).toMatch(/There is no agents file .*host\.json.*HOST_CONFIG_PATH/s);

    for (const [path, field] of ROUTES) {
      expect(await missing.post(path, { [field]: "Hi" })).toMatchObject({
        status: 503,
        body: { code: "FILE_NOT_FOUND", remedy: expect.stringContaining("HOST_CONFIG_PATH") },
      });
    }
    expect((await missing.get("/status")).status).toBe(503);
    expect((await missing.post("/workflows/run/sync", { workflow: "plain", input: {} })).status).toBe(200);
  });
});

const ROUTES = [
  ["/agents/A/execute", "user_message"],
  ["/workflows/W/execute", "initial_user_message"],
  ["/execution/workflows/linear/W/run", "initial_input"],
] as const;

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}
