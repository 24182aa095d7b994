import { isPawlError, type PawlError } from "../../../core/errors/pawl-error.ts";
import { parseExact, writeExact } from "../../../core/exact-json.ts";
import type { Journal, RunNo } from "../../../ports/journal.ts";
import type { RunSecrets } from "../../../ports/run-secrets.ts";
import type { RunStart } from "../../run-host.ts";
import { findInputSecrets, findReusedSecrets, type SecretLeaf, textsOf } from "./secret-leaves.ts";

/** Secret inputs of the runs in memory: masked for as long as the run goes on, and sealed for the next process. */
export class InputSecrets {
  readonly #secrets: RunSecrets | undefined;
  readonly #journal: Journal;
  readonly #releases = new Map<RunNo, (() => void)[]>();

  constructor(secrets: RunSecrets | undefined, journal: Journal) {
    this.#secrets = secrets;
    this.#journal = journal;
  }

  /** The input of a rerun was read with the secrets hidden: hidden places stand for the same secrets. */
  find({ definition, input, lineage }: RunStart): readonly SecretLeaf[] | Promise<readonly SecretLeaf[]> {
    const declared = findInputSecrets(definition.graph, input);
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
    this.#learn(no, leaves);
    return this.#secrets?.seal(writeExact(leaves));
  }

  /** Opens sealed secrets. With an error only the steps that read them fail. */
  open(no: RunNo, sealed: string): readonly SecretLeaf[] | PawlError {
    try {
      const leaves = this.#parse(sealed);
      this.#learn(no, leaves);
      return leaves;
    } catch (error) {
      if (isPawlError(error)) return error;
      throw error;
    }
  }

  /** The run has left memory. */
  forget(no: RunNo): void {
    for (const release of this.#releases.get(no) ?? []) release();
    this.#releases.delete(no);
  }

  #learn(no: RunNo, leaves: readonly SecretLeaf[]): void {
    const release = this.#secrets?.learn(textsOf(leaves));
    if (release !== undefined) this.#releases.set(no, [...(this.#releases.get(no) ?? []), release]);
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
