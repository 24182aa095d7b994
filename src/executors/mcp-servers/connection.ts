import { existsSync } from "node:fs";
import {
  type CallToolResult,
  Client,
  type ClientOptions,
  type CreateMessageResult,
  type ElicitResult,
  type InputRequiredResult,
  type JsonSchemaValidator,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  type Tool,
  type Transport,
  UrlElicitationRequiredError,
  type VersionNegotiationOptions,
} from "@modelcontextprotocol/client";
import { toWritable } from "../../core/exact-json.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Outbound } from "../../ports/outbound.ts";
import { createLiveRedactor, createRedactor, type Redactor } from "../output/redact.ts";
import { CallClock } from "./asking/call-clock.ts";
import type { Answered } from "./asking/input-rounds.ts";
import type { LoginVault } from "./login/sealed-login.ts";
import { ServerLogin } from "./login/server-login.ts";
import { type McpFailure, refusal, stoppedFailure } from "./mcp-failure.ts";
import type { ServerAddress } from "./resolve-server.ts";
import { describeTool, type ServerTool, type ToolList, toServerTool } from "./server-tool.ts";
import { type ServerContext, toCallFailure, toConnectFailure } from "./to-mcp-failure.ts";
import type { GroupGuard } from "./transports/group-guard.ts";
import { fetchFor, HttpTransport, SseTransport } from "./transports/http-transport.ts";
import { CALL_KEY, MessageReader } from "./transports/message-reader.ts";
import { type Confine, ProcessTransport } from "./transports/process-transport.ts";

export interface ConnectionOptions {
  readonly version: string;
  readonly connectTimeoutMs: number;
  /** Ends what a killed process of ours would leave behind. */
  readonly guard: GroupGuard;
  readonly outbound: Outbound;
  /** Absent: nobody has logged in anywhere. */
  readonly vault?: LoginVault | undefined;
  /** Puts servers into the sandbox that definitions name, which are not the operator's. */
  readonly confine: Confine;
  /** Aborts when the connection is not needed any more. */
  readonly lifetime: AbortSignal;
}

export interface ToolProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface ServerCall {
  readonly tool: ServerTool;
  readonly arguments: JsonObject;
  readonly meta: JsonObject;
  /** Without progress for this long the call fails with `TIMEOUT`. */
  readonly idleTimeoutMs: number;
  readonly maxTotalMs: number;
  /** What it is made again with (2026-07-28). */
  readonly answered?: Answered | undefined;
  /** Answers a question in the middle of it. Absent: nobody does. */
  onAsked?: ((params: Json | undefined) => Promise<ElicitResult>) | undefined;
  /** Has a model answer in the middle of it. Absent: none does. */
  onSampled?: ((params: Json | undefined) => Promise<CreateMessageResult>) | undefined;
  onProgress(progress: ToolProgress): void;
}

/** How long an unknown first message may go unanswered before a process counts as one that needs the handshake. */
const PROBE_MS = 5_000;
const END_SESSION_MS = 1_000;

/** Connects; throws an `McpFailure` without any effect. */
export async function openConnection(address: ServerAddress, options: ConnectionOptions): Promise<Connection> {
  checkFiles(address);
  try {
    return await connect(address, options, toNegotiation(address));
  } catch (failure) {
    // Some older servers end at the first message that they do not know.
    if (address.protocol !== "auto" || address.way.kind !== "process" || options.lifetime.aborted) throw failure;
    return connect(address, options, { mode: "legacy" });
  }
}

/** A program that is started without them says nothing that helps. */
function checkFiles({ name, way, secrets }: ServerAddress): void {
  if (way.kind !== "process") return;
  const flaw =
    way.script !== undefined && !existsSync(way.script)
      ? `there is no file ${way.script}`
      : existsSync(way.cwd)
        ? undefined
        : `there is no folder ${way.cwd}`;
  if (flaw === undefined) return;
  const message = createRedactor(secrets).text(`The MCP server "${name}" did not start: ${flaw}.`);
  throw refusal("MCP_SERVER_FAILED", message);
}

