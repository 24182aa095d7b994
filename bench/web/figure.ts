/** What was measured of the pages, beside what is wanted. */
export interface Figure {
  readonly name: string;
  readonly measured: number;
  readonly unit: "kB" | "ms" | "s" | "MB" | "rows";
  /** Absent: nothing is asked of it. */
  readonly atMost?: number;
  readonly note?: string;
}
