import { expect } from "vitest";
import type { ApproveStep, Graph, Step } from "../../../src/core/graph/graph.ts";
import type { Json } from "../../../src/core/json.ts";
import { HttpWorld, type HttpWorldOptions } from "../../fakes/http-world.ts";
import { literal, path } from "../graphs.ts";

export interface ShownApproval {
  readonly approval_id: string;
  readonly path: string;
  readonly shown: Json;
  readonly message: string;
}

interface ShownStep {
  readonly path: string;
  readonly status: string;
  readonly attempt: number;
  readonly output_data: Json;
}

export interface RunRowFields {
  readonly run_id: string;
  readonly status: string;
  readonly outputs: Json;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly steps: readonly ShownStep[];
}

export interface Reply {
  readonly status: number;
  readonly data: Json;
  readonly code: string | undefined;
  readonly message: string | undefined;
}

type Verb = "approve" | "reject" | "skip";

/** A host and its API, as people and programs use them who know nothing of each other. */
export class RaceWorld {
  readonly http: HttpWorld;

  constructor(graphs: readonly Graph[], options: HttpWorldOptions = {}) {
    const callable = Object.fromEntries(graphs.map((graph) => [graph.name, graph]));
    this.http = new HttpWorld(graphs, { callable, agent: { provider: "simulated" }, ...options });
  }

  /** Starts a run of a workflow; its id. */
  async start(workflow: string, input: Json = {}): Promise<string> {
    const { data } = await this.post("/workflows/run", { workflow, input });
    return (data as { run_id: string }).run_id;
  }

  /** Starts a run and waits until people are asked so many questions. */
  async startAsking(workflow: string, { questions = 1, input = {} }: { questions?: number; input?: Json } = {}) {
    const runId = await this.start(workflow, input);
    return { runId, open: await this.untilAsked(runId, questions) };
  }

  async untilAsked(runId: string, questions: number): Promise<readonly ShownApproval[]> {
    await expect.poll(async () => (await this.open(runId)).length).toBe(questions);
    return this.open(runId);
  }

  /** What people are asked by a run at the moment. */
  async open(runId: string): Promise<readonly ShownApproval[]> {
    const { data } = await this.get("/approvals");
    const { items } = data as unknown as { items: readonly (ShownApproval & { run_id: string })[] };
    return items.filter((item) => item.run_id === runId);
  }

  answer(id: string, verb: Verb, body: Json = {}): Promise<Reply> {
    return this.post(`/approvals/${encodeURIComponent(id)}/${verb}`, body);
  }

  signal(runId: string, name: string, payload: Json = null): Promise<Reply> {
    return this.post(`/runs/${runId}/signals`, { name, payload });
  }

  async run(runId: string): Promise<RunRowFields> {
    const { data } = await this.get(`/runs/${runId}`);
    return data as unknown as RunRowFields;
  }

  async untilEnded(runId: string): Promise<RunRowFields> {
    await this.http.world.host.settled(runId);
    await expect.poll(async () => this.http.world.recordOf(runId)).toHaveProperty("completedAt");
    return this.run(runId);
  }

  /** Which steps' work was done, in order, however often. */
  get done(): readonly string[] {
    return this.http.world.calls.map((call) => call.path);
  }

  async post(at: string, body: Json): Promise<Reply> {
    return toReply(await this.http.post(at, body));
  }

  async get(at: string): Promise<Reply> {
    return toReply(await this.http.request(at));
  }
}

async function toReply(response: Response): Promise<Reply> {
  const { data, error } = (await response.json()) as { data: Json; error: { code: string; message: string } | null };
  return { status: response.status, data, code: error?.code, message: error?.message };
}

/** A step that asks a person, and brings what it shows or what it is given. */
export function gate(id: string, more: Partial<ApproveStep> = {}): ApproveStep {
  return { kind: "approve", id, message: literal(`${id}?`), allowEdit: true, ...more };
}

/** A step inside a fan-out over `input.items`, each with a question of its own. */
export function gatePerItem(id: string, inner: readonly Step[]): Step {
  return {
    kind: "flow",
    id,
    each: { list: path("input.items"), maxConcurrent: 3 },
    flow: { kind: "dag", steps: inner, result: inner.at(-1)?.id ?? "" },
  };
}
