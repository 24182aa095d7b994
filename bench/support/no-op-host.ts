import { SystemClock } from "../../src/app/system-clock.ts";
import type { Graph, Step } from "../../src/core/graph/graph.ts";
import { liftControls } from "../../src/core/graph/lift-controls.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { LocalHost } from "../../src/hosts/local/local-host.ts";
import type { Executor } from "../../src/ports/executor.ts";
import type { Journal } from "../../src/ports/journal.ts";
import { MemoryBlobs } from "../../test/support/memory/memory-blobs.ts";
import { MemoryFileStorage } from "../../test/support/memory/memory-file-storage.ts";

/** The real host with an executor that does nothing: what is left is what Pawl costs. */
export function openNoOpHost(journal: Journal, outputBytes = 0): LocalHost {
  const executor = noOp(outputBytes);
  return new LocalHost({
    journal,
    blobs: new MemoryBlobs(),
    files: new MemoryFileStorage(),
    clock: new SystemClock(),
    findExecutor: async () => executor,
    resolveCall: () => Promise.reject(new Error("No calls here.")),
    mask: (text) => text,
    env: () => undefined,
    onDefect: (error) => {
      throw error;
    },
  });
}

export function noOp(outputBytes = 0): Executor {
  const output = outputBytes === 0 ? true : "x".repeat(outputBytes);
  return { recordsInput: false, run: async () => ({ status: "succeeded", output, costMicro: 0 }) };
}

export function sequence(steps: number): Graph {
  return graphOf(
    `SEQ-${steps}`,
    Array.from({ length: steps }, (_, i) => task(`s${i}`, i === 0 ? [] : [`s${i - 1}`])),
  );
}

/** One step over `items` items, and one that waits for all of them without reading them. */
export function fanOut(items: number, maxConcurrent = items): Graph {
  const list = Array.from({ length: items }, (_, i) => i);
  const fan: Step = {
    ...task("fan", []),
    each: { list: { op: "path", root: "input", path: ["list"] }, maxConcurrent },
  };
  return graphOf(`FAN-${items}`, [fan, task("join", ["fan"])], { list });
}

function task(id: string, after: readonly string[]): Step {
  return { kind: "task", id, executor: "code", after, input: { op: "literal", value: null } };
}

function graphOf(name: string, steps: readonly Step[], defaults: JsonObject = {}): Graph {
  return liftControls({
    format: 1,
    dialect: "direct",
    name,
    input: { declared: [], defaults },
    flow: { kind: "dag", steps },
    limits: {},
    ending: { deadLetter: false },
    envAllowed: [],
    settings: {},
  });
}
