import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Executor, Outcome, Task } from "../../ports/executor.ts";
import { readPlace, refusePath, toOwnPath, toWriteFailure } from "./export-file.ts";
import { printPdf } from "./print-pdf.ts";
import { renderReport } from "./render-report.ts";
import { toMarkdown } from "./to-markdown.ts";

export interface ReportOptions {
  /** Takes secrets out of a text. */
  mask(text: string): string;
  /** The browser that prints. Undefined: there is none, and who asks for a PDF gets the page. */
  chromium(): string | undefined;
}

interface Report {
  readonly format: "html" | "markdown" | "pdf";
  readonly content: string | Uint8Array;
  /** Why it is not what was asked for. */
  readonly note?: string;
}

const ENDINGS = { html: ".html", markdown: ".md", pdf: ".pdf" };

/** Writes a step's output as a report into the storage of whoever's run it is; it is the run's artifact too. */
export function createReportExecutor(options: ReportOptions): Executor<Outcome> {
  return {
    recordsInput: false,
    async run(task, signal) {
      const input = isJsonObject(task.input) ? task.input : {};
      if ((input["output"] ?? null) === null) return { status: "succeeded", output: { path: null }, costMicro: 0 };
      const chromium = input["format"] === "pdf" ? options.chromium() : undefined;
      const report = await make(task, { input, chromium }, signal);
      if (report.note !== undefined) task.emit({ type: "log", event: { type: "report", note: report.note } });
      const path = options.mask(toOwnPath(readPlace(input), ENDINGS[report.format], task));
      try {
        refusePath(path, task);
        await task.files.write(path, report.content);
      } catch (error) {
        return toWriteFailure(error);
      }
      const { format, content, note } = report;
      const file = { name: path.split("/").at(-1) ?? "report", content: Buffer.from(content) };
      const told = { path, format, ...(note === undefined ? {} : { note }) };
      return { status: "succeeded", output: told, costMicro: 0, files: [file] };
    },
  };
}

async function make(
  task: Task,
  { input, chromium }: { readonly input: JsonObject; readonly chromium: string | undefined },
  signal: AbortSignal,
): Promise<Report> {
  const markdown = toMarkdown(input["output"] ?? null);
  const title = toText(input["title"]) ?? task.workflow;
  if (input["format"] === "markdown") return { format: "markdown", content: `# ${title}\n\n${markdown}` };
  const facts = [task.workflow, toText(input["date"]), `run ${task.runId}`].filter((fact) => fact !== undefined);
  const html = renderReport({ title, markdown, language: toText(input["language"]) ?? "en", facts });
  if (input["format"] !== "pdf") return { format: "html", content: html };
  if (chromium === undefined)
    return { format: "html", content: html, note: "No Chromium was found: the report is a page." };
  const printed = await printPdf(html, chromium, signal);
  if (printed.ok) return { format: "pdf", content: printed.pdf };
  return {
    format: "html",
    content: html,
    note: `The report is a page, since Chromium could not print it. ${printed.reason}`,
  };
}

function toText(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
