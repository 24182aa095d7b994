import type { Dialect } from "../dialects.ts";
import type { Builder } from "./builder.ts";
import { sandcastleBuilder } from "./sandcastle-builder.ts";
import { terminalBuilder } from "./terminal-builder.ts";
import { uhlpBuilder } from "./uhlp-builder.ts";

/** Files of agents are edited as text: what they have are agents and servers, not only steps. */
export function builderOf(dialect: Dialect): Builder | undefined {
  return { sandcastle: sandcastleBuilder, uhlp: uhlpBuilder, terminal: terminalBuilder, agents: undefined }[dialect];
}
