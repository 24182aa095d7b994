/** What a terminal's program needs to know of where it runs. Nothing here is a secret. */
const PASSED = ["USER", "LOGNAME", "SHELL", "TMPDIR", "TZ"];

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const NO_HISTORY = { HISTFILE: "/dev/null", PYTHON_HISTORY: "/dev/null", LESSHISTFILE: "-" };

export interface ChildEnvironment {
  /** Of this process: keys of providers are in it, and stay there. */
  readonly own: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  readonly isolateHistory: boolean;
  /** As the user wishes; it goes before all others. */
  readonly wished: Readonly<Record<string, string>>;
}

export function buildChildEnvironment(facts: ChildEnvironment): Readonly<Record<string, string>> {
  const { own, homeDir, isolateHistory, wished } = facts;
  const passed = PASSED.flatMap((name) => {
    const value = own[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    PATH: own["PATH"] || DEFAULT_PATH,
    HOME: homeDir,
    LANG: /utf-?8/i.test(own["LANG"] ?? "") ? (own["LANG"] ?? "") : "C.UTF-8",
    TERM: "xterm-256color",
    ...Object.fromEntries(passed),
    ...(isolateHistory ? NO_HISTORY : {}),
    ...wished,
  };
}
