/** What is known of a session from its beginning. */
export interface SessionFacts {
  readonly id: string;
  /** As it was asked for. */
  readonly command: string;
  readonly webUrl: string | null;
  /** Who opened it, for those who close what they have opened. */
  readonly owner: string | undefined;
  readonly createdAt: Date;
}
