import { ERRORS, type ErrorCode } from "../errors/error-table.ts";
import type { Dialect, Graph } from "./graph.ts";

/** What the engine and the operations know of a dialect. It follows from the name in a graph, so stored graphs need no field for it. */
interface DialectTraits {
  /** What steps read: the values as they are given, the payload of a request, or a message to agents. */
  readonly input: "values" | "request" | "message";
  /** The agent that answers a first try without any key. Absent: the configured ones. */
  readonly firstAgent?: "simulated";
  /** The definition may name MCP servers, whose relative paths start from its folder. */
  readonly namesServers: boolean;
  /** Called workflows are looked for before a run starts. */
  readonly checksCalls: boolean;
  /** It is a machine of terminal states: a caller may raise its limits, is told of each state, and keeps what has succeeded. */
  readonly isTerminal: boolean;
  /** Remedies in the words of its keys, where the error table has the words of several dialects. */
  readonly remedies: { readonly [Code in ErrorCode]?: string };
}

const VALUES = { input: "values", namesServers: false, checksCalls: true, isTerminal: false, remedies: {} } as const;

const TRAITS: Readonly<Record<Dialect, DialectTraits>> = {
  sandcastle: {
    ...VALUES,
    firstAgent: "simulated",
    remedies: {
      LIST_MISSING: "Check the path in `parallel_over`.",
      AGENT_TURNS_EXHAUSTED: "Raise `max_turns`, or ask for less.",
    },
  },
  uhlp: {
    ...VALUES,
    input: "request",
    remedies: {
      LIST_MISSING: "Check the path in `list`.",
      MAX_VISITS: "Look for a loop that does not end, or raise `maxSteps`.",
    },
  },
  terminal: {
    ...VALUES,
    checksCalls: false,
    isTerminal: true,
    remedies: { MAX_VISITS: "Look for a loop that does not end, or raise `max_states`." },
  },
  agents: {
    ...VALUES,
    input: "message",
    namesServers: true,
    checksCalls: false,
    remedies: { AGENT_TURNS_EXHAUSTED: "Raise `max_iterations`, or ask for less." },
  },
  typescript: VALUES,
  direct: VALUES,
};

/** The dialects that people write, in the order of the docs. `direct` is a single piece of work, which only requests make. */
export const WRITTEN_DIALECTS = ["sandcastle", "uhlp", "terminal", "agents"] as const satisfies readonly Dialect[];

export type WrittenDialect = (typeof WRITTEN_DIALECTS)[number];

export function isWrittenDialect(name: string): name is WrittenDialect {
  return WRITTEN_DIALECTS.some((each) => each === name);
}

export function traitsOf({ dialect }: Pick<Graph, "dialect">): DialectTraits {
  return TRAITS[dialect];
}

/** What to do about an error of a run or a definition, in the words of its dialect. */
export function remedyOf(code: ErrorCode, dialect: string): string {
  return (isWrittenDialect(dialect) ? TRAITS[dialect].remedies[code] : undefined) ?? ERRORS[code].remedy;
}
