import { hash } from "node:crypto";
import { writeExact } from "../../core/exact-json.ts";
import { SizedCache } from "../../core/sized-cache.ts";
import { reportOnSent } from "./compile/report-on-sent.ts";
import type { DefinitionReport, TextOrigin } from "./compile/report-on-text.ts";

/** The origin of a text without folders. It pins no files, so it compiles to the same graph each time. */
type SentOrigin = Pick<TextOrigin, "grant" | "source" | "maxSteps" | "envAllowed" | "isLenient">;

/** A text stands for its graph, which is several times as large. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** A short text counts as so many: at most 200 are kept. */
const LEAST_CHARACTERS = MAX_CHARACTERS / 200;

/** A cache of definitions that clients send as text. Each is compiled once, and the oldest are dropped. */
export class CompiledTexts {
  readonly #kept = new SizedCache<string, Promise<DefinitionReport>>(MAX_CHARACTERS);

  /** See `reportOnSent`. */
  async report(
    text: string,
    { grant, source, maxSteps, envAllowed, isLenient = false }: SentOrigin,
  ): Promise<DefinitionReport> {
    const key = hash("sha256", writeExact([text, grant, source, maxSteps, envAllowed, isLenient]));
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const origin = { grant, source, maxSteps, envAllowed, isLenient };
    const report = reportOnSent(text, { folders: [], ...origin });
    this.#kept.set(key, report, Math.max(text.length, LEAST_CHARACTERS));
    // A faulty text is not cached: it is corrected before it is sent again.
    const isGood = await report.then(
      ({ definition }) => definition !== undefined,
      () => false,
    );
    if (!isGood) this.#kept.delete(key);
    return report;
  }
}
