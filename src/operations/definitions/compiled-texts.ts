import { hash } from "node:crypto";
import { writeExact } from "../../core/exact-json.ts";
import { reportOnSent } from "./compile/report-on-sent.ts";
import type { DefinitionReport, TextOrigin } from "./compile/report-on-text.ts";

/** The origin of a text without folders. It pins no files, so it compiles to the same graph each time. */
type SentOrigin = Pick<TextOrigin, "grant" | "source" | "maxSteps" | "envAllowed" | "isLenient">;

const MAX_TEXTS = 200;
/** A text stands for its graph, which is several times as large. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

interface KeptReport {
  readonly report: Promise<DefinitionReport>;
  readonly characters: number;
}

/** A cache of definitions that clients send as text. Each is compiled once, and the oldest are dropped. */
export class CompiledTexts {
  readonly #kept = new Map<string, KeptReport>();
  #characters = 0;

  /** See `reportOnSent`. */
  async report(
    text: string,
    { grant, source, maxSteps, envAllowed, isLenient = false }: SentOrigin,
  ): Promise<DefinitionReport> {
    const key = hash("sha256", writeExact([text, grant, source, maxSteps, envAllowed, isLenient]));
    const known = this.#kept.get(key);
    if (known !== undefined) return known.report;
    const origin = { grant, source, maxSteps, envAllowed, isLenient };
    const report = reportOnSent(text, { folders: [], ...origin });
    this.#keep(key, { report, characters: text.length });
    // A faulty text is not cached: it is corrected before it is sent again.
    const isGood = await report.then(
      ({ definition }) => definition !== undefined,
      () => false,
    );
    if (!isGood) this.#forget(key);
    return report;
  }

  #keep(key: string, kept: KeptReport): void {
    this.#kept.set(key, kept);
    this.#characters += kept.characters;
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= MAX_TEXTS && this.#characters <= MAX_CHARACTERS) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#characters -= this.#kept.get(key)?.characters ?? 0;
    this.#kept.delete(key);
  }
}
