import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer, Asked, Places } from "./peer.ts";

/** What each is, with the package whose version is told. */
const ENGINES: Readonly<Record<string, readonly [name: string, packageName?: string]>> = {
  "pawl-sqlite": ["Pawl, SQLite"],
  "pawl-postgres": ["Pawl, PostgreSQL"],
  "pawl-embedded-sqlite": ["Pawl in a program, SQLite"],
  "pawl-embedded-postgres": ["Pawl in a program, PostgreSQL"],
  "pawl-restate": ["Pawl, Restate and SQLite"],
  dbos: ["DBOS, PostgreSQL", "@dbos-inc/dbos-sdk"],
  "tanstack-workflow": ["TanStack Workflow, PostgreSQL", "@tanstack/workflow-core"],
  restate: ["Restate", "@restatedev/restate-server"],
  bullmq: ["BullMQ flows (jobs)", "bullmq"],
  "pg-boss": ["pg-boss (jobs)", "pg-boss"],
  "langgraph-sqlite": ["LangGraph.js, SQLite", "@langchain/langgraph"],
  "langgraph-postgres": ["LangGraph.js, PostgreSQL", "@langchain/langgraph"],
  "openworkflow-sqlite": ["OpenWorkflow, SQLite", "openworkflow"],
  "openworkflow-postgres": ["OpenWorkflow, PostgreSQL", "openworkflow"],
};

export const ENGINE_NAMES = Object.keys(ENGINES);

/** As people are told of it, with its version. */
export function titleOf(engine: string): string {
  const [title = engine, packageName] = ENGINES[engine] ?? [];
  if (packageName === undefined) return title;
  const file = join(import.meta.dirname, "node_modules", packageName, "package.json");
  return `${title} ${JSON.parse(readFileSync(file, "utf8")).version}`;
}

/** One engine in a process of its own. */
export class PeerProcess {
  readonly name: string;
  readonly #child: ChildProcess;

  private constructor(name: string, child: ChildProcess) {
    this.name = name;
    this.#child = child;
  }

  /** Resolves when it takes work. */
  static async open(name: string, places: Places): Promise<PeerProcess> {
    const child = fork(new URL("./child.ts", import.meta.url), [name, JSON.stringify(places)], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.setMaxListeners(0);
    const peer = new PeerProcess(name, child);
    await peer.#answer();
    return peer;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Rejects when the process has ended. */
  ask(asked: Asked): Promise<Answer> {
    const answered = this.#answer();
    this.#child.send(asked);
    return answered;
  }

  /** Undefined: it cannot be said with this engine. */
  async time(asked: Asked): Promise<number | undefined> {
    const answer = await this.ask(asked);
    return "ms" in answer ? answer.ms : undefined;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  async #answer(): Promise<Answer> {
    const over = new AbortController();
    const ended = once(this.#child, "exit", over).then(() => Promise.reject(new Error(`${this.name} has ended.`)));
    try {
      const [answer] = await Promise.race([once(this.#child, "message", over), ended]);
      return answer as Answer;
    } finally {
      ended.catch(() => undefined);
      over.abort();
    }
  }
}
