import { setTimeout } from "node:timers/promises";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { parseExact, writeExact } from "../../core/exact-json.ts";
import type { TroubledInvocation, TroubledSelection } from "../../ports/restate-care.ts";

export interface RestateApiOptions {
  /** Where invocations are asked for. */
  readonly ingressUrl: string;
  /** Where endpoints are registered, and invocations looked at. */
  readonly adminUrl: string;
  /** The name of the service. Applications that share a server have one each. */
  readonly service: string;
  /** Sent as a bearer token, where the server wants one. */
  readonly token?: string | undefined;
  /** Of each invocation. It stays as it is when the setting changes, since a replay has to take the same way. */
  readonly maxEntries: number;
  /** Something that was asked could not be said, and is tried again. */
  failed(error: PawlError): void;
}

/** The handler of a run never fails for good by itself, so that a person has killed what did. */
const KILLED = "target_handler_name = 'run' AND status = 'completed' AND completion_result = 'failure'";

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 1_000;
const TIMEOUT_MS = 10_000;
/** A person looks at a page and waits for it. */
const LOOK_TIMEOUT_MS = 3_000;
const CLOSE_GRACE_MS = 2_000;
/** Calls of this process at once. */
const MAX_AT_ONCE = 64;

/** Restate's HTTP interfaces. What must arrive is said until it has. */
export class RestateApi {
  readonly #options: RestateApiOptions;
  readonly #closing = new AbortController();
  readonly #saying = new Set<Promise<void>>();
  /** What is not on its way to the server: saying it once more would change nothing. */
  readonly #unsaid = new Set<string>();
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;

  constructor(options: RestateApiOptions) {
    this.#options = options;
  }

  /** Has Restate drive a run, once: a run that it knows stays as it is. */
  start(runId: string): void {
    this.#send(...this.#callOfRun(runId));
  }

  /** Has Restate go on with a run that waits. */
  wake(runId: string): void {
    this.#send(this.#handlerUrl(runId, "wake/send"), undefined);
  }

  /** Tells Restate where the endpoint is, as soon as it answers. */
  keepRegistering(endpointUrl: string): void {
    void this.#sayUntilHeard("register", () => this.register(endpointUrl));
  }

