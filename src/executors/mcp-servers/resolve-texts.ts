import type { McpFailure } from "./mcp-failure.ts";

const SECRET_NAME = /key|token|secret|passw|credential|auth|cookie/i;

/** Fills `${NAME}` in, and remembers what of it is secret. */
export class Texts {
  readonly secrets: string[] = [];
  readonly #env: (name: string) => string | undefined;
  readonly #problem: (flaw: string) => McpFailure;

  constructor(env: (name: string) => string | undefined, problem: (flaw: string) => McpFailure) {
    this.#env = env;
    this.#problem = problem;
  }

  resolve(text: string, where: string): string {
    return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (_, name: string, fallback?: string) => {
      const value = this.#env(name) ?? fallback;
      if (value === undefined)
        throw this.#problem(`the environment variable ${name}, named in \`${where}\`, is not set`);
      if (SECRET_NAME.test(name)) this.secrets.push(value);
      return value;
    });
  }

  map(values: Readonly<Record<string, string>> | undefined, where: string): Record<string, string> {
    const resolved = Object.entries(values ?? {}).map(([key, text]) => {
      const value = this.resolve(text, `${where}.${key}`);
      // `Bearer abc` is a secret as a whole, and so is `abc`.
      if (SECRET_NAME.test(key)) this.secrets.push(value, value.slice(value.lastIndexOf(" ") + 1));
      return [key, value] as const;
    });
    return Object.fromEntries(resolved);
  }
}
