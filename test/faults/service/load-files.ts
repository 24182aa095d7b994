/** What `killService` runs: steps one after the other, a person, rows of a file that grows, and the clock. */
export const WORKFLOWS = ["short", "gated", "row"] as const;
export type Workflow = (typeof WORKFLOWS)[number];

interface LoadOptions {
  /** Where webhooks go. */
  readonly receiver: string;
  /** Base URL of a model that says back the number that it is asked. */
  readonly model: string;
}

export function loadFiles({ receiver, model }: LoadOptions): Readonly<Record<string, string>> {
  return {
    "workflows/short.yaml": `
name: short
steps:
  - {id: answer, prompt: "{input.n}"}
  - {id: again, depends_on: [answer], prompt: "{steps.answer.output}"}
`,
    "workflows/gated.yaml": `
name: gated
steps:
  - {id: draft, prompt: "{input.n}"}
  - id: gate
    type: approval
    depends_on: [draft]
    approval_config: {message: "Go on?", allow_edit: true}
  - {id: send, depends_on: [gate], prompt: "{steps.gate.output}"}
`,
    // Every run its own row: what is lost or there twice is seen.
    "workflows/row.yaml": `
name: row
default_model: "fake:one"
steps:
  - id: number
    prompt: "{input.n}"
    csv_output: {directory: out, mode: append, filename: rows}
`,
    "workflows/tick.yaml": 'name: tick\nsteps:\n  - {id: answer, prompt: "Tick."}\n',
    "answers.yaml": "delay_ms: 25\n",
    "pawl.yaml": `outbound: { allow: ["${receiver}"] }
agent: { provider: "simulated:answers.yaml" }
webhook: { retry_delay_ms: 50, max_attempts: 20 }
models: { providers: { fake: { kind: openai-compatible, base_url: "${model}" } } }
`,
  };
}

/** Who answers the steps of a workflow. */
export function agentOf(workflow: Workflow): { readonly agent?: string } {
  return workflow === "row" ? { agent: "inline" } : {};
}
