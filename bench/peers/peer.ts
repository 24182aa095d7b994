/** One engine in a process of its own. All steps do nothing. */
export interface Peer {
  /** One run of so many steps, one after the other. Several may go on at once. */
  sequence(steps: number): Promise<unknown>;
  /** One run of so many steps at once, and of what waits for all of them. Absent: it cannot be said with this engine. */
  fanOut?(steps: number): Promise<unknown>;
  /** What the store says of when a commit is durable. */
  settings(): Promise<string>;
  close(): Promise<void>;
}

/** Where the servers are. Each engine has a database and a folder of its own. */
export interface Places {
  readonly postgresUrl: string;
  readonly redisPort: number;
  readonly restate: { readonly ingress: string; readonly admin: string };
  readonly folder: string;
}

export type OpenPeer = (places: Places) => Promise<Peer>;

export const SCENARIOS = ["SEQ-500", "1,000 runs x 4 steps", "FAN-500"] as const;
export type Scenario = (typeof SCENARIOS)[number];

export type Asked =
  | { readonly scenario: Scenario }
  | { readonly steps: number }
  | { readonly settings: true }
  | { readonly close: true };
/** `undefined`: it cannot be said with this engine. */
export type Answer = { readonly ms: number | undefined } | { readonly settings: string } | { readonly ready: true };
