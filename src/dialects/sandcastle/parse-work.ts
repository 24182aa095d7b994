import type { ExecutorKind } from "../../core/graph/graph.ts";
import type { Json } from "../../core/json.ts";
import type { NeededFile } from "../definition.ts";
import type { ProblemList } from "../problem-list.ts";
import type { Reader, ReadOf, Text } from "../shape/shape.ts";
import { toExcerpt } from "../source/printable.ts";
import { keyOf } from "../source/yaml-node.ts";
import { unsentParts } from "../work/request.ts";
import { checkPath, readScript, type Script, splitScript } from "../work/script.ts";
import { checkToolParams, factsOfTerminalTool, isTerminalTool, isTyped } from "../work/tool-params.ts";
import type { Template } from "./references/template.ts";
import type { Value } from "./references/value.ts";
import type { ReadKind, step } from "./shape/step-shape.ts";
import type { workKinds } from "./shape/work-shape.ts";
import type { ReadWorkflow } from "./shape/workflow-shape.ts";

type ReadWork = ReadKind<keyof typeof workKinds>;

/** A task for an executor. */
export interface WorkBody {
  readonly type: "work";
  readonly executor: ExecutorKind;
  readonly input: Value;
  /** Scripts and prompts that a run keeps. */
  readonly files: readonly NeededFile[];
  /** After a crash it is unknown how much was done. */
  readonly isOnce: boolean;
}

/** The step's keys in the words of its executor. */
export function toWork(read: ReadWork, top: ReadWorkflow, reader: Reader): WorkBody {
  switch (read.type) {
    case "http":
      return toRequest(read, reader);
    case "code":
      return toCode(read, reader);
    case "llm":
      return toQuestion(read, top, reader);
    case "mcp":
      return toToolCall(read);
    case "terminal":
      return toTerminalCall(read, reader);
  }
}

function toRequest(read: ReadKind<"http">, { problems }: Reader): WorkBody {
  const { url, method, headers, query, body, form, response, at } = read;
  for (const { key, ...finding } of unsentParts(read))
    problems.error({ code: "VALUE_INVALID", at: keyOf(at, key), ...finding });
  return toBody("http", {
    method: fixed(method),
    url: toText(url),
    headers: toMap(headers),
    query: toMap(query),
    body,
    form: toMap(form),
    auth: toAuth(read.auth),
    pages: fixed(read.pages?.words),
    expected_status: fixed(read.expected_status),
    response: fixed(response),
    max_bytes: fixed(read.max_response_bytes),
    output_schema: fixed(read.output_schema),
  });
}

function toAuth(auth: ReadKind<"http">["auth"]): Value | undefined {
  const words = auth && toGiven({ ...auth.values, send_in: fixed(auth.fixed?.send_in) });
  return auth?.under === undefined ? words : words && toGiven({ [auth.under]: words });
}

function toCode(read: ReadKind<"code">, reader: Reader): WorkBody {
  const { script: written, language, function: named, params, network, limits, output_schema: schema } = read;
  const split = written && splitScript(written);
  const found = split && readScript({ ...split, language, function: named ?? split.function }, reader);
  const input = {
    language: fixed(found?.language),
    script: fixed(found?.script.value),
    function: fixed(found?.function?.value),
    network: fixed(network),
    limits: fixed(limits),
    input: params ?? toMap(new Map()),
    output_schema: fixed(schema),
  };
  const files =
    found === undefined ? [] : [{ ...toFile("script", found.script, reader), ...toFunction(found, reader) }];
  return { ...toBody("code", input), files };
}

function toQuestion(read: ReadKind<"llm">, top: ReadWorkflow, reader: Reader): WorkBody {
  const { prompt, prompt_template: file, params, model, parameters, output_format: format, strict } = read;
  const { problems } = reader;
  if (prompt !== undefined && params !== undefined) {
    const message = "`params` fill a prompt file, and the step has a `prompt`.";
    const remedy = "Put the values into the prompt: `{input.X}`, `{steps.ID.output}`.";
    problems.error({ code: "VALUE_INVALID", at: keyOf(read.at, "params"), message, remedy });
  }
  const isRead = file !== undefined && checkPath(file, problems);
  // A prompt file may name a model of its own.
  const usual = file === undefined && top.at.entries.has("default_model") ? top.default_model.value : undefined;
  const input = {
    prompt: toText(prompt),
    promptTemplate: fixed(file?.value),
    model: fixed(model?.value ?? usual),
    parameters: fixed(parameters),
    outputFormat: fixed(format),
    output_schema: fixed(read.output_schema),
    strict: fixed(strict),
    input: file === undefined ? undefined : (params ?? toMap(new Map())),
  };
  // Whatever one value brings is not known before it is there.
  const names = params?.kind === "map" || params === undefined ? { names: [...(params?.entries.keys() ?? [])] } : {};
  return { ...toBody("llm", input), files: isRead ? [{ ...toFile("prompt", file, reader), ...names }] : [] };
}

const TERMINAL_PREFIX = "core.terminal.";

function toToolCall({ tool, server, params, output_schema: schema }: ReadKind<"mcp">): WorkBody {
  const [name = ""] = tool?.parts ?? [];
  const short = typeof name === "string" && name.startsWith(TERMINAL_PREFIX) ? name.slice(TERMINAL_PREFIX.length) : "";
  // A session belongs to the run: the process that holds the terminals calls their tools.
  if (isTerminalTool(short)) return toTerminal(short, params, schema);
  return toBody("mcp", {
    tool: toText(tool),
    server: toText(server),
    arguments: params,
    output_schema: fixed(schema),
  });
}

function toTerminalCall({ tool, params, output_schema: schema, at }: ReadKind<"terminal">, reader: Reader): WorkBody {
  const written = at.entries.get("params")?.value;
  if (tool !== undefined && (written === undefined || written.kind === "map" || reader.isAbsent(written))) {
    const entries = written?.kind === "map" ? written.entries : new Map();
    const missing = { at: keyOf(at, "params"), severity: "error" } as const;
    checkToolParams({ tool, facts: factsOfTerminalTool(tool), params: entries, missing }, reader.problems);
  }
  return toTerminal(tool ?? "", params, schema);
}

function toTerminal(tool: string, params: Value | undefined, schema: Json | undefined): WorkBody {
  const body = toBody("terminal", { tool: fixed(tool), params, output_schema: fixed(schema) });
  return { ...body, isOnce: isTyped(tool) };
}

function toBody(executor: ExecutorKind, input: { readonly [name: string]: Value | undefined }): WorkBody {
  return { type: "work", executor, input: toGiven(input), files: [], isOnce: false };
}

function toGiven(values: { readonly [name: string]: Value | undefined }): Value {
  const entries = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return { kind: "map", entries: new Map(entries) };
}

function toFile(kind: NeededFile["kind"], { value, at }: Text, { source }: Reader): NeededFile {
  return { kind, path: value, at: source.place(at) };
}

function toFunction({ function: called, language }: Script, { source }: Reader): Pick<NeededFile, "function"> {
  return called === undefined ? {} : { function: { name: called.value, language, at: source.place(called.at) } };
}

function fixed(value: Json | undefined): Value | undefined {
  return value === undefined ? undefined : { kind: "literal", value };
}

function toText(template: Template | undefined): Value | undefined {
  return template && { kind: "template", template };
}

function toMap(entries: ReadonlyMap<string, Value> | undefined): Value | undefined {
  return entries && { kind: "map", entries };
}

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
