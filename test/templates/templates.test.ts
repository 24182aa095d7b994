import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createApp } from "../../src/app/create-app.ts";
import { parseExact, writeExact } from "../../src/core/exact-json.ts";
import { findRun } from "../../src/operations/application/find-run.ts";
import type { OpenApplication } from "../../src/operations/application/ports.ts";
import { findApproval } from "../../src/operations/approvals/answer-approval.ts";
import { describeRun } from "../../src/operations/runs/describe/describe-run.ts";
import { prepareRun } from "../../src/operations/start/prepare-run.ts";
import {
  layOutTemplate,
  listTemplates,
  showTemplate,
  type Template,
} from "../../src/operations/templates/template-folders.ts";
import { validateDefinition } from "../../src/operations/workflows/validate-definition.ts";

const templates = await listTemplates();
const NEVER = new AbortController().signal;

/** What a template leaves in the storage, where it leaves files. */
const FILES: Readonly<Record<string, RegExp>> = {
  research: /^reports\/report-.*\.html$/,
  "lead-enrichment": /^leads\/score\.csv$/,
  "support-triage": /^support\/answers-.*\.csv$/,
  "code-review": /^reviews\/report-.*\.md$/,
  "content-pipeline": /^articles\/publish-.*\.html$/,
  "data-extraction": /^data\/jobs\.csv$/,
  "document-qa": /^answers\/answer-.*\.html$/,
  "weekly-report": /^weekly\/week-.*\.(pdf|html)$/,
  "invoice-extraction": /^bookkeeping\/approve-.*\.csv$/,
  "competitor-watch": /^competitors\/changes\.csv$/,
};

/** What a run waits for beside approvals. */
const SIGNALS: Readonly<Record<string, { readonly name: string; readonly payload: object }>> = {
  "incident-runbook": { name: "plan-confirmed-INC-7", payload: { by: "Ada", go: true } },
};

/** Of what a machine has or a command gives, and of nothing else. */
const WARNINGS: Readonly<Record<string, readonly string[]>> = {
  "terminal-check": ["VARIABLE_UNKNOWN", "VARIABLE_UNKNOWN"],
  "weekly-report": ["CHROMIUM_MISSING"],
};

test("there are templates of all dialects, each with what it needs", () => {
  expect(templates.length).toBeGreaterThanOrEqual(12);
  expect(new Set(templates.map(({ dialect }) => dialect))).toEqual(
    new Set(["sandcastle", "uhlp", "terminal", "agents"]),
  );
  for (const { name, title, description, needs } of templates) {
    expect(`${name}: ${title}: ${description}`.length).toBeGreaterThan(60);
    expect(needs.length, name).toBeGreaterThan(0);
  }
});

test("a template that there is not is said to be none, whatever its name", async () => {
  for (const name of ["reserch", "../examples", "..", "/etc", "", "research/workflows"]) {
    await expect(showTemplate(name), name).rejects.toMatchObject({ code: "TEMPLATE_NOT_FOUND" });
  }
  await expect(showTemplate("reserch")).rejects.toMatchObject({ remedy: expect.stringContaining('"research"') });
});

describe("each template can be laid out, is valid, and runs to its end", () => {
  for (const template of templates) {
    test(template.name, async () => {
      const app = await layOut(template);
      const file = template.workflow.split("#")[0] ?? "";
      const { problems } = await validateDefinition(app, file, app.appDir);
      expect(problems.map(({ code }) => code)).toEqual(WARNINGS[template.name] ?? []);
      const run = await runToEnd(app, template);
      expect(run).toMatchObject({ status: "completed", error: null });
      const expected = FILES[template.name];
      const stored = (await (await app.files()).list("")).map(({ path }) => path);
      if (expected !== undefined) expect(stored.filter((path) => expected.test(path))).toHaveLength(1);
    });
  }
});

async function layOut({ name, dialect }: Template): Promise<OpenApplication> {
  const appDir = mkdtempSync(join(tmpdir(), `pawl-${name}-`));
  onTestFinished(() => rmSync(appDir, { recursive: true, force: true, maxRetries: 5 }));
  const { kept, written } = await layOutTemplate(name, appDir);
  expect({ kept, hasReadme: written.includes("README.md") }).toEqual({ kept: [], hasReadme: true });
  const app = await createApp({
    appDir,
    flags: {},
    environment: {
      PATH: process.env["PATH"],
      PAWL_REPORTS__CHROMIUM: "off",
      PAWL_AGENT__SIMULATED_DELAY_FACTOR: "0",
      // The others bring who answers, in their own `pawl.yaml`.
      ...(dialect === "sandcastle" ? { PAWL_AGENT__PROVIDER: "simulated" } : {}),
    },
    program: [],
    tell: () => undefined,
    onDefect: (error) => expect.fail(String(error)),
  });
  onTestFinished(() => app.leave(NEVER, NEVER));
  return app;
}

/** As a person would: everything that is asked is answered with yes. */
async function runToEnd(app: OpenApplication, template: Template) {
  const { workflow, input, name } = template;
  const folder = app.appDir;
  const host = await app.host();
  const { id } = await host.startRun(await prepareRun(app, { workflow, folder, inputFile: input }));
  for (;;) {
    const { status } = await host.settled(id);
    if (status === "awaiting_approval") {
      const { path } = await findApproval(app, id);
      await host.request(id, { type: "answer", path, answer: { answer: "approve" } });
    } else if (status === "waiting") {
      const signal = SIGNALS[name];
      if (signal === undefined) throw new Error(`${name} waits for something.`);
      await host.request(id, { type: "signal", name: signal.name, payload: parseExact(writeExact(signal.payload)) });
    } else return describeRun(await app.records(), await findRun(app, id));
  }
}

test("what a README tells to run is what there is", async () => {
  for (const { name, input } of templates) {
    const { readme, files } = await showTemplate(name);
    expect(files.map(({ path }) => path)).toContain(input);
    if (name !== "terminal-check") expect(readme, name).toContain(input);
    expect(() =>
      parseExact(readFileSync(new URL(`../../templates/${name}/${input}`, import.meta.url), "utf8")),
    ).not.toThrow();
  }
});
