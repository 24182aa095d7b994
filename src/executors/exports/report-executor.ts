import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { filledText, isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Executor, Outcome, Task } from "../../ports/executor.ts";
import { signalGroup } from "../mcp-servers/transports/group-guard.ts";
import { readPlace, refusePath, toOwnPath, toWriteFailure } from "./export-file.ts";
import { renderReport, toMarkdown } from "./render-report.ts";

export interface ReportOptions {
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

/** Writes a step's output as a report into the storage of the run's tenant; it is the run's artifact too. */
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
  const title = filledText(input["title"]) ?? task.workflow;
  if (input["format"] === "markdown") return { format: "markdown", content: `# ${title}\n\n${markdown}` };
  const facts = [task.workflow, filledText(input["date"]), `run ${task.runId}`].filter((fact) => fact !== undefined);
  const html = renderReport({ title, markdown, language: filledText(input["language"]) ?? "en", facts });
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

type Printed = { readonly ok: true; readonly pdf: Uint8Array } | { readonly ok: false; readonly reason: string };

/** Prints a page with Chromium, without a window, a network or a profile. All of its processes have ended when this resolves. */
async function printPdf(html: string, chromium: string, signal: AbortSignal): Promise<Printed> {
  const folder = await mkdtemp(join(tmpdir(), "pawl-print-"));
  try {
    const page = join(folder, "page.html");
    await writeFile(page, html);
    // Its own sandbox stays, except for root, for whom Chromium has none.
    const reason = await run(
      chromium,
      [...FLAGS, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), ...filesIn(folder), pathToFileURL(page).href],
      signal,
    );
    if (reason !== undefined) return { ok: false, reason };
    return { ok: true, pdf: await readFile(join(folder, "page.pdf")) };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const FLAGS = [
  "--headless",
  "--disable-gpu",
  "--no-first-run",
  "--no-default-browser-check",
  "--no-pdf-header-footer",
  "--disable-extensions",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
  // Nothing is to be asked for; this holds even where the page's own policy did not.
  "--host-resolver-rules=MAP * ~NOTFOUND",
  "--proxy-server=127.0.0.1:9",
];

function filesIn(folder: string): readonly string[] {
  return [`--user-data-dir=${join(folder, "profile")}`, `--print-to-pdf=${join(folder, "page.pdf")}`];
}

/** Undefined: it went well. */
async function run(chromium: string, args: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  // A group of its own: Chromium starts many processes, and all of them are to go.
  const child = spawn(chromium, args, { stdio: ["ignore", "ignore", "pipe"], detached: true, env: bareEnvironment() });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-2_000);
  });
  const stop = () => {
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    const [code, ending] = (await once(child, "close")) as [number | null, string | null];
    if (code === 0) return undefined;
    return `It ended with ${code ?? ending}: ${said.trim().split("\n").at(-1) ?? ""}`;
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** No key of this process reaches the browser. */
function bareEnvironment(): Record<string, string> {
  const kept = ["PATH", "HOME", "TMPDIR", "LANG", "FONTCONFIG_PATH"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(kept);
}
