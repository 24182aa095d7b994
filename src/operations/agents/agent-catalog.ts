import { basename } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { didYouMean } from "../../dialects/did-you-mean.ts";
import { compileText, definitionInvalid } from "../definitions/compile-text.ts";
import { stampAll } from "../definitions/file-stamps.ts";
import type { FoundDefinition } from "../definitions/find-definition.ts";
import {
  type AgentPlaces,
  type AgentSource,
  listAgentSources,
  originOfAgents,
  readAgentSource,
} from "./read-agent-sources.ts";

interface Held {
  readonly stamp: string;
  /** The source as it is written now. */
  readonly read: AgentSource;
  /** The last version without errors, and its agents that were asked for. */
  readonly good: { readonly source: AgentSource; readonly compiled: Map<string, Promise<FoundDefinition>> } | undefined;
}

/**
 * The application's agents for whoever asks again and again: of its agents file, else of `.claude/agents`. What has not
 * changed is neither read nor compiled again, and a file that is broken while it is edited stays what it was.
 */
export class AgentCatalog {
  readonly #places: AgentPlaces;
  #held: ReadonlyMap<string, Held> = new Map();
  #looking: Promise<readonly Held[]> | undefined;

  constructor(places: AgentPlaces) {
    this.#places = places;
  }

  /**
   * An agent, ready to be asked alone. Throws `AGENT_NOT_FOUND`, `DEFINITION_INVALID` where a file that may have it cannot
   * be used, and `FILE_NOT_FOUND` where the configured agents file is missing.
   */
  async find(name: string): Promise<FoundDefinition> {
    const all = await this.#look();
    for (const { good } of all) {
      if (good?.source.agents.some((agent) => agent.name === name)) return this.#compile(name, good);
    }
    const broken = all.map(({ read }) => read).filter(({ isValid }) => !isValid);
    const meant = broken.find(({ names }) => names.includes(name)) ?? broken.find(mayHaveAny);
    if (meant !== undefined) throw definitionInvalid(basename(meant.file), meant.problems);
    throw notFound(
      name,
      all.flatMap(({ good }) => good?.source.agents.map((agent) => agent.name) ?? []),
    );
  }

  /** One look at a time: those who ask meanwhile get what it finds. */
  async #look(): Promise<readonly Held[]> {
    this.#looking ??= this.#lookAtAll().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookAtAll(): Promise<readonly Held[]> {
    const files = await listAgentSources(this.#places);
    // Before the texts are read: who writes meanwhile is seen the next time.
    const stamps = await stampAll(files);
    const looked = await Promise.all(files.map((file) => this.#lookAt(file, stamps.get(file) ?? "")));
    const held = looked.filter((each) => each !== undefined);
    this.#held = new Map(held.map((each) => [each.read.file, each]));
    return held;
  }

  async #lookAt(file: string, stamp: string): Promise<Held | undefined> {
    const known = this.#held.get(file);
    // A broken file may only lack another file, so it is read again every time.
    if (known?.stamp === stamp && known.read.isValid) return known;
    const read = await readAgentSource(this.#places, file);
    if (read === undefined) return undefined;
    return { stamp, read, good: read.isValid ? { source: read, compiled: new Map() } : known?.good };
  }

  #compile(name: string, { source, compiled }: NonNullable<Held["good"]>): Promise<FoundDefinition> {
    const { file, text } = source;
    const known = compiled.get(name);
    if (known !== undefined) return known;
    const origin = { ...originOfAgents(this.#places, file), select: { agent: name } };
    const compiling = compileText(text, origin).then((definition) => ({ definition, file }));
    compiled.set(name, compiling);
    compiling.catch(() => compiled.delete(name));
    return compiling;
  }
}

/** So broken that nobody knows whom it names. */
function mayHaveAny({ file, names }: AgentSource): boolean {
  return names.length === 0 && !file.endsWith(".md");
}

export function notFound(name: string, known: readonly string[]): PawlError {
  const meant = didYouMean(name, known);
  return new PawlError("AGENT_NOT_FOUND", {
    message: `Agent '${name}' not found`,
    ...(meant === undefined ? {} : { remedy: `Did you mean "${meant}"?` }),
  });
}