async function connect(
  address: ServerAddress,
  options: ConnectionOptions,
  versionNegotiation: VersionNegotiationOptions,
): Promise<Connection> {
  if (options.lifetime.aborted) throw stoppedFailure();
  const login = findLogin(address, options);
  const secrets = () => (login === undefined ? address.secrets : [...address.secrets, ...login.secrets]);
  const redactor = createLiveRedactor(secrets);
  const reader = new MessageReader(redactor);
  const transport = createTransport(address, reader, { ...options, login });
  const timeoutMs = address.connectTimeoutMs ?? options.connectTimeoutMs;
  const onChanged = () => connection.forgetTools();
  const client = createClient(address, options.version, {
    versionNegotiation,
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
  });
  if (address.elicitation === "ask")
    client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq }) => {
      const answer = await connection.hear(mcpReq.id, "rests", ({ onAsked }) => onAsked?.(params as unknown as Json));
      return answer ?? { action: "cancel" };
    });
  if (address.sampling !== undefined)
    client.setRequestHandler("sampling/createMessage", async ({ params }, { mcpReq }) => {
      const answer = await connection.hear(mcpReq.id, "goes on", ({ onSampled }) =>
        onSampled?.(params as unknown as Json),
      );
      if (answer !== undefined) return answer;
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, "it is not certain for which call this is");
    });
  const connection = new Connection(address, { client, transport, reader, redactor, secrets, timeoutMs });
  const giveUp = () => connection.close().catch(() => undefined);
  options.lifetime.addEventListener("abort", giveUp, { once: true });
  try {
    await client.connect(transport, { timeout: timeoutMs });
    return connection;
  } catch (error) {
    // Looked at before closing, or every server would seem to have ended by itself.
    const failure = toConnectFailure(error, connection.context("initialize"));
    await connection.close();
    throw failure;
  } finally {
    options.lifetime.removeEventListener("abort", giveUp);
  }
}

const UNCHECKED: NonNullable<ClientOptions["jsonSchemaValidator"]> = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
  },
};

function createClient(
  { roots, elicitation, sampling }: ServerAddress,
  version: string,
  options: ClientOptions,
): Client {
  const client = new Client(
    { name: "pawl", version },
    {
      ...options,
      // Results are checked where nothing that a server says can hold other work up (`result-check.ts`).
      jsonSchemaValidator: UNCHECKED,
      capabilities: {
        ...(roots.length === 0 ? {} : { roots: {} }),
        ...(elicitation === "ask" ? { elicitation: { form: {}, url: {} } } : {}),
        ...(sampling === undefined ? {} : { sampling: {} }),
      },
    },
  );
  if (roots.length > 0) client.setRequestHandler("roots/list", () => ({ roots: [...toldRoots(roots)] }));
  return client;
}

/** The protocol knows no other roots than files; one of them would spoil the whole answer. */
function toldRoots(roots: ServerAddress["roots"]) {
  return roots.filter(({ uri }) => uri.startsWith("file://")).map((root) => ({ ...root }));
}

/** A server whose entry says how we show who we are is told nothing else. */
function findLogin(address: ServerAddress, options: ConnectionOptions): ServerLogin | undefined {
  const { way } = address;
  if (way.kind === "process" || new Headers(way.headers).has("authorization")) return undefined;
  return new ServerLogin(address, way, options);
}

function createTransport(
  { way }: ServerAddress,
  reader: MessageReader,
  { guard, outbound, confine, login }: ConnectionOptions & { readonly login: ServerLogin | undefined },
): Transport {
  if (way.kind === "process") return new ProcessTransport(way, reader, { guard, confine });
  const plain = fetchFor(way, outbound);
  const ask = login === undefined ? plain : login.fetch(plain);
  return way.kind === "http" ? new HttpTransport(way, ask, reader) : new SseTransport(way, ask, reader);
}

function toNegotiation({ protocol, way }: ServerAddress): VersionNegotiationOptions {
  if (protocol === "legacy") return { mode: "legacy" };
  if (protocol === "2026-07-28") return { mode: { pin: protocol } };
  return { mode: "auto", ...(way.kind === "process" ? { probe: { timeoutMs: PROBE_MS } } : {}) };
}

interface ConnectionParts {
  readonly client: Client;
  readonly transport: Transport;
  readonly reader: MessageReader;
  readonly redactor: Redactor;
  /** Those that are known now. */
  secrets(): readonly string[];
  /** To connect, and to list tools. */
  readonly timeoutMs: number;
}

/** One connection to a server, shared by all runs. */
export class Connection {
  readonly redactor: Redactor;
  readonly #address: ServerAddress;
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #reader: MessageReader;
  readonly #secrets: () => readonly string[];
  readonly #timeoutMs: number;
  #hearClosed: () => void = () => undefined;
  #tools: Promise<Listed> | undefined;
  #isClosed = false;
  readonly #calls = new Set<ActiveCall>();
  /** It has asked while several calls were under way, and nobody could say whose question it was. */
  #isOneByOne = false;