  /** Tells Restate where the endpoint is, moving a known deployment. Throws `RESTATE_REFUSED`, `RESTATE_UNREACHABLE`. */
  async register(endpointUrl: string): Promise<void> {
    const { adminUrl, service } = this.#options;
    const deployments = `${adminUrl}/deployments`;
    const [known] = await this.#query(
      "SELECT d.id, d.endpoint FROM sys_deployment d JOIN sys_service s ON s.deployment_id = d.id" +
        ` WHERE s.name = '${quoted(service)}'`,
    );
    if (known === undefined || toHref(known["endpoint"]) === toHref(endpointUrl)) {
      await this.#call(deployments, { uri: endpointUrl, force: true });
      return;
    }
    const moved = `${deployments}/${encodeURIComponent(String(known["id"]))}`;
    await this.#call(moved, { uri: endpointUrl, overwrite: true }, { method: "PATCH" });
  }

  /** Resolves with false where the endpoint of this service is not registered. */
  async isRegistered(): Promise<boolean> {
    const found = await this.#query(`SELECT name FROM sys_service WHERE name = '${quoted(this.#options.service)}'`);
    return found.length > 0;
  }

  /** Invocations that are paused, were killed, or are tried again and again. */
  async listTroubled({ runId, onlyStopped }: TroubledSelection = {}): Promise<readonly TroubledInvocation[]> {
    const tried = onlyStopped === true ? "" : " OR status = 'backing-off'";
    // Where a later part of a run is killed its first one fails too.
    const killed = `${KILLED} AND NOT contains(target_service_key, '~')`;
    const rows = await this.#query(
      "SELECT id, target_service_key, status, retry_count, last_failure" +
        ` FROM sys_invocation WHERE ${this.#ofRun(runId)} AND (status = 'paused' OR (${killed})${tried})` +
        ` ORDER BY status DESC${onlyStopped === true ? "" : " LIMIT 100"}`,
    );
    return rows.map(toTroubled);
  }

  /** Has Restate try a paused invocation again, or one that was killed make room for another one. */
  async resume({ runId, invocationId, status }: TroubledInvocation): Promise<void> {
    if (status !== "killed") return this.#change(invocationId, "resume");
    const killed = await this.#query(`SELECT id FROM sys_invocation WHERE ${this.#ofRun(runId)} AND ${KILLED}`);
    for (const { id } of killed) await this.#change(String(id), "purge");
    await this.#call(...this.#callOfRun(runId));
  }

  /** What was said last of runs still arrives, where the server answers. */
  async close(): Promise<void> {
    const { signal } = this.#closing;
    // The pauses between tries keep no process alive, and this one is to end by itself.
    const grace = setTimeout(CLOSE_GRACE_MS, undefined, { signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#saying), grace]);
    this.#closing.abort();
  }

  async #change(invocationId: string, verb: "resume" | "purge"): Promise<void> {
    const url = `${this.#options.adminUrl}/invocations/${encodeURIComponent(invocationId)}/${verb}`;
    await this.#call(url, undefined, { method: "PATCH" });
  }

  /** Undefined: of all runs. */
  #ofRun(runId: string | undefined): string {
    const ofService = `target_service_name = '${quoted(this.#options.service)}'`;
    const key = quoted(runId ?? "");
    return runId === undefined
      ? ofService
      : `${ofService} AND (target_service_key = '${key}' OR starts_with(target_service_key, '${key}~'))`;
  }

  #callOfRun(runId: string): readonly [url: string, body: unknown] {
    const { maxEntries } = this.#options;
    return [this.#handlerUrl(runId, "run/send"), { maxEntries }];
  }

  #handlerUrl(runId: string, handler: string): string {
    const { ingressUrl, service } = this.#options;
    return `${ingressUrl}/${encodeURIComponent(service)}/${encodeURIComponent(runId)}/${handler}`;
  }

  #send(url: string, body: unknown): void {
    const call = () => this.#call(url, body);
    const saying: Promise<void> = this.#sayUntilHeard(url, call).finally(() => this.#saying.delete(saying));
    this.#saying.add(saying);
  }

  async #sayUntilHeard(what: string, call: () => Promise<unknown>): Promise<void> {
    for (let pauseMs = 0; !this.#closing.signal.aborted; pauseMs = nextPause(pauseMs)) {
      // Another message is about to say it.
      if (this.#unsaid.has(what)) return;
      this.#unsaid.add(what);
      if (pauseMs > 0) await setTimeout(pauseMs, undefined, { ref: false });
      try {
        await this.#inTurn(() => {
          this.#unsaid.delete(what);
          return call();
        });
        return;
      } catch (error) {
        if (!(error instanceof PawlError)) throw error;
        if (!this.#closing.signal.aborted) this.#options.failed(error);
      }
    }
  }

  async #inTurn(call: () => Promise<unknown>): Promise<void> {
    if (this.#underWay >= MAX_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#underWay += 1;
    try {
      await call();
    } finally {
      this.#underWay -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #query(query: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const url = `${this.#options.adminUrl}/query`;
    const { rows } = (await this.#call(url, { query }, { timeoutMs: LOOK_TIMEOUT_MS })) as { readonly rows?: unknown };
    if (Array.isArray(rows)) return rows as readonly Readonly<Record<string, unknown>>[];
    throw new PawlError("RESTATE_REFUSED", { message: `There are no rows in what ${url} has answered.` });
  }

  async #call(url: string, body: unknown, { method = "POST", timeoutMs = TIMEOUT_MS } = {}): Promise<unknown> {
    const { token } = this.#options;
    const headers = {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(url, {
        method,
        headers,
        ...(body === undefined ? {} : { body: writeExact(body) }),
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#closing.signal]),
      });
      text = await answer.text();
    } catch (cause) {
      throw new PawlError("RESTATE_UNREACHABLE", { message: `Restate does not answer at ${url}.`, cause });
    }
    if (answer.ok) return parseAnswer(url, text);
    throw new PawlError("RESTATE_REFUSED", {
      message: `Restate has answered ${answer.status} at ${url}: ${text.slice(0, 500)}`,
    });
  }
}

function nextPause(pauseMs: number): number {
  return pauseMs === 0 ? FIRST_RETRY_MS : Math.min(2 * pauseMs, LAST_RETRY_MS);
}

function parseAnswer(url: string, text: string): unknown {
  try {
    return text === "" ? undefined : parseExact(text);
  } catch (cause) {
    const message = `Something else than Restate has answered at ${url}: ${text.slice(0, 500)}`;
    throw new PawlError("RESTATE_REFUSED", { message, cause });
  }
}

function toTroubled(row: Readonly<Record<string, unknown>>): TroubledInvocation {
  const failure = row["last_failure"];
  return {
    runId: String(row["target_service_key"]).replace(/~\d+$/, ""),
    invocationId: String(row["id"]),
    status: toStatus(row["status"]),
    retries: Number(row["retry_count"] ?? 0),
    // Its first line: the rest is the stack.
    failure: typeof failure === "string" ? failure.split("\n", 1)[0] : undefined,
  };
}

function toStatus(status: unknown): TroubledInvocation["status"] {
  if (status === "completed") return "killed";
  return status === "paused" ? "paused" : "backing-off";
}

/** Restate keeps addresses with a slash at their end. */
function toHref(url: unknown): string {
  return URL.parse(String(url))?.href ?? String(url);
}

function quoted(text: string): string {
  return text.replaceAll("'", "''");
}
