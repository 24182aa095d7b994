import type { MapReader, Text } from "../map-reader.ts";
import { toExcerpt } from "../source/printable.ts";
import type { Range } from "../source/source-text.ts";
import type { ParseContext } from "./parse-context.ts";
import { leavesStorage } from "./storage-path.ts";
import { parseTemplate, slotsOf, type Template } from "./template.ts";
import type { CsvExport, Export, ExportPlace, ReportExport } from "./workflow.ts";

/** What a step's output is written to beside the record: `csv_output`, `report`, `pdf_report`. */
export function parseExports(step: MapReader, context: ParseContext): readonly Export[] {
  return [
    parseCsv(step, context),
    parseReport(step, "report", context),
    parseReport(step, "pdf_report", context),
  ].filter((found) => found !== undefined);
}

/** Two steps that write one and the same file would each undo what the other has written. */
export function checkExports(steps: readonly { readonly exports: readonly Export[] }[], context: ParseContext): void {
  const seen = new Set<string>();
  for (const { filename, directory, at, ...found } of steps.flatMap(({ exports }) => exports)) {
    if (filename === undefined || (found.kind === "csv" && found.mode === "append")) continue;
    const key = [directory, filename].map(toWritten).join("/");
    if (seen.has(key)) {
      const message = `Two steps write \`${toExcerpt(key)}\`.`;
      context.problems.error({ code: "VALUE_INVALID", at, message, remedy: "Give each a `filename` of its own." });
    }
    seen.add(key);
  }
}

function parseCsv(step: MapReader, context: ParseContext): CsvExport | undefined {
  const block = step.nested("csv_output");
  if (block === undefined) return undefined;
  const mode = block.choice("mode", ["new_file", "append"]) ?? "new_file";
  const rows = block.text("rows")?.value;
  const keepsFormulas = block.choice("formulas", ["guard", "keep"]) === "keep";
  const place = parsePlace(block, context);
  block.reportUnknownKeys("`csv_output`");
  return { kind: "csv", mode, keepsFormulas, rows, ...place };
}

function parseReport(step: MapReader, key: "report" | "pdf_report", context: ParseContext): ReportExport | undefined {
  const block = step.nested(key);
  if (block === undefined) return undefined;
  const format = key === "pdf_report" ? "pdf" : (block.choice("format", ["html", "markdown", "pdf"]) ?? "html");
  const title = block.text("title")?.value;
  const language = parseLanguage(block, context);
  const place = parsePlace(block, context);
  block.reportUnknownKeys(`\`${key}\``);
  const report: ReportExport = { kind: "report", key, format, title, language, ...place };
  if (format === "pdf" && !context.hasChromium()) reportNoChromium(report, context);
  return report;
}

function reportNoChromium({ key, at }: ReportExport, { problems }: ParseContext): void {
  const message = `\`${key}\` yields an HTML page here: no Chromium was found that could print it.`;
  problems.warning({ code: "CHROMIUM_MISSING", at, message });
}

/** As pages name theirs: it hyphenates and reads aloud by it. */
function parseLanguage(block: MapReader, { problems }: ParseContext): string | undefined {
  const language = block.text("language");
  if (language === undefined || /^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$/.test(language.value)) return language?.value;
  const message = `\`${toExcerpt(language.value)}\` is no language.`;
  const remedy = "Write a code such as `en` or `pt-BR`.";
  problems.warning({ code: "VALUE_INVALID", at: language.at, message, remedy });
  return undefined;
}

function parsePlace(block: MapReader, context: ParseContext): ExportPlace {
  const directory = block.text("directory");
  const filename = block.text("filename");
  const at = { start: block.map.start, end: block.map.end };
  return {
    at,
    directory: directory === undefined ? { parts: ["output"] } : parsePath(directory, "directory", context),
    ...(filename === undefined ? {} : { filename: parsePath(filename, "filename", context) }),
  };
}

/** A name that the workflow gives, not what a model says: only the input and the run may stand in it. */
function parsePath(text: Text, key: "directory" | "filename", context: ParseContext): Template {
  const { problems } = context;
  if (leavesStorage(text.value)) {
    const message = `\`${key}\`: \`${toExcerpt(text.value)}\` leaves the storage.`;
    const remedy = "Files lie in the application's storage: write a relative path without `..`.";
    problems.error({ code: "STORAGE_PATH_INVALID", at: text.at, message, remedy });
  }
  if (key === "filename" && /[\\/]/.test(text.value)) {
    const message = `\`filename\` is the name alone, not \`${toExcerpt(text.value)}\`.`;
    problems.error({ code: "VALUE_INVALID", at: text.at, message, remedy: "Write the folder as `directory`." });
  }
  const template = parseTemplate(text, context);
  for (const slot of slotsOf(template)) {
    if (slot.reference.to === "input" || slot.reference.to === "run") continue;
    const message = `\`${key}\` cannot hold \`${toExcerpt(slot.written)}\`.`;
    const remedy = "Use `{input.X}`, `{run_id}` or `{date}`.";
    problems.error({ code: "VALUE_INVALID", at: slot satisfies Range, message, remedy });
  }
  return template;
}

function toWritten(template: Template): string {
  return template.parts.map((part) => (typeof part === "string" ? part : part.written)).join("");
}
