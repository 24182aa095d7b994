import { useEffect, useState } from "react";

const PREFIX = "pawl.draft.";

interface DraftOptions {
  readonly name: string;
  /** As the server has it; undefined where it has none. */
  readonly saved: string | undefined;
  /** What a new one begins with. */
  readonly beginning: string;
}

/**
 * The text in the editor. What is not saved is kept in this tab under the workflow's name, so that leaving the view loses nothing,
 * and the browser asks before the tab is closed.
 */
export function useDraft({ name, saved, beginning }: DraftOptions) {
  const [kept] = useState(() => sessionStorage.getItem(PREFIX + name) ?? undefined);
  const [initial] = useState(kept ?? saved ?? beginning);
  const [text, setText] = useState(initial);
  const isChanged = text !== saved;
  useEffect(() => {
    if (!isChanged || text === beginning) return sessionStorage.removeItem(PREFIX + name);
    sessionStorage.setItem(PREFIX + name, text);
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [name, text, isChanged, beginning]);
  return { initial, text, setText, isChanged, wasKept: kept !== undefined && kept !== saved };
}
