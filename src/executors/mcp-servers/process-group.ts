/** Signals a process and everything that it has started and that has not left its group. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // Nothing of it is left.
  }
}
