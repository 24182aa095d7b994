import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createApp } from "../../src/app/create-app.ts";
import { findRun } from "../../src/operations/application/find-run.ts";
import { describeRun } from "../../src/operations/runs/describe/describe-run.ts";
import { prepareRun } from "../../src/operations/start/prepare-run.ts";
import { ROOT } from "../support/fixtures.ts";

const NEVER = new AbortController().signal;

/** They wait for time, for a person, or for a server, or need scripts. */
const LEFT_OUT = ["waits", "review-and-approve", "other-executors", "work-steps"];

const PEOPLE = [1, 2].map((n) => ({ name: `N${n}`, website: `https://${n}.example.com`, links: { profile: `p${n}` } }));
const INPUTS: Readonly<Record<string, object>> = {
  "ancestors-and-fields": { company: "Acme", depth: 2 },
  "awkward-names": JSON.parse('{"constructor": "c", "toString": "t"}'),
  "chain-without-mentions": { topic: "tea" },
  "declared-names-are-no-fields": { customers: PEOPLE, product: "tea" },
  exports: { companies: PEOPLE },
  lineage: { candidates: PEOPLE },
  "sub-workflow": { source: "us", child: "other" },
  "sub-workflow-fan-out": { companies: PEOPLE },
  "lead-enrichment": JSON.parse(readFileSync(join(ROOT, "examples/lead-enrichment.input.json"), "utf8")),
};

/** What they read of the workflows that they call stands in the callers only. */
const CALLED = `steps:
  - {id: fetch, prompt: Fetch.}
  - {id: summarize, prompt: Sum up.}
  - {id: score, prompt: Score.}
`;

/** Lists, their items and their fields, of which no schema tells. */
const INFERRED = `name: inferred
steps:
  - {id: plan, prompt: Plan.}
  - {id: look, depends_on: [plan], parallel_over: steps.plan.output.parts, prompt: "Look at {input.title} of {item.site.url}."}
  - {id: score, depends_on: [look], prompt: "Score {input.title}: {steps.look.output.facts.0.text}"}
  - {id: again, depends_on: [score], parallel_over: steps.score.output, prompt: "Again {item.points}."}
  - {id: end, depends_on: [plan, score, again], prompt: "{steps.plan.output.title} {steps.score.output.0.points} {steps.again.output}"}
`;

const files = globSync(["test/fixtures/sandcastle/valid/*.yaml", "examples/lead-enrichment.yaml"], { cwd: ROOT })
  .map((file) => ({ name: basename(file, ".yaml"), text: readFileSync(join(ROOT, file), "utf8") }))
  .filter(({ name }) => !LEFT_OUT.includes(name));

test.each([...files, { name: "inferred", text: INFERRED }])(
  "$name runs with simulated agents",
  async ({ name, text }) => {
    const { status, error, steps } = await runSimulated(name, text);
    expect({ status, error }).toEqual({ status: "completed", error: null });
    for (const step of steps) {
      expect(step.input_prompt ?? "", `the prompt of ${step.step_id}`).not.toMatch(/\{steps\.|\bnull\b/);
      if (step.status === "completed") expect(step.output_data, `the output of ${step.step_id}`).not.toBeNull();
    }
    if (name === "inferred") expect(steps.map(({ step_id: id }) => id).filter((id) => id === "again")).toHaveLength(3);
  },
);

async function runSimulated(name: string, text: string) {
  const appDir = mkdtempSync(join(tmpdir(), "pawl-simulated-"));
  onTestFinished(() => rmSync(appDir, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(appDir, "workflows"));
  for (const called of ["child-workflow", "other"])
    writeFileSync(join(appDir, "workflows", `${called}.yaml`), `name: ${called}\n${CALLED}`);
  writeFileSync(join(appDir, `${name}.yaml`), text);
  writeFileSync(join(appDir, "input.json"), JSON.stringify(INPUTS[name] ?? {}));
  const app = await createApp({
    appDir,
    flags: {},
    environment: { PATH: process.env["PATH"], PAWL_AGENT__SIMULATED_DELAY_FACTOR: "0", PAWL_REPORTS__CHROMIUM: "off" },
    program: [],
    tell: () => undefined,
    onDefect: (error) => expect.fail(String(error)),
  });
  onTestFinished(() => app.leave(NEVER, NEVER));
  const host = await app.host();
  const request = { workflow: `${name}.yaml`, folder: appDir, inputFile: "input.json", agent: "simulated" };
  const { id } = await host.startRun(await prepareRun(app, request));
  await host.settled(id);
  return describeRun(await app.records(), await findRun(app, id));
}
