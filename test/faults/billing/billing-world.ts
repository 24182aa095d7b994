import { createInlineExecutor } from "../../../src/executors/agent/inline/inline-executor.ts";
import type { Model } from "../../../src/executors/models/create-models.ts";
import type { Budgets } from "../../../src/ports/service/budgets.ts";
import type { AgentTool } from "../../../src/ports/tools/agent-toolbox.ts";
import { toGraph } from "../../fakes/direct-graph.ts";
import { FakeClock } from "../../fakes/fake-clock.ts";
import { MemoryJournal } from "../../support/memory/memory-journal.ts";
import { journalWith, World } from "../world.ts";

/** Agents that look around for some turns and then answer, one for each message. */
export function agentsGraph(messages: readonly string[], maxConcurrent: number) {
  const agent = { name: "worker", model: "test:billing", max_iterations: 12, max_tokens: 4_096 };
  return toGraph([
    {
      id: "work",
      kind: "task",
      executor: "inline",
      input: {
        op: "object",
        entries: { agent: { op: "literal", value: agent }, message: { op: "path", root: "item", path: [] } },
      },
      each: { list: { op: "literal", value: [...messages] }, maxConcurrent },
      retry: { maxAttempts: 3, backoff: "fixed", initialMs: 0, maxMs: 0, jitter: 0 },
      onFailure: "skip",
    },
  ]);
}

const LOOK: AgentTool = {
  name: "look",
  tool: "look",
  aliases: [],
  description: "Looks around.",
  inputSchema: { type: "object" },
  isRepeatable: true,
  call: async () => ({ isError: false, text: "Nothing to see.", content: [] }),
};

export function createAgent(model: Model) {
  return createInlineExecutor({
    models: { resolve: async () => model },
    conversations: () => Promise.reject(new Error("No conversation is kept.")),
    toolbox: async () => ({
      offer: async () => ({ tools: [LOOK], missing: [], warnings: [] }),
      hold: () => {},
      states: async () => [],
    }),
    builtIns: async () => ({ offer: async () => [] }),
    repairs: 0,
    patienceMs: 0,
  });
}

const LONG_MS = 3_600_000;

/** Processes that follow one another on one journal. */
export class Lives {
  readonly journal = new MemoryJournal();
  readonly #clock = new FakeClock();
  readonly #budgets: Budgets | undefined;
  readonly #executor: ReturnType<typeof createAgent>;

  constructor(executor: ReturnType<typeof createAgent>, budgets: Budgets | undefined) {
    this.#executor = executor;
    this.#budgets = budgets;
  }

  /** A process that dies when it has committed so often: from then on nothing is written, and nothing that waits for it happens. */
  begin(commits = Number.POSITIVE_INFINITY): { readonly world: World; readonly died: Promise<"died"> } {
    const died = Promise.withResolvers<"died">();
    let left = commits;
    const journal = journalWith(this.journal, (entries, append) => {
      left -= 1;
      if (left >= 0) return append(entries);
      died.resolve("died");
      return new Promise(() => {});
    });
    const budgets = this.#budgets;
    // The deaths lie so far apart that nothing is suspected of them: suspects wait, and here no time passes by itself.
    this.#clock.jump(LONG_MS);
    const world = new World({
      journal,
      clock: this.#clock,
      host: {
        findExecutor: async () => this.#executor,
        ...(budgets === undefined ? {} : { openBudgets: async () => budgets }),
      },
    });
    return { world, died: died.promise };
  }
}
