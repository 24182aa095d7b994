import type { ProblemList } from "../problem-list.ts";
import type { ReadOf } from "../shape/shape.ts";
import { toExcerpt } from "../source/printable.ts";
import type { Template } from "./references/template.ts";
import type { step } from "./shape/step-shape.ts";

/** A file that a step's output is written to, beside the record. */
export type Export = ReturnType<typeof toCsv> | ReturnType<typeof toReport>;

type ReadStep = ReadOf<typeof step>;
type ReadCsv = NonNullable<ReadStep["csv_output"]>;
type ReadReport = NonNullable<ReadStep["report"]>;
type ReadPage = NonNullable<ReadStep["pdf_report"]>;

interface ExportContext {
  readonly reader: { readonly problems: ProblemList };
  hasChromium(): boolean;
}

export function toExports(read: ReadStep, context: ExportContext): readonly Export[] {
  const { csv_output: csv, report, pdf_report: pdf } = read;
  return [
    ...(csv === undefined ? [] : [toCsv(csv)]),
    ...(report === undefined ? [] : [toReport(report, { key: "report", format: report.format }, context)]),
    ...(pdf === undefined ? [] : [toReport(pdf, { key: "pdf_report", format: "pdf" }, context)]),
  ];
}

function toCsv({ at, mode, rows, formulas, directory, filename }: ReadCsv) {
  const keepsFormulas = formulas === "keep";
  return { kind: "csv", at, mode, keepsFormulas, rows: rows?.value, directory, filename } as const;
}

interface ReportKind {
  readonly key: "report" | "pdf_report";
  readonly format: ReadReport["format"];
}

function toReport(page: ReadPage, { key, format }: ReportKind, { reader, hasChromium }: ExportContext) {
  const { at, title, language, directory, filename } = page;
  if (format === "pdf" && !hasChromium()) {
    const message = `\`${key}\` yields an HTML page here: no Chromium was found that could print it.`;
    reader.problems.warning({ code: "CHROMIUM_MISSING", at, message });
  }
  return { kind: "report", key, format, at, title: title?.value, language, directory, filename } as const;
}

/** Two steps that write one and the same file would each undo what the other has written. */
export function checkExports(steps: readonly { readonly exports: readonly Export[] }[], problems: ProblemList): void {
  const seen = new Set<string>();
  for (const { filename, directory, at, ...found } of steps.flatMap(({ exports }) => exports)) {
    if (filename === undefined || (found.kind === "csv" && found.mode === "append")) continue;
    const key = [directory, filename].map(toWritten).join("/");
    if (seen.has(key)) {
      const message = `Two steps write \`${toExcerpt(key)}\`.`;
      problems.error({ code: "VALUE_INVALID", at, message, remedy: "Give each a `filename` of its own." });
    }
    seen.add(key);
  }
}

function toWritten(template: Template): string {
  return template.parts.map((part) => (typeof part === "string" ? part : part.written)).join("");
}
