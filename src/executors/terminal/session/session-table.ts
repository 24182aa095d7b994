import { PawlError } from "../../../core/errors/pawl-error.ts";
import { PtyHost } from "../pty-host/pty-host.ts";
import { openModel } from "../screen/open-model.ts";
import type { LeftSession, PtyHolder, PtySpec, SessionFacts } from "./pty.ts";
import { TerminalSession } from "./terminal-session.ts";

export interface TableOptions {
  readonly scrollbackRows: number;
  /** How long a session whose program has ended stays. */
  readonly sweepAfterMs: number;
}

/** Sessions as a caller may see them. */
export type Sessions = Pick<SessionTable, "running" | "find" | "list" | "open" | "destroy">;

/** All sessions of this process. Those whose program has ended are swept after a while; one timer does it for all. */
export class SessionTable {
  readonly #holder: PtyHolder;
  readonly #options: TableOptions;
  readonly #sessions = new Map<string, TerminalSession>();
  readonly #opening = new Set<SessionFacts>();
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: TableOptions, holder: PtyHolder = new PtyHost()) {
    this.#options = options;
    this.#holder = holder;
  }

  /** With those that are about to be. */
  get running(): number {
    return this.#opening.size + this.list().filter(({ isRunning }) => isRunning).length;
  }

  find(id: string): TerminalSession | undefined {
    return this.#sessions.get(id);
  }

  list(): readonly TerminalSession[] {
    return [...this.#sessions.values()];
  }

  /** The sessions of a tenant: those of others do not exist. Of its own it may have so many, within what all together may. */
  ofTenant(tenantId: string, most = Number.POSITIVE_INFINITY): Sessions {
    const own = (session: TerminalSession | undefined) => (session?.facts.tenantId === tenantId ? session : undefined);
    const table = this;
    return {
      get running() {
        return table.running;
      },
      find: (id) => own(table.find(id)),
      list: () => table.list().filter((session) => own(session) !== undefined),
      async open(facts, spec) {
        const begun = table.list().filter((session) => own(session)?.isRunning === true).length;
        const opening = [...table.#opening].filter((other) => other.tenantId === tenantId).length;
        if (begun + opening >= most)
          throw new PawlError("QUOTA_EXCEEDED", {
            message: `There are ${most} open terminals of this tenant, and may not be more.`,
            remedy: "Close one with `exit_terminal`, or raise the quota (`quotas.terminals`).",
            details: { quota: "terminals", most },
          });
        return table.open(facts, spec);
      },
      destroy: async (id) => own(table.find(id)) !== undefined && table.destroy(id),
    };
  }

  /** Rejects where there is no terminal to be had. */
  async open(facts: SessionFacts, spec: PtySpec): Promise<TerminalSession> {
    this.#opening.add(facts);
    try {
      const model = await openModel({ ...spec, scrollbackRows: this.#options.scrollbackRows });
      const session = new TerminalSession(facts, model);
      session.attach(await this.#holder.open(spec, session.events, facts));
      this.#keep(session);
      return session;
    } finally {
      this.#opening.delete(facts);
    }
  }

  /** Takes up the sessions that an earlier process has left. Those that end in this moment are not among them. */
  async takeUp(toWebUrl: (sessionId: string) => string | null): Promise<void> {
    const left = (await this.#holder.findLeft?.()) ?? [];
    await Promise.all(left.map((each) => this.#takeUpOne(each, toWebUrl).catch(() => undefined)));
  }

  /** False where there is none with this id. */
  async destroy(id: string): Promise<boolean> {
    const session = this.#sessions.get(id);
    if (session === undefined) return false;
    this.#sessions.delete(id);
    await session.destroy();
    return true;
  }

  async close(): Promise<void> {
    clearTimeout(this.#sweep);
    await this.#holder.close();
    await Promise.all(this.list().map(({ facts }) => this.destroy(facts.id)));
  }

  async #takeUpOne(left: LeftSession, toWebUrl: (sessionId: string) => string | null): Promise<void> {
    const model = await openModel({ ...left, scrollbackRows: this.#options.scrollbackRows });
    const session = new TerminalSession(
      { ...left.facts, webUrl: left.facts.tenantId === undefined ? toWebUrl(left.facts.id) : null },
      model,
    );
    session.attach(await left.attach(session.events, (shown) => session.restore(shown)));
    await session.flush();
    this.#keep(session);
    if (!session.isRunning) this.#sweepLater();
  }

  #keep(session: TerminalSession): void {
    this.#sessions.set(session.facts.id, session);
    session.watch(() => session.isRunning || this.#sweepLater());
  }

  #sweepLater(): void {
    this.#sweep ??= setTimeout(() => void this.#sweepNow(), this.#options.sweepAfterMs).unref();
  }

  async #sweepNow(): Promise<void> {
    this.#sweep = undefined;
    const endedBefore = Date.now() - this.#options.sweepAfterMs;
    const ended = this.list().filter(({ isRunning }) => !isRunning);
    const old = ended.filter(({ endedAt }) => endedAt !== undefined && endedAt.getTime() <= endedBefore);
    if (old.length < ended.length) this.#sweepLater();
    await Promise.all(old.map(({ facts }) => this.destroy(facts.id)));
  }
}
