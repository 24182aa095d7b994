/** Where something stands in a text; the end is behind it. */
export interface Found {
  readonly start: number;
  readonly end: number;
}
