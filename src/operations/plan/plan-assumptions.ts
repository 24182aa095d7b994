/** What is taken for what nobody can know before a run: tokens where a definition sets no limit and a value is not there yet. */
export interface Assumptions {
  /** Of one answer of a model, where no `max_tokens` says it. */
  readonly output_tokens: number;
  /** Of a value that is not known yet: an output of code or a tool, a variable. */
  readonly value_tokens: number;
  /** That the result of a tool adds to an agent's conversation, each turn. */
  readonly tool_tokens: number;
  /** Of instructions and descriptions of tools around a prompt. */
  readonly overhead_tokens: number;
  /** Of UTF-8: fewer make a plan dearer. */
  readonly bytes_per_token: number;
}

export const USUAL_ASSUMPTIONS: Assumptions = {
  output_tokens: 4_096,
  value_tokens: 4_096,
  tool_tokens: 4_096,
  overhead_tokens: 3_000,
  bytes_per_token: 3,
};
