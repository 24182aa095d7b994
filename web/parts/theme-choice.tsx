import { useEffect, useState } from "react";
import { Button } from "./button.tsx";

const PLACE = "pawl.theme";
const NEXT = { system: "light", light: "dark", dark: "system" } as const;
type Theme = keyof typeof NEXT;

/** Light, dark, or as the system says. */
export function ThemeChoice() {
  const [theme, setTheme] = useState<Theme>(() => {
    const kept = localStorage.getItem(PLACE) ?? "";
    return kept in NEXT ? (kept as Theme) : "system";
  });
  useEffect(() => {
    localStorage.setItem(PLACE, theme);
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
  }, [theme]);
  return (
    <Button kind="quiet" title="Light, dark, or as the system says" onClick={() => setTheme(NEXT[theme])}>
      {theme === "system" ? "auto" : theme}
    </Button>
  );
}
