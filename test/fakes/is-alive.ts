/** Whether a process of this id runs. A killed one is a zombie until its parent has looked. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
