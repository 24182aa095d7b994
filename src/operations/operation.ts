import type { z } from "zod";
import type { ErrorCode } from "../core/errors/error-table.ts";
import type { Json } from "../core/json.ts";
import type { KeyScope } from "../ports/service/api-keys.ts";
import type { Ports } from "./application/ports.ts";
import type { Quotas } from "./limits/quotas.ts";
import { withNames } from "./name-in-remedy.ts";
import type { Frozen } from "./schemas.ts";
import type { Submissions } from "./start/submit-run.ts";

/**
 * One thing that a user can ask for, described once. The HTTP routes with their document, the MCP tools, the verbs of the
 * command line, the types of the client and the reference pages are derived from this value.
 */
export interface Operation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
  Http extends HttpPlace | NotThere = HttpPlace | NotThere,
> {
  /** Unique, in camel case. */
  readonly id: string;
  /** One plain sentence without its full stop. */
  readonly summary: string;
  /** The group that it stands in, where that is not the one of its file (`operations.ts`). */
  readonly topic?: string;
  /** The scope that a key needs. `open`: no key is needed. */
  readonly scope: KeyScope | "open";
  readonly effect: Effect;
  /** Every field with its sentence and unit. */
  readonly input: Input;
  readonly output: Output;
  /** Errors that it may throw, besides those of any request. */
  readonly errors?: readonly ErrorCode[];
  readonly http: Http;
  /** A verb, or several. */
  readonly cli: CliVerb<z.output<Output>> | readonly CliVerb<z.output<Output>>[] | NotThere | ByHand;
  readonly mcp: McpTool | NotThere | ByHand;
  /** The status of a success, where it depends on the output. Absent: that of `http`. */
  statusOf?(output: z.output<Output>): SuccessStatus;
  /** Throws `PawlError` only. */
  handle(context: OperationContext, input: z.output<Input>): Promise<Frozen<z.input<Output>>>;
  /** A list: the value that other operations take for an item, and what a person knows it by. Shells complete it. */
  word?(item: z.output<Output> extends { readonly items: readonly (infer Item)[] } ? Item : never): Word;
  /** The length of the whole list, for clients that page by number. */
  count?(context: OperationContext, input: z.output<Input>): Promise<number>;
}

export interface Word {
  readonly text: string;
  readonly meaning: string;
}

/** `reads`: changes nothing. `writes`: can be undone or repeated. `destroys`: what was there is gone. */
type Effect = Does | { readonly does: Does; readonly again?: boolean; readonly beyond?: boolean };

type Does = "reads" | "writes" | "destroys";

/** `again`: a second call with the same input changes nothing more. `beyond`: it reaches models or other systems, or returns what they said. */
export function effectOf({ effect }: Pick<Operation, "effect">): {
  readonly does: Does;
  again: boolean;
  beyond: boolean;
} {
  const { does, again = does === "reads", beyond = false } = typeof effect === "string" ? { does: effect } : effect;
  return { does, again, beyond };
}

/** The verbs that are derived from the operation. */
export function verbsOf({ cli }: Pick<Operation, "cli">): readonly CliVerb[] {
  return "no" in cli || "byHand" in cli ? [] : [cli].flat();
}

/** Says why it is not to be had there. */
export interface NotThere {
  readonly no: string;
}

/** Verbs or tools that cannot be derived: they wait, follow, or give a choice between several operations. */
interface ByHand {
  readonly byHand: readonly string[];
}

export interface HttpPlace {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Fields of the input as `{name}`. The others are in the query of GET and DELETE, and in the body of the rest. */
  readonly path: string;
  /** The status of a success. Absent: 200. */
  readonly status?: SuccessStatus;
  readonly otherStatuses?: readonly (SuccessStatus | 204)[];
  /** Headers that are read, each with its sentence. `Idempotency-Key` is read wherever the input has `idempotency_key`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The media type of an answer that is no JSON: the output is a file, or a route by hand serves it. */
  readonly answers?: string;
  /** The media type of a body that is a file: the field of the input that is one. */
  readonly takes?: string;
  /** Another path of the same operation, with the id that the document gives it. */
  readonly alias?: { readonly id: string; readonly path: string };
}

type SuccessStatus = 200 | 201 | 202;

/** A verb of the command line. One operation may have several: `schedules pause` is a change with `enabled: false`. */
export interface CliVerb<Output = unknown> {
  /** The words to type: `schedules create`. */
  readonly verb: string;
  readonly alias?: string;
  /** Absent: the operation's summary. */
  readonly summary?: string;
  /** Fields that are given by their position, in this order. */
  readonly args?: readonly string[];
  /** Those of `args` that may be left out. */
  readonly optional?: readonly string[];
  /** Fields with a value that the verb itself gives. */
  readonly fixed?: Readonly<Record<string, Json>>;
  /** Fields with a value where the command line gives none. */
  readonly usual?: Readonly<Record<string, Json>>;
  /** The same, where the answer is shown to a person. */
  readonly usualShown?: Readonly<Record<string, Json>>;
  /** Fields that are the content of the file that is named; `-` is stdin. */
  readonly files?: readonly string[];
  /** Options with another spelling than `--field-name <value>`: `{ jitter_seconds: "--jitter <seconds>" }`. `false`: not offered. */
  readonly options?: Readonly<Record<string, string | false>> | "none";
  /** Options that set a part of a field: `--notify-webhook <url>`. */
  readonly parts?: readonly PartOption[];
  /** Shows a list. */
  readonly table?: Table<Output extends { readonly items: readonly (infer Item)[] } ? Item : Output>;
  /** A picture that is no table, by its name among the pictures of the command line. */
  readonly view?: View;
  /** Text for a person, instead of a table or below it. `given`: the input as it was written. */
  show?(output: Output, given: Readonly<Record<string, unknown>>): Shown;
  /** Absent: 0. */
  exitCodeOf?(output: Output): number;
  /** The whole list is shown, in as many pages as it has: `--limit` and `--cursor` are not offered. */
  readonly isWhole?: true;
  /** `--tenant` does it for a tenant of this machine's application. A server acts for the tenant of the key. */
  readonly perTenant?: true;
  /** The run that it starts or changes is shown until it rests: always, or where this process drives it. */
  readonly follows?: "always" | "here";
  /** The end of that run which is no failure of the verb, beside `completed`. */
  readonly wants?: "cancelled" | "failed";
  /** A command line that works, without the program's name. */
  readonly example?: string;
}