  constructor(address: ServerAddress, { client, transport, reader, redactor, secrets, timeoutMs }: ConnectionParts) {
    this.redactor = redactor;
    this.#secrets = secrets;
    this.#address = address;
    this.#client = client;
    this.#transport = transport;
    this.#reader = reader;
    this.#timeoutMs = timeoutMs;
    client.onclose = () => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      this.#hearClosed();
    };
  }

  /** Calls `lost` when the connection ends without `close`, also if it has ended already. */
  onLost(lost: () => void): void {
    if (this.#isClosed) lost();
    else this.#hearClosed = lost;
  }

  /** Its process has ended without being told to. */
  get hasDied(): boolean {
    return this.context().hasDied !== undefined;
  }

  lost(): McpFailure {
    return toConnectFailure(new Error("the connection was lost"), this.context());
  }

  /** Throws where the server gives no sign of life. An error that it answers with is one. */
  async ping(timeoutMs: number): Promise<void> {
    const isModern = this.#client.getProtocolEra() === "modern";
    try {
      await (isModern ? this.#client.discover({ timeout: timeoutMs }) : this.#client.ping({ timeout: timeoutMs }));
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw toConnectFailure(error, this.context());
    }
  }

  /** Asked for once, and again when the server says that they have changed. */
  async list(): Promise<ToolList> {
    return (await this.#listed()).list;
  }

  /** Tools that its last listing has left out, and why. */
  get warnings(): readonly string[] {
    return this.#reader.list.warnings.map((warning) => this.redactor.text(warning));
  }

  forgetTools(): void {
    this.#tools = undefined;
  }

  get roots(): readonly JsonObject[] {
    return toldRoots(this.#address.roots);
  }

  /** Throws an `McpFailure` where there is no result. A tool's own error is a result, and so is what it wants first. */
  async call(call: ServerCall, signal: AbortSignal): Promise<CallToolResult | InputRequiredResult> {
    const listed = (await this.#listed()).definitions.get(call.tool.name);
    const params = {
      name: call.tool.name,
      arguments: toWritable({ ...call.arguments }),
      _meta: { ...call.meta },
      ...this.#tell(call.answered),
    };
    while (this.#isOneByOne && this.#couldAsk.length > 0)
      await Promise.race(this.#couldAsk.map(({ rests }) => rests.promise));
    const clock = new CallClock({ idleMs: call.idleTimeoutMs, totalMs: call.maxTotalMs });
    const active: ActiveCall = { call, clock, rests: Promise.withResolvers(), questions: 0 };
    this.#calls.add(active);
    try {
      return await this.#client.callTool(params, {
        signal: AbortSignal.any([signal, clock.signal]),
        timeout: LONGEST_MS,
        allowInputRequired: true,
        onprogress: (progress) => {
          clock.beat();
          call.onProgress(progress);
        },
        // Without its output schema: results are checked by their reader, with a better message.
        toolDefinition: listed && { ...listed, outputSchema: undefined },
      });
    } catch (error) {
      const wanted = toLinksWanted(error);
      if (wanted !== undefined) return wanted;
      throw toCallFailure(error, {
        ...this.context(),
        isAborted: signal.aborted,
        isRepeatable: call.tool.isRepeatable,
        hasSession: this.#transport.sessionId !== undefined,
      });
    } finally {
      clock.end();
      this.#calls.delete(active);
      active.rests.resolve();
    }
  }

  /** A server of 2025 looks for itself whether a page was opened: it is told nothing, and not asked again without a yes. */
  #tell(answered: Answered | undefined): Answered | undefined {
    if (answered === undefined || this.#client.getProtocolEra() === "modern") return answered;
    if (Object.values(answered.inputResponses).every((told) => "action" in told && told.action === "accept")) return;
    const message = `The MCP server "${this.#address.name}" wants a page opened first, and nobody has agreed to that.`;
    throw refusal("MCP_TOOL_FAILED", message);
  }

  /**
   * What a server asks in the middle of a call (revisions up to 2025-11-25). Whose it is must be certain, or it is nobody's: undefined.
   * A call that rests is in the way of no other; one whose model is at work goes on soon.
   */
  async hear<Answer>(
    id: RequestId,
    how: "rests" | "goes on",
    ask: (call: ServerCall) => Promise<Answer> | undefined,
  ): Promise<Answer | undefined> {
    const key = this.#reader.takeAskedDuring(id);
    const candidates =
      key === undefined ? this.#couldAsk : [...this.#calls].filter(({ call }) => call.meta[CALL_KEY] === key);
    const [active, another] = candidates;
    if (another !== undefined) this.#isOneByOne = true;
    const answering = active === undefined || another !== undefined ? undefined : ask(active.call);
    if (active === undefined || answering === undefined) return undefined;
    const questions = how === "rests" ? 1 : 0;
    active.questions += questions;
    if (how === "rests") active.rests.resolve();
    return await active.clock.standStill(answering).finally(() => {
      active.questions -= questions;
    });
  }

  /** The calls that do not wait for an answer. */
  get #couldAsk(): readonly ActiveCall[] {
    return [...this.#calls].filter(({ questions }) => questions === 0);
  }

  /** Leaves nothing behind: no session, no process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const transport = this.#transport;
    if (transport instanceof HttpTransport && transport.sessionId !== undefined) await endSession(transport);
    await transport.close();
  }

  context(asked?: string): ServerContext {
    const { name, way } = this.#address;
    const context = { server: name, secrets: this.#secrets(), asked, noise: this.#reader.noise };
    if (!(this.#transport instanceof ProcessTransport))
      return { ...context, where: "url" in way ? way.url.origin : "" };
    const { ending, hasDied, stderr } = this.#transport;
    return { ...context, said: stderr, ending, hasDied };
  }

  #listed(): Promise<Listed> {
    const listing = this.#tools ?? this.#list();
    this.#tools = listing;
    // A failed listing is not cached.
    listing.catch(() => {
      if (this.#tools === listing) this.#tools = undefined;
    });
    return listing;
  }

  async #list(): Promise<Listed> {
    try {
      // The SDK would say on stdout that there are none, where another program may be listening.
      if (this.#client.getServerCapabilities()?.tools === undefined) return NOTHING_LISTED;
      const timeout = this.#timeoutMs;
      const signal = AbortSignal.timeout(timeout);
      const { tools } = await this.#client.listTools(undefined, { cacheMode: "refresh", timeout, signal });
      const said = describeTool({ description: this.redactor.text(this.#client.getInstructions() ?? "") }).trim();
      const list = {
        tools: tools.map((tool) => toServerTool(this.#address.name, tool)),
        warnings: this.warnings,
        ...(said === "" ? {} : { instructions: said }),
      };
      return { list, definitions: new Map(tools.map((tool) => [tool.name, tool])) };
    } catch (error) {
      throw toConnectFailure(error, this.context("tools/list"));
    }
  }
}

interface ActiveCall {
  readonly call: ServerCall;
  readonly clock: CallClock;
  /** It has ended, or asks. */
  readonly rests: PromiseWithResolvers<void>;
  /** Those of its server that are not answered. */
  questions: number;
}

/** Of a timer; the call has a clock of its own. */
const LONGEST_MS = 2 ** 31 - 1;

/** The result of one listing; the same object until the next one. */
interface Listed {
  readonly list: ToolList;
  readonly definitions: ReadonlyMap<string, Tool>;
}

const NOTHING_LISTED: Listed = { list: { tools: [], warnings: [] }, definitions: new Map() };

/** The error -32042 of 2025-11-25: nothing is done before a person has opened these pages. */
function toLinksWanted(error: unknown): InputRequiredResult | undefined {
  const links = error instanceof UrlElicitationRequiredError ? error.elicitations : undefined;
  if (!Array.isArray(links) || links.length === 0) return undefined;
  const toAsked = (params: object, index: number) => {
    const asked = { method: "elicitation/create", params: { ...params, mode: "url" } };
    return [`link-${index + 1}`, asked] as const;
  };
  // Each is judged before anybody is shown it.
  const inputRequests = Object.fromEntries(links.map(toAsked)) as InputRequiredResult["inputRequests"];
  return { resultType: "input_required", inputRequests };
}

async function endSession(transport: HttpTransport): Promise<void> {
  const late = new Promise((resolve) => setTimeout(resolve, END_SESSION_MS).unref());
  // The server ends it later by itself.
  await Promise.race([transport.terminateSession().catch(() => undefined), late]);
}
