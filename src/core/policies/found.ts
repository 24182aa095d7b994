/** The place of a match in a text. The end is exclusive. */
export interface Found {
  readonly start: number;
  readonly end: number;
}
