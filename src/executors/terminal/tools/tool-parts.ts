import type { TerminalPolicy } from "../policy/terminal-policy.ts";
import type { SessionTable } from "../session/session-table.ts";
import type { TerminalOptions, TerminalSurroundings } from "../terminal-options.ts";
import type { Gate } from "./gate.ts";

/** What every tool works with. */
export interface ToolParts {
  readonly options: TerminalOptions;
  readonly surroundings: TerminalSurroundings;
  readonly table: SessionTable;
  readonly policy: TerminalPolicy;
  readonly gate: Gate;
}
