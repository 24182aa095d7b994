import { setImmediate } from "node:timers/promises";
import type { SchemaValidators } from "../../output/schema-validators.ts";
import type { ToolList } from "../connection.ts";
import { type ServerTool, withoutDefaulted } from "../server-tool.ts";

/** Compiling a schema keeps everybody else waiting. */
const COMPILED_AT_ONCE = 20;

/** The tools of a list that a model can be shown: providers refuse a whole request for the sake of one broken schema. */
export class UsableTools {
  readonly #validators: SchemaValidators;
  readonly #checked = new WeakMap<ToolList, Promise<ToolList>>();

  constructor(validators: SchemaValidators) {
    this.#validators = validators;
  }

  /** By name. Each list is looked at once. */
  of(list: ToolList): Promise<ToolList> {
    const known = this.#checked.get(list);
    if (known !== undefined) return known;
    const checking = this.#check(list);
    this.#checked.set(list, checking);
    return checking;
  }

  async #check({ tools, warnings }: ToolList): Promise<ToolList> {
    const usable: ServerTool[] = [];
    const flaws: string[] = [];
    for (const [index, tool] of tools.entries()) {
      if (index % COMPILED_AT_ONCE === COMPILED_AT_ONCE - 1) await setImmediate();
      const schema = await this.#validators.compile(withoutDefaulted(tool.inputSchema));
      if (schema.ok) usable.push(tool);
      else flaws.push(`its tool ${JSON.stringify(tool.name)} was left out: ${schema.message.slice(0, 300)}`);
    }
    return { tools: usable.sort(byName), warnings: [...warnings, ...flaws] };
  }
}

function byName(a: ServerTool, b: ServerTool): number {
  return a.name < b.name ? -1 : 1;
}
