/**
 * Messages that go to an address elsewhere, each until it has arrived or is given up. Any process may read them and ask for one
 * again; one process delivers them.
 */
export interface Deliveries {
  /** Durable when it resolves. False: the id is known, and what is stored under it stays. */
  add(delivery: NewDelivery): Promise<boolean>;
  find(id: string): Promise<Delivery | undefined>;
  /** The same text for every try. */
  readBody(id: string): Promise<string>;
  /** Newest first. */
  list(filter: DeliveryFilter): Promise<readonly Delivery[]>;
  /** How many there are of these, wherever a page would begin and end. */
  count(selection: DeliverySelection): Promise<number>;
  /** Pending ones whose time has come, the most overdue first. */
  listDue(wanted: DueWanted): Promise<readonly Delivery[]>;
  /** Oldest first. */
  readTries(id: string): Promise<readonly DeliveryTry[]>;
  /**
   * Records a try and what follows from it in one commit. Where somebody has asked for the message again since it was read,
   * the try is recorded and that wish stays. The answer that nobody is there any more (`gone`) closes the address for
   * messages of the same workflow, an arrival opens it.
   */
  record(delivery: Delivery, made: MadeTry): Promise<void>;
  /** Ends it without a try. */
  skip(delivery: Delivery, end: { readonly at: number; readonly reason: string }): Promise<void>;
  /** Whether nobody is there any more, for messages of this workflow. */
  isClosed(address: Pick<NewDelivery, "tenantId" | "workflow" | "url">): Promise<boolean>;
  /** Makes it due at `at` with a new allowance of tries, also where its address is closed. */
  sendAgain(id: string, at: number): Promise<boolean>;
  /** Drops what ended before, with its tries. */
  forgetEndedBefore(at: number): Promise<void>;
}

export interface NewDelivery {
  /** What the receiver tells repetitions by: equal for all tries. */
  readonly id: string;
  readonly tenantId?: string;
  /** How it is sent: signed JSON to an address, JSON as Slack takes it, or e-mail to a `mailto:` address. */
  readonly channel: DeliveryChannel;
  readonly event: string;
  readonly runId?: string;
  /** For whose messages an address can be closed. */
  readonly workflow: string;
  /** As it was written: `${NAME}` is put in at each try and stored nowhere. */
  readonly url: string;
  /** Whether `${NAME}` in the URL is a variable. In what a client has sent it never is. */
  readonly readsEnv: boolean;
  /** Headers of every try as JSON, sealed, since they often bear a key. Empty: there are none. */
  readonly sealedHeaders: string;
  /** JSON text, or `~` and the SHA-256 of a blob. */
  readonly body: string;
  /** Messages of one lane go to one receiver: how many of them fly at once is limited. */
  readonly lane: string;
  readonly createdAt: number;
}

export type DeliveryChannel = "webhook" | "slack" | "email";

export type DeliveryState =
  | { readonly status: "pending"; readonly nextAt: number }
  | { readonly status: "delivered"; readonly endedAt: number }
  | { readonly status: "failed" | "skipped"; readonly endedAt: number; readonly reason: string };

export type DeliveryStatus = DeliveryState["status"];

export interface Delivery extends Omit<NewDelivery, "body"> {
  /** In the order of their coming. */
  readonly no: number;
  readonly state: DeliveryState;
  /** Tries over all rounds. */
  readonly tries: number;
  /** 1, and one more each time that somebody asks for it again. */
  readonly round: number;
  readonly triesInRound: number;
}

/** One try: what was answered, or why there was no answer. */
export interface DeliveryTry {
  readonly at: number;
  readonly durationMs: number;
  /** Of the answer. */
  readonly status?: number;
  /** Why the message was not sent or not answered. */
  readonly error?: string;
  /** The beginning of the answer, secrets masked. */
  readonly excerpt?: string;
}

export interface MadeTry {
  readonly made: DeliveryTry;
  readonly next: DeliveryState;
  readonly gone: boolean;
}

export interface DeliverySelection {
  readonly tenantId?: string;
  readonly runId?: string;
  readonly status?: readonly DeliveryStatus[];
}

export interface DeliveryFilter extends DeliverySelection {
  /** Only those with a smaller number. */
  readonly beforeNo?: number;
  readonly offset?: number;
  readonly limit: number;
}

export interface DueWanted {
  readonly now: number;
  readonly limit: number;
  /** Lanes in which there is no room. */
  readonly fullLanes: readonly string[];
  /** Those that fly already. */
  readonly flying: readonly string[];
}
