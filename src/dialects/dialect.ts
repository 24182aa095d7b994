import type { WrittenDialect } from "../core/graph/dialects.ts";
import type { Capability } from "../core/trust/grant.ts";
import type { Compiled, Definition, LoadOptions } from "./definition.ts";
import type { ProblemList } from "./problem-list.ts";
import type { YamlNode } from "./source/yaml-node.ts";

/**
 * One way to write workflows: how its texts are told from others, and how they are compiled. What the rest of the program knows
 * of it, whatever the text, is in `src/core/graph/dialects.ts`.
 */
export interface Dialect {
  readonly name: WrittenDialect;
  /** The shape of its texts, for the author of a text that has none of the shapes. */
  readonly looksLike: string;
  /** Whether a text that does not name its dialect is one of it, if none before it claims the text. */
  hasShape(root: YamlNode): boolean;
  /** Compiles a map, or another text that has the shape. Never throws on what a text may hold. */
  compile(root: YamlNode, problems: ProblemList, options: LoadOptions): Promise<Compiled>;
  /** Files that other programs read too, which take nothing but JSON in `.json`. */
  readonly isStrictJson?: boolean;
  /** Compiles a file that is neither YAML nor JSON. Undefined: it is no such file. */
  readonly compileFile?: (definition: Definition, options: LoadOptions) => Promise<Compiled> | undefined;
  /** The text with another prompt in one of its steps. Undefined: it has no such step. */
  replacePrompt?(text: string, step: string, prompt: string): string | undefined;
  /** Every key, with the capabilities that its value may need. */
  readonly reach: Readonly<Record<string, readonly Capability[]>>;
}

/** A new key of what a dialect reads does not compile before it is in the table. */
export type Reach<Read> = Readonly<Record<KeysOf<Read>, readonly Capability[]>>;

type KeysOf<Read> = Read extends unknown ? Exclude<keyof Read, "at" | "rest"> & string : never;

export function keys<Key extends string>(reach: readonly Capability[], ...names: readonly Key[]) {
  // `fromEntries` forgets the names.
  return Object.fromEntries(names.map((name) => [name, reach])) as Readonly<Record<Key, readonly Capability[]>>;
}

export const words = <Key extends string>(...names: readonly Key[]) => keys([], ...names);
