const NAME = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Puts environment variables into a URL or header: `${NAME}`, unset ones as nothing. The result is used, never stored. */
export function resolveEnv(text: string, env: (name: string) => string | undefined): string {
  return text.replace(NAME, (_, name: string) => env(name) ?? "");
}

/** The variables that a text reads, also as `${NAME:-default}`, which settings of MCP servers may have. */
export function namesInEnv(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)/g)].map(([, name = ""]) => name))];
}

/** Those that a definition's agent server reads. The configured server's own address is granted to every definition. */
export function namesInServerUrl(text: string): readonly string[] {
  return /^\s*\$\{SANDSTORM_URL\}\s*$/.test(text) ? [] : namesInEnv(text);
}
