/** A change is told within a second. */
const LOOK_EVERY_MS = 500;

/** Calls `changed` when a list is another one than it was, until what is returned is called. Whatever makes it changes it without a word. */
export function watchList(look: () => Promise<string>, changed: () => void): () => void {
  const stopped = new AbortController();
  let known: string | undefined;
  const lookAgain = async () => {
    // A list that cannot be read now has not changed.
    const now = await look().catch(() => known);
    if (stopped.signal.aborted) return;
    if (known !== undefined && now !== known) changed();
    known = now;
    setTimeout(lookAgain, LOOK_EVERY_MS).unref();
  };
  void lookAgain();
  return () => stopped.abort();
}
