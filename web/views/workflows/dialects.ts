export type Dialect = "sandcastle" | "uhlp" | "terminal" | "agents";

/** What a new workflow begins with: it is valid, and shows how its dialect is written. */
const BEGINNINGS: Readonly<Record<Dialect, (name: string) => string>> = {
  sandcastle: (name) =>
    `name: ${quote(name)}\ndescription: What it is for.\n\nsteps:\n  - id: first\n    prompt: Say what to do, such as {input.topic}.\n`,
  uhlp: (name) =>
    [
      `workflowId: ${quote(name)}`,
      "description: What it is for.",
      "startAt: first",
      "steps:",
      "  first:",
      "    type: llm",
      "    target:",
      "      prompt: Say what to answer.",
      "    transitions:",
      "      onSuccess: answer",
      "",
      "  answer:",
      "    type: control",
      "    subtype: formatResponse",
      "    data: steps.first.output",
      "",
    ].join("\n"),
  terminal: (name) =>
    `${JSON.stringify(
      {
        name,
        description: "What it is for.",
        initial_state: "open",
        states: {
          open: {
            action: { tool: "open_terminal", params: { shell: "bash" } },
            transitions: [{ condition: { success: true }, next_state: "close" }],
          },
          close: { action: { tool: "exit_terminal", params: { session_id: "{session_id}" } }, transitions: [] },
        },
      },
      null,
      2,
    )}\n`,
  agents: (name) =>
    `${JSON.stringify(
      {
        name,
        clients: [],
        agents: [
          {
            name: "Writer",
            client_ids: [],
            system_prompt: "You answer in a few plain sentences.",
            model: "claude-haiku-4-5",
          },
        ],
        workflows: [{ name, description: "What it is for.", steps: ["Writer"] }],
      },
      null,
      2,
    )}\n`,
};

export const DIALECTS: readonly (readonly [Dialect, string])[] = [
  ["sandcastle", "Sandcastle (YAML): steps of agents, people and tools that depend on each other"],
  ["uhlp", "UHLP (YAML): steps with transitions, branches and loops"],
  ["terminal", "Terminal (JSON): states that type into terminals"],
  ["agents", "Agents (JSON): agents with tools, one after the other"],
];

export function beginningOf(dialect: Dialect, name: string): string {
  return BEGINNINGS[dialect](name);
}

export function isDialect(written: string | null | undefined): written is Dialect {
  return DIALECTS.some(([each]) => each === written);
}

/** While the text is not valid, nothing else says what it is meant to be. */
export function guessDialect(text: string): Dialect {
  const isJson = text.trimStart().startsWith("{");
  if (isJson && /"(?:states|initial_state)"\s*:/.test(text)) return "terminal";
  if (isJson && /"(?:agents|clients|workflows)"\s*:/.test(text)) return "agents";
  return /^\s*"?(?:workflowId|startAt)"?\s*:/m.test(text) ? "uhlp" : "sandcastle";
}

function quote(name: string): string {
  return /^[A-Za-z][A-Za-z0-9 _-]*$/.test(name) && !/^(?:true|false|null|yes|no|on|off)$/i.test(name)
    ? name
    : JSON.stringify(name);
}
