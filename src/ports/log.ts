export type LogLevel = "trace" | "debug" | "info" | "warn" | "error";

/** Fields of a line beside its message. They name runs and steps, and never hold a prompt, an input or an output. */
export interface LogFields {
  readonly [name: string]: string | number | boolean | null | undefined;
}

/** Tells the operator of this process what happens in it. Secrets are taken out of every line. */
export interface Log {
  /** For what costs something to put together. */
  isOn(level: LogLevel): boolean;
  write(level: LogLevel, message: string, fields?: LogFields): void;
}
