/** Assumed numbers of tokens, where a definition sets no limit and a value is not known before a run. */
export interface Assumptions {
  /** For one answer of a model without `max_tokens`. */
  readonly output_tokens: number;
  /** For a value that is not known yet: an output of code or a tool, a variable. */
  readonly value_tokens: number;
  /** For the result of a tool, which each turn adds to an agent's conversation. */
  readonly tool_tokens: number;
  /** For instructions and descriptions of tools around a prompt. */
  readonly overhead_tokens: number;
  /** Bytes of UTF-8. Fewer make a plan dearer. */
  readonly bytes_per_token: number;
}

export const USUAL_ASSUMPTIONS: Assumptions = {
  output_tokens: 4_096,
  value_tokens: 4_096,
  tool_tokens: 4_096,
  overhead_tokens: 3_000,
  bytes_per_token: 3,
};
