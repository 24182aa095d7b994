import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createApp } from "../../src/app/create-app.ts";
import { isPawlError } from "../../src/core/errors/pawl-error.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { planRun } from "../../src/operations/plan/plan-run.ts";
import { checkWorkflows } from "../../src/operations/service/run-doctor.ts";
import { findStartable, prepareRun } from "../../src/operations/start/prepare-run.ts";
import { prepareSubmission } from "../../src/operations/start/prepare-submission.ts";
import { validateDefinition, validateText } from "../../src/operations/workflows/validate-definition.ts";

const ENVIRONMENT = {
  anthropic: { ANTHROPIC_API_KEY: "none" },
  openai: { OPENAI_API_KEY: "none" },
  google: { GEMINI_API_KEY: "none" },
  sandstorm: { SANDSTORM_URL: "http://127.0.0.1:9" },
} as const;

type Given = keyof typeof ENVIRONMENT;

/** What each name of a model needs. `never`: no provider is known. */
const MODELS: Readonly<Record<string, Given | "nothing" | "never">> = {
  sonnet: "anthropic",
  "anthropic:claude-haiku-4-5": "anthropic",
  "claude-opus-4-5": "anthropic",
  "openai:gpt-5-mini": "openai",
  quick: "openai",
  "gemini-2.5-flash": "google",
  "mock:": "nothing",
  "local:llama": "nothing",
  "anthropc:claude-haiku-4-5": "never",
  "fak:x": "never",
  sonet: "never",
};

const SETTINGS = `models:
  aliases: {quick: "openai:gpt-5-mini"}
  providers: {local: {kind: openai-compatible, base_url: "http://127.0.0.1:9/v1"}}
`;

interface Drawn {
  readonly given: readonly Given[];
  readonly usual: string | undefined;
  readonly provider: string | undefined;
  readonly agent: "sandstorm" | "inline" | "simulated" | undefined;
  readonly dialect: "sandcastle" | "uhlp" | "agents";
  readonly steps: readonly { readonly does: "agent" | "llm" | "tool" | "call"; readonly model: string | undefined }[];
}

const model = fc.option(fc.constantFrom(...Object.keys(MODELS)), { nil: undefined, freq: 3 });
const drawn: fc.Arbitrary<Drawn> = fc.record({
  given: fc.subarray(["anthropic", "openai", "google", "sandstorm"] as const),
  usual: fc.option(fc.constantFrom("mock:", "local:llama", "openai:gpt-5-mini", "fak:x"), { nil: undefined, freq: 2 }),
  provider: fc.option(fc.constantFrom("simulated", "inline"), { nil: undefined, freq: 1 }),
  agent: fc.option(fc.constantFrom("sandstorm", "inline", "simulated"), { nil: undefined, freq: 2 }),
  dialect: fc.constantFrom("sandcastle", "uhlp", "agents"),
  steps: fc.array(fc.record({ does: fc.constantFrom("agent", "agent", "llm", "llm", "tool", "call"), model }), {
    minLength: 1,
    maxLength: 3,
  }),
});

function textOf({ dialect, steps }: Drawn): string {
  if (dialect === "agents") {
    const agents = steps.map(({ model: named }, index) => ({ name: `A${index}`, model: named }));
    return JSON.stringify({ agents, workflows: [{ name: "drawn", steps: agents.map(({ name }) => name) }] });
  }
  if (dialect === "uhlp") {
    const work = steps.map(({ model: named }, index) => [
      `s${index}`,
      {
        type: "llm",
        target: { prompt: "Hi.", ...(named === undefined ? {} : { model: named }) },
        transitions: index === steps.length - 1 ? { end: true } : { onSuccess: `s${index + 1}` },
      },
    ]);
    return JSON.stringify({ workflowId: "drawn", startAt: "s0", steps: Object.fromEntries(work) });
  }
  return JSON.stringify({
    name: "drawn",
    steps: steps.map(({ does, model: named }, index) => {
      const id = `s${index}`;
      if (does === "tool")
        return { id, type: "mcp", tool: named === undefined ? "core.state.getRuntimeValue" : "gone.tool" };
      if (does === "call") return { id, type: "sub_workflow", sub_workflow: { workflow: named ?? "child" } };
      return { id, ...(does === "llm" ? { type: "llm" } : {}), prompt: "Hi.", ...(named && { model: named }) };
    }),
  });
}

