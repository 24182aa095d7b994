/**
 * Messages to other addresses, each tried until it has arrived or is given up. Any process may read them and have one sent
 * again. Several may deliver them: each claims what it sends, for a time.
 */
export interface Deliveries {
  /** Durable when it resolves. False if the id is known; then the stored delivery stays. */
  add(delivery: NewDelivery): Promise<boolean>;
  find(id: string): Promise<Delivery | undefined>;
  /** The same text for every try. */
  readBody(id: string): Promise<string>;
  /** Newest first. */
  list(filter: DeliveryFilter): Promise<readonly Delivery[]>;
  /** The number of all deliveries selected, regardless of pages. */
  count(selection: DeliverySelection): Promise<number>;
  /**
   * Claims pending deliveries that are due, the most overdue first: no other process gets them until the try is recorded or the lease
   * has ended. Durable when it resolves. None does not mean that none are left: others may have been faster.
   */
  claimDue(wanted: DueWanted): Promise<readonly Delivery[]>;
  /** Gives back what was claimed and is not sent: by this one, or by all where no other process delivers. */
  release(claimed: { readonly by: string | "all"; readonly except?: readonly string[] }): Promise<void>;
  /** Oldest first. */
  readTries(id: string): Promise<readonly DeliveryTry[]>;
  /**
   * Records a try and its consequences in one commit, and ends the claim. If a resend was asked for since it
   * was read, or has claimed it after the lease had ended, the try is recorded and changes nothing else. A receiver that is gone (`gone`) closes the address for messages of the same
   * workflow; an arrival opens it.
   */
  record(delivery: Delivery, made: MadeTry): Promise<void>;
  /** Ends it without a try. */
  skip(delivery: Delivery, end: { readonly at: number; readonly reason: string }): Promise<void>;
  /** Whether the receiver is gone, for messages of this workflow. */
  isClosed(address: Pick<NewDelivery, "tenantId" | "workflow" | "url">): Promise<boolean>;
  /** Makes it due at `at` with a new allowance of tries, also where its address is closed. */
  sendAgain(id: string, at: number): Promise<boolean>;
  /** Removes deliveries that ended before, with their tries. */
  forgetEndedBefore(at: number): Promise<void>;
}

export interface NewDelivery {
  /** The receiver recognises repetitions by it: it is equal for all tries. */
  readonly id: string;
  readonly tenantId?: string;
  /** How it is sent: signed JSON to an address, JSON as Slack takes it, or e-mail to a `mailto:` address. */
  readonly channel: DeliveryChannel;
  readonly event: string;
  readonly runId?: string;
  /** An address is closed for the messages of one workflow. */
  readonly workflow: string;
  /** The unexpanded text: `${NAME}` is resolved at each try and never stored. */
  readonly url: string;
  /** Whether `${NAME}` in the URL is a variable. It never is in a URL that a client has sent. */
  readonly readsEnv: boolean;
  /** Headers of every try as JSON, encrypted, because they often hold a key. Empty if there are none. */
  readonly sealedHeaders: string;
  /** JSON text, or `~` and the SHA-256 of a blob. */
  readonly body: string;
  /** Messages of one lane go to one receiver, and only so many of them at once. */
  readonly lane: string;
  readonly createdAt: number;
}

type DeliveryChannel = "webhook" | "slack" | "email";

export type DeliveryState =
  | { readonly status: "pending"; readonly nextAt: number }
  | { readonly status: "delivered"; readonly endedAt: number }
  | { readonly status: "failed" | "skipped"; readonly endedAt: number; readonly reason: string };

export type DeliveryStatus = DeliveryState["status"];

export interface Delivery extends Omit<NewDelivery, "body"> {
  /** In order of creation. */
  readonly no: number;
  readonly state: DeliveryState;
  /** Tries over all rounds. */
  readonly tries: number;
  /** 1, and one more each time that it is sent again. */
  readonly round: number;
  readonly triesInRound: number;
  /** The dispatcher that sends it. */
  readonly claimedBy?: string;
}

/** One try: the answer, or why there was none. */
export interface DeliveryTry {
  readonly at: number;
  readonly durationMs: number;
  /** The HTTP status of the answer. */
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

interface DeliveryFilter extends DeliverySelection {
  /** Only those with a smaller number. */
  readonly beforeNo?: number;
  readonly offset?: number;
  readonly limit: number;
}

export interface DueWanted {
  readonly now: number;
  readonly limit: number;
  /** The most in one lane, and the lanes of what is under way, one for each. */
  readonly perLane: number;
  readonly lanesUnderWay: readonly string[];
  readonly by: string;
  /** Longer than any try takes. Where there is a server of the database, its clock counts. */
  readonly leaseMs: number;
}
