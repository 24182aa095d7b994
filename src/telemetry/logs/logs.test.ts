import { describe, expect, test } from "vitest";
import { createMask } from "../../config/create-mask.ts";
import type { LogLevel } from "../../ports/log.ts";
import type { ObservedRun } from "../../ports/run-observer.ts";
import { createLog } from "./create-log.ts";
import { RunLog } from "./run-log.ts";

const SECRET = 'planted "secret" 4711';

async function openLog(format: "json" | "pretty", level: LogLevel | "silent" = "info") {
  const lines: string[] = [];
  const log = await createLog({ level, format, mask: createMask([SECRET]), write: (line) => lines.push(line) });
  return { log, lines, parsed: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

const RUN: ObservedRun = {
  runId: "r-1",
  workflow: "hello",
  tenantId: "acme",
  startedAt: 1_000,
  costMicro: 12_500,
  uncertainMicro: 2_500,
  trace: { traceId: "t", parentSpanId: undefined, spanId: "s", attemptSpanId: () => "a" },
};

describe("a log", () => {
  test("is one JSON object a line, whatever stands in it", async () => {
    const { log, lines, parsed } = await openLog("json");
    log.write("info", 'said\n{"level":"fatal"}', { run_id: "r-1", step: undefined, ms: 7 });
    expect(lines[0]).not.toContain("\n");
    expect(parsed()).toEqual([
      { level: "info", time: expect.stringMatching(/Z$/), run_id: "r-1", ms: 7, msg: 'said\n{"level":"fatal"}' },
    ]);
  });

  test("has no line below its level, and none at all where it is silent", async () => {
    const { log, lines } = await openLog("json", "warn");
    log.write("info", "unheard");
    log.write("warn", "heard");
    expect([lines.length, log.isOn("info"), log.isOn("error")]).toEqual([1, false, true]);
    const silent = await openLog("pretty", "silent");
    silent.log.write("error", "unheard");
    expect(silent.lines).toEqual([]);
  });

  test.each(["json", "pretty"] as const)("as %s has no secret, wherever it stands", async (format) => {
    const { log, lines } = await openLog(format);
    log.write("warn", `failed with ${SECRET}`, { code: SECRET, nested: JSON.stringify({ key: SECRET }) });
    expect(lines.join()).not.toMatch(/planted|4711/);
    expect(lines.join()).toContain("[redacted]");
  });

  test("for people is readable and moves no cursor", async () => {
    const { log, lines } = await openLog("pretty");
    log.write("info", "run finished \u001b[2Jx\r", { status: "completed", name: "two words", tenant: "a\u001b]0;b" });
    expect(lines[0]).toMatch(
      /^\S+Z INFO {2}run finished \\x1b\[2Jx\\x0d status=completed name="two words" tenant="a\\u001b]0;b"$/,
    );
  });
});

describe("runs in the log", () => {
  test("end as information, fail as warnings, with ids and without what models said", async () => {
    const { log, parsed } = await openLog("json");
    const runs = new RunLog(log);
    runs.committed(RUN, [
      { seq: 2, event: { type: "stepSucceeded", at: 1_500, path: "a", attempt: 1 }, executor: "agent" },
      {
        seq: 3,
        event: {
          type: "stepFailed",
          at: 1_900,
          startedAt: 1_600,
          path: "b[2]",
          attempt: 2,
          code: "OUTPUT_INVALID",
          message: "The model said: what nobody should read",
          retryable: false,
          effect: "none",
        },
        executor: "llm",
      },
      {
        seq: 4,
        event: { type: "runFinished", at: 2_000, status: "failed", code: "OUTPUT_INVALID", message: "as said" },
      },
    ]);
    const common = { time: expect.anything(), run_id: "r-1", workflow: "hello", tenant: "acme" };
    expect(parsed()).toEqual([
      {
        ...common,
        level: "warn",
        msg: "step failed",
        step: "b[2]",
        attempt: 2,
        executor: "llm",
        code: "OUTPUT_INVALID",
        retryable: false,
        ms: 300,
      },
      {
        ...common,
        level: "warn",
        msg: "run finished",
        status: "failed",
        code: "OUTPUT_INVALID",
        ms: 1_000,
        cost_usd: 0.0125,
        cost_usd_at_most: 0.015,
      },
    ]);
  });

  test("at the level debug tell of each step", async () => {
    const { log, parsed } = await openLog("json", "debug");
    new RunLog(log).committed(RUN, [
      { seq: 1, event: { type: "stepStarted", at: 1_000, path: "a", attempt: 1 } },
      {
        seq: 2,
        event: { type: "stepSucceeded", at: 1_500, startedAt: 1_000, path: "a", attempt: 1 },
        executor: "agent",
      },
    ]);
    expect(parsed()).toMatchObject([
      { level: "debug", msg: "step started", step: "a" },
      { level: "debug", msg: "step completed", step: "a", executor: "agent", ms: 500 },
    ]);
  });
});