/** Said again, in the simplest way: whether each step would be answered. */
function isAnswerable({ given, usual, provider, agent, dialect, steps }: Drawn): boolean {
  const has = (name: Given) => given.includes(name);
  const keys = (["anthropic", "openai", "google"] as const).filter(has);
  const chosen =
    agent ?? provider ?? (has("sandstorm") ? "sandstorm" : keys.length > 0 || usual ? "inline" : undefined);
  const hasModel = (named: string | undefined, ofAgent: boolean) => {
    const needs = MODELS[named ?? usual ?? ""];
    if (needs === undefined) return ofAgent && keys.length > 0;
    return needs === "nothing" || (needs !== "never" && has(needs));
  };
  const answersAgents = (named: string | undefined) =>
    chosen === "simulated" ||
    (chosen === "sandstorm" && has("sandstorm")) ||
    (chosen === "inline" && hasModel(named, true));
  const isMadeUp = (agent ?? provider) === "simulated";
  if (agent === "sandstorm" && !has("sandstorm")) return false;
  return steps.every(({ does, model: named }) => {
    if (dialect === "agents") return isMadeUp || hasModel(named, true);
    if (dialect === "uhlp" || does === "llm") return isMadeUp || hasModel(named, false);
    if (does === "agent") return answersAgents(named);
    return named === undefined && (does === "tool" || answersAgents(undefined));
  });
}

const CHILD = '{"name": "child", "steps": [{"id": "inner", "prompt": "Hi."}]}';

test("validate, plan, doctor, run and serve agree, and no run begins that could not be answered", {
  timeout: 300_000,
}, async () => {
  const root = mkdtempSync(join(tmpdir(), "pawl-drawn-"));
  let count = 0;
  let ready = 0;
  try {
    await fc.assert(
      fc.asyncProperty(drawn, async (configuration) => {
        const { given, usual, provider, agent } = configuration;
        count += 1;
        const appDir = join(root, String(count));
        mkdirSync(join(appDir, "workflows"), { recursive: true });
        const text = textOf(configuration);
        writeFileSync(join(appDir, "pawl.yaml"), SETTINGS);
        writeFileSync(join(appDir, "workflows", "child.json"), CHILD);
        writeFileSync(join(appDir, "workflows", "drawn.json"), text);
        const app = await createApp({
          appDir,
          flags: {},
          environment: {
            ...Object.assign({}, ...given.map((name) => ENVIRONMENT[name])),
            ...(usual === undefined ? {} : { PAWL_MODELS__DEFAULT: usual }),
            ...(provider === undefined ? {} : { PAWL_AGENT__PROVIDER: provider }),
          },
          makesNothing: true,
          program: [],
          tell: () => undefined,
          onDefect: (error) => {
            throw error;
          },
        });
        try {
          const folder = appDir;
          const input: JsonObject = configuration.dialect === "agents" ? { message: "Hi." } : {};
          const inputPairs = Object.entries(input).map((pair) => pair.join("="));
          const request = { workflow: join("workflows", "drawn.json"), folder, agent, inputPairs };
          const begins = (prepare: Promise<unknown>) =>
            prepare.then(
              () => true,
              (error: unknown) => {
                if (isPawlError(error)) return false;
                throw error;
              },
            );
          const planned = await planRun(app, await findStartable(app, request), { folder, agent });
          const answers = {
            plan: planned.ready,
            run: await begins(prepareRun(app, request)),
            serve: await begins(prepareSubmission(app, { workflow: text, input, agent })),
          };
          const expected = isAnswerable(configuration);
          expect(answers).toEqual({ plan: expected, run: expected, serve: expected });
          if (expected) {
            ready += 1;
            expect(planned.steps.filter(({ kind, answered_by: by }) => kind === "task" && by === null)).toEqual([]);
          }
          if (agent !== undefined) return;
          const ofFile = await validateDefinition(app, request.workflow, folder);
          const ofText = await validateText(app, text, false);
          const found = await checkWorkflows(app, 0);
          const readyIn = (validation: typeof ofFile) => validation.workflows.some((each) => each.ready === true);
          expect({
            file: readyIn(ofFile),
            text: readyIn(ofText),
            doctor: found.every(({ name }) => name !== "workflow drawn"),
          }).toEqual({ file: expected, text: expected, doctor: expected });
        } finally {
          await app.close();
          rmSync(appDir, { recursive: true, force: true });
        }
      }),
      { numRuns: Number(process.env["DRAWN"] ?? 1_000), seed: 41 },
    );
    expect(ready).toBeGreaterThan(count / 5);
    expect(ready).toBeLessThan((count * 4) / 5);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