export interface PartOption {
  readonly flags: string;
  readonly summary: string;
  /** The place of the value in the input: `["notify", "webhook", "url"]`. */
  readonly at: readonly string[];
  readonly isList?: true;
  readonly choices?: readonly string[];
  /** It takes no value: it sets this one, or takes the usual one away. */
  readonly value?: Json;
  readonly clears?: true;
}

export type View =
  | "agent"
  | "approvals"
  | "comparison"
  | "costs"
  | "dead-letters"
  | "run"
  | "violations"
  | "webhook"
  | "workflows";

/** `data` goes to stdout, so that programs can read it; each line of `told` to stderr. */
export interface Shown {
  readonly data?: string;
  readonly told?: readonly string[];
}

export interface Table<Item = unknown> {
  /** Instead of a table without rows. */
  readonly empty: string;
  /** The title of each column, and what it shows of an item; a list where an item has several rows. */
  columns(item: Item, now: number): Row | readonly Row[];
  /** Columns of numbers. */
  readonly right?: readonly string[];
}

type Row = Readonly<Record<string, Cell>>;

/** The surface decides how wide, in which colour and in whose time it is shown. */
export type Cell =
  | string
  | number
  | null
  /** `whole`: not shortened where the line has room for it. */
  | { readonly id: string | null; readonly whole?: boolean }
  /** `label`: a word before it. */
  | { readonly time: string | null; readonly never?: string; readonly label?: string }
  | {
      readonly usd: number | null;
      readonly unpriced?: boolean;
      readonly atMost?: number | null;
      readonly warns?: boolean;
    }
  | { readonly text: string | number; readonly warns: boolean }
  | { readonly ms: number | null }
  | { readonly status: string }
  /** A status as one sign, in a column without a title. */
  | { readonly sign: string };

export interface McpTool {
  readonly tool: string;
  readonly title?: string;
  /** For a model. Absent: the summary. */
  readonly description?: string;
  /** Fields with another name there: `{ id: "run_id" }`. */
  readonly names?: Readonly<Record<string, string>>;
  /** Fields with a value that the tool itself gives. */
  readonly fixed?: Readonly<Record<string, Json>>;
  /** Fields with a value where a model gives none. */
  readonly usual?: Readonly<Record<string, Json>>;
  /** Fields that a model must give, though programs may give another spelling. */
  readonly required?: readonly string[];
  /** Fields that a model is not offered. */
  readonly without?: readonly string[];
  /** Other defaults and bounds of a page than those of programs. */
  readonly limit?: { readonly usual: number; readonly most: number };
  /** The run that it starts is waited for where `wait` is given, at most `timeout_seconds`, and answered as a whole. */
  readonly waits?: true;
  /** Listed only for who asks for the tools of its topic, or all; called by its name at any time. */
  readonly isRare?: true;
}

/** The caller, and the parts of the process that a handler may use. */
export interface OperationContext<App = Ports> {
  /** The application as the caller may see it. */
  readonly app: App;
  /** The surface that asks, as records of people's decisions name it. */
  readonly by: "api" | "cli" | "mcp";
  /** Starts runs, each once for its idempotency key. */
  readonly submissions: Submissions;
  /** What tenants have in use in this process, where it serves. */
  readonly quotas?: Pick<Quotas, "used" | "most" | "readStored"> | undefined;
  /** W3C trace context of the caller. */
  readonly traceParent?: string | undefined;
  /** The folder of relative paths, for a caller on this machine. */
  readonly folder?: string | undefined;
}

/** The handler of an operation that its surfaces do by hand: it is a stream, or works on files and terminals of this machine. */
export function byItsSurfaces(): Promise<never> {
  return Promise.reject(new Error("Its surfaces do this operation by hand."));
}

/**
 * Keeps the types of one operation, so that handler, verbs and client are checked against its schemas. The remedies of an
 * operation about one thing name that thing.
 */
export function defineOperation<
  Input extends z.ZodObject,
  Output extends z.ZodType,
  const Http extends HttpPlace | NotThere,
>(operation: Operation<Input, Output, Http>): Operation<Input, Output, Http> {
  const { http, handle } = operation;
  if (!("path" in http) || !http.path.includes("/{id}")) return operation;
  const [, topic = ""] = http.path.split("/");
  return {
    ...operation,
    async handle(context, input) {
      try {
        return await handle(context, input);
      } catch (error) {
        throw withNames(error, namesOf(topic, input));
      }
    },
  };
}

/** The id of an approval begins with that of its run, which is where to look. */
function namesOf(topic: string, input: Readonly<Record<string, unknown>>) {
  const { id = "", step, from } = input;
  const place = [step, from].find((each) => typeof each === "string");
  if (topic === "approvals") return { topic: "runs", id: String(id).split(":", 1)[0] ?? "", step: place };
  return { topic, id: String(id), step: place };
}
