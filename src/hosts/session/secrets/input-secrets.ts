import { isPawlError, type PawlError } from "../../../core/errors/pawl-error.ts";
import { parseExact, writeExact } from "../../../core/exact-json.ts";
import type { Journal, RunNo } from "../../../ports/journal.ts";
import type { RunSecrets } from "../../../ports/run-secrets.ts";
import type { RunStart } from "../../run-host.ts";
import {
  type Configured,
  findConfiguredSecrets,
  findInputSecrets,
  findReusedSecrets,
  type SecretLeaf,
  textsOf,
} from "./secret-leaves.ts";

/** Secret inputs of the runs in memory: masked for as long as the run goes on, and sealed for the next process. */
export class InputSecrets {
  readonly #secrets: RunSecrets | undefined;
  readonly #journal: Journal;
  readonly #configured: Configured;
  readonly #learnt = new Map<RunNo, { readonly texts: Set<string>; readonly releases: (() => void)[] }>();

  constructor(secrets: RunSecrets | undefined, journal: Journal, configured: Configured) {
    this.#secrets = secrets;
    this.#journal = journal;
    this.#configured = configured;
  }

  /** The input of a rerun was read with the secrets hidden: hidden places stand for the same secrets. */
  find({ definition, input, lineage }: RunStart): readonly SecretLeaf[] | Promise<readonly SecretLeaf[]> {
    const { graph } = definition;
    const declared = [...findInputSecrets(graph, input), ...findConfiguredSecrets(graph, input, this.#configured)];
    if (lineage === undefined || this.#secrets === undefined) return declared;
    return this.#sealedOf(lineage.run).then((sealed) => {
      if (sealed === undefined) return declared;
      const taken = findReusedSecrets(input, this.#parse(sealed));
      const places = new Set(taken.map(({ at }) => writeExact(at)));
      return [...declared.filter(({ at }) => !places.has(writeExact(at))), ...taken];
    });
  }

  /** Masks the secrets, and returns them sealed. Undefined: there are none, or they cannot be sealed. */
  keep(no: RunNo, leaves: readonly SecretLeaf[]): string | undefined {
    if (leaves.length === 0) return undefined;
    this.learn(no, textsOf(leaves));
    return this.#secrets?.seal(writeExact(leaves));
  }

  /** Opens sealed secrets. With an error only the steps that read them fail. */
  open(no: RunNo, sealed: string): readonly SecretLeaf[] | PawlError {
    try {
      const leaves = this.#parse(sealed);
      this.learn(no, textsOf(leaves));
      return leaves;
    } catch (error) {
      if (isPawlError(error)) return error;
      throw error;
    }
  }

  /** Masks these too, for as long as the run is in memory. */
  learn(no: RunNo, texts: readonly string[]): void {
    const known = this.#learnt.get(no) ?? { texts: new Set(), releases: [] };
    const unknown = texts.filter((text) => !known.texts.has(text));
    if (unknown.length === 0 || this.#secrets === undefined) return;
    for (const text of unknown) known.texts.add(text);
    known.releases.push(this.#secrets.learn(unknown));
    this.#learnt.set(no, known);
  }

  /** The run has left memory. */
  forget(no: RunNo): void {
    for (const release of this.#learnt.get(no)?.releases ?? []) release();
    this.#learnt.delete(no);
  }

  #parse(sealed: string): readonly SecretLeaf[] {
    return this.#secrets === undefined ? [] : (parseExact(this.#secrets.open(sealed)) as SecretLeaf[]);
  }

  async #sealedOf(run: string): Promise<string | undefined> {
    const record = await this.#journal.findRun(run);
    if (record === undefined || record === "ambiguous") return undefined;
    const [first] = await this.#journal.readEvents(record.no, { afterSeq: 0, limit: 1 });
    return first?.event.type === "runStarted" ? first.event.sealed : undefined;
  }
}
