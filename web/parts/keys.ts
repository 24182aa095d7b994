import { useEffect, useRef } from "react";

/** Keys of a view by what they do. They are not taken while a field is typed into, or with Ctrl, Alt or Meta. */
export function useKeys(actions: Readonly<Record<string, () => void>>): void {
  const current = useRef(actions);
  current.current = actions;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
      const action = Object.hasOwn(current.current, event.key) ? current.current[event.key] : undefined;
      if (action === undefined) return;
      // Enter and Space on a button or a link are that button's.
      if (
        (event.key === "Enter" || event.key === " ") &&
        event.target instanceof HTMLElement &&
        event.target.closest("button,a,summary")
      )
        return;
      event.preventDefault();
      action();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.closest("input:not([type=checkbox]),textarea,select,[role=dialog],.xterm") !== null)
  );
}
