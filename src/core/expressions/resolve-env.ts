/** Puts environment variables into a URL or header: `${NAME}`, unset ones as nothing. The result is used, never stored. */
export function resolveEnv(text: string, env: (name: string) => string | undefined): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => env(name) ?? "");
}
