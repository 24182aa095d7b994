import { createHash } from "node:crypto";
import { writeExact } from "../core/exact-json.ts";
import {
  MOVED_ORDER,
  MOVED_TABLES,
  type MovedData,
  type MovedPart,
  type MovedTable,
  readRows,
} from "./sql/moved-tables.ts";
import { SEQ_RANGE } from "./sql/run-row.ts";

export const EXPORTED_TABLES: readonly MovedTable[] = [...MOVED_TABLES, MOVED_ORDER];

/** All that is recorded as lines of an export, the same for the same data wherever it lies. */
export async function* toLines(data: MovedData): AsyncGenerator<string> {
  for (const table of MOVED_TABLES) yield* tableLines(table, readRows(data.sql(table.place), table));
  yield* tableLines(MOVED_ORDER, toRows(data.readOrder()));
}

type Rows = AsyncIterable<readonly (string | number | null)[]>;

async function* tableLines(table: MovedTable, rows: Rows): AsyncGenerator<string> {
  yield writeExact({ table: table.name, columns: table.columns.map(({ name }) => name) });
  const digest = new TableDigest();
  const histories = table.name === "events" ? new Histories() : undefined;
  for await (const row of rows) {
    const line = writeExact(row);
    const ended = histories?.add(Number(row[0]), line);
    if (ended !== undefined) yield ended;
    digest.add(line);
    yield line;
  }
  const last = histories?.end();
  if (last !== undefined) yield last;
  yield digest.toLine(table.name);
}

/** Parts that follow each other are one, however each database has cut them. */
async function* toRows(parts: AsyncIterable<MovedPart>): AsyncGenerator<readonly number[]> {
  let open: MovedPart | undefined;
  for await (const part of parts) {
    const continues = open !== undefined && open.run === part.run && open.afterSeq + open.count === part.afterSeq;
    if (open !== undefined && !continues) yield [open.run, open.afterSeq, open.count];
    open = open !== undefined && continues ? { ...open, count: open.count + part.count } : part;
  }
  if (open !== undefined) yield [open.run, open.afterSeq, open.count];
}

/** The hash of lines, one after the other. */
class LinesDigest {
  readonly #hash = createHash("sha256");
  #count = 0;

  add(line: string): void {
    this.#hash.update(line).update("\n");
    this.#count += 1;
  }

  end(): { readonly count: number; readonly sha256: string } {
    return { count: this.#count, sha256: this.#hash.digest("hex") };
  }
}

/** The hash of the rows of a table. */
export class TableDigest extends LinesDigest {
  toLine(name: string): string {
    const { count, sha256 } = this.end();
    return writeExact({ end: name, rows: count, sha256 });
  }
}

/** The hash of the history of each run: all fields of its events, in their order. */
export class Histories {
  #run: number | undefined;
  #digest = new LinesDigest();

  /** What ends with this event of another run. */
  add(id: number, line: string): string | undefined {
    const run = Math.floor(id / SEQ_RANGE);
    const ended = run === this.#run ? undefined : this.end();
    this.#run = run;
    this.#digest.add(line);
    return ended;
  }

  /** Undefined: there is no event since the last end. */
  end(): string | undefined {
    const run = this.#run;
    if (run === undefined) return undefined;
    const { count, sha256 } = this.#digest.end();
    this.#digest = new LinesDigest();
    this.#run = undefined;
    return writeExact({ history: run, events: count, sha256 });
  }
}
