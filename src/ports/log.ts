export type LogLevel = "trace" | "debug" | "info" | "warn" | "error";

/** What a line says beside its message. Names of what runs are; never a prompt, an input or an output. */
export interface LogFields {
  readonly [name: string]: string | number | boolean | null | undefined;
}

/** Tells whoever operates this process what happens in it. Secrets are taken out of every line. */
export interface Log {
  /** For what costs something to put together. */
  isOn(level: LogLevel): boolean;
  write(level: LogLevel, message: string, fields?: LogFields): void;
}
